#include "blob/remote_reader.h"

#include "blob/disk.h"
#include "http/retry_after.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace millrace::blob {
namespace {

constexpr int kRangeNotSatisfiable = 416;
constexpr int kPartialContent = 206;

std::optional<std::uint64_t> to_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

struct ContentRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t total = 0;
};

// "bytes 5-9/100".
std::optional<ContentRange> content_range(const http::Response& head) {
  auto text = head.header("Content-Range").value_or(std::string_view());
  if (!text.starts_with("bytes ")) return std::nullopt;
  text.remove_prefix(6);
  const auto dash = text.find('-');
  const auto slash = text.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || dash > slash) {
    return std::nullopt;
  }
  const auto first = to_number(text.substr(0, dash));
  const auto last = to_number(text.substr(dash + 1, slash - dash - 1));
  const auto total = to_number(text.substr(slash + 1));
  if (!first || !last || !total || *first > *last || *last >= *total) return std::nullopt;
  return ContentRange{.first = *first, .last = *last, .total = *total};
}

std::string range_header(std::uint64_t offset, std::optional<std::uint64_t> end) {
  return end ? fmt::format("bytes={}-{}", offset, *end - 1) : fmt::format("bytes={}-", offset);
}

// A request for bytes from `offset` on; the whole blob is asked for without a range.
Call get_call(const RemoteObjects& objects, const BlobKey& key, std::uint64_t offset,
              std::optional<std::uint64_t> end) {
  auto call = objects.get(key);
  if (offset == 0 && !end) return call;
  call.headers.emplace_back("Range", range_header(offset, end));
  call.answers.push_back(kRangeNotSatisfiable);
  return call;
}

Error not_what_was_asked(const BlobKey& key) {
  return {.kind = ErrorKind::internal,
          .message = fmt::format("the store gave another range of {} than asked for", key.text())};
}

// That a part was asked for and that part came.
Result<void> check_range(const http::Response& head, const BlobKey& key, std::uint64_t offset) {
  const auto range = content_range(head);
  if (head.status != kPartialContent || !range || range->first != offset) {
    return fail(not_what_was_asked(key));
  }
  return ok();
}

}  // namespace

Result<BlobInfo> info_of(const http::Response& head, const BlobKey& key, Clock::Wall now) {
  const auto range = content_range(head);
  const auto length = to_number(head.header("Content-Length").value_or(std::string_view()));
  const auto modified =
      http::parse_http_date(head.header("Last-Modified").value_or(std::string_view()), now);
  if ((!range && !length) || !modified) {
    return fail(ErrorKind::internal,
                fmt::format("the store did not say how long or how old {} is", key.text()));
  }
  return BlobInfo{.key = key, .size_bytes = range ? range->total : *length, .modified = *modified};
}

RemoteReader::RemoteReader(Remote& remote, const RemoteObjects& objects, VerifiedRange range,
                           http::ResponseStream stream)
    : remote_(remote), objects_(objects), range_(std::move(range)), stream_(std::move(stream)) {}

Task<std::size_t> RemoteReader::read(std::span<std::byte> buffer) {
  if (range_.left_bytes() == 0) {
    MR_CO_TRY_VOID(range_.ended());
    co_return 0;
  }
  const auto room = std::min<std::uint64_t>(buffer.size(), range_.left_bytes());
  MR_CO_TRY(const std::size_t size, co_await read_piece(buffer.first(room)));
  MR_CO_TRY_VOID(co_await on_disk(
      remote_.disk(), [this, buffer, size] { return range_.take(buffer.first(size)); }));
  co_return size;
}

Task<std::size_t> RemoteReader::read_piece(std::span<std::byte> buffer) {
  for (int losses = 0;;) {
    auto size = co_await stream_.read(buffer);
    if (size && *size > 0) co_return size;
    if (size) co_return fail(range_.too_short());
    const bool last = ++losses >= remote_.limits().attempts_max;
    if (last || !Remote::worth_repeating(size.error())) {
      auto error = std::move(size).error();
      if (error.kind == ErrorKind::in_doubt) error.kind = ErrorKind::unavailable;
      co_return fail(std::move(error));
    }
    MR_CO_TRY_VOID(co_await reopen());
  }
}

Task<void> RemoteReader::reopen() {
  const auto& key = range_.info().key;
  auto call = get_call(objects_, key, range_.position(), range_.end());
  MR_CO_TRY(stream_, co_await remote_.open(std::move(call)));
  co_return check_range(stream_.head(), key, range_.position());
}

Task<std::unique_ptr<BlobReader>> open_remote(Remote& remote, RemoteObjects& objects, BlobKey key,
                                              ByteRange range) {
  if (range.length && *range.length > kBlobMaxBytes) range.length = kBlobMaxBytes;
  if (range.offset > kBlobMaxBytes) {
    co_return fail(ErrorKind::invalid_argument, "the range begins behind the end of any blob");
  }
  http::ResponseStream stream;
  // A range of no bytes cannot be asked for.
  const bool empty = range.length == 0;
  const bool partial = range.offset > 0 || range.length;
  bool outside = empty;
  if (!empty) {
    const auto end = range.length ? std::optional(range.offset + *range.length) : std::nullopt;
    MR_CO_TRY(stream, co_await remote.open(get_call(objects, key, range.offset, end)));
    // Some servers answer a range outside, or of an empty blob, with anything but 416.
    outside =
        stream.head().status == kRangeNotSatisfiable || (partial && !content_range(stream.head()));
  }
  // Then the range is empty, or its offset wrong; the blob's size tells.
  MR_CO_TRY(auto info,
            outside ? co_await objects.stat(key) : info_of(stream.head(), key, remote.wall()));
  MR_CO_TRY(auto checked, VerifiedRange::make(std::move(info), range));
  if (!outside && partial) {
    MR_CO_TRY_VOID(check_range(stream.head(), key, range.offset));
  }
  if (outside && checked.left_bytes() > 0) co_return fail(not_what_was_asked(key));
  co_return std::make_unique<RemoteReader>(remote, objects, std::move(checked), std::move(stream));
}

}  // namespace millrace::blob
