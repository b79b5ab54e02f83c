// Uploads of whole files: a form, or the bytes themselves (H-20).
//
// The answer comes when the file is durable: its content in the blob store, its row and its first
// job in the database, in one transaction (U-01, U-05). The idempotency key makes a repeat answer
// the same.
#pragma once

#include "api/call.h"
#include "api/operation.h"
#include "api/upload/upload_engine.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace millrace::api {

struct UploadRouteOptions {
  std::chrono::milliseconds time_max = std::chrono::hours(1);  // Of one request.
};

// The engine outlives the operations.
std::vector<Operation> upload_operations(UploadEngine& engine, UploadRouteOptions options);

// What a client says about a file, whichever form it comes in.
struct FileFields {
  std::optional<std::string> patient_id = {};
  std::optional<std::string> owner_id = {};
  std::optional<std::string> idempotency_key = {};
  std::optional<std::string> pipeline = {};
  std::string file_name = {};
  std::string content_type = {};
};

// The announcement of a file for the caller. People upload for themselves, services for whom they
// name. invalid_argument names the field and the rule.
Result<store::NewUpload> new_file(const Call& call, const FileFields& fields);
// Whose uploads the caller may continue; nothing: its tenant's.
std::optional<Uuid> uploads_of(const Call& call);
// 201 with the file, and where it is.
Reply file_created(const Call& call, UploadAnswer answer);
// A member of a JSON object; empty where it is no text.
std::string text_member(const std::string& json, std::string_view name);

}  // namespace millrace::api
