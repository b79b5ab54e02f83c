#include "base/event.h"

#include "base/run.h"
#include "base/spawn.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace millrace {
namespace {

using namespace std::chrono_literals;

TEST(Event, StaysSetUntilReset) {
  Event event;
  EXPECT_FALSE(event.is_set());
  event.set();
  EXPECT_TRUE(run_blocking(event.wait()));
  event.reset();
  EXPECT_FALSE(run_blocking(event.wait_for(1ms)));
}

TEST(Event, WakesAWaiterFromAnotherThread) {
  for (int i = 0; i < 200; ++i) {
    Event event;
    std::jthread setter([event]() mutable { event.set(); });
    EXPECT_TRUE(run_blocking(event.wait()));
  }
}

TEST(Event, WakesAllWaitersOnManyThreads) {
  boost::asio::thread_pool threads(3);
  Logger log = Logger::silent();
  Event event;
  std::atomic<int> woken = 0;
  auto task = [](Event on, std::atomic<int>* count) -> awaitable<void> {
    if (co_await on.wait()) ++*count;
  };
  for (int i = 0; i < 50; ++i)
    spawn(boost::asio::make_strand(threads), task(event, &woken), log, "waiter");
  event.set();
  threads.join();
  EXPECT_EQ(woken, 50);
}

TEST(Event, EndsItsWaitWhenCancelled) {
  using namespace boost::asio::experimental::awaitable_operators;
  auto task = [](Event event) -> awaitable<std::size_t> {
    const auto executor = co_await boost::asio::this_coro::executor;
    const auto first =
        co_await (event.wait() || boost::asio::post(executor, boost::asio::use_awaitable));
    co_return first.index();
  };
  EXPECT_EQ(run_blocking(task(Event())), 1U);
}

TEST(Event, LetsGoOfACoroutineWhoseContextIsDestroyed) {
  Event event;
  Logger log = Logger::silent();
  auto witness = std::make_shared<int>(1);
  {
    boost::asio::io_context io(1);
    auto task = [](Event on, std::shared_ptr<int>) -> awaitable<void> { co_await on.wait(); };
    spawn(io.get_executor(), task(event, witness), log, "abandoned");
    io.poll();
    EXPECT_GT(witness.use_count(), 1);
  }
  EXPECT_EQ(witness.use_count(), 1);
  event.set();  // Nobody is left to wake.
}

}  // namespace
}  // namespace millrace
