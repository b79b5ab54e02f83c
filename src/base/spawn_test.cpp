#include "base/spawn.h"

#include "base/event.h"
#include "base/run.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace millrace {
namespace {

awaitable<void> throws() {
  throw std::runtime_error("bug");
  co_return;
}

TEST(TaskGroup, JoinsWhenTheLastTaskHasEndedAlsoThoseAddedByTasks) {
  boost::asio::io_context io(1);
  Logger log = Logger::silent();
  TaskGroup group(io.get_executor(), log);
  Event go;
  int ended = 0;
  auto inner = [](Event on, int* count) -> awaitable<void> {
    co_await on.wait();
    ++*count;
  };
  auto outer = [](TaskGroup* tasks, awaitable<void> more, Event on, int* count) -> awaitable<void> {
    tasks->add("inner", std::move(more));
    on.set();
    ++*count;
    co_return;
  };
  group.add("outer", outer(&group, inner(go, &ended), go, &ended));
  EXPECT_EQ(group.running(), 1U);
  run_blocking(io, group.join());
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(group.running(), 0U);
  run_blocking(io, group.join());  // At once.
}

TEST(TaskGroupDeathTest, MustBeJoinedBeforeItGoesAway) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        boost::asio::io_context io(1);
        Logger log = Logger::silent();
        TaskGroup group(io.get_executor(), log);
        auto task = [](Event event) -> awaitable<void> { co_await event.wait(); };
        group.add("forgotten", task(Event()));
      },
      "invariant failed: running");
}

TEST(SpawnDeathTest, AbortsWithTheNameOfATaskThatThrows) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        boost::asio::io_context io(1);
        SystemClock clock;
        auto log = Logger::to_stderr(clock, Logger::Format::json, LogLevel::info);
        spawn(io.get_executor(), throws(), log, "the culprit");
        io.run();
      },
      "the culprit.*bug");
}

awaitable<void> note(std::vector<int>* order, int number) {
  order->push_back(number);
  co_return;
}

TEST(SpawnLater, RunsBehindAllThatIsReadyAlsoWhenStartedFromWithin) {
  boost::asio::io_context io(1);
  Logger log = Logger::silent();
  std::vector<int> order;
  auto first = [](boost::asio::io_context* where, Logger* to,
                  std::vector<int>* seen) -> awaitable<void> {
    spawn_later(where->get_executor(), note(seen, 3), *to, "later");
    seen->push_back(1);
    co_return;
  };
  spawn(io.get_executor(), first(&io, &log, &order), log, "first");
  spawn(io.get_executor(), note(&order, 2), log, "second");
  io.run();
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(RunBlocking, ThrowsOnWhatTheTaskThrew) {
  EXPECT_THROW(run_blocking(throws()), std::runtime_error);
}

}  // namespace
}  // namespace millrace
