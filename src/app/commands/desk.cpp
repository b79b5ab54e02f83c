#include "app/commands/desk.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <memory>
#include <utility>

namespace millrace::app {
namespace {

constexpr std::size_t kPieceBytes = 256 * 1024;

}  // namespace

Result<json::Array> rows_of(const Result<std::string>& text) {
  if (!text) return fail(text.error());
  MR_TRY(auto value, parse_json(*text, kDeskLimits));
  if (!value.is_array()) return fail(ErrorKind::internal, "the database gave no list");
  return std::move(value.get_array());
}

Result<json::Object> object_of(const Result<std::string>& text) {
  if (!text) return fail(text.error());
  return parse_json_object(*text, kDeskLimits);
}

Task<void> copy_content(blob::BlobStore& blobs, blob::BlobKey key, const TakePiece& take) {
  MR_CO_TRY(const auto reader, co_await blobs.open(key, {}));
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(kPieceBytes);
  for (;;) {
    MR_CO_TRY(const auto size, co_await reader->read({buffer.get(), kPieceBytes}));
    if (size == 0) co_return ok();
    MR_CO_TRY_VOID(take({buffer.get(), size}));
  }
}

}  // namespace millrace::app
