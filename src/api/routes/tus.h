// Resumable uploads by tus 1.0: creation, creation-with-upload, creation-defer-length, expiration,
// checksum, termination.
//
// A client asks where an upload stands (HEAD) and goes on from there (PATCH), on any server. What
// came before a connection broke is kept. The last bytes make a file of it, as every other upload.
// What is not tus: GET says the same as JSON, with the file once there is one.
#pragma once

#include "api/operation.h"
#include "api/routes/uploads.h"
#include "api/upload/upload_engine.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {

inline constexpr std::string_view kTusVersion = "1.0.0";
inline constexpr std::string_view kTusPath = "/api/v1/tus";

// The engine outlives the operations.
std::vector<Operation> tus_operations(UploadEngine& engine, UploadRouteOptions options);

// "filename d29ybGQ=,is_confidential" → names and decoded values. invalid_argument names the rule:
// names are unique and visible ASCII, values base64.
Result<std::map<std::string, std::string>> parse_tus_metadata(std::string_view header);

}  // namespace millrace::api
