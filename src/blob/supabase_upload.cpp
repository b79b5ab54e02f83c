// How a spool becomes an object of a Supabase bucket.
#include "blob/supabase_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace millrace::blob {
namespace {

constexpr std::uint64_t kPieceBytes = 6ULL << 20;  // Every piece but the last must have that size.
constexpr std::string_view kResumable = "/upload/resumable";
constexpr std::string_view kCacheSeconds = "3600";
constexpr std::chrono::milliseconds kLockedPause{100};  // Doubled each time.

std::string metadata(std::string_view name, std::string_view value) {
  return fmt::format("{} {}", name, to_base64(value));
}

// The upload's own part of the address. The rest of it is not looked at: the server may name itself
// by a host we cannot reach, and our key goes to our endpoint only.
Result<std::string> upload_path(std::string_view location) {
  const auto found = location.rfind(kResumable);
  auto id = found == std::string_view::npos ? std::string_view()
                                            : location.substr(found + kResumable.size());
  id = id.substr(0, id.find('?'));
  const bool good =
      id.size() > 1 && id.size() < 1000 &&
      std::ranges::all_of(
          id, [](char c) { return c > 0x20 && c < 0x7F && c != '#' && c != '"' && c != '\\'; });
  if (good) return fmt::format("{}{}", kResumable, id);
  return fail(ErrorKind::internal, "supabase: an upload was started without an address");
}

Result<std::uint64_t> offset_of(const http::Response& answer) {
  const auto text = answer.header("Upload-Offset").value_or("");
  std::uint64_t offset = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), offset);
  if (error == std::errc() && end == text.data() + text.size()) return offset;
  return fail(ErrorKind::internal, "supabase: the server does not say how much it has");
}

}  // namespace

Task<BlobInfo> SupabaseStore::upload(Upload upload) {
  MR_CO_TRY_VOID(upload.size_bytes() <= kPieceBytes ? co_await put_whole(&upload)
                                                    : co_await put_resumable(&upload));
  MR_CO_TRY(auto stored, co_await stat(upload.key));
  if (stored.size_bytes != upload.size_bytes()) {
    co_return fail(ErrorKind::internal,
                   fmt::format("supabase: put {}: {} bytes were stored, not {}", upload.key.text(),
                               stored.size_bytes, upload.size_bytes()));
  }
  co_return stored;
}

Task<void> SupabaseStore::put_whole(const Upload* upload) {
  Call call{.what = fmt::format("put {}", upload->key.text()),
            .method = "POST",
            .path = object_path(upload->key),
            .headers = {{"Content-Type", upload->content_type},
                        {"Cache-Control", fmt::format("max-age={}", kCacheSeconds)},
                        {"x-upsert", "true"}},
            .part = Part{.spool = upload->spool, .size_bytes = upload->size_bytes()}};
  MR_CO_TRY_VOID(co_await remote_.send(std::move(call)));
  co_return ok();
}

Task<void> SupabaseStore::put_resumable(const Upload* upload) {
  MR_CO_TRY(const auto path, co_await start_resumable(upload));
  std::uint64_t offset = 0;
  int stuck = 0;
  while (offset < upload->size_bytes()) {
    MR_CO_TRY(const auto next, co_await send_piece(upload, path, offset));
    stuck = next > offset ? 0 : stuck + 1;
    offset = next;
    if (stuck == 0) continue;
    if (stuck >= remote_.limits().attempts_max) {
      co_return fail(ErrorKind::unavailable, fmt::format("supabase: put {}: no progress at byte {}",
                                                         upload->key.text(), offset));
    }
    co_await remote_.services().clock.sleep_for(kLockedPause * (1 << std::min(stuck, 5)));
  }
  co_return ok();
}

Task<std::string> SupabaseStore::start_resumable(const Upload* upload) {
  const auto name = options_.prefix + upload->key.text();
  Call call{.what = fmt::format("start upload of {}", upload->key.text()),
            .method = "POST",
            .path = std::string(kResumable),
            .headers = {{"Tus-Resumable", "1.0.0"},
                        {"Upload-Length", fmt::format("{}", upload->size_bytes())},
                        {"Upload-Metadata",
                         fmt::format("{},{},{},{}", metadata("bucketName", options_.bucket),
                                     metadata("objectName", name),
                                     metadata("contentType", upload->content_type),
                                     metadata("cacheControl", kCacheSeconds))},
                        {"x-upsert", "true"}}};
  MR_CO_TRY(const auto answer, co_await remote_.send(std::move(call)));
  co_return upload_path(answer.header("Location").value_or(""));
}

// Where the server stands afterwards: behind the piece, or where it says that it is. The latter
// when an answer was lost and the repeat came too late, or when somebody else holds the upload's
// lock.
Task<std::uint64_t> SupabaseStore::send_piece(const Upload* upload, std::string path,
                                              std::uint64_t offset) {
  const auto size = std::min(kPieceBytes, upload->size_bytes() - offset);
  Call call{.what = fmt::format("put bytes from {} of {}", offset, upload->key.text()),
            .method = "PATCH",
            .path = path,
            .headers = {{"Tus-Resumable", "1.0.0"},
                        {"Upload-Offset", fmt::format("{}", offset)},
                        {"Content-Type", "application/offset+octet-stream"},
                        {"x-upsert", "true"}},
            .part = Part{.spool = upload->spool, .offset = offset, .size_bytes = size},
            .answers = {409, 423}};
  MR_CO_TRY(const auto answer, co_await remote_.send(std::move(call)));
  if (answer.status >= 300) co_return co_await resume_offset(std::move(path));
  co_return offset_of(answer);
}

Task<std::uint64_t> SupabaseStore::resume_offset(std::string path) {
  Call call{.what = "ask how much of an upload is there",
            .method = "HEAD",
            .path = std::move(path),
            .headers = {{"Tus-Resumable", "1.0.0"}}};
  MR_CO_TRY(const auto answer, co_await remote_.send(std::move(call)));
  co_return offset_of(answer);
}

}  // namespace millrace::blob
