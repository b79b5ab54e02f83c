// Moving jobs over from other queues' tables: what holds for every source. Nothing is lost, nothing
// is doubled, whoever runs at the same time and whenever somebody dies (U-12, D-11, D-12).
#include "sql/import_world.h"

#include <algorithm>
#include <mutex>
#include <set>

namespace millrace::test {
namespace {

class Import : public EngineTest, public ::testing::WithParamInterface<Source> {
 protected:
  const Source& source() const { return GetParam(); }
  void fill(int n) {
    sql.script(source().tables);
    sql.script(fmt::format(fmt::runtime(source().fill), n));
  }
  std::vector<Moved> batch(Session& session, const BatchOptions& options = {}) {
    return move_batch(session, source().name, source().schema, options);
  }
  std::vector<Moved> move_all(Session& session, int limit = 1000) {
    std::vector<Moved> all;
    for (;;) {
      const auto some = batch(session, {.limit = limit});
      if (some.empty()) return all;
      all.insert(all.end(), some.begin(), some.end());
    }
  }
  std::int64_t count_of(Session& session, const std::string& condition) {
    return session.number(
        "select coalesce(sum(jobs), 0) from millrace.import_report($1, $2) where " + condition,
        pg::params(source().name, source().schema));
  }
  std::int64_t to_move(Session& session) { return count_of(session, "reason is null"); }
  std::string report_now() { return report(sql, source().name, source().schema); }
  int movable(int n) const { return n + source().more; }
};

std::set<std::string> source_ids(const std::vector<Moved>& moved) {
  std::set<std::string> ids;
  for (const auto& one : moved) ids.insert(one.source_id);
  return ids;
}

INSTANTIATE_TEST_SUITE_P(Of, Import, ::testing::ValuesIn(all_sources()), [](const auto& info) {
  auto name = info.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST_P(Import, EveryLiveJobIsMovedOrLeftAloneWithAReason) {
  fill(25);
  const auto live = sql.number(source().live);
  ASSERT_EQ(live, movable(25) + source().left);
  std::string want = fmt::format("to move {}", movable(25));
  for (std::size_t i = 0; i < source().reasons.size();) {
    const auto same = std::ranges::count(source().reasons, source().reasons[i]);
    want += fmt::format("; {} {}", source().reasons[i], same);
    i += static_cast<std::size_t>(same);
  }
  EXPECT_EQ(report_now(), want);
  const auto moved = move_all(sql, 10);
  EXPECT_EQ(moved.size(), static_cast<std::size_t>(movable(25)));
  EXPECT_EQ(source_ids(moved).size(), moved.size());
  EXPECT_EQ(sql.number(source().live), source().left);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), movable(25));
  EXPECT_EQ(sql.number("select count(*) from millrace.imported_job i join millrace.job_place p on "
                       "p.job_id = i.job_id"),
            movable(25));
  EXPECT_EQ(imbalance(sql), "");
}

TEST_P(Import, AReportChangesNothing) {
  fill(5);
  const auto before = sql.value(source().rows);
  must(sql.connection().begin());
  report_now();
  EXPECT_EQ(sql.number("select count(*) from pg_locks where pid = pg_backend_pid() and mode in "
                       "('RowShareLock', 'RowExclusiveLock') and relation <> 0"),
            0)
      << "nothing is held";
  must(sql.connection().rollback());
  EXPECT_EQ(sql.value(source().rows), before);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 0);
}

TEST_P(Import, ASecondRunFindsNothingToMove) {
  fill(5);
  move_all(sql);
  const auto after = sql.value(source().rows);
  EXPECT_TRUE(batch(sql).empty());
  EXPECT_EQ(report_now().find("to move"), std::string::npos);
  EXPECT_EQ(sql.value(source().rows), after);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), movable(5));
}

// Rows that come back, as from a backup of the source, are known.
TEST_P(Import, AJobThatWasMovedBeforeIsNotMovedAgain) {
  fill(3);
  sql.script(fmt::format("create table public.saved as select * from {}.{}", source().schema,
                         sql.value("select c.relname from pg_class c where c.relnamespace = "
                                   "$1::regnamespace and c.relkind in ('r', 'p') and c.relname in "
                                   "('job_queue', 'export_jobs', 'upload_jobs', 'job', "
                                   "'_private_jobs')",
                                   pg::params(source().schema))));
  move_all(sql);
  const auto facts = sql.number("select count(*) from millrace.job_fact");
  if (source().name == "graphile-worker") {
    sql.script(R"(
      insert into graphile_worker._private_jobs (id, job_queue_id, task_id, payload, created_at)
      overriding system value select id, job_queue_id, task_id, payload, created_at
        from public.saved on conflict do nothing)");
  } else if (source().name == "pg-boss") {
    sql.script("update pgboss.job t set state = s.state from public.saved s where s.id = t.id");
  } else {
    const std::string key = source().name == "baseworker" ? "job_id" : "id";
    const auto table = source().name == "guardian" ? "job_queue"
                       : source().name == "export" ? "export_jobs"
                                                   : "upload_jobs";
    sql.script(
        fmt::format("update public.{0} t set status = s.status from public.saved s "
                    "where s.{1} = t.{1}",
                    table, key));
  }
  EXPECT_NE(report_now().find(fmt::format("already moved {}", movable(3))), std::string::npos)
      << report_now();
  for (const auto& one : batch(sql)) EXPECT_EQ(one.job_id, "") << one.source_id;
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), facts);
}

// A process that dies in the middle of a batch leaves its transaction open, which ends with it.
TEST_P(Import, ABatchThatDiesLeavesEveryJobInTheSource) {
  fill(5);
  const auto before = sql.value(source().rows);
  {
    Session dying{database};
    must(dying.connection().begin());
    EXPECT_FALSE(batch(dying, {.limit = 3}).empty());
    sql.run("select pg_terminate_backend($1::int)",
            pg::params(dying.number("select pg_backend_pid()")));
    EXPECT_FALSE(dying.connection().query("commit").has_value());
  }
  EXPECT_EQ(sql.value(source().rows), before);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 0);
  EXPECT_EQ(move_all(sql).size(), static_cast<std::size_t>(movable(5)));
}

TEST_P(Import, WhatAWorkerOfTheSourceHoldsIsPassedOver) {
  fill(4);
  Session worker{database};
  must(worker.connection().begin());
  const auto held = worker.value(source().claim);
  ASSERT_NE(held, "(none)");
  const auto moved = move_all(sql);
  EXPECT_FALSE(source_ids(moved).contains(held));
  must(worker.connection().rollback());  // It dies; its job waits again.
  const auto rest = move_all(sql);
  EXPECT_TRUE(source_ids(rest).contains(held));
  EXPECT_EQ(moved.size() + rest.size(), static_cast<std::size_t>(movable(4)));
}

TEST_P(Import, WhatIsBeingMovedAWorkerOfTheSourceDoesNotGet) {
  fill(4);
  Session worker{database};
  must(sql.connection().begin());
  const auto moved = move_all(sql);
  EXPECT_EQ(worker.value(source().claim), "(none)") << "before the move commits";
  must(sql.connection().commit());
  EXPECT_EQ(worker.value(source().claim), "(none)") << "and after";
  EXPECT_EQ(moved.size(), static_cast<std::size_t>(movable(4)));
}

TEST_P(Import, ImportersAtTheSameTimeMoveEachJobOnce) {
  fill(120);
  std::mutex mutex;
  std::vector<Moved> all;
  together(3, [&](int, const std::atomic<bool>& failed) {
    Session session{database};
    while (!failed && to_move(session) > 0) {
      const auto some = batch(session, {.limit = 7});
      const std::scoped_lock lock(mutex);
      all.insert(all.end(), some.begin(), some.end());
    }
  });
  EXPECT_EQ(all.size(), static_cast<std::size_t>(movable(120)));
  EXPECT_EQ(source_ids(all).size(), all.size());
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), movable(120));
  EXPECT_EQ(imbalance(sql), "");
}

TEST_P(Import, AnImporterAndTheSourcesWorkersShareTheJobsBetweenThem) {
  fill(60);
  std::vector<Moved> moved;
  std::set<std::string> claimed;
  together(2, [&](int who, const std::atomic<bool>& failed) {
    Session session{database};
    for (int idle = 0; !failed && idle < 3;) {
      if (who == 0) {
        const auto some = batch(session, {.limit = 5});
        moved.insert(moved.end(), some.begin(), some.end());
        idle = some.empty() ? idle + 1 : 0;
      } else {
        const auto id = session.value(source().claim);
        if (id != "(none)") claimed.insert(id);
        idle = id == "(none)" ? idle + 1 : 0;
      }
    }
  });
  const auto rest = move_all(sql);  // What one held while the other looked.
  moved.insert(moved.end(), rest.begin(), rest.end());
  for (const auto& one : moved) {
    EXPECT_NE(one.job_id, "") << one.source_id << ": " << one.reason;
    EXPECT_FALSE(claimed.contains(one.source_id)) << one.source_id;
  }
  EXPECT_EQ(source_ids(moved).size(), moved.size());
  // Jobs of a named queue wait while one of them runs in the source.
  const auto waiting = count_of(sql, "reason = 'its queue is busy'") -
                       std::ranges::count(source().reasons, "its queue is busy");
  EXPECT_EQ(static_cast<std::int64_t>(moved.size() + claimed.size()) + waiting, movable(60));
  EXPECT_EQ(imbalance(sql), "");
}

TEST_P(Import, JobsThatNobodyWasGivenCanGoBackAsTheyWere) {
  fill(6);
  const auto before = sql.value(source().rows);
  move_all(sql);
  ASSERT_NE(sql.value(source().rows), before);
  EXPECT_EQ(sql.number("select count(*) from millrace.import_undo($1, $2, 4)",
                       pg::params(source().name, source().schema)),
            4);
  EXPECT_EQ(sql.number("select count(*) from millrace.import_undo($1, $2)",
                       pg::params(source().name, source().schema)),
            movable(6) - 4);
  EXPECT_EQ(sql.value(source().rows), before);
  EXPECT_EQ(places(sql), "ready 0, delayed 0, leased 0");
  EXPECT_EQ(imbalance(sql), "");
  EXPECT_EQ(move_all(sql).size(), static_cast<std::size_t>(movable(6))) << "and over again";
}

TEST_P(Import, AJobThatWasDeliveredDoesNotGoBack) {
  fill(6);
  move_all(sql);
  Worker worker(sql);
  const auto running = worker.take({.queue = source().queue});
  const auto failed = worker.take({.queue = source().queue});
  worker.settle(failed, "retry");
  Session other{database};
  must(other.connection().begin());
  Worker claimer(other, "w2");
  const auto claiming = claimer.claim(1, {.queue = source().queue});
  const auto back = sql.number("select count(*) from millrace.import_undo($1, $2)",
                               pg::params(source().name, source().schema));
  must(other.connection().commit());
  EXPECT_EQ(back, movable(6) - 2 - static_cast<std::int64_t>(claiming.size()));
  for (const auto& delivery : claiming) EXPECT_EQ(status(sql, delivery.id), "processing");
  EXPECT_EQ(status(sql, running.id), "processing");
  EXPECT_EQ(status(sql, failed.id), "retrying");
  EXPECT_EQ(
      sql.value("select string_agg(place || ' ' || jobs, ', ' order by place) from (select place, "
                "sum(jobs) as jobs from millrace.imports_overview($1, $2) group by place) o",
                pg::params(source().name, source().schema)),
      fmt::format("running {}, tried 1", 1 + claiming.size()));
  EXPECT_EQ(imbalance(sql), "");
}

TEST_P(Import, RecordsOfMovedJobsCanBeRemoved) {
  fill(2);
  move_all(sql);
  EXPECT_EQ(sql.number("select millrace.forget_imports($1, $2)",
                       pg::params(source().name, source().schema)),
            movable(2));
  EXPECT_EQ(sql.number("select count(*) from millrace.imported_job"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), movable(2));
}

// With rows = delete the source's row goes, and still comes back.
TEST_P(Import, RowsCanBeDeletedInsteadOfMarked) {
  fill(4);
  const auto before = sql.value(source().rows);
  const auto live = sql.number(source().live);
  const auto all_rows = [&] {
    return sql.number(fmt::format("select cardinality(string_to_array(({}), '|'))", source().rows));
  };
  const auto total = all_rows();
  while (!batch(sql, {.map = R"({"rows": "delete"})"}).empty()) {
  }
  EXPECT_EQ(sql.number(source().live), live - movable(4));
  EXPECT_EQ(all_rows(), total - movable(4));
  sql.run("select millrace.import_undo($1, $2)", pg::params(source().name, source().schema));
  EXPECT_EQ(sql.value(source().rows), before);
}

}  // namespace
}  // namespace millrace::test
