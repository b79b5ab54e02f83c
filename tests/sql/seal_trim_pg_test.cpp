// Seals of audit rows that retention has dropped: they go in small steps, one stays for the rest of
// its chain, and whatever is done to what is kept shows as before (A-10, K06).
#include "sql/engine.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace millrace::test {
namespace {

constexpr std::string_view kTenant = "00000000-0000-4000-8000-000000000001";
constexpr std::string_view kOther = "00000000-0000-4000-8000-000000000002";
using Problems = std::vector<std::string>;
const Problems kNone;

class SealTrim : public EngineTest {
 protected:
  SealTrim() {
    stop_clock(sql);
    keep_days(1);
  }

  void keep_days(int days) {
    sql.run(
        "update millrace.system_configuration set config_value = $1 where config_key = "
        "'retention.audit_days'",
        pg::params(std::to_string(days)));
  }
  void write(int rows, std::string_view tenant = kTenant) {
    sql.run(
        "insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, "
        "action, reason) select millrace.now(), $1::uuid, 'a', 'job_queue', 'r', 'UPDATE', "
        "'completed', 'row ' || i from generate_series(1, $2::int) i",
        pg::params(tenant, rows));
  }
  // Sealing waits for every older transaction of the server, also those of tests beside us.
  void wait_for_horizon() {
    const auto xid = sql.value("select pg_current_xact_id()");
    while (
        !sql.yes("select pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 from "
                 "pg_sleep(0.005)",
                 pg::params(xid))) {
    }
  }
  void seal() {
    wait_for_horizon();
    sql.run("select millrace.seal_audit(100000)");
  }
  // What was written so far lies in partitions that have ended; what comes, in one of its own.
  // A hundred days are more than partitions are made ahead.
  void next_partition() {
    pass(sql, "100 days");
    ASSERT_EQ(sql.number("select millrace.make_time_partition('audit', millrace.now() - interval "
                         "'1 minute', millrace.now() + interval '50 days')"),
              1);
  }
  void drop() {
    while (sql.number("select millrace.drop_time_partitions('audit', millrace.now() - "
                      "millrace.retention('audit', 2555))") == 1) {
    }
  }
  std::int64_t trim_step(int limit) {
    return sql.number("select millrace.trim_audit($1::int) ->> 'trimmed'", pg::params(limit));
  }
  void trim() {
    while (sql.yes("select (millrace.trim_audit(20000) ->> 'more')::boolean")) {
    }
  }
  void keeper_looks_after_partitions() {
    while (sql.yes("select (millrace.maintain_partitions() ->> 'more')::boolean")) {
    }
  }
  // Five rows that are gone and, as the tenant's newest, four that are kept.
  void half_a_chain() {
    write(5);
    seal();
    next_partition();
    write(4);
    seal();
    drop();
  }

  std::string seals(std::string_view tenant = kTenant) {
    return sql.value(
        "select coalesce(string_agg(chain_seq::text, ' ' order by chain_seq), '') from "
        "millrace.audit_seal where tenant_id = $1::uuid",
        pg::params(tenant));
  }
  std::int64_t all_seals() { return sql.number("select count(*) from millrace.audit_seal"); }
  Problems problems(std::string_view checkpoint = "null") {
    Problems found;
    for (const auto row :
         sql.rows("select concat_ws(' ', v.tenant_id, v.chain_seq, v.audit_id, v.problem) from "
                  "millrace.verify_audit(millrace.tenant_scope(), $1::jsonb) v",
                  pg::params(checkpoint))) {
      found.emplace_back(row.text(0));
    }
    std::ranges::sort(found);
    return found;
  }
  Problems problems_by_page(int limit, std::string after = "null") {
    Problems found;
    for (int page = 0; page < 1000; ++page) {
      const auto answer =
          sql.value("select millrace.verify_audit_page(nullif($1::jsonb, 'null'), $2::int)",
                    pg::params(after, limit));
      for (const auto row :
           sql.rows("select concat_ws(' ', p ->> 'tenant_id', p ->> 'chain_seq', p ->> "
                    "'audit_id', p ->> 'problem') from jsonb_array_elements($1::jsonb -> "
                    "'problems') p",
                    pg::params(answer))) {
        found.emplace_back(row.text(0));
      }
      after = sql.value("select coalesce($1::jsonb ->> 'next', 'null')", pg::params(answer));
      if (after == "null") break;
    }
    EXPECT_EQ(after, "null") << "the pages have an end";
    std::ranges::sort(found);
    return found;
  }
  std::string checkpoint(std::string_view tenant = kTenant) {
    return sql.value("select millrace.audit_checkpoint($1)", pg::params(tenant));
  }

  // As somebody who can write everything does it, until undo().
  void tamper(const std::string& change) {
    sql.script("begin; set local session_replication_role = replica; " + change);
  }
  void undo() { sql.script("rollback"); }
  static std::string row_of(int seq) {
    return fmt::format(
        "audit_id = (select audit_id from millrace.audit_seal where tenant_id = '{}' and "
        "chain_seq = {})",
        kTenant, seq);
  }
  static std::string seal_of(int seq) {
    return fmt::format("tenant_id = '{}' and chain_seq = {}", kTenant, seq);
  }
};

bool any_says(const Problems& problems, std::string_view word) {
  return std::ranges::any_of(problems,
                             [&](const std::string& problem) { return problem.contains(word); });
}

TEST_F(SealTrim, TheKeeperRemovesSealsOfRowsThatRetentionDroppedAndKeepsTheNewest) {
  write(5);
  write(4, kOther);
  seal();
  const auto head = checkpoint(kOther);
  keeper_looks_after_partitions();
  EXPECT_EQ(seals(), "1 2 3 4 5") << "the rows are there";
  pass(sql, "100 days");
  keeper_looks_after_partitions();
  EXPECT_EQ(seals(), "5");
  EXPECT_EQ(seals(kOther), "4");
  EXPECT_EQ(checkpoint(kOther), head) << "of a tenant without a row";
  EXPECT_EQ(problems(), kNone);

  write(2);
  seal();
  keeper_looks_after_partitions();
  EXPECT_EQ(seals(), "5 6 7") << "the chain goes on";
  EXPECT_EQ(problems(head), kNone);
  pass(sql, "100 days");
  keeper_looks_after_partitions();
  EXPECT_EQ(seals(), "7");
  EXPECT_EQ(seals(kOther), "4");
  EXPECT_EQ(problems(head), kNone);
  EXPECT_EQ(problems_by_page(1), kNone);
}

TEST_F(SealTrim, WhatIsLeftOfAChainIsVerifiedFromItsOldestSeal) {
  half_a_chain();
  trim();
  ASSERT_EQ(seals(), "5 6 7 8 9");
  ASSERT_EQ(problems(), kNone);
  ASSERT_EQ(problems_by_page(2), kNone);
  const std::vector<std::pair<std::string, std::string>> tamperings = {
      {"update millrace.audit set reason = 'forged' where " + row_of(6), "changed"},
      {"update millrace.audit set reason = 'forged' where " + row_of(9), "changed"},
      {"delete from millrace.audit where " + row_of(6), "missing"},
      {"delete from millrace.audit where " + row_of(8), "missing"},
      {"delete from millrace.audit_seal where " + seal_of(7), "cut"},
      {"delete from millrace.audit_seal where " + seal_of(9), "unsealed"},
      {"delete from millrace.audit_seal where " + seal_of(5), "cut"},
      {"delete from millrace.audit where " + row_of(6) +
           "; delete from millrace.audit_seal where " + seal_of(5) +
           "; delete from millrace.audit_seal where " + seal_of(6),
       "cut"},
      {"update millrace.audit_seal set hash = set_bit(hash, 7, 1 - get_bit(hash, 7)) where " +
           seal_of(5),
       "changed"}};
  for (const auto& [change, word] : tamperings) {
    tamper(change);
    const auto found = problems();
    EXPECT_TRUE(any_says(found, word)) << change;
    EXPECT_EQ(problems_by_page(2), found) << change;
    undo();
  }
}

TEST_F(SealTrim, CheckpointsOfWhatIsLeftAreComparedAndEarlierOnesSayNothing) {
  write(3);
  seal();
  const auto early = checkpoint();
  write(2);
  seal();
  const auto middle = checkpoint();
  next_partition();
  write(2);
  seal();
  const auto late = checkpoint();
  drop();
  trim();
  ASSERT_EQ(seals(), "5 6 7");
  EXPECT_EQ(problems(fmt::format("[{}, {}, {}]", early, middle, late)), kNone);
  const auto with = [&](const std::string& kept, const char* field, const char* value) {
    return problems(sql.value("select jsonb_set($1::jsonb, array[$2::text], $3::jsonb)",
                              pg::params(kept, field, value)));
  };
  EXPECT_TRUE(any_says(with(middle, "hash", "\"00\""), "rewritten"));
  EXPECT_TRUE(any_says(with(late, "chain_seq", "8"), "cut: the chain ends"));
  // Where the beginning did not go by rule, the early one is missed.
  tamper("delete from millrace.audit_seal where " + seal_of(5));
  EXPECT_TRUE(any_says(problems(early), "cut: the chain ends"));
  undo();
  tamper(fmt::format("delete from millrace.audit_seal where tenant_id = '{}'", kTenant));
  EXPECT_TRUE(any_says(problems(late), "cut: the chain ends"));
  undo();
}

// Whoever says that retention is at work can remove what retention could, and nothing else.
TEST_F(SealTrim, SealsOfWhatIsKeptAndTheNewestCannotBeRemoved) {
  write(3, kOther);
  half_a_chain();
  const auto remove = [](const std::string& which) {
    return "delete from millrace.audit_seal where " + which;
  };
  const auto up_to = [](int seq, std::string_view tenant) {
    return fmt::format("tenant_id = '{}' and chain_seq <= {}", tenant, seq);
  };
  const auto refused = [&](const std::string& change) {
    sql.script("begin; set local millrace.retention = 'on'");
    EXPECT_EQ(sql.refused(change).sqlstate, "MR022") << change;
    sql.script("rollback");
  };
  refused(remove("true"));
  refused(remove(seal_of(7)));
  refused(remove(seal_of(9)));
  refused(remove(up_to(5, kTenant)));  // The rest is verified from the fifth.
  refused(remove(up_to(3, kOther)));   // Nothing of it is left but its newest seal.
  refused("update millrace.audit_seal set hash = hash where " + seal_of(2));
  sql.script("begin; set local millrace.retention = 'on'");
  sql.run(remove(up_to(4, kTenant)));
  sql.script("rollback");
  EXPECT_EQ(sql.refused(remove(up_to(4, kTenant))).sqlstate, "MR022") << "nobody says so";

  keep_days(5000);
  refused(remove(up_to(4, kTenant)));
  keep_days(1);
  sql.run("update millrace.audit_floor set dropped_before = '-infinity'");
  refused(remove(up_to(4, kTenant)));
  sql.run("update millrace.audit_floor set dropped_before = 'infinity'");
  refused(remove(seal_of(7)));
  for (const auto* role : {"millrace_keeper", "millrace_worker", "millrace_api", "service_role"}) {
    Session session{database, role};
    session.run("set millrace.retention = 'on'");
    EXPECT_EQ(session.refused(remove(up_to(4, kTenant))).sqlstate, "42501") << role;
  }
}

TEST_F(SealTrim, GoesInStepsAndAStepThatDiesIsTakenAgain) {
  write(7);
  write(4, kOther);
  seal();
  next_partition();
  write(1);
  seal();
  drop();
  const auto before = all_seals();
  std::int64_t trimmed = 0;
  for (int step = 0; step < 100; ++step) {
    const auto at_hand = all_seals();
    sql.script("begin");
    trim_step(2);
    sql.script("rollback");
    EXPECT_EQ(all_seals(), at_hand);
    const auto gone = trim_step(2);
    EXPECT_LE(gone, 2);
    EXPECT_EQ(all_seals(), at_hand - gone);
    EXPECT_EQ(problems(), kNone) << "after step " << step;
    trimmed += gone;
    if (gone == 0) break;
  }
  EXPECT_EQ(seals(), "7 8");
  EXPECT_EQ(seals(kOther), "4");
  EXPECT_EQ(trimmed, before - all_seals());
  EXPECT_EQ(sql.value("select millrace.trim_audit(2) ->> 'more'"), "false");
  EXPECT_EQ(sql.refused("select millrace.trim_audit(0)").sqlstate, "MR024");
}

TEST_F(SealTrim, CostsWhatGoesAndNothingWhereNothingDoes) {
  write(10);
  seal();
  next_partition();
  write(2000);
  write(2000, kOther);
  seal();
  drop();
  const auto looked_at = [&] {
    return sql.number(
        "select sum(s.seq_tup_read + s.idx_tup_fetch)::bigint from pg_stat_xact_user_tables s "
        "where s.relname = 'audit_seal'");
  };
  sql.run("begin");
  auto before = looked_at();
  EXPECT_EQ(trim_step(20000), 9);
  EXPECT_LT(looked_at() - before, 400);
  sql.run("commit");
  ASSERT_EQ(sql.value("select millrace.trim_audit(20000) ->> 'more'"), "false");
  sql.run("begin");
  before = looked_at();
  EXPECT_EQ(trim_step(20000), 0);
  EXPECT_EQ(looked_at() - before, 0);
  sql.run("commit");
}

TEST_F(SealTrim, SealerAndTrimmerDoNotMeet) {
  Session other{database};
  other.run("set lock_timeout = '5 s'");  // Ends the test where it would hang.
  sql.run("set lock_timeout = '5 s'");
  write(5);
  seal();
  next_partition();
  drop();
  write(2);
  wait_for_horizon();
  other.script("begin");
  ASSERT_EQ(other.number("select millrace.seal_audit(100)"), 2);
  trim();
  EXPECT_EQ(seals(), "5");
  other.script("commit");
  EXPECT_EQ(seals(), "5 6 7");
  EXPECT_EQ(problems(), kNone);

  next_partition();
  drop();
  write(1);
  wait_for_horizon();
  sql.script("begin");
  EXPECT_EQ(trim_step(100), 2);
  ASSERT_EQ(other.number("select millrace.seal_audit(100)"), 1);
  // Nor two keepers, of whom one believes in its election for too long.
  EXPECT_EQ(other.value("select millrace.trim_audit(100) ->> 'trimmed'"), "0");
  sql.script("commit");
  EXPECT_EQ(seals(), "7 8");
  EXPECT_EQ(problems(), kNone);
}

TEST_F(SealTrim, PagesGoOnWhereTheSealTheyEndedWithWasTrimmed) {
  as_tenant(sql, std::string(kTenant));
  write(6);
  seal();
  next_partition();
  write(3);
  seal();
  std::vector<std::string> places;
  for (const int limit : {3, 5, 6, 7}) {
    places.push_back(sql.value("select millrace.verify_audit_page(null, $1::int) ->> 'next'",
                               pg::params(limit)));
  }
  drop();
  for (const auto& place : places) EXPECT_EQ(problems_by_page(2, place), kNone) << place;
  trim();
  ASSERT_EQ(seals(), "6 7 8 9");
  for (const auto& place : places) EXPECT_EQ(problems_by_page(2, place), kNone) << place;
  // A seal that did not go by rule is missed all the same.
  tamper("delete from millrace.audit_seal where " + seal_of(7));
  EXPECT_TRUE(any_says(problems_by_page(2, places.back()), "cut"));
  undo();
}

TEST_F(SealTrim, RetentionThatIsChangedLaterIsNoTampering) {
  half_a_chain();
  trim();
  keep_days(5000);
  EXPECT_EQ(problems(), kNone) << "what was dropped when less was kept";
  EXPECT_EQ(problems_by_page(2), kNone);
  tamper("delete from millrace.audit where " + row_of(7));
  EXPECT_TRUE(any_says(problems(), "missing"));
  undo();
  next_partition();
  drop();
  trim();
  EXPECT_EQ(seals(), "5 6 7 8 9") << "kept for longer now";
  keep_days(1);
  drop();
  keep_days(5000);
  trim();
  EXPECT_EQ(seals(), "5 6 7 8 9") << "dropped, but young again";
  EXPECT_EQ(problems(), kNone);
  keep_days(1);
  trim();
  EXPECT_EQ(seals(), "9");
  EXPECT_EQ(problems(), kNone);
}

// Rows for whose time no partition was made would else stay, and every seal behind them.
TEST_F(SealTrim, RowsOfTheDefaultPartitionHaveTheirRetentionToo) {
  write(2);
  seal();
  pass(sql, "100 days");
  write(3);
  ASSERT_EQ(sql.number("select count(*) from millrace.audit_default"), 3);
  seal();
  next_partition();
  write(2);
  seal();
  drop();
  trim();
  EXPECT_EQ(seals(), "2 3 4 5 6 7") << "nothing of their time was dropped yet";
  next_partition();
  drop();
  EXPECT_EQ(problems(), kNone) << "what went by rule is not missing, though older rows are there";
  EXPECT_EQ(trim_step(2), 2);
  EXPECT_EQ(sql.number("select count(*) from millrace.audit_default"), 1);
  EXPECT_EQ(problems(), kNone);
  trim();
  EXPECT_EQ(sql.number("select count(*) from millrace.audit_default"), 0);
  EXPECT_EQ(seals(), "7");
  EXPECT_EQ(problems(), kNone);
}

TEST_F(SealTrim, AClockThatWasAheadCostsNoSealOfWhatIsWrittenNow) {
  write(5);
  seal();
  pass(sql, "100 days");
  drop();
  pass(sql, "-100 days");
  ASSERT_EQ(sql.number("select millrace.make_time_partition('audit', millrace.now() - interval '1 "
                       "minute', millrace.now() + interval '1 minute')"),
            1);
  write(4);
  seal();
  trim();
  EXPECT_EQ(seals(), "1 2 3 4 5 6 7 8 9");
  EXPECT_EQ(problems(), kNone);
  tamper("delete from millrace.audit where " + row_of(8));
  EXPECT_TRUE(any_says(problems(), "missing"));
  undo();
}

}  // namespace
}  // namespace millrace::test
