#include "store/wake_fan.h"

#include "base/event.h"
#include "base/spawn.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <utility>

namespace millrace::store {
namespace {

using namespace std::chrono_literals;

// Hints when the test says so.
class ScriptedSource final : public WakeSource {
 public:
  Task<bool> wait(std::chrono::milliseconds timeout) override {
    ++waits;
    if (error) co_return fail(*error);
    if (timeout == 0ms) co_return false;
    if (!co_await hint.wait()) co_return false;
    hint.reset();
    co_return true;
  }

  int waits = 0;
  std::optional<Error> error;
  Event hint;
};

class WakeFanTest : public testing::Test {
 protected:
  using Answer = std::optional<Result<bool>>;

  WakeFanTest() { spawn(io_.get_executor(), fan_.run(), log_, "fan"); }

  static awaitable<void> keep(WakeSource* outlet, std::chrono::milliseconds timeout,
                              Answer* answer) {
    answer->emplace(co_await outlet->wait(timeout));
  }
  const Answer& wait(WakeSource& outlet, std::chrono::milliseconds timeout = 1h) {
    auto& answer = answers_.emplace_back();
    spawn(io_.get_executor(), keep(&outlet, timeout, &answer), log_, "wait");
    settle();
    return answer;
  }
  void TearDown() override {
    fan_.stop();
    settle();
    for (const auto& answer : answers_) EXPECT_TRUE(answer) << "somebody still waits";
  }
  // Until nothing moves by itself.
  void settle() {
    io_.restart();
    while (io_.poll() > 0) {
    }
  }

  boost::asio::io_context io_{1};
  ManualClock clock_;
  Logger log_ = Logger::silent();
  ScriptedSource source_;
  WakeFan fan_{source_, clock_};
  std::unique_ptr<WakeSource> first_ = fan_.outlet();
  std::unique_ptr<WakeSource> second_ = fan_.outlet();
  std::deque<Answer> answers_;  // They stay where they are.
};

TEST_F(WakeFanTest, NothingListensBeforeSomebodyAsks) {
  settle();
  EXPECT_EQ(source_.waits, 0);
  EXPECT_EQ(**wait(*first_, 0ms), false);
  EXPECT_GT(source_.waits, 0);
}

TEST_F(WakeFanTest, EverybodyGetsEveryHint) {
  for (int i = 0; i < 3; ++i) {
    const auto& first = wait(*first_);
    const auto& second = wait(*second_);
    EXPECT_FALSE(first);
    EXPECT_FALSE(second);
    source_.hint.set();
    settle();
    ASSERT_TRUE(first);
    ASSERT_TRUE(second);
    EXPECT_EQ(**first, true);
    EXPECT_EQ(**second, true);
  }
}

TEST_F(WakeFanTest, AHintThatCameWhileNobodyWaitedIsToldOnce) {
  EXPECT_EQ(**wait(*first_, 0ms), false);
  source_.hint.set();
  settle();
  EXPECT_EQ(**wait(*first_), true);
  EXPECT_EQ(**wait(*first_, 0ms), false);
}

TEST_F(WakeFanTest, AFailureIsToldToAllAndPasses) {
  EXPECT_EQ(**wait(*second_, 0ms), false);
  const auto& waiting = wait(*second_);
  source_.error = Error{.kind = ErrorKind::unavailable, .message = "the database is away"};
  source_.hint.set();
  settle();
  EXPECT_EQ(**waiting, true);
  const auto& first = wait(*first_, 0ms);
  const auto& second = wait(*second_);
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  // The hint that came before is news to the first.
  EXPECT_EQ(**first, true);
  EXPECT_FALSE(second->has_value());
  EXPECT_FALSE(wait(*first_)->has_value());
  // From here on the next try is waited for.
  const auto& again = wait(*first_, 0ms);
  EXPECT_FALSE(again);
  source_.error.reset();
  clock_.advance(1s);
  settle();
  ASSERT_TRUE(again);
  EXPECT_EQ(**again, false);
}

TEST_F(WakeFanTest, WhereNoHintEverComesEverybodyIsToldSo) {
  source_.error = Error{.kind = ErrorKind::invalid_argument, .message = "through a pooler"};
  for (auto* outlet : {first_.get(), second_.get(), first_.get()}) {
    const auto& answer = wait(*outlet);
    ASSERT_TRUE(answer);
    ASSERT_FALSE(answer->has_value());
    EXPECT_EQ(answer->error().kind, ErrorKind::invalid_argument);
  }
  clock_.advance(1h);
  settle();
  EXPECT_EQ(source_.waits, 1);
}

TEST_F(WakeFanTest, WhoWaitsWhenItStopsIsToldSo) {
  const auto& waiting = wait(*first_);
  fan_.stop();
  settle();
  ASSERT_TRUE(waiting);
  ASSERT_FALSE(waiting->has_value());
  EXPECT_EQ(waiting->error().kind, ErrorKind::unavailable);
}

}  // namespace
}  // namespace millrace::store
