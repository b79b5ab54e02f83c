// The event log as streams read it: in the order of transactions, nothing skipped, whatever commits
// late.
#include "sql/lane_worker.h"
#include "sql/server_world.h"
#include "store/api/event_position.h"

#include <algorithm>
#include <set>

namespace millrace::test {
namespace {

using store::EventPosition;
using store::EventSnapshot;

class Events : public EngineTest {
 protected:
  // What a server does: reads from `position`, at most `limit`, and moves it.
  std::vector<std::string> read(EventPosition& position, int limit = 1000,
                                const char* columns = "kind") {
    std::string xids;
    std::string seqs;
    for (const auto& late : position.late) {
      xids += fmt::format("{}{}", xids.empty() ? "" : ",", late.xid);
      seqs += fmt::format("{}{}", seqs.empty() ? "" : ",", late.seq);
    }
    const auto rows = api.rows(
        fmt::format(
            "select snapshot, too_old, late, xid, event_id, {} as shown from millrace.read_events("
            "$1::xid8, $2, $3::xid8[], $4::bigint[], $5)",
            columns),
        pg::params(std::to_string(position.xid), position.seq, "{" + xids + "}", "{" + seqs + "}",
                   limit));
    std::vector<std::string> shown;
    EventSnapshot snapshot;
    bool late_done = false;
    for (const auto row : rows) {
      if (!row.is_null("snapshot")) {
        snapshot = EventSnapshot::parse(row.text("snapshot")).value();
        too_old = row.boolean("too_old");
        continue;
      }
      const auto xid = std::stoull(std::string(row.text("xid")));
      if (row.boolean("late")) {
        position.pass_late(xid, row.i64("event_id"));
      } else {
        if (!late_done) position.forget_ended(snapshot);
        late_done = true;
        EXPECT_TRUE(position.pass(xid, row.i64("event_id"), snapshot));
      }
      shown.push_back(row.opt_text("shown").value_or(""));
      // Any server goes on from the text.
      position = EventPosition::parse(position.text()).value();
    }
    if (!late_done && static_cast<int>(shown.size()) < limit) position.forget_ended(snapshot);
    return shown;
  }
  EventPosition tail() {
    const auto rows = api.rows("select xid, seq, late_xids from millrace.event_tail()");
    EventPosition position{
        .xid = std::stoull(std::string(rows[0].text(0))), .seq = rows[0].i64(1), .late = {}};
    for (const auto& xid : rows[0].text_array(2))
      position.late.push_back({.xid = std::stoull(xid), .seq = 0});
    return position;
  }
  static void write(Session& session, const std::string& kind) {
    session.run("insert into millrace.event (at, tenant_id, kind) values (millrace.now(), $1, $2)",
                pg::params(kTenant, kind));
  }
  // Whether the position remembers a transaction. Those of other databases of the server come and
  // go in it, too.
  static bool remembers(const store::EventPosition& position, std::uint64_t xid) {
    return std::ranges::find(position.late, xid, &store::EventPosition::Late::xid) !=
           position.late.end();
  }
  static std::uint64_t xid_of(Session& session) {
    return static_cast<std::uint64_t>(session.number("select pg_current_xact_id()::text::bigint"));
  }
  using Kinds = std::vector<std::string>;
  ServerSession api{database, ""};
  bool too_old = false;
};

TEST_F(Events, are_read_once_in_order) {
  auto position = tail();
  EXPECT_EQ(read(position), Kinds{});
  for (const auto* kind : {"a", "b", "c"}) write(sql, kind);
  EXPECT_EQ(read(position, 2), (Kinds{"a", "b"}));
  EXPECT_EQ(read(position, 2), Kinds{"c"});
  EXPECT_EQ(read(position), Kinds{});
}

// What its number says is not when it was committed.
TEST_F(Events, k01_one_that_commits_late_is_not_skipped) {
  auto position = tail();
  Session slow{database};
  slow.script("begin");
  write(slow, "slow");
  const auto xid = xid_of(slow);
  write(sql, "quick");
  // Nobody waits for the slow one.
  EXPECT_EQ(read(position), Kinds{"quick"});
  EXPECT_TRUE(remembers(position, xid));
  EXPECT_EQ(read(position), Kinds{});
  slow.script("commit");
  EXPECT_EQ(read(position), Kinds{"slow"});
  EXPECT_FALSE(remembers(position, xid));
  EXPECT_EQ(read(position), Kinds{});
}

TEST_F(Events, a_transaction_that_is_undone_is_forgotten) {
  auto position = tail();
  Session slow{database};
  slow.script("begin");
  write(slow, "slow");
  const auto xid = xid_of(slow);
  write(sql, "quick");
  EXPECT_EQ(read(position), Kinds{"quick"});
  EXPECT_TRUE(remembers(position, xid));
  slow.script("rollback");
  EXPECT_EQ(read(position), Kinds{});
  EXPECT_FALSE(remembers(position, xid));
}

// It had begun before the reader came.
TEST_F(Events, the_tail_knows_who_runs) {
  Session slow{database};
  slow.script("begin");
  write(slow, "slow");
  auto position = tail();
  EXPECT_EQ(read(position), Kinds{});
  slow.script("commit");
  EXPECT_EQ(read(position), Kinds{"slow"});
}

TEST_F(Events, late_ones_are_read_in_bounded_batches_too) {
  Session slow{database};
  slow.script("begin");
  for (int i = 0; i < 5; ++i) write(slow, fmt::format("s{}", i));
  auto position = tail();
  write(sql, "q");
  EXPECT_EQ(read(position), Kinds{"q"});
  slow.script("commit");
  write(sql, "r");
  EXPECT_EQ(read(position, 2), (Kinds{"s0", "s1"}));
  EXPECT_EQ(read(position, 2), (Kinds{"s2", "s3"}));
  EXPECT_EQ(read(position, 2), (Kinds{"s4", "r"}));
  EXPECT_EQ(read(position, 2), Kinds{});
}

// Writers that commit in any order, a reader beside them that is moved to another server now and
// then.
TEST_F(Events, nothing_is_skipped_or_read_twice_under_load) {
  constexpr int kWriters = 4;
  constexpr int kEach = 60;
  auto position = tail();
  std::multiset<std::string> seen;
  std::atomic<int> writing = kWriters;
  together(kWriters + 1, [&](int i, const std::atomic<bool>& failed) {
    if (i < kWriters) {
      Session mine{database};
      for (int n = 0; n < kEach; ++n) {
        mine.script("begin");
        write(mine, fmt::format("{}-{}", i, n));
        if (n % 3 == 0) write(mine, fmt::format("{}-{}-more", i, n));
        mine.script(n % 7 == 6 ? "rollback" : "commit");
      }
      --writing;
      return;
    }
    while (writing > 0 && !failed) {
      for (auto& kind : read(position, 7)) seen.insert(std::move(kind));
    }
  });
  while (true) {
    auto rest = read(position, 7);
    if (rest.empty()) break;
    for (auto& kind : rest) seen.insert(std::move(kind));
  }
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()),
            sql.number("select count(*) from millrace.event where kind ~ '^[0-9]+-'"));
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), seen.size());
}

// The index answers, however long the log.
TEST_F(Events, a_read_does_not_scan_the_log) {
  for (int i = 0; i < 200; ++i) write(sql, "old");
  const auto position = tail();
  std::string plan;
  for (const auto row : sql.rows(fmt::format("explain select v.* from millrace.event v where "
                                             "(v.xid, v.event_id) > ('{}'::xid8, {}::bigint) "
                                             "order by v.xid, v.event_id limit 10",
                                             position.xid, position.seq))) {
    plan += std::string(row.text(0)) + "\n";
  }
  EXPECT_NE(plan.find("Index"), std::string::npos) << plan;
}

// --- Jobs of a lane ---

TEST_F(Events, jobs_of_a_lane_are_named_where_that_is_asked_for) {
  auto position = tail();
  const auto ids = enqueue_many(sql, 3);
  Worker worker(sql);
  const auto rows = sql.rows(
      "select token, job_id, jobs from millrace.claim_jobs($1, $2::uuid, 'default', 10, null, "
      "null, false, true)",
      pg::params(worker.id(), worker.process()));
  ASSERT_EQ(rows.rows(), 1U);
  ASSERT_TRUE(rows[0].is_null("job_id"));
  sql.run("select millrace.complete_claims($1, array[$2::uuid], array[B'101'])",
          pg::params(worker.id(), rows[0].text("token")));
  const auto list = [](const std::vector<std::string>& all) {
    return fmt::format("{{{}}}", fmt::join(all, ","));
  };
  EXPECT_EQ(read(position, 100, "kind || ' ' || job_ids::text"),
            (Kinds{"job.enqueued " + list(ids), "job.claimed " + list(ids),
                   "job.completed " + list({ids[0], ids[2]})}));
}

TEST_F(Events, a_batch_tells_its_progress_and_its_end) {
  const auto batch = sql.value(
      "select millrace.create_batch('[{\"job_type\": \"noop\", \"payload\": {\"n\": 1}}, "
      "{\"job_type\": \"noop\", \"payload\": {\"n\": 2}}]')");
  auto position = tail();
  Worker worker(sql);
  worker.complete(worker.take());
  keep(sql);
  worker.complete(worker.take());
  keep(sql);
  std::vector<std::string> told;
  for (const auto& kind :
       read(position, 100, "kind || coalesce(' ' || (data ->> 'completed'), '')")) {
    if (kind.starts_with("batch")) told.push_back(kind);
  }
  EXPECT_EQ(told, (Kinds{"batch.progress 1", "batch.finished 2"}));
  EXPECT_EQ(sql.value("select string_agg(distinct data ->> 'batch_id', ' ') from millrace.event "
                      "where kind like 'batch%'"),
            batch);
}

// --- Where a reader begins ---

class EventStart : public Events {
 protected:
  EventPosition start(int back) {
    const auto rows =
        api.rows("select xid, seq, late_xids from millrace.event_start($1)", pg::params(back));
    EventPosition position{
        .xid = std::stoull(std::string(rows[0].text(0))), .seq = rows[0].i64(1), .late = {}};
    for (const auto& xid : rows[0].text_array(2))
      position.late.push_back({.xid = std::stoull(xid), .seq = 0});
    return position;
  }
};

TEST_F(EventStart, lies_before_the_last_events) {
  for (const auto* kind : {"a", "b", "c", "d"}) write(sql, kind);
  auto position = start(2);
  EXPECT_EQ(read(position), (Kinds{"c", "d"}));
  position = start(0);
  EXPECT_EQ(read(position), Kinds{});
  // Of fewer events than asked for, all but the first.
  position = start(10'000);
  const auto all = read(position);
  ASSERT_GE(all.size(), 3U);
  EXPECT_EQ(all.back(), "d");
}

TEST_F(EventStart, what_runs_then_is_read_when_it_has_ended) {
  Session other{database};
  other.script("begin");
  write(other, "late");
  const auto late = xid_of(other);
  for (const auto* kind : {"a", "b", "c"}) write(sql, kind);
  auto position = start(1);
  EXPECT_TRUE(remembers(position, late));
  EXPECT_EQ(read(position), Kinds{"c"});
  other.script("commit");
  EXPECT_EQ(read(position), Kinds{"late"});
}

// A reader that began there would be told again and again that it is too old.
TEST_F(EventStart, is_not_before_what_retention_took) {
  write(sql, "old");
  write(sql, "young");
  sql.run(
      "update millrace.event_floor f set xid = e.xid from millrace.event e where e.kind = 'old'");
  auto position = start(100);
  read(position);
  EXPECT_FALSE(too_old);
}

// --- Coming back ---

class EventsAfter : public Events {
 protected:
  Kinds after(const EventPosition& position, const std::string& scope, int scan = 100) {
    Kinds shown;
    too_old = false;
    for (const auto row :
         api.rows("select too_old, kind from millrace.events_after($1::xid8, $2, '{}', '{}', "
                  "$3::jsonb, $4)",
                  pg::params(std::to_string(position.xid), position.seq, scope, scan))) {
      too_old = too_old || row.boolean(0);
      if (!row.is_null(1)) shown.emplace_back(row.text(1));
    }
    return shown;
  }
};

TEST_F(EventsAfter, a_stream_is_told_what_it_missed_of_its_own) {
  const auto position = tail();
  const auto mine = enqueue(sql, kInReady);
  const auto plain = enqueue(sql);
  as_tenant(sql, std::string(kOther));
  enqueue(sql, kInReady);
  as_tenant(sql, "");
  Worker worker(sql);
  while (!worker.claim(1).empty()) {
  }
  EXPECT_EQ(after(position, fmt::format(R"({{"job_id": "{}"}})", mine)),
            (Kinds{"job.enqueued", "job.claimed"}));
  EXPECT_EQ(after(position, fmt::format(R"({{"job_id": "{}"}})", plain)).front(), "job.enqueued");
  EXPECT_EQ(after(position, fmt::format(R"({{"tenant_id": "{}"}})", kOther)),
            (Kinds{"job.enqueued", "job.claimed"}));
  EXPECT_EQ(after(position, R"({"queue": "export"})"), Kinds{});
  EXPECT_FALSE(too_old);
}

TEST_F(EventsAfter, jobs_of_a_lane_are_named) {
  const auto position = tail();
  const auto ids = enqueue_many(sql, 3);
  LaneWorker worker(sql);
  ASSERT_EQ(worker.claim_lanes(10).size(), 3U);
  const auto named = [&](const std::string& scope) {
    return api.value(
        "select job_ids::text from millrace.events_after($1::xid8, $2, '{}', '{}', $3::jsonb, 100) "
        "where kind = 'job.claimed'",
        pg::params(std::to_string(position.xid), position.seq, scope));
  };
  EXPECT_EQ(named("{}"), fmt::format("{{{}}}", fmt::join(ids, ",")));
  EXPECT_EQ(named(fmt::format(R"({{"job_id": "{}"}})", ids[1])), fmt::format("{{{}}}", ids[1]));
}

// What a handler wrote into its event does not name jobs of others.
TEST_F(EventsAfter, only_the_engine_names_jobs_by_their_claim) {
  const auto position = tail();
  enqueue(sql);
  LaneWorker worker(sql);
  ASSERT_EQ(worker.claim_lanes(10).size(), 1U);
  sql.run(
      "insert into millrace.event (at, tenant_id, kind, job_ids, data) select millrace.now(), "
      "$1::uuid, 'page.done', array[$2::uuid], jsonb_build_object('claim', c.claim_id) "
      "from millrace.claim c",
      pg::params(kTenant, kOther));
  for (const auto* from : {"read_events($1::xid8, $2, '{}', '{}', 100, true)",
                           "events_after($1::xid8, $2, '{}', '{}', '{}', 100)"}) {
    EXPECT_EQ(api.value(fmt::format(
                            "select job_ids::text from millrace.{} where kind = 'page.done'", from),
                        pg::params(std::to_string(position.xid), position.seq)),
              fmt::format("{{{}}}", kOther));
  }
}

TEST_F(EventsAfter, one_that_missed_too_many_bytes_gets_a_snapshot_instead) {
  const auto position = tail();
  const auto tell = [&](int megabytes) {
    sql.run(
        "insert into millrace.event (at, tenant_id, kind, data) select millrace.now(), $1::uuid, "
        "'x', jsonb_build_object('text', repeat('x', 1048576)) from generate_series(1, "
        "$2::integer)",
        pg::params(kTenant, megabytes));
  };
  tell(3);
  EXPECT_EQ(after(position, "{}").size(), 3U);
  EXPECT_FALSE(too_old);
  tell(1);
  after(position, "{}");
  EXPECT_TRUE(too_old);
  // Those of others do not count.
  EXPECT_EQ(after(position, fmt::format(R"({{"tenant_id": "{}"}})", kOther)), Kinds{});
  EXPECT_FALSE(too_old);
}

TEST_F(EventsAfter, one_that_missed_too_much_gets_a_snapshot_instead) {
  const auto position = tail();
  for (int i = 0; i < 5; ++i) write(sql, "x");
  EXPECT_EQ(after(position, "{}", 5).size(), 5U);
  EXPECT_FALSE(too_old);
  after(position, "{}", 4);
  EXPECT_TRUE(too_old);
}

// Retention has removed what came behind the position.
TEST_F(EventsAfter, one_that_was_away_for_longer_than_events_are_kept_is_told_so) {
  const auto position = tail();
  write(sql, "old");
  pass(sql, "10 days");
  while (sql.yes("select (millrace.maintain_partitions() ->> 'more')::boolean")) {
  }
  ASSERT_EQ(sql.number("select count(*) from millrace.event where kind = 'old'"), 0);
  after(position, "{}");
  EXPECT_TRUE(too_old);
  after(tail(), "{}");
  EXPECT_FALSE(too_old);
}

// A position of another cluster, from before a restore.
TEST_F(EventsAfter, a_position_ahead_of_the_cluster_is_too_old) {
  auto position = tail();
  position.xid += 1000000;
  after(position, "{}");
  EXPECT_TRUE(too_old);
}

}  // namespace
}  // namespace millrace::test
