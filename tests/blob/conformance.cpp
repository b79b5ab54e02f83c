#include "conformance.h"

#include "support/must.h"

#include <algorithm>

namespace millrace::test {

std::string content(std::size_t size, std::uint64_t seed) {
  SeededRandom random(seed);
  std::string text;
  text.reserve(size + 8);
  while (text.size() < size) {
    const auto number = random.next();
    text.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  text.resize(size);
  return text;
}

Task<blob::BlobInfo> BlobConformance::put_task(blob::BlobStore* store, std::string text,
                                               blob::PutOptions options) {
  constexpr std::size_t kPiece = 300'000;
  MR_CO_TRY(const auto writer, co_await store->create(std::move(options)));
  for (std::size_t i = 0; i < text.size(); i += kPiece) {
    const auto piece = std::string_view(text).substr(i, kPiece);
    MR_CO_TRY_VOID(co_await writer->write(std::as_bytes(std::span(piece))));
  }
  co_return co_await writer->finish();
}

Task<std::string> BlobConformance::get_task(blob::BlobStore* store, blob::BlobKey key,
                                            blob::ByteRange range, std::size_t piece) {
  MR_CO_TRY(const auto reader, co_await store->open(key, range));
  std::string text;
  std::vector<std::byte> buffer(piece);
  for (;;) {
    const auto left = reader->left_bytes();
    MR_CO_TRY(const std::size_t size, co_await reader->read(buffer));
    if (size == 0 && left > 0) co_return fail(ErrorKind::internal, "ended early");
    if (size == 0) co_return text;
    if (size > left) co_return fail(ErrorKind::internal, "more than was left");
    text.append(reinterpret_cast<const char*>(buffer.data()), size);
  }
}

std::vector<blob::BlobInfo> BlobConformance::list_all(std::size_t limit) {
  std::vector<blob::BlobInfo> all;
  std::string cursor;
  do {
    const auto page = must(run(store().list({.cursor = cursor, .limit = limit})));
    EXPECT_LE(page.blobs.size(), limit);
    all.insert(all.end(), page.blobs.begin(), page.blobs.end());
    cursor = page.cursor;
  } while (!cursor.empty());
  std::ranges::sort(all, {}, &blob::BlobInfo::key);
  return all;
}

http::Response BlobConformance::fetch(const std::string& url) {
  return must(run(ground_.client.send({.url = url})));
}

}  // namespace millrace::test
