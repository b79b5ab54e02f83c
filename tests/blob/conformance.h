// BlobConformance: what the tests of every store share: putting, getting, and the world they do it
// in.
#pragma once

#include "base/run.h"
#include "world.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace millrace::test {

// `size` bytes that do not repeat themselves in any short period; another seed, other bytes.
std::string content(std::size_t size, std::uint64_t seed = 1);

class BlobConformance : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override { world_ = make_world(GetParam(), ground_); }

  blob::BlobStore& store() { return world_->store(); }

  template <class T>
  Result<T> run(Task<T> task) {
    return run_blocking(ground_.io, std::move(task));
  }

  // In pieces of 300 000 bytes.
  Result<blob::BlobInfo> put(const std::string& text, blob::PutOptions options = {}) {
    return run(put_task(&store(), text, std::move(options)));
  }
  static Task<blob::BlobInfo> put_task(blob::BlobStore* store, std::string text,
                                       blob::PutOptions options);

  Result<std::string> get(const blob::BlobKey& key, blob::ByteRange range = {},
                          std::size_t piece = 70'000) {
    return run(get_task(&store(), key, range, piece));
  }
  static Task<std::string> get_task(blob::BlobStore* store, blob::BlobKey key,
                                    blob::ByteRange range, std::size_t piece);

  // All pages, by `limit`.
  std::vector<blob::BlobInfo> list_all(std::size_t limit);

  // A plain GET without credentials.
  http::Response fetch(const std::string& url);

  Ground ground_;
  std::unique_ptr<World> world_;
};

}  // namespace millrace::test
