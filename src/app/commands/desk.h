// What desks of the command line do alike: answers of the stores are JSON texts, and content comes
// from the blob store piece by piece.
#pragma once

#include "base/json.h"
#include "base/task.h"
#include "blob/blob_store.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace millrace::app {

// Of our own database: no attacker, but maybe many rows.
inline constexpr JsonLimits kDeskLimits{.max_bytes = 256 * 1024 * 1024, .max_depth = 128};

Result<json::Array> rows_of(const Result<std::string>& text);
Result<json::Object> object_of(const Result<std::string>& text);

using TakePiece = std::function<Result<void>(std::span<const std::byte>)>;
// Ends with the first error of either side. `take` outlives the call.
Task<void> copy_content(blob::BlobStore& blobs, blob::BlobKey key, const TakePiece& take);

}  // namespace millrace::app
