#include "base/cancel.h"

#include "base/run.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

namespace millrace {
namespace {

namespace asio = boost::asio;

awaitable<void> cancel_from_coroutine(CancelSource source) {
  source.cancel("asked to");
  co_return;
}

awaitable<void> nothing() { co_return; }

awaitable<void> wait_and_count(CancelToken token, std::atomic<int>* woken) {
  co_await token.wait();
  if (token.cancelled()) ++*woken;
}

TEST(CancelToken, DefaultTokenIsNeverCancelled) {
  const CancelToken token;
  EXPECT_FALSE(token.cancelled());
  EXPECT_EQ(token.reason(), "");
}

TEST(CancelToken, KeepsTheFirstReason) {
  CancelSource source;
  const CancelToken token = source.token();
  EXPECT_FALSE(token.cancelled());
  EXPECT_EQ(token.reason(), "");
  EXPECT_TRUE(source.cancel("lease lost"));
  EXPECT_FALSE(source.cancel("timeout"));
  EXPECT_TRUE(token.cancelled());
  EXPECT_EQ(token.reason(), "lease lost");
}

TEST(CancelToken, OutlivesItsSource) {
  CancelToken token;
  {
    CancelSource source;
    token = source.token();
    source.cancel("gone");
  }
  EXPECT_TRUE(token.cancelled());
  EXPECT_EQ(token.reason(), "gone");
}

TEST(CancelToken, WaitEndsWhenCancelled) {
  using namespace asio::experimental::awaitable_operators;
  asio::io_context io;
  CancelSource source;
  std::atomic<int> woken = 0;
  run_blocking(io, wait_and_count(source.token(), &woken) && cancel_from_coroutine(source));
  EXPECT_EQ(woken, 1);
}

TEST(CancelToken, WaitEndsAtOnceWhenAlreadyCancelled) {
  CancelSource source;
  source.cancel("before");
  std::atomic<int> woken = 0;
  run_blocking(wait_and_count(source.token(), &woken));
  EXPECT_EQ(woken, 1);
}

TEST(CancelToken, WaitEndsWithTheWorkBesideIt) {
  using namespace asio::experimental::awaitable_operators;
  const CancelSource source;
  const auto first = run_blocking(nothing() || source.token().wait());
  EXPECT_EQ(first.index(), 0U);
  EXPECT_FALSE(source.cancelled());
}

TEST(CancelToken, AbandonedWaitLeaksNothing) {
  CancelSource source;
  std::atomic<int> woken = 0;
  {
    asio::io_context io;
    asio::co_spawn(io, wait_and_count(source.token(), &woken), [](std::exception_ptr) {});
    io.poll();
  }
  source.cancel("too late");
  EXPECT_EQ(woken, 0);
}

TEST(CancelToken, WakesWaitersOnManyThreadsWhoeverComesFirst) {
  for (int round = 0; round < 50; ++round) {
    asio::thread_pool pool(3);
    CancelSource source;
    std::atomic<int> woken = 0;
    std::atomic<int> claimed = 0;
    constexpr int kWaiters = 20;
    for (int i = 0; i < kWaiters; ++i) {
      asio::co_spawn(pool, wait_and_count(source.token(), &woken), [](std::exception_ptr) {});
      if (i % 5 == 0) asio::post(pool, [&] { claimed += source.cancel("race") ? 1 : 0; });
    }
    pool.join();
    EXPECT_EQ(woken, kWaiters);
    EXPECT_EQ(claimed, 1);
  }
}

TEST(CancelCallback, RunsOnceOnCancel) {
  CancelSource source;
  int calls = 0;
  const CancelCallback callback(source.token(), [&] { ++calls; });
  EXPECT_EQ(calls, 0);
  source.cancel("now");
  source.cancel("again");
  EXPECT_EQ(calls, 1);
}

TEST(CancelCallback, SeesTheReason) {
  CancelSource source;
  std::string seen;
  const CancelCallback callback(source.token(),
                                [&, token = source.token()] { seen = token.reason(); });
  source.cancel("because");
  EXPECT_EQ(seen, "because");
}

TEST(CancelCallback, RunsAtOnceWhenAlreadyCancelled) {
  CancelSource source;
  source.cancel("before");
  int calls = 0;
  const CancelCallback callback(source.token(), [&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(CancelCallback, DoesNotRunAfterItsDestructor) {
  CancelSource source;
  int calls = 0;
  {
    const CancelCallback callback(source.token(), [&] { ++calls; });
  }
  source.cancel("late");
  EXPECT_EQ(calls, 0);
}

TEST(CancelCallback, MayDestroyTheSourceThatCallsIt) {
  auto source = std::make_unique<CancelSource>();
  const CancelToken token = source->token();
  const CancelCallback callback(token, [&] { source.reset(); });
  source->cancel("self");
  EXPECT_EQ(source, nullptr);
  EXPECT_EQ(token.reason(), "self");
}

TEST(CancelCallback, DestructorWaitsForACallUnderWay) {
  for (int round = 0; round < 200; ++round) {
    CancelSource source;
    auto target = std::make_unique<int>(0);
    std::latch ready(2);
    auto callback = std::make_unique<CancelCallback>(source.token(), [&] { ++*target; });
    const std::jthread canceller([&] {
      ready.arrive_and_wait();
      source.cancel("race");
    });
    ready.arrive_and_wait();
    callback.reset();
    target.reset();  // A call after the destructor would write through a null pointer.
  }
}

}  // namespace
}  // namespace millrace
