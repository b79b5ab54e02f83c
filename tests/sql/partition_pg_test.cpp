// Partitions and retention: made ahead, dropped whole, nothing alive lost, and nothing finished
// ever changed.
#include "base/json.h"
#include "sql/engine.h"

namespace millrace::test {
namespace {

class Partition : public EngineTest {
 protected:
  Partition() { maintain(); }

  // One step a call, as the keeper does it; the sum of `field` over all steps.
  static std::int64_t steps(Session& session, const std::string& field) {
    std::int64_t sum = 0;
    for (bool more = true; more;) {
      const auto report = parse_json_object(session.value("select millrace.maintain_partitions()"));
      sum += report->at(field).to_number<std::int64_t>();
      more = report->at("more").as_bool();
    }
    return sum;
  }
  void maintain() { steps(sql, "made"); }
  // Until the next step is a drop.
  void maintain_ahead() {
    const auto made = [](const std::string& report) { return report.contains("\"made\": 1"); };
    for (;;) {
      must(sql.connection().begin());
      const bool making = made(sql.value("select millrace.maintain_partitions()"));
      if (!making) break;
      must(sql.connection().commit());
    }
    must(sql.connection().rollback());
  }
  std::int64_t report(const std::string& field) { return steps(sql, field); }
  std::int64_t partitions(const std::string& table) {
    return sql.number(
        "select count(*) from pg_inherits i join pg_class c on c.oid = i.inhrelid where "
        "i.inhparent = $1::regclass and c.relname ~ '_p[0-9]+$'",
        pg::params("millrace." + table));
  }
};

TEST_F(Partition, f21_partitions_are_made_ahead_once) {
  const auto ends = [&](const std::string& table, const char* time) {
    return fmt::format(
        "select max({}) from pg_class c join pg_inherits i on i.inhrelid = c.oid cross join "
        "lateral (select substring(pg_get_expr(c.relpartbound, c.oid) from $$TO \\('([^']+)'\\)$$) "
        "as text) x where i.inhparent = 'millrace.{}'::regclass and c.relname ~ '_p[0-9]+$'",
        time, table);
  };
  stop_clock(sql);
  // Every weekday, and the ends of a month.
  for (int day = 0; day < 35; ++day) {
    maintain();
    for (const char* table : {"job_fact", "job_history", "attempt", "job_log"}) {
      const auto until = "(" + ends(table, "millrace.id_time(x.text::uuid)") + ") - millrace.now()";
      EXPECT_TRUE(sql.yes("select " + until + " > interval '2 days'")) << table << ", day " << day;
      EXPECT_TRUE(sql.yes("select " + until + " <= interval '14 days'"))
          << table << ", day " << day;
    }
    for (const char* table : {"claim", "claim_done", "event", "audit"}) {
      EXPECT_TRUE(sql.yes("select (" + ends(table, "x.text::timestamptz") +
                          ") - millrace.now() > interval '2 days'"))
          << table << ", day " << day;
    }
    EXPECT_EQ(report("made"), 0) << "day " << day;
    pass(sql, "1 day");
  }
}

TEST_F(Partition, f21_new_rows_lie_in_the_partition_of_their_time) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  worker.settle(worker.take(), "permanent");
  for (const char* table : {"job_fact", "job_history", "attempt"}) {
    EXPECT_TRUE(
        sql.yes(fmt::format("select tableoid::regclass::text ~ '_p[0-9]+$' from millrace.{} "
                            "where job_id = '{}'",
                            table, id)))
        << table;
  }
  EXPECT_EQ(sql.number("select count(*) from millrace.event_default"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.audit_default"), 0);
}

TEST_F(Partition, f21_shorter_partitions_begin_at_once_although_there_are_rows) {
  stop_clock(sql);
  const auto id = enqueue(sql);
  Worker worker(sql);
  worker.settle(worker.take(), "permanent");
  sql.run(
      "insert into millrace.system_configuration (config_key, config_value, config_type) "
      "select k, v, 'system' from (values ('partition.minutes', '2'), "
      "('retention.history_minutes', '4'), ('retention.event_minutes', '4'), "
      "('retention.audit_minutes', '4')) c(k, v)");
  maintain();
  EXPECT_EQ(status(sql, id), "failed");
  sql.run("select millrace.seal_audit(1000)");
  for (const char* table :
       {"job_fact", "job_history", "attempt", "job_log", "claim", "claim_done", "event", "audit"}) {
    const std::string time =
        std::string_view(table).starts_with("job") || std::string_view(table) == "attempt"
            ? "millrace.id_time(x.text::uuid)"
            : "x.text::timestamptz";
    const auto near = sql.number(fmt::format(
        "select count(*) from pg_class c join pg_inherits i on i.inhrelid = c.oid cross join "
        "lateral (select substring(pg_get_expr(c.relpartbound, c.oid) from $$TO \\('([^']+)'\\)$$) "
        "as text) x where i.inhparent = 'millrace.{}'::regclass and c.relname ~ '_p[0-9]+$' and {} "
        "between millrace.now() and millrace.now() + interval '4 minutes'",
        table, time));
    EXPECT_EQ(near, 2) << table << ": the one that lies around now, and the next";
  }
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact_default"), 0);
  for (int i = 0; i < 6; ++i) {
    pass(sql, "2 minutes");
    maintain();
  }
  EXPECT_EQ(sql.refused("select millrace.get_job($1::uuid)", pg::params(id)).sqlstate, "MR009");
  EXPECT_EQ(sql.number("select count(*) from millrace.audit where $1::uuid = any (job_ids)",
                       pg::params(id)),
            0);
  EXPECT_EQ(sql.number("select count(*) from millrace.verify_audit()"), 0)
      << "what was dropped by rule is not missing";
}

TEST_F(Partition, f21_finished_jobs_go_when_their_time_has_passed) {
  const auto id = enqueue(sql);
  Worker worker(sql);
  worker.settle(worker.take(), "permanent");
  pass(sql, "29 days");
  EXPECT_EQ(report("dropped") > 0, true) << "events of a month ago";
  EXPECT_EQ(status(sql, id), "failed");
  pass(sql, "20 days");
  const auto before = partitions("job_fact");
  maintain();
  EXPECT_LT(partitions("job_fact"), before + 1);
  EXPECT_EQ(sql.refused("select millrace.get_job($1::uuid)", pg::params(id)).sqlstate, "MR009");
  EXPECT_EQ(sql.number("select count(*) from millrace.attempt"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.audit where $1::uuid = any (job_ids)",
                       pg::params(id)),
            3)
      << "the audit has a retention of its own";
}

TEST_F(Partition, d11_jobs_that_still_live_when_their_partition_goes_are_kept) {
  const auto ready = enqueue(sql);
  const auto delayed = enqueue(sql, R"({"delay_seconds": 8640000})");
  Worker worker(sql, "w1", kLongLived);
  const auto running = enqueue(sql, R"({"priority": 9})");
  const auto delivery = worker.take();
  ASSERT_EQ(delivery.id, running);
  const auto done = enqueue(sql, R"({"priority": 9})");
  const auto held = worker.take();
  for (int day = 0; day < 60; ++day) {
    pass(sql, "23 hours");
    worker.beat();
  }
  ASSERT_EQ(held.id, done);
  worker.complete(held);  // Just now: its retention begins.
  maintain();
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact_default"), 4);
  EXPECT_EQ(status(sql, ready), "pending");
  EXPECT_EQ(status(sql, delayed), "pending");
  EXPECT_EQ(status(sql, done), "completed");
  EXPECT_EQ(worker.settle(delivery, "ok", R"({"result": 1})"), "settled");
  EXPECT_EQ(job(sql, running, "result"), "1");
  EXPECT_EQ(worker.complete(worker.take()), "settled");
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Partition, p10_what_lies_in_the_default_partition_has_its_retention_too) {
  // An id that is no time never gets a partition of its own.
  const auto id = enqueue(sql, R"({"id": "00000000-0000-4000-8000-000000000001"})");
  const auto alive =
      enqueue(sql, R"({"id": "00000000-0000-4000-8000-000000000002", "delay_seconds": 9e6})");
  Worker worker(sql);
  worker.settle(worker.take(), "permanent");
  pass(sql, "29 days");
  EXPECT_EQ(report("expired"), 0);
  pass(sql, "2 days");
  EXPECT_EQ(report("expired"), 1);
  EXPECT_EQ(sql.refused("select millrace.get_job($1::uuid)", pg::params(id)).sqlstate, "MR009");
  EXPECT_EQ(sql.number("select count(*) from millrace.attempt"), 0);
  EXPECT_EQ(status(sql, alive), "pending");
}

TEST_F(Partition, events_and_audit_go_by_their_own_days) {
  enqueue(sql);
  pass(sql, "9 days");
  maintain();
  EXPECT_EQ(sql.number("select count(*) from millrace.event"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.audit"), 1);
  pass(sql, "2600 days");
  maintain();
  EXPECT_EQ(sql.number("select count(*) from millrace.audit"), 0);
}

TEST_F(Partition, retention_of_days_is_configuration) {
  sql.run("select millrace.set_config_value('retention.history_days', '1')");
  const auto id = enqueue(sql);
  Worker worker(sql);
  worker.complete(worker.take());
  pass(sql, "9 days");
  maintain();
  EXPECT_EQ(sql.refused("select millrace.get_job($1::uuid)", pg::params(id)).sqlstate, "MR009");
}

// The sweeper wants the tables for itself; a settlement under way must neither wait for it nor be
// its victim.
TEST_F(Partition, f26_a_drop_gives_way_to_a_transaction_that_is_under_way) {
  enqueue(sql);
  Worker worker(sql);
  worker.complete(worker.take());
  const auto live = enqueue(sql);
  pass(sql, "60 days");
  maintain_ahead();
  const auto before = partitions("job_fact");
  Session keeper(database);
  sql.run("set deadlock_timeout = '1 s'");  // PostgreSQL's default; the test server is impatient.
  must(sql.connection().begin());
  sql.run("select count(*) from millrace.job_history");  // As a settlement has it, before it reads
                                                         // facts.
  {
    std::jthread sweeping([&] {
      static_cast<void>(keeper.connection().query("select millrace.maintain_partitions()"));
    });
    Session observer(database);
    while (!observer.yes(
        "select exists (select from pg_locks where relation = 'millrace.job_history'::regclass "
        "and mode = 'AccessExclusiveLock' and not granted)")) {
    }
    EXPECT_EQ(status(sql, live), "pending") << "reads the fact while the sweeper waits";
  }
  must(sql.connection().commit());
  EXPECT_GE(partitions("job_fact"), before) << "nothing was dropped";
  maintain();
  EXPECT_EQ(sql.number("select count(*) from millrace.job_history"), 0) << "the next run did it";
  EXPECT_EQ(status(sql, live), "pending");
}

// Whoever asks for the table after the sweeper stands behind it in the line, however long the
// transaction in front of both takes.
TEST_F(Partition, k08_a_drop_that_cannot_have_its_lock_lets_those_behind_it_through) {
  enqueue(sql);
  Worker worker(sql);
  worker.complete(worker.take());
  pass(sql, "60 days");
  maintain_ahead();
  Session keeper(database);
  Session reader(database);
  reader.run("set lock_timeout = '10 s'");  // Ends the test where it would hang.
  must(sql.connection().begin());
  sql.run("select count(*) from millrace.job_history");
  std::jthread sweeping([&] {
    static_cast<void>(keeper.connection().query("select millrace.maintain_partitions()"));
  });
  Session observer(database);
  while (!observer.yes(
      "select exists (select from pg_locks where relation = 'millrace.job_history'::regclass "
      "and mode = 'AccessExclusiveLock' and not granted)")) {
  }
  EXPECT_TRUE(reader.connection().query("select count(*) from millrace.job_history").has_value());
  must(sql.connection().commit());
}

TEST_F(Partition, b11_finished_jobs_facts_and_attempts_never_change) {
  enqueue(sql);
  Worker worker(sql);
  worker.settle(worker.take(), "permanent", R"({"error": {"message": "x"}})");
  for (const char* change :
       {"update millrace.job_history set status = 'completed'",
        "update millrace.job_history set result = '1'",
        "update millrace.job_history set finished_at = now(), redriven_at = now()",
        "delete from millrace.job_history", "update millrace.job_fact set payload = '{}'",
        "update millrace.job_fact set tenant_id = gen_random_uuid()",
        "update millrace.attempt set error = null"}) {
    EXPECT_EQ(sql.refused(change).sqlstate, "MR022") << change;
  }
}

TEST_F(Partition, b11_no_verb_moves_a_finished_job) {
  Worker worker(sql);
  const auto held = [&] {
    enqueue(sql);
    return worker.take();
  };
  const std::vector<std::pair<std::string, std::string>> ends = {
      {"ok", "completed"}, {"permanent", "failed"}, {"cancelled", "cancelled"}};
  for (const auto& [outcome, final] : ends) {
    const auto delivery = held();
    worker.settle(delivery, outcome);
    for (const char* verb :
         {"ok", "retry", "throttled", "blocked", "permanent", "partial", "cancelled", "handback"}) {
      EXPECT_EQ(worker.settle(delivery, verb), "already_settled");
    }
    sql.run("select * from millrace.cancel_jobs(array[$1::uuid])", pg::params(delivery.id));
    sql.run("select * from millrace.run_now(array[$1::uuid])", pg::params(delivery.id));
    sql.run("select * from millrace.reschedule_jobs(array[$1::uuid], millrace.now())",
            pg::params(delivery.id));
    sql.run("select * from millrace.extend_leases('w1', array[$1::uuid], array[$2::uuid], 1000)",
            pg::params(delivery.id, delivery.token));
    keep(sql);
    EXPECT_EQ(status(sql, delivery.id), final);
  }
  EXPECT_EQ(places(sql), "ready 0, delayed 0, leased 0");
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Partition, a08_every_foreign_key_does_what_it_says_on_delete) {
  EXPECT_EQ(
      sql.number(
          "select count(*) from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and "
          "a.attnum = any (c.conkey) where c.connamespace = 'millrace'::regnamespace and "
          "c.contype = 'f' and c.confdeltype in ('n', 'd') and a.attnotnull"),
      0)
      << "set null on a column that cannot be null";
  EXPECT_EQ(sql.refused("delete from millrace.queue where queue = 'default'").sqlstate, "23503")
      << "job types need their queue";
  set_queue(sql, "short", R"({"concurrency_max": 2})");
  enqueue(sql, R"({"queue": "short"})");
  Worker worker(sql);
  worker.complete(worker.take({.queue = "short"}));
  ASSERT_EQ(sql.number("select count(*) from millrace.queue_slot"), 2);
  sql.run("delete from millrace.queue where queue = 'short'");
  EXPECT_EQ(sql.number("select count(*) from millrace.queue_slot"), 0);
}

}  // namespace
}  // namespace millrace::test
