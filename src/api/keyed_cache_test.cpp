#include "api/keyed_cache.h"

#include "base/run.h"
#include "base/spawn.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::api {
namespace {

using std::chrono::milliseconds;
using Cache = KeyedCache<std::string, int>;

class KeyedCacheTest : public testing::Test {
 protected:
  Cache make(std::size_t entries_max = 100) {
    return Cache(clock_, {.ttl = milliseconds(1000), .entries_max = entries_max},
                 [this](std::string key) -> Task<int> {
                   ++asked_;
                   if (hold_) (void)co_await answered_.wait();
                   if (fails_) co_return fail(ErrorKind::unavailable, "away");
                   co_return static_cast<int>(key.size());
                 });
  }
  int get(Cache& cache, std::string key) {
    const auto answer = run_blocking(io_, cache.get(std::move(key)));
    return answer ? *answer : -1;
  }

  boost::asio::io_context io_{1};
  ManualClock clock_;
  Logger log_ = Logger::silent();
  Event answered_;
  int asked_ = 0;
  bool hold_ = false;
  bool fails_ = false;
};

TEST_F(KeyedCacheTest, AsksOnceWhileTheAnswerIsYoung) {
  auto cache = make();
  EXPECT_EQ(get(cache, "abc"), 3);
  EXPECT_EQ(get(cache, "abc"), 3);
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(get(cache, "ab"), 2);
  EXPECT_EQ(asked_, 2);
  clock_.advance(milliseconds(1000));
  EXPECT_EQ(get(cache, "abc"), 3);
  EXPECT_EQ(asked_, 3);
  cache.forget("abc");
  EXPECT_EQ(get(cache, "abc"), 3);
  EXPECT_EQ(asked_, 4);
}

TEST_F(KeyedCacheTest, TellsWhatItKnowsWithoutAsking) {
  auto cache = make();
  EXPECT_EQ(cache.known("abc"), std::nullopt);
  get(cache, "abc");
  EXPECT_EQ(cache.known("abc"), 3);
  clock_.advance(milliseconds(1000));
  EXPECT_EQ(cache.known("abc"), std::nullopt);
  EXPECT_EQ(asked_, 1);
}

TEST_F(KeyedCacheTest, WhatIsTooOldCanBeForgottenWithoutAnybodyAsking) {
  auto cache = make();
  get(cache, "old");
  clock_.advance(milliseconds(600));
  get(cache, "young");
  clock_.advance(milliseconds(600));
  cache.forget_expired();
  EXPECT_EQ(cache.size(), 1U);
  get(cache, "young");
  EXPECT_EQ(asked_, 2);
}

TEST_F(KeyedCacheTest, ErrorsAreNotKept) {
  auto cache = make();
  fails_ = true;
  EXPECT_EQ(get(cache, "abc"), -1);
  fails_ = false;
  EXPECT_EQ(get(cache, "abc"), 3);
  EXPECT_EQ(asked_, 2);
}

TEST_F(KeyedCacheTest, ManyWhoAskAtOnceShareOneQuestion) {
  auto cache = make();
  hold_ = true;
  std::vector<int> answers;
  TaskGroup tasks(io_.get_executor(), log_);
  for (int i = 0; i < 10; ++i) {
    tasks.add("ask", [](Cache& asked, std::vector<int>& out) -> awaitable<void> {
      const auto answer = co_await asked.get("abc");
      out.push_back(answer ? *answer : -1);
    }(cache, answers));
  }
  io_.poll();
  EXPECT_EQ(asked_, 1);
  EXPECT_TRUE(answers.empty());
  answered_.set();
  run_blocking(io_, tasks.join());
  EXPECT_EQ(answers, std::vector<int>(10, 3));
  EXPECT_EQ(asked_, 1);
}

TEST_F(KeyedCacheTest, InventedKeysDoNotFillMemory) {
  auto cache = make(10);
  for (int i = 0; i < 1000; ++i) (void)get(cache, "key " + std::to_string(i));
  EXPECT_LE(cache.size(), 10U);
}

}  // namespace
}  // namespace millrace::api
