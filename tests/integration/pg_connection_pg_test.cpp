// pg::Connection against a real server: values, errors, transactions, pipelines, COPY,
// notifications.
#include "base/run.h"
#include "pg/sync_connection.h"
#include "support/database.h"

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

namespace millrace::pg {
namespace {

using namespace std::chrono_literals;
using test::must;

class PgConnection : public ::testing::Test {
 protected:
  test::TestDatabase database_ = test::TestDatabase::empty();
  SyncConnection db_ = database_.connect();
};

TEST_F(PgConnection, GivesBackEveryKindOfValueAsItWasSent) {
  const auto id = *Uuid::parse("0190163d-8694-739b-aea5-966c26f8ad91");
  const std::vector<std::string> words{"plain", "with \"quotes\", {braces} and \\", "", "NULL",
                                       "zwölf"};
  const std::vector<std::int64_t> numbers{std::numeric_limits<std::int64_t>::min(), 0, 7};
  Params params;
  params.add("text")
      .add(std::numeric_limits<std::int64_t>::max())
      .add(true)
      .add(0.1)
      .add(id)
      .add_null();
  params.add_array(words).add_uuid_array(std::vector{id, Uuid{}}).add_int_array(numbers);
  params.add(1'500'001us).add_json(json::Object{{"a", 0.1}});
  const auto rows =
      must(db_.query("select $1::text t, $2::bigint i, $3::bool b, $4::float8 f, $5::uuid u,"
                     " $6::text n, $7::text[] ws, $8::uuid[] us, $9::bigint[] is,"
                     " $10::interval = '1.500001 s' as exact, $11::jsonb->>'a' as j",
                     params));
  const auto row = rows[0];
  EXPECT_EQ(row.text("t"), "text");
  EXPECT_EQ(row.i64("i"), std::numeric_limits<std::int64_t>::max());
  EXPECT_TRUE(row.boolean("b"));
  EXPECT_EQ(row.f64("f"), 0.1);
  EXPECT_EQ(row.uuid("u"), id);
  EXPECT_TRUE(row.is_null("n"));
  EXPECT_EQ(row.opt_text("n"), std::nullopt);
  EXPECT_EQ(row.text_array("ws"), words);
  EXPECT_EQ(row.text_array("us"), (std::vector{id.to_string(), Uuid{}.to_string()}));
  EXPECT_EQ(row.text_array("is")[0], "-9223372036854775808");
  EXPECT_TRUE(row.boolean("exact"));
  EXPECT_EQ(row.text("j"), "0.1");
}

TEST_F(PgConnection, ReportsSqlstateDetailHintAndConstraint) {
  must(db_.script("create table t (id int constraint t_pk primary key); insert into t values (1)"));
  const auto duplicate = db_.query("insert into t values ($1)", params(1));
  ASSERT_FALSE(duplicate);
  EXPECT_EQ(duplicate.error().kind, ErrorKind::conflict);
  EXPECT_EQ(duplicate.error().sqlstate, "23505");
  EXPECT_EQ(duplicate.error().constraint, "t_pk");
  EXPECT_EQ(duplicate.error().detail, "Key (id)=(1) already exists.");

  const auto own =
      db_.script("do $$ begin raise 'gone' using errcode = 'MR001', hint = 'claim again'; end $$");
  ASSERT_FALSE(own);
  EXPECT_EQ(own.error().kind, ErrorKind::internal);
  EXPECT_EQ(own.error().sqlstate, "MR001");
  EXPECT_EQ(own.error().message, "gone");
  EXPECT_EQ(own.error().hint, "claim again");
  EXPECT_TRUE(db_.healthy());
}

TEST_F(PgConnection, RefusesWhatCannotBeSentAndStaysUsable) {
  using std::string_literals::operator""s;
  const auto nul_value = db_.query("select $1::text, $2::text", params("fine", "a\0b"s));
  ASSERT_FALSE(nul_value);
  EXPECT_EQ(nul_value.error().kind, ErrorKind::invalid_argument);
  EXPECT_TRUE(nul_value.error().message.contains("$2"));
  EXPECT_EQ(db_.query("select 1\0"s).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(must(db_.query("select 1"))[0].i64(0), 1);
}

TEST_F(PgConnection, ThrowsWhenARowIsReadWrongly) {
  const auto rows = must(db_.query("select 'x' as word, null as nothing, 3000000000 as big"));
  EXPECT_THROW(rows[0].text("no_such"), RowError);
  EXPECT_THROW(rows[0].text(3), RowError);
  EXPECT_THROW(rows[0].text("nothing"), RowError);
  EXPECT_THROW(rows[0].i64("word"), RowError);
  EXPECT_THROW(rows[0].i32("big"), RowError);
  EXPECT_THROW(rows[0].uuid("word"), RowError);
  EXPECT_THROW(rows[1], RowError);
}

TEST_F(PgConnection, KeepsWhatACommittedTransactionDidAndNothingOfAnother) {
  must(db_.script("create table t (id int)"));
  must(db_.begin());
  EXPECT_TRUE(db_.in_transaction());
  must(db_.query("insert into t values (1)"));
  must(db_.commit());
  must(db_.begin());
  must(db_.query("insert into t values (2)"));
  must(db_.rollback());
  EXPECT_FALSE(db_.in_transaction());
  EXPECT_EQ(must(db_.query("select string_agg(id::text, ',') from t"))[0].text(0), "1");
}

TEST_F(PgConnection, ReportsACommitThatTheServerTurnedIntoARollback) {
  must(db_.begin());
  ASSERT_FALSE(db_.query("select 1/0"));
  const auto committed = db_.commit();
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().sqlstate, "25P02");
  EXPECT_FALSE(db_.in_transaction());
}

TEST_F(PgConnection, BreaksTheConnectionWhenATransactionIsLeftOpen) {
  must(db_.script("create table t (id int)"));
  auto task = [](std::string url) -> awaitable<bool> {
    auto connection = must(co_await Connection::connect(co_await boost::asio::this_coro::executor,
                                                        connect_options(url)));
    {
      auto transaction = must(co_await Transaction::begin(*connection));
      must(co_await connection->query("insert into t values (1)"));
    }
    co_return connection->healthy();
  };
  EXPECT_FALSE(run_blocking(task(database_.url())));
  EXPECT_EQ(must(db_.query("select count(*) from t"))[0].i64(0), 0);
}

TEST_F(PgConnection, PreparesOnceAndRunsOften) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(must(db_.prepared("add", "select $1::int + 1", params(i)))[0].i64(0), i + 1);
  }
  EXPECT_EQ(must(db_.query("select count(*) from pg_prepared_statements"))[0].i64(0), 1);
  EXPECT_EQ(must(db_.prepared("add", "select $1::int + 2", params(1)))[0].i64(0),
            3);  // Another text.
}

TEST_F(PgConnection, GoesOnWithoutPlansWhenAPoolerTookThemAway) {
  must(db_.prepared("one", "select 1"));
  must(db_.script("deallocate all"));  // As if the next statement ran on another server session.
  EXPECT_EQ(must(db_.prepared("one", "select 1"))[0].i64(0), 1);
  EXPECT_EQ(must(db_.prepared("two", "select 2"))[0].i64(0), 2);
  EXPECT_EQ(must(db_.query("select count(*) from pg_prepared_statements"))[0].i64(0), 0);
}

TEST_F(PgConnection, PreparesAgainWhenTheResultTypeChanged) {
  must(db_.script("create table t (a int); insert into t values (1)"));
  must(db_.prepared("all", "select * from t"));
  must(db_.script("alter table t add b int default 2"));
  EXPECT_EQ(must(db_.prepared("all", "select * from t"))[0].i64("b"), 2);
  must(db_.prepared("all", "select * from t"));
  EXPECT_EQ(must(db_.query("select count(*) from pg_prepared_statements"))[0].i64(0), 2);
}

TEST_F(PgConnection, RunsAPipelineAsOneTransaction) {
  must(db_.script("create table t (id int primary key)"));
  auto good = must(db_.pipeline({{"insert into t values ($1)", params(1)},
                                 {"insert into t values ($1)", params(2), "ins"},
                                 {"insert into t values ($1)", params(3), "ins"},
                                 {"select count(*) from t", {}}}));
  ASSERT_EQ(good.size(), 4U);
  EXPECT_EQ(must(std::move(good[3]))[0].i64(0), 3);

  const auto bad = must(db_.pipeline({{"insert into t values (4)", {}},
                                      {"insert into t values (1)", {}},
                                      {"insert into t values (5)", {}}}));
  ASSERT_EQ(bad.size(), 3U);
  EXPECT_TRUE(bad[0]);
  EXPECT_EQ(bad[1].error().sqlstate, "23505");
  EXPECT_TRUE(bad[2].error().message.contains("not run"));
  EXPECT_EQ(must(db_.query("select count(*) from t"))[0].i64(0), 3);
}

TEST_F(PgConnection, ReportsACommitThatFailsAtTheEndOfAPipeline) {
  must(
      db_.script("create table p (id int primary key);"
                 "create table c (id int references p deferrable initially deferred)"));
  const auto results = db_.pipeline({{"insert into c values (1)", {}}, {"select 1", {}}});
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().sqlstate, "23503");
  EXPECT_TRUE(db_.healthy());
  EXPECT_EQ(must(db_.query("select count(*) from c"))[0].i64(0), 0);
}

TEST_F(PgConnection, SendsAPipelineAgainWhenItsPlansWereTakenAway) {
  must(db_.script("create table t (id int)"));
  must(db_.pipeline({{"insert into t values ($1)", params(1), "ins"}}));
  must(db_.script("deallocate all"));
  const auto again = must(db_.pipeline(
      {{"insert into t values (0)", {}}, {"insert into t values ($1)", params(2), "ins"}}));
  EXPECT_TRUE(again[1]);
  EXPECT_EQ(must(db_.query("select count(*) from t"))[0].i64(0), 3);
}

TEST_F(PgConnection, PassesMoreThroughAPipelineThanBuffersHold) {
  std::vector<Statement> statements;
  const std::string big(100'000, 'x');
  for (int i = 0; i < 200; ++i) statements.push_back({"select $1::text", params(big)});
  const auto results = must(db_.pipeline(std::move(statements)));
  ASSERT_EQ(results.size(), 200U);
  for (const auto& result : results) EXPECT_EQ((*result)[0].text(0).size(), big.size());
}

TEST_F(PgConnection, CopiesInChunksOfAnySize) {
  must(db_.script("create table t (id int, word text)"));
  int next = 0;
  const auto copied = must(db_.copy_in("copy t from stdin", [&]() -> std::optional<std::string> {
    if (next == 50'000) return std::nullopt;
    ++next;
    return fmt::format("{}\tword {}\n", next, next);
  }));
  EXPECT_EQ(copied, 50'000);
  EXPECT_EQ(must(db_.query("select count(distinct word) from t"))[0].i64(0), 50'000);
  EXPECT_EQ(must(db_.copy_in("copy t from stdin", std::string("1\tlast"))), 1);
}

TEST_F(PgConnection, ReportsABadRowOfACopyAndKeepsNothingOfIt) {
  must(db_.script("create table t (id int)"));
  const auto copied = db_.copy_in("copy t from stdin", std::string("1\nnot a number\n"));
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().sqlstate, "22P02");
  EXPECT_EQ(db_.copy_in("copy missing from stdin", std::string("1\n")).error().sqlstate, "42P01");
  EXPECT_EQ(db_.copy_in("select 1", std::string("1\n")).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(must(db_.query("select count(*) from t"))[0].i64(0), 0);
}

TEST_F(PgConnection, HearsNotificationsAlsoThoseThatCameDuringAQuery) {
  auto other = database_.connect();
  must(db_.query("listen news"));
  must(other.query("notify news, 'first'"));
  must(db_.query("select 1"));
  const auto first = must(db_.wait_notification(10s));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->channel, "news");
  EXPECT_EQ(first->payload, "first");
  EXPECT_EQ(first->backend_pid, other.backend_pid());
  EXPECT_EQ(must(db_.wait_notification(1ms)), std::nullopt);
  must(other.query("notify news, 'second'"));
  EXPECT_EQ(must(db_.wait_notification(10s))->payload, "second");
}

TEST_F(PgConnection, RunsAScriptAsOneTransactionAndReturnsTheLastResult) {
  EXPECT_EQ(
      must(db_.script(
          "create table t (id int); insert into t values (1), (2); select count(*) from t"))[0]
          .i64(0),
      2);
  ASSERT_FALSE(db_.script("insert into t values (3); select 1/0"));
  EXPECT_EQ(must(db_.query("select count(*) from t"))[0].i64(0), 2);
}

TEST_F(PgConnection, PassesNoticesOn) {
  std::vector<std::string> notices;
  auto options = connect_options(database_.url());
  options.on_notice = [&](std::string_view severity, std::string_view message) {
    notices.push_back(fmt::format("{}: {}", severity, message));
  };
  auto db = must(SyncConnection::connect(std::move(options)));
  must(db.script("do $$ begin raise warning 'careful'; end $$"));
  EXPECT_EQ(notices, (std::vector<std::string>{"WARNING: careful"}));
}

TEST_F(PgConnection, ConnectsAsTheRoleTheOverridesName) {
  must(db_.script("drop role if exists test_of_overrides; create role test_of_overrides login"));
  auto options = connect_options(database_.url());
  options.overrides["user"] = "test_of_overrides";
  options.application_name = "pg test";
  auto db = must(SyncConnection::connect(std::move(options)));
  const auto row = must(db.query("select current_user::text, current_setting('application_name')"));
  EXPECT_EQ(row[0].text(0), "test_of_overrides");
  EXPECT_EQ(row[0].text(1), "pg test");
  EXPECT_EQ(db.server_version() / 10000,
            must(db.query("show server_version_num"))[0].i64(0) / 10000);
  db.close();
  must(db_.script("drop role test_of_overrides"));
}

}  // namespace
}  // namespace millrace::pg
