#include "base/clock.h"

#include "base/run.h"
#include "base/spawn.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

namespace millrace {
namespace {

using namespace std::chrono_literals;

class ManualClockTest : public ::testing::Test {
 protected:
  void add_sleeper(Clock::Duration duration, int number) {
    auto task = [](ManualClock* clock, Clock::Duration time, std::vector<int>* woken,
                   int me) -> awaitable<void> {
      co_await clock->sleep_for(time);
      woken->push_back(me);
    };
    group_.add("sleeper", task(&clock_, duration, &woken_, number));
  }

  boost::asio::io_context io_{1};
  ManualClock clock_;
  Logger log_ = Logger::silent();
  TaskGroup group_{io_.get_executor(), log_};
  std::vector<int> woken_;
};

TEST_F(ManualClockTest, WakesSleepersWhenTheirTimeHasCome) {
  add_sleeper(3s, 3);
  add_sleeper(1s, 1);
  add_sleeper(0s, 0);
  run_blocking(io_, clock_.wait_for_sleepers(2));
  EXPECT_EQ(clock_.next_wakeup(), clock_.now() + 1s);
  clock_.advance(999ms);
  EXPECT_EQ(clock_.sleepers(), 2U);
  clock_.advance(1ms);
  EXPECT_EQ(clock_.sleepers(), 1U);
  clock_.advance(1h);
  run_blocking(io_, group_.join());
  EXPECT_EQ(woken_, (std::vector{0, 1, 3}));
}

TEST_F(ManualClockTest, MovesBothClocksTogetherAndTheWallAlone) {
  const auto now = clock_.now();
  const auto wall = clock_.wall();
  clock_.advance(5s);
  EXPECT_EQ(clock_.now() - now, 5s);
  EXPECT_EQ(clock_.wall() - wall, 5s);
  clock_.set_wall(wall - 1h);
  EXPECT_EQ(clock_.now() - now, 5s);
  EXPECT_EQ(clock_.wall(), wall - 1h);
}

TEST_F(ManualClockTest, ForgetsASleeperThatIsCancelled) {
  using namespace boost::asio::experimental::awaitable_operators;
  auto task = [](ManualClock* clock) -> awaitable<std::size_t> {
    const auto executor = co_await boost::asio::this_coro::executor;
    const auto first =
        co_await (clock->sleep_for(1h) || boost::asio::post(executor, boost::asio::use_awaitable));
    co_return first.index();
  };
  EXPECT_EQ(run_blocking(io_, task(&clock_)), 1U);
  EXPECT_EQ(clock_.sleepers(), 0U);
}

TEST(SystemClockTest, SleepsAtLeastAsLongAsAsked) {
  SystemClock clock;
  const auto before = clock.now();
  run_blocking(clock.sleep_for(5ms));
  EXPECT_GE(clock.now() - before, 5ms);
}

}  // namespace
}  // namespace millrace
