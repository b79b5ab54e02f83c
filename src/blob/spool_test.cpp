#include "blob/spool.h"

#include "base/run.h"
#include "blob/disk.h"

#include <boost/asio/thread_pool.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace millrace::blob {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

class BlobSpool : public testing::Test {
 protected:
  BlobSpool() {
    std::string name = (fs::temp_directory_path() / "millrace_spool_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~BlobSpool() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(BlobSpool, GivesItsPartsAgainAndAgain) {
  SpoolSpace space(folder_, 1000);
  const auto spool = Spool::make(space).value();
  ASSERT_TRUE(spool->append(bytes_of("0123456789")).has_value());
  ASSERT_TRUE(spool->append(bytes_of("abcdef")).has_value());
  EXPECT_EQ(spool->size_bytes(), 16U);
  EXPECT_TRUE(fs::is_empty(folder_)) << "the file has no name";

  boost::asio::thread_pool pool(1);
  for (int i = 0; i < 2; ++i) {
    SpoolSource source(*spool, 8, 5, pool.get_executor());
    std::string text;
    std::vector<std::byte> buffer(3);
    for (;;) {
      const auto size = run_blocking(source.read(buffer));
      ASSERT_TRUE(size.has_value());
      if (*size == 0) break;
      text.append(reinterpret_cast<const char*>(buffer.data()), *size);
    }
    EXPECT_EQ(text, "89abc");
  }
}

TEST_F(BlobSpool, AllSpoolsTogetherAreBounded) {
  SpoolSpace space(folder_, 10);
  auto first = Spool::make(space).value();
  const auto second = Spool::make(space).value();
  ASSERT_TRUE(first->append(bytes_of("0123456")).has_value());
  const auto refused = second->append(bytes_of("0123"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::throttled);
  EXPECT_TRUE(second->append(bytes_of("012")).has_value());
  first.reset();
  EXPECT_EQ(space.used_bytes(), 3U);
  EXPECT_TRUE(second->append(bytes_of("0123")).has_value());
}

TEST_F(BlobSpool, MissingFolderIsAnError) {
  SpoolSpace space(folder_ / "missing", 10);
  EXPECT_FALSE(Spool::make(space).has_value());
}

TEST_F(BlobSpool, DiskWorkRunsOnThePoolAndComesBack) {
  boost::asio::thread_pool pool(1);
  const auto work = [](Executor disk) -> Task<bool> {
    const auto before = std::this_thread::get_id();
    MR_CO_TRY(const auto inside, co_await on_disk(disk, []() -> Result<std::thread::id> {
                return std::this_thread::get_id();
              }));
    co_return inside != before&& std::this_thread::get_id() == before;
  };
  EXPECT_TRUE(run_blocking(work(pool.get_executor())).value());
}

}  // namespace
}  // namespace millrace::blob
