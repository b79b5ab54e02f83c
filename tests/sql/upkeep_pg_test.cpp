// Upkeep: what keeps a database quick under load costs what is at hand, not what there ever was.
#include "sql/engine.h"
#include "sql/lane_worker.h"

namespace millrace::test {
namespace {

class Upkeep : public EngineTest {
 protected:
  void bring(int jobs, int payload_bytes = 100) {
    sql.run(
        "insert into millrace.job_intake (job_type, payload) select 'noop', "
        "jsonb_build_object('text', repeat('x', $1::integer)) from generate_series(1, $2::integer)",
        pg::params(payload_bytes, jobs));
  }
  std::int64_t intake_bytes() {
    return sql.number("select pg_relation_size('millrace.job_intake')");
  }
  bool cut_intake() { return sql.number("select millrace.empty_intake()") == 1; }
};

constexpr int kLarge = 12'000;  // Jobs of 1500 bytes: more than the intake may keep.

TEST_F(Upkeep, f01_an_intake_grown_large_is_cut_though_a_snapshot_is_open) {
  auto holder = database.connect();
  must(holder.script("begin isolation level repeatable read; select 1"));
  bring(kLarge, 1500);
  ASSERT_GT(intake_bytes(), 16 * 1024 * 1024);
  EXPECT_TRUE(cut_intake());
  EXPECT_EQ(intake_bytes(), 0);
  EXPECT_EQ(places(sql), "ready 12000, delayed 0, leased 0");
  bring(1);
  EXPECT_FALSE(cut_intake()) << "it is small";
  EXPECT_EQ(places(sql), "ready 12001, delayed 0, leased 0");
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(Upkeep, f01_an_intake_that_somebody_brings_jobs_to_is_left_alone) {
  bring(kLarge, 1500);
  Session other(database);
  other.run("begin");
  other.run("insert into millrace.job_intake (job_type, payload) values ('noop', '{\"n\": 1}')");
  EXPECT_FALSE(cut_intake());
  other.run("commit");
  EXPECT_TRUE(cut_intake());
  EXPECT_EQ(places(sql), "ready 12001, delayed 0, leased 0");
}

TEST_F(Upkeep, e01_a_row_that_was_brought_past_the_trigger_is_not_lost) {
  bring(kLarge, 1500);
  sql.run("alter table millrace.job_intake disable trigger job_intake_rows");
  bring(1);
  sql.run("alter table millrace.job_intake enable always trigger job_intake_rows");
  EXPECT_FALSE(cut_intake());
  EXPECT_EQ(sql.number("select count(*) from millrace.job_intake"), 1);
}

TEST_F(Upkeep, e01_a_restore_that_silences_triggers_still_makes_jobs) {
  sql.run("set session_replication_role = replica");
  bring(1);
  EXPECT_EQ(places(sql), "ready 1, delayed 0, leased 0");
}

TEST_F(Upkeep, p04_counters_are_compared_without_reading_finished_jobs) {
  bring(5000);
  LaneWorker worker(sql);
  for (int round = 0; round < 5; ++round) worker.complete_claim(worker.claim_lanes(1000));
  bring(3);
  ASSERT_EQ(places(sql), "ready 3, delayed 0, leased 0");
  sql.run("analyze millrace.job_fact");
  const auto looked_at = [&] {
    return sql.number(
        "select sum(s.seq_tup_read + s.idx_tup_fetch)::bigint from pg_stat_xact_user_tables s "
        "where s.relname like 'job_fact%'");
  };
  sql.run("begin");
  const auto before = looked_at();
  EXPECT_EQ(sql.value("select millrace.reconcile(1000) ->> 'corrected'"), "0");
  EXPECT_LT(looked_at() - before, 100);
  sql.run("commit");
}

TEST_F(Upkeep, p04_no_statistics_are_kept_of_payloads_and_lists_of_ids) {
  sql.run(
      "select millrace.make_time_partition(t, '2031-01-01', '2031-01-02') "
      "from unnest(array['audit', 'event', 'claim', 'claim_done']) t");
  for (int table = 0; table < 4; ++table) {
    EXPECT_EQ(sql.number("select millrace.make_job_partition('2031-01-01', '2031-01-02')"), 1);
  }
  EXPECT_EQ(
      sql.value(
          "select coalesce(string_agg(a.attrelid::regclass || '.' || a.attname, ', '), '') "
          "from pg_class c left join pg_index i on i.indrelid = c.oid and i.indexprs is not null "
          "join pg_attribute a on a.attnum > 0 and a.attstattarget <> 0 "
          " and (a.attrelid = c.oid and a.atttypid in ('uuid[]'::regtype, 'jsonb'::regtype) "
          "      or a.attrelid = i.indexrelid and i.indkey[a.attnum - 1] = 0) "
          "where c.relnamespace = 'millrace'::regnamespace and c.relispartition "
          "and c.relkind = 'r'"),
      "");
}

}  // namespace
}  // namespace millrace::test
