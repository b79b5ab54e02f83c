#include "base/either.h"

#include "base/clock.h"
#include "base/event.h"
#include "base/run.h"

#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace millrace {
namespace {

using namespace either;
using namespace std::chrono_literals;

awaitable<int> give(int value) { co_return value; }

awaitable<void> yield() {
  co_await boost::asio::post(co_await boost::asio::this_coro::executor, boost::asio::use_awaitable);
}

awaitable<void> break_after_a_while() {
  co_await yield();
  throw std::runtime_error("broken");
}

TEST(Either, GivesTheValueOfTheOneThatEnds) {
  Event never;
  const auto first = run_blocking(give(7) || never.wait());
  ASSERT_EQ(first.index(), 0U);
  EXPECT_EQ(std::get<0>(first), 7);
  const auto second = run_blocking(never.wait() || give(8));
  ASSERT_EQ(second.index(), 1U);
  EXPECT_EQ(std::get<1>(second), 8);
}

TEST(Either, AnExceptionIsThrownAtOnceAndNotWhenTheOtherEnds) {
  Event never;
  EXPECT_THROW(run_blocking(break_after_a_while() || never.wait()), std::runtime_error);
  EXPECT_THROW(run_blocking(never.wait() || break_after_a_while()), std::runtime_error);
}

TEST(Either, AnExceptionOfTheOneThatWasCancelledIsThrownToo) {
  const auto breaks_when_stopped = []() -> awaitable<void> {
    Event never;
    co_await never.wait();
    throw std::runtime_error("broken while stopping");
  };
  EXPECT_THROW(run_blocking(yield() || breaks_when_stopped()), std::runtime_error);
}

TEST(Either, TheOtherIsGoneWhenItReturns) {
  Event never;
  bool gone = false;
  struct Leaves {
    bool* gone;
    ~Leaves() { *gone = true; }
  };
  const auto waits = [&]() -> awaitable<void> {
    const Leaves leaves{&gone};
    for (;;) co_await never.wait();  // The second wait throws: the coroutine was cancelled.
  };
  run_blocking(yield() || waits());
  EXPECT_TRUE(gone);
}

TEST(Either, ThreeSidesWorkLikeTwo) {
  Event never;
  Event happened;
  happened.set();
  run_blocking(never.wait() || never.wait() || happened.wait());
  EXPECT_THROW(run_blocking(break_after_a_while() || never.wait() || never.wait()),
               std::runtime_error);
}

TEST(Either, AValueNeedsNoDefaultConstructor) {
  struct Strict {
    explicit Strict(std::string given) : text(std::move(given)) {}
    std::string text;
  };
  const auto make = []() -> awaitable<Strict> { co_return Strict("made"); };
  Event never;
  const auto got = run_blocking(make() || never.wait());
  EXPECT_EQ(std::get<0>(got).text, "made");
}

}  // namespace
}  // namespace millrace
