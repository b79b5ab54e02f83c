#include "api/upload/content_reply.h"

#include "api/etag.h"
#include "api/problem.h"
#include "api/upload/checksum.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

namespace millrace::api {
namespace {

constexpr std::size_t kPieceBytes = 64 * 1024;

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Whether the range counts: an If-Range that names other content, or a date, asks for all of it.
bool range_counts(const Call& call, std::string_view tag) {
  const auto condition = call.request.header("if-range");
  return !condition || names_tag(*condition, tag, false);
}

void add_headers(Call& call, const SentContent& content, std::string_view tag) {
  auto& response = call.response;
  response.header("ETag", tag);
  response.header("Accept-Ranges", "bytes");
  response.header("Cache-Control", content.cache_control);
  response.header("Content-Security-Policy", "default-src 'none'; sandbox");
  if (const auto digest = content_digest(content.sha256); !digest.empty()) {
    response.header("Repr-Digest", digest);
  }
  if (!content.file_name.empty()) {
    response.header("Content-Disposition", blob::content_disposition(content.file_name));
  }
}

Reply refused(const Call& call, int status, std::string_view code, std::string detail) {
  return problem_reply({.fault = {.status = status, .code = code, .detail = std::move(detail)}},
                       call.operation().form, call.request.correlation_id);
}

// A row without its content is a broken installation, and nothing the client did.
Error not_there(Error error, const std::string& store_key) {
  if (error.kind != ErrorKind::not_found) return error;
  return {.kind = ErrorKind::internal, .message = fmt::format("content {} is missing", store_key)};
}

Task<void> copy_out(Call& call, blob::BlobReader& reader) {
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(kPieceBytes);
  for (;;) {
    MR_CO_TRY(const auto size, co_await reader.read({buffer.get(), kPieceBytes}));
    if (size == 0) co_return ok();
    MR_CO_TRY_VOID(
        co_await call.response.write({reinterpret_cast<const char*>(buffer.get()), size}));
  }
}

}  // namespace

SentContent sent_content(const store::StoredObject& object) {
  return {.store_key = object.store_key,
          .sha256 = object.sha256,
          .size_bytes = object.size_bytes,
          .content_type = object.content_type};
}

RangeAnswer read_range(std::string_view header, std::uint64_t size_bytes) {
  using Kind = RangeAnswer::Kind;
  constexpr std::string_view kUnit = "bytes=";
  // Several ranges at once are answered with all of it, as the standard allows.
  if (!header.starts_with(kUnit) || header.contains(',')) return {};
  header.remove_prefix(kUnit.size());
  const auto dash = header.find('-');
  if (dash == header.npos) return {};
  const auto first = number(header.substr(0, dash));
  const auto last = number(header.substr(dash + 1));
  if (dash == 0) {  // The last so many.
    if (!last) return {};
    if (*last == 0 || size_bytes == 0) return {.kind = Kind::none};
    return {.kind = Kind::part,
            .first = size_bytes - std::min(*last, size_bytes),
            .last = size_bytes - 1};
  }
  const bool open = dash + 1 == header.size();
  if (!first || (!open && !last) || (last && *last < *first)) return {};
  if (*first >= size_bytes) return {.kind = Kind::none};
  return {.kind = Kind::part,
          .first = *first,
          .last = open ? size_bytes - 1 : std::min(*last, size_bytes - 1)};
}

Task<Reply> send_content(Call& call, blob::BlobStore& blobs, SentContent content) {
  const auto tag = fmt::format("\"{}\"", content.sha256);
  const auto size = static_cast<std::uint64_t>(content.size_bytes);
  const auto if_match = call.request.header("if-match");
  if (if_match && !names_tag(*if_match, tag, false)) {
    co_return refused(call, 412, "precondition_failed", "the content is not the one asked for");
  }
  const auto if_none_match = call.request.header("if-none-match");
  if (if_none_match && names_tag(*if_none_match, tag, true)) {
    co_return Reply::empty(304).with("ETag", tag).with("Cache-Control", content.cache_control);
  }
  RangeAnswer range;
  const auto asked = call.request.header("range");
  if (asked && range_counts(call, tag)) range = read_range(*asked, size);
  if (range.kind == RangeAnswer::Kind::none) {
    co_return refused(call, 416, "range_not_satisfiable", "the content has no such range")
        .with("Content-Range", fmt::format("bytes */{}", size));
  }
  const bool part = range.kind == RangeAnswer::Kind::part;
  const auto length = part ? range.last - range.first + 1 : size;
  MR_CO_TRY(const auto key, blob::BlobKey::parse(content.store_key));
  std::unique_ptr<blob::BlobReader> reader;
  if (call.request.method == "HEAD") {  // Nobody would read what a store begins to send.
    const auto found = co_await blobs.stat(key);
    if (!found) co_return fail(not_there(found.error(), content.store_key));
  } else {
    auto opened = co_await blobs.open(key, {.offset = part ? range.first : 0, .length = length});
    if (!opened) co_return fail(not_there(std::move(opened).error(), content.store_key));
    reader = *std::move(opened);
  }
  add_headers(call, content, tag);
  if (part) {
    call.response.header("Content-Range",
                         fmt::format("bytes {}-{}/{}", range.first, range.last, size));
  }
  MR_CO_TRY_VOID(co_await call.response.start(part ? 206 : 200, content.content_type, length));
  if (reader) {
    MR_CO_TRY_VOID(co_await copy_out(call, *reader));
  }
  MR_CO_TRY_VOID(co_await call.response.finish());
  co_return Reply::done();
}

}  // namespace millrace::api
