#include "blob/blob_store.h"

#include "blob/url.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::blob {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kListMax = 1000;
constexpr std::size_t kCursorMax = 4096;
constexpr std::size_t kContentTypeMax = 255;
constexpr std::size_t kFileNameMax = 255;
constexpr std::chrono::seconds kTtlMax = std::chrono::days(7);

std::unexpected<Error> refuse(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

bool is_visible_ascii(char c) { return c >= 0x20 && c < 0x7F; }

Result<void> check_content_type(std::string_view type) {
  const bool good = type.size() <= kContentTypeMax && type.contains('/') &&
                    std::ranges::all_of(type, is_visible_ascii);
  if (good) return ok();
  return refuse(fmt::format("content_type must be type/subtype in visible ASCII, {} at most",
                            kContentTypeMax));
}

}  // namespace

Result<void> check_options(const PutOptions& options) {
  MR_TRY_VOID(check_content_type(options.content_type));
  if (options.size_max_bytes > kBlobMaxBytes) {
    return refuse(fmt::format("size_max_bytes is at most {}", kBlobMaxBytes));
  }
  if (options.size_bytes && *options.size_bytes > options.size_max_bytes) {
    return refuse(fmt::format("the content has {} bytes, the limit is {}", *options.size_bytes,
                              options.size_max_bytes));
  }
  return ok();
}

Result<void> check_options(const ListOptions& options) {
  if (options.limit < 1 || options.limit > kListMax) {
    return refuse(fmt::format("limit must be 1 to {}", kListMax));
  }
  if (options.cursor.size() > kCursorMax) return refuse("cursor is not one of this store");
  return ok();
}

Result<void> check_options(const SignOptions& options) {
  if (options.ttl < 1s || options.ttl > kTtlMax) return refuse("ttl must be 1 s to 7 days");
  if (!options.content_type.empty()) MR_TRY_VOID(check_content_type(options.content_type));
  if (options.file_name.size() > kFileNameMax) {
    return refuse(fmt::format("file_name has at most {} bytes", kFileNameMax));
  }
  return ok();
}

std::string content_disposition(std::string_view file_name) {
  std::string plain;
  bool exact = true;
  for (const char c : file_name) {
    const bool safe = is_visible_ascii(c) && !std::string_view("\"\\/%;").contains(c);
    plain += safe ? c : '_';
    exact = exact && safe;
  }
  if (plain.empty()) return "attachment";
  if (exact) return fmt::format("attachment; filename=\"{}\"", plain);
  return fmt::format("attachment; filename=\"{}\"; filename*=UTF-8''{}", plain,
                     percent_encode(file_name));
}

}  // namespace millrace::blob
