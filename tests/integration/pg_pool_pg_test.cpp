// pg::Pool against a real server: sharing, order, limits, and coming back after the server was
// away.
#include "base/run.h"
#include "base/spawn.h"
#include "pg/pool.h"
#include "support/database.h"
#include "support/gate.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

#include <atomic>

namespace millrace::pg {
namespace {

using namespace std::chrono_literals;
using test::must;

class PgPool : public ::testing::Test {
 protected:
  Pool make_pool(PoolOptions options) {
    return {io_.get_executor(), connect_options(url_), options, random_};
  }

  test::TestDatabase database_ = test::TestDatabase::empty();
  std::string url_ = database_.url();
  SeededRandom random_{7};
  Logger log_ = Logger::silent();
  boost::asio::io_context io_{1};
};

TEST_F(PgPool, ReusesAConnectionThatCameBack) {
  auto pool = make_pool({.connections_max = 2});
  const auto pid = [&] {
    auto held = must(run_blocking(io_, pool.acquire(10s)));
    return held->backend_pid();
  };
  const int first = pid();
  EXPECT_EQ(pid(), first);
  EXPECT_EQ(pool.counts().open, 1U);
  EXPECT_EQ(pool.counts().idle, 1U);
}

TEST_F(PgPool, DropsAConnectionThatComesBackInsideATransaction) {
  auto pool = make_pool({.connections_max = 1});
  {
    auto held = must(run_blocking(io_, pool.acquire(10s)));
    must(run_blocking(io_, held->begin()));
  }
  EXPECT_EQ(pool.counts().open, 0U);
  EXPECT_FALSE(must(run_blocking(io_, pool.acquire(10s)))->in_transaction());
}

TEST_F(PgPool, ReplacesAConnectionThatDiedWhileIdle) {
  auto pool = make_pool({.connections_max = 1});
  const int pid = must(run_blocking(io_, pool.acquire(10s)))->backend_pid();
  must(database_.connect().query("select pg_terminate_backend($1, 10000)", params(pid)));
  auto held = must(run_blocking(io_, pool.acquire(10s)));
  EXPECT_NE(held->backend_pid(), pid);
  EXPECT_EQ(must(run_blocking(io_, held->query("select 1")))[0].i64(0), 1);
}

TEST_F(PgPool, ServesWaitersInTheirOrder) {
  auto pool = make_pool({.connections_max = 1});
  std::optional held = must(run_blocking(io_, pool.acquire(10s)));
  std::vector<int> order;
  TaskGroup group(io_.get_executor(), log_);
  for (int i = 0; i < 3; ++i) {
    auto task = [](Pool* from, std::vector<int>* served, int number) -> awaitable<void> {
      auto mine = must(co_await from->acquire(10s));
      served->push_back(number);
    };
    group.add("waiter", task(&pool, &order, i));
  }
  while (pool.counts().waiting < 3) io_.run_one();
  held.reset();
  run_blocking(io_, group.join());
  EXPECT_EQ(order, (std::vector{0, 1, 2}));
}

TEST_F(PgPool, OpensAnotherOnlyWhenCallersHaveWaitedLongEnough) {
  auto patient = make_pool({.connections_max = 2, .grow_after = 1h});
  {
    auto held = must(run_blocking(io_, patient.acquire(10s)));
    const auto late = run_blocking(io_, patient.acquire(50ms));
    ASSERT_FALSE(late.has_value());
    EXPECT_EQ(late.error().kind, ErrorKind::unavailable);
    EXPECT_EQ(patient.counts().open, 1U);
  }
  EXPECT_TRUE(run_blocking(io_, patient.acquire(10s)).has_value());

  auto hasty = make_pool({.connections_max = 2, .grow_after = 5ms});
  auto held = must(run_blocking(io_, hasty.acquire(10s)));
  auto other = must(run_blocking(io_, hasty.acquire(10s)));
  EXPECT_NE(held->backend_pid(), other->backend_pid());
  EXPECT_FALSE(run_blocking(io_, hasty.acquire(50ms)).has_value());  // No more than the most.
  EXPECT_EQ(hasty.counts().open, 2U);
  EXPECT_EQ(hasty.counts().waiting, 0U);
}

TEST_F(PgPool, ManyShortWaitsCountAsALongOne) {
  auto pool = make_pool({.connections_max = 2, .grow_after = 200ms});
  must(run_blocking(io_, pool.acquire(10s))).release();  // The first takes long to open.
  TaskGroup group(io_.get_executor(), log_);
  for (int i = 0; i < 2; ++i) {
    auto task = [](Pool* from) -> awaitable<void> {
      for (int round = 0; round < 10'000 && from->counts().open < 2; ++round) {
        auto mine = must(co_await from->acquire(10s));
        must(co_await mine->query("select pg_sleep(0.001)"));
      }
    };
    group.add("user", task(&pool));
  }
  run_blocking(io_, group.join());
  EXPECT_EQ(pool.counts().open, 2U);
}

TEST_F(PgPool, RefusesMoreWaitersThanItsLimitAndGivesUpInTime) {
  auto pool = make_pool({.connections_max = 1, .waiters_max = 1});
  auto held = must(run_blocking(io_, pool.acquire(10s)));
  std::optional<ErrorKind> waiter_got;
  TaskGroup group(io_.get_executor(), log_);
  auto task = [](Pool* from, std::optional<ErrorKind>* got) -> awaitable<void> {
    *got = (co_await from->acquire(50ms)).error().kind;
  };
  group.add("waiter", task(&pool, &waiter_got));
  while (pool.counts().waiting < 1) io_.run_one();
  EXPECT_EQ(run_blocking(io_, pool.acquire(10s)).error().kind, ErrorKind::throttled);
  run_blocking(io_, group.join());
  EXPECT_EQ(waiter_got, ErrorKind::unavailable);
  EXPECT_EQ(pool.counts().waiting, 0U);
}

TEST_F(PgPool, ComesBackWhenTheServerDoes) {
  test::Gate gate(test::Server::get());
  url_ = gate.url(database_.name());
  gate.refuse(true);
  auto pool = make_pool({.connections_max = 1, .backoff_min = 1ms, .backoff_max = 10ms});
  const auto away = run_blocking(io_, pool.acquire(50ms));
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().kind, ErrorKind::unavailable);
  gate.refuse(false);
  EXPECT_TRUE(must(run_blocking(io_, pool.acquire(30s)))->healthy());
}

// A caller whose time is up before the next attempt is due has tried nothing, so it has not failed:
// or else callers in a hurry would put the attempt off for ever.
TEST_F(PgPool, CallersThatGiveUpEarlyDoNotPutOffTheNextAttempt) {
  test::Gate gate(test::Server::get());
  url_ = gate.url(database_.name());
  gate.refuse(true);
  auto pool = make_pool({.connections_max = 1, .backoff_min = 1s, .backoff_max = 1s});
  const auto away = run_blocking(io_, pool.acquire(400ms));
  ASSERT_FALSE(away);
  gate.refuse(false);
  bool connected = false;
  for (int i = 0; i < 100 && !connected; ++i) {
    const auto held = run_blocking(io_, pool.acquire(100ms));
    connected = held.has_value();
    if (!connected) EXPECT_EQ(held.error().kind, ErrorKind::unavailable);
  }
  EXPECT_TRUE(connected);
}

TEST_F(PgPool, SendsItsWaitersAwayWhenClosed) {
  auto pool = make_pool({.connections_max = 1});
  auto held = must(run_blocking(io_, pool.acquire(10s)));
  std::optional<ErrorKind> waiter_got;
  TaskGroup group(io_.get_executor(), log_);
  auto task = [](Pool* from, std::optional<ErrorKind>* got) -> awaitable<void> {
    *got = (co_await from->acquire(10s)).error().kind;
  };
  group.add("waiter", task(&pool, &waiter_got));
  while (pool.counts().waiting < 1) io_.run_one();
  pool.close();
  run_blocking(io_, group.join());
  EXPECT_EQ(waiter_got, ErrorKind::cancelled);
  EXPECT_EQ(run_blocking(io_, pool.acquire(10s)).error().kind, ErrorKind::cancelled);
  held.release();
  EXPECT_EQ(pool.counts().open, 0U);
}

TEST_F(PgPool, IsSharedByManyThreads) {
  boost::asio::thread_pool threads(4);
  Pool pool(threads.get_executor(), connect_options(url_), {.connections_max = 3}, random_);
  std::atomic<int> done = 0;
  auto task = [](Pool* from, std::atomic<int>* finished) -> awaitable<void> {
    for (int i = 0; i < 20; ++i) {
      auto mine = must(co_await from->acquire(60s));
      must(co_await mine->prepared("one", "select 1"));
    }
    ++*finished;
  };
  for (int i = 0; i < 12; ++i) {
    spawn(boost::asio::make_strand(threads), task(&pool, &done), log_, "user");
  }
  threads.join();
  EXPECT_EQ(done, 12);
  EXPECT_LE(pool.counts().open, 3U);
}

}  // namespace
}  // namespace millrace::pg
