// What pg::Connection says when the server is not there, stops answering or goes away: whether the
// statement may have taken effect is the point of every case.
#include "base/run.h"
#include "pg/sync_connection.h"
#include "support/database.h"
#include "support/gate.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>

namespace millrace::pg {
namespace {

using namespace std::chrono_literals;
using test::must;

class PgFailure : public ::testing::Test {
 protected:
  PgFailure() { must(db_.script("create table t (id int)")); }

  std::int64_t count() { return must(db_.query("select count(*) from t"))[0].i64(0); }
  SyncConnection through_gate() {
    return must(SyncConnection::connect(gate_.url(database_.name())));
  }

  test::TestDatabase database_ = test::TestDatabase::empty();
  SyncConnection db_ = database_.connect();
  test::Gate gate_{test::Server::get()};
};

TEST_F(PgFailure, SaysWhyItCannotConnect) {
  const auto nobody = SyncConnection::connect("postgresql://nobody@/postgres?host=/nonexistent");
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().kind, ErrorKind::unavailable);
  EXPECT_TRUE(nobody.error().message.contains("/nonexistent"));
  EXPECT_FALSE(nobody.error().message.contains('\n'));

  const auto no_database = SyncConnection::connect(test::Server::get().url("no_such_database"));
  ASSERT_FALSE(no_database);
  EXPECT_TRUE(no_database.error().message.contains("\"no_such_database\" does not exist"));
}

TEST_F(PgFailure, GivesUpOnAServerThatDoesNotAnswer) {
  gate_.hold_answers();
  auto options = connect_options(gate_.url(database_.name()));
  options.connect_timeout = 50ms;
  const auto late = SyncConnection::connect(std::move(options));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, ErrorKind::unavailable);
  EXPECT_TRUE(late.error().message.contains("no answer"));
}

TEST_F(PgFailure, TriesTheNextHostWhenOneDoesNotAnswer) {
  gate_.hold_answers();
  const test::Gate second(test::Server::get());
  const auto first_url = gate_.url(database_.name());
  const auto second_url = second.url(database_.name());
  const auto port = [](const std::string& url) {
    const auto at = url.find("127.0.0.1:") + 10;
    return url.substr(at, url.find('/', at) - at);
  };
  for (const auto* attrs : {"any", "read-write", "prefer-standby"}) {
    auto options = connect_options(fmt::format(
        "host=127.0.0.1,localhost port={},{} dbname={} user=postgres target_session_attrs={}",
        port(first_url), port(second_url), database_.name(), attrs));
    options.connect_timeout = 2s;
    auto db = must(SyncConnection::connect(std::move(options)));
    EXPECT_EQ(must(db.query("select 7"))[0].i64(0), 7);
  }
}

TEST_F(PgFailure, IsInDoubtWhenTheAnswerToACommitIsLost) {
  auto db = through_gate();
  must(db.begin());
  must(db.query("insert into t values (1)"));
  gate_.hold_answers();
  auto commit = std::async(std::launch::async, [&] { return db.commit(); });
  gate_.wait_for_held_answer();
  gate_.cut();
  const auto committed = commit.get();
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().kind, ErrorKind::in_doubt);
  EXPECT_FALSE(db.healthy());
  EXPECT_EQ(count(), 1);
}

TEST_F(PgFailure, IsInDoubtWhenACommitNeverArrives) {
  auto db = through_gate();
  must(db.begin());
  must(db.query("insert into t values (1)"));
  gate_.hold_requests();
  auto commit = std::async(std::launch::async, [&] { return db.commit(); });
  gate_.wait_for_held_request();
  gate_.cut();
  EXPECT_EQ(commit.get().error().kind, ErrorKind::in_doubt);
  EXPECT_EQ(count(), 0);
}

TEST_F(PgFailure, IsInDoubtWhenTheAnswerToASingleStatementIsLost) {
  auto db = through_gate();
  gate_.hold_answers();
  auto insert =
      std::async(std::launch::async, [&] { return db.query("insert into t values (1)"); });
  gate_.wait_for_held_answer();
  gate_.cut();
  EXPECT_EQ(insert.get().error().kind, ErrorKind::in_doubt);
}

TEST_F(PgFailure, IsUnavailableWhenAStatementInATransactionIsLost) {
  auto db = through_gate();
  must(db.begin());
  gate_.hold_answers();
  auto insert =
      std::async(std::launch::async, [&] { return db.query("insert into t values (1)"); });
  gate_.wait_for_held_answer();
  gate_.cut();
  EXPECT_EQ(insert.get().error().kind, ErrorKind::unavailable);
  EXPECT_TRUE(db.rollback());  // Nothing is left to roll back.
  EXPECT_EQ(count(), 0);
}

TEST_F(PgFailure, IsUnavailableWhenAReadOnlyStatementIsLost) {
  auto db = through_gate();
  gate_.hold_answers();
  auto select = std::async(std::launch::async, [&] {
    return db.query("select count(*) from t", {}, QueryOptions(60s, true));
  });
  gate_.wait_for_held_answer();
  gate_.cut();
  EXPECT_EQ(select.get().error().kind, ErrorKind::unavailable);
}

TEST_F(PgFailure, IsInDoubtWhenTheAnswerToAPipelineIsLost) {
  auto db = through_gate();
  gate_.hold_answers();
  auto pipeline = std::async(std::launch::async, [&] {
    return db.pipeline({{"insert into t values (1)", {}}, {"insert into t values (2)", {}}});
  });
  gate_.wait_for_held_answer();
  gate_.cut();
  const auto results = pipeline.get();
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().kind, ErrorKind::in_doubt);
}

TEST_F(PgFailure, IsUnavailableWhenTheServerEndsTheSessionDuringAStatement) {
  auto victim = database_.connect();
  must(db_.begin());
  must(db_.query("lock table t"));
  const int pid = victim.backend_pid();
  auto insert =
      std::async(std::launch::async, [&] { return victim.query("insert into t values (1)"); });
  // The victim waits for our lock before it is ended: nothing of it can have been done.
  while (must(db_.query("select count(*) from pg_locks where pid = $1 and not granted",
                        params(pid)))[0]
             .i64(0) == 0) {
  }
  must(db_.query("select pg_terminate_backend($1)", params(pid)));
  const auto inserted = insert.get();
  ASSERT_FALSE(inserted);
  EXPECT_EQ(inserted.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(inserted.error().sqlstate, "57P01");
  must(db_.rollback());
  EXPECT_EQ(count(), 0);
}

TEST_F(PgFailure, KnowsThatNothingWasSentToASessionThatEndedWhileIdle) {
  auto victim = database_.connect();
  must(db_.query("select pg_terminate_backend($1, 10000)", params(victim.backend_pid())));
  const auto inserted = victim.query("insert into t values (1)");
  ASSERT_FALSE(inserted);
  EXPECT_EQ(inserted.error().kind, ErrorKind::unavailable);
  EXPECT_FALSE(victim.healthy());
}

TEST_F(PgFailure, CancelsAStatementThatTakesTooLong) {
  must(db_.begin());
  must(db_.query("lock table t"));
  auto other = database_.connect();
  const auto blocked = other.query("insert into t values (1)", {}, 50ms);
  ASSERT_FALSE(blocked);
  EXPECT_EQ(blocked.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(blocked.error().sqlstate, "57014");
  EXPECT_TRUE(blocked.error().message.contains("50 ms"));
  EXPECT_FALSE(other.healthy());  // The cancellation might still hit what comes next.
  must(db_.rollback());
  EXPECT_EQ(count(), 0);
}

TEST_F(PgFailure, EndsAStatementThatIsAbandonedByItsCaller) {
  using namespace boost::asio::experimental::awaitable_operators;
  auto task = [](std::string url) -> awaitable<bool> {
    const auto executor = co_await boost::asio::this_coro::executor;
    auto connection = must(co_await Connection::connect(executor, connect_options(url)));
    boost::asio::steady_timer timer(executor, 20ms);
    const auto first = co_await (connection->query("select pg_sleep(30)") ||
                                 timer.async_wait(boost::asio::use_awaitable));
    EXPECT_EQ(first.index(), 1U);
    co_return connection->healthy();
  };
  EXPECT_FALSE(run_blocking(task(database_.url())));
}

TEST_F(PgFailure, IsStillUsableAfterWaitingForANotificationWasAbandoned) {
  using namespace boost::asio::experimental::awaitable_operators;
  auto task = [](std::string url) -> awaitable<std::int64_t> {
    const auto executor = co_await boost::asio::this_coro::executor;
    auto connection = must(co_await Connection::connect(executor, connect_options(url)));
    boost::asio::steady_timer timer(executor, 1ms);
    co_await (connection->wait_notification(30s) || timer.async_wait(boost::asio::use_awaitable));
    co_return must(co_await connection->query("select 5"))[0].i64(0);
  };
  EXPECT_EQ(run_blocking(task(database_.url())), 5);
}

// libpq closes the socket of a connection that breaks, so that its number is soon another's.
TEST_F(PgFailure, ABrokenConnectionLetsGoOfNothingThatIsAnothers) {
  const auto task = [this]() -> awaitable<void> {
    const auto executor = co_await boost::asio::this_coro::executor;
    auto broken =
        must(co_await Connection::connect(executor, connect_options(gate_.url(database_.name()))));
    must(co_await broken->query("select 1"));
    gate_.cut();
    while (broken->check_idle()) co_await boost::asio::post(boost::asio::use_awaitable);
    std::vector<std::unique_ptr<Connection>> others;
    for (int i = 0; i < 8; ++i) {
      others.push_back(
          must(co_await Connection::connect(executor, connect_options(database_.url()))));
    }
    broken.reset();
    for (auto& other : others) {
      EXPECT_EQ(must(co_await other->query("select 6", {}, QueryOptions(10s)))[0].i64(0), 6);
    }
  };
  run_blocking(task());
}

}  // namespace
}  // namespace millrace::pg
