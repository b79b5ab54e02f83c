// The audit: one row per transition, exact sealing whatever the order of commits, and a chain in
// which every tampering shows. Random choices come from a seed that a failure prints.
#include "base/random.h"
#include "session.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace millrace::test {
namespace {

constexpr std::string_view kTenant = "00000000-0000-4000-8000-000000000001";
constexpr std::string_view kOther = "00000000-0000-4000-8000-000000000002";

class Audit : public ::testing::Test {
 protected:
  // A row like the engine writes, in its own transaction.
  static void write(Session& session, std::string_view tenant = kTenant) {
    session.run(
        "insert into millrace.audit (tenant_id, actor, worker_id, table_name, record_id, "
        "operation, "
        "action, job_ids, old_values, new_values, reason, patient_id) values ($1, 'a', 'w', "
        "'job_queue', 'r', 'UPDATE', 'completed', array[gen_random_uuid()], '{\"a\": 1}', "
        "jsonb_build_object('n', random()), 'why', gen_random_uuid())",
        pg::params(tenant));
  }
  // Sealing waits for every older transaction of the server, also those of tests that run beside
  // us.
  void wait_for_horizon(std::string_view xid) {
    while (!owner_.yes(
        "select pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 from pg_sleep(0.005)",
        pg::params(xid))) {
    }
  }
  std::int64_t seal_now(int limit = 10000) {
    return owner_.number(fmt::format("select millrace.seal_audit({})", limit));
  }
  // Not while the test itself has a transaction open.
  std::int64_t seal(int limit = 10000) {
    wait_for_horizon(owner_.value("select pg_current_xact_id()"));
    return seal_now(limit);
  }
  std::int64_t problems(std::string_view checkpoint = "null") {
    return owner_.number("select count(*) from millrace.verify_audit(null, $1::jsonb)",
                         pg::params(checkpoint));
  }
  // The same, in pieces: every problem as text, in order.
  std::vector<std::string> problems_by_page(int limit) {
    std::vector<std::string> found;
    std::string after = "null";
    for (int page = 0; page < 1000; ++page) {
      const auto answer = owner_.value(
          fmt::format("select millrace.verify_audit_page(nullif($1::jsonb, 'null'), {})", limit),
          pg::params(after));
      const auto rows = owner_.rows(
          "select concat_ws(' ', p ->> 'tenant_id', p ->> 'chain_seq', p ->> 'audit_id', p ->> "
          "'problem') from jsonb_array_elements($1::jsonb -> 'problems') p",
          pg::params(answer));
      for (const auto row : rows) found.emplace_back(row.text(0));
      after = owner_.value("select coalesce($1::jsonb ->> 'next', 'null')", pg::params(answer));
      if (after == "null") break;
    }
    EXPECT_EQ(after, "null") << "the pages have an end";
    std::ranges::sort(found);
    return found;
  }
  std::vector<std::string> problems_at_once() {
    std::vector<std::string> found;
    const auto rows = owner_.rows(
        "select concat_ws(' ', v.tenant_id, v.chain_seq, v.audit_id, v.problem) from "
        "millrace.verify_audit() v");
    for (const auto row : rows) found.emplace_back(row.text(0));
    std::ranges::sort(found);
    return found;
  }
  std::string checkpoint(std::string_view tenant = kTenant) {
    return owner_.value("select millrace.audit_checkpoint($1)", pg::params(tenant));
  }

  TestDatabase database_;
  Session owner_{database_};
};

// A-02, A-03, A-04, A-10: every transition once, and the life of a job from the audit alone.
TEST_F(Audit, RebuildsTheLifeOfAJob) {
  Session client{database_, "service_role"};
  const auto id =
      client.value("select millrace.enqueue_job_v3('audit_cleanup', 'n', '{\"a\": 1}')");
  const auto life = [&] {
    return owner_.value(
        "select string_agg(a.action, ' ' order by a.at, a.audit_id) from "
        "millrace.job_audit($1) a",
        pg::params(id));
  };
  const auto due = [&] { owner_.run("update millrace.delayed set due_at = millrace.now()"); };
  client.run("select * from millrace.claim_next_job_v3('w1')");
  client.run("select millrace.reschedule_job($1, 1, 'later')", pg::params(id));
  due();
  client.run("select * from millrace.claim_next_job_v3('w1')");
  client.run("select millrace.fail_job($1, 'w1', '{\"message\": \"m\"}')", pg::params(id));
  due();
  client.run("select * from millrace.claim_next_job_v3('w1')");
  owner_.run("update millrace.lease set lease_until = millrace.now() - interval '1 s'");
  client.run("select millrace.reset_stuck_jobs()");
  due();
  client.run("select * from millrace.claim_next_job_v3('w2')");
  client.run("select millrace.fail_job($1, 'w2', '{\"message\": \"m\"}', false)", pg::params(id));
  owner_.run(
      "select * from millrace.redrive_jobs(jsonb_build_object('job_ids', "
      "jsonb_build_array($1::text)), p_reason => 'fixed')",
      pg::params(id));
  due();
  client.run("select * from millrace.claim_next_job_v3('w3')");
  client.run("select millrace.cancel_job($1, null, 'enough')", pg::params(id));
  client.run("select millrace.complete_job($1, 'w3')", pg::params(id));
  EXPECT_EQ(
      life(),
      "enqueued claimed rescheduled claimed retried claimed reclaimed claimed failed redriven "
      "claimed cancel_requested completed");

  const auto first = owner_.rows("select a.* from millrace.job_audit($1) a", pg::params(id));
  EXPECT_EQ(first[0].text("operation"), "INSERT");
  EXPECT_EQ(first[0].text("reason"), "Job enqueued with correlation tracking");
  const auto last = first[first.rows() - 1];
  EXPECT_EQ(last.text("operation"), "UPDATE");
  EXPECT_EQ(last.text("reason"), "Job completed successfully");
  EXPECT_EQ(last.text("status"), "completed");
  EXPECT_EQ(last.text("worker_id"), "w3");
  EXPECT_EQ(
      owner_.value("select new_values ->> 'job_id' from millrace.audit where action = 'completed'"),
      id);
  EXPECT_EQ(owner_.refused("select * from millrace.job_audit(gen_random_uuid())").sqlstate,
            "MR009");
}

// A-01, A-05, A-06.
TEST_F(Audit, TakesEventsOfClients) {
  Session client{database_, "service_role"};
  const auto job =
      client.value("select millrace.enqueue_job_v3('audit_cleanup', 'n', '{\"a\": 1}')");
  client.run("select set_config('millrace.tenant_id', $1, false)", pg::params(kTenant));
  const auto number = client.value(
      "select millrace.log_audit_event('clinical_facts', 'f1', 'INSERT', null, "
      "jsonb_build_object('job_id', "
      "$1::text), 'Fact written', p_patient_id => '00000000-0000-4000-8000-0000000000f1')",
      pg::params(job));
  EXPECT_EQ(
      owner_.value("select table_name || record_id || operation || reason || category || actor || "
                   "tenant_id || patient_id || job_ids[1] from millrace.audit where audit_id = $1",
                   pg::params(number)),
      "clinical_factsf1INSERTFact writtensystemservice_role" + std::string(kTenant) +
          "00000000-0000-4000-8000-0000000000f1" + job);
  EXPECT_EQ(client.refused("select millrace.log_audit_event('', 'r', 'INSERT', null, null, 'x')")
                .sqlstate,
            "MR024");
  Session anon{database_, "anon"};
  EXPECT_EQ(
      anon.refused("select millrace.log_audit_event('t', 'r', 'INSERT', null, null, 'x')").sqlstate,
      "42501");
}

// K06, B11: nothing that is evidence can be changed, not even by the owner.
TEST_F(Audit, RefusesToBeChanged) {
  const auto id = owner_.value("select millrace.enqueue_job('noop', '{\"a\": 1}')");
  owner_.run("select * from millrace.claim_next_job_v3('w1')");
  owner_.run("select millrace.fail_job($1, 'w1', '{\"message\": \"m\"}', false)", pg::params(id));
  seal();
  for (const auto* change :
       {"update millrace.audit set reason = 'x'", "delete from millrace.audit",
        "update millrace.audit_seal set hash = hash", "delete from millrace.audit_seal",
        "update millrace.job_fact set payload = '{}'", "update millrace.attempt set outcome = 'ok'",
        "update millrace.job_history set status = 'completed'",
        "update millrace.job_history set result = '1', redriven_at = now()",
        "delete from millrace.job_history"}) {
    EXPECT_EQ(owner_.refused(change).sqlstate, "MR022") << change;
  }
  owner_.run("update millrace.job_history set redriven_at = now()");
  owner_.script(
      "begin; set local millrace.retention = 'on'; delete from millrace.job_history; rollback");
  EXPECT_EQ(problems(), 0);
}

TEST_F(Audit, SealsEachRowOnceInPieces) {
  for (int i = 0; i < 25; ++i) write(owner_, i % 3 == 0 ? kOther : kTenant);
  // Many rows of one transaction are sealed in pieces too.
  owner_.script("begin");
  for (int i = 0; i < 25; ++i) write(owner_);
  owner_.script("commit");
  std::int64_t sealed = 0;
  for (int round = 0; round < 20; ++round) sealed += seal(7);
  EXPECT_EQ(sealed, 50);
  EXPECT_EQ(owner_.number("select count(distinct audit_id) from millrace.audit_seal"), 50);
  EXPECT_EQ(
      owner_.value("select string_agg(n || '/' || top, ' ' order by n) from (select count(*) as n, "
                   "max(chain_seq) as top from millrace.audit_seal group by tenant_id) t"),
      "9/9 41/41");
  EXPECT_EQ(problems(), 0);
  EXPECT_EQ(owner_.refused("select millrace.seal_audit(0)").sqlstate, "MR024");
}

// A commit that comes late is neither missed nor put before what was sealed meanwhile.
TEST_F(Audit, WaitsForTransactionsThatAreStillOpen) {
  Session late{database_};
  Session later{database_};
  late.script("begin");
  write(late);
  write(owner_);
  EXPECT_EQ(seal_now(), 0);  // The committed row is younger than the open transaction.
  later.script("begin");
  write(later, kOther);
  late.script("commit");
  wait_for_horizon(later.value("select pg_current_xact_id()"));
  EXPECT_EQ(seal_now(), 2);
  write(owner_);
  EXPECT_EQ(seal_now(), 0);
  later.script("rollback");
  EXPECT_EQ(seal(), 1);
  EXPECT_EQ(owner_.value("select count(*) = (select count(*) from millrace.audit) from "
                         "millrace.audit_seal"),
            "t");
  EXPECT_EQ(problems(), 0);
}

TEST_F(Audit, SealsByOneAtATime) {
  write(owner_);
  wait_for_horizon(owner_.value("select pg_current_xact_id()"));
  Session other{database_};
  other.script("begin");
  EXPECT_EQ(other.number("select millrace.seal_audit(10)"), 1);
  EXPECT_EQ(seal_now(), 0);
  other.script("rollback");
  EXPECT_EQ(seal(), 1);
}

// A restore into a new cluster begins with small transaction ids again.
TEST_F(Audit, GoesOnAfterARestoreIntoAnotherCluster) {
  // As restored: rows and position with transaction ids that this cluster has not given out yet.
  owner_.run("update millrace.audit_seal_state set sealed_xid = '900000000000'::xid8");
  for (int i = 1; i <= 5; ++i) {
    owner_.run(
        fmt::format("insert into millrace.audit (xid, tenant_id, actor, table_name, operation, "
                    "action) values ('{}'::xid8, '{}', 'a', 't', 'UPDATE', 'x')",
                    900'000'000'000 + i, kTenant));
  }
  write(owner_);  // Of the new cluster.
  std::int64_t sealed = 0;
  for (int i = 0; i < 10; ++i) sealed += seal(2);
  EXPECT_EQ(sealed, 6);
  write(owner_);
  EXPECT_EQ(seal(), 1);
  EXPECT_EQ(
      owner_.value("select array_agg(audit_id order by chain_seq) = array_agg(audit_id order by "
                   "audit_id) from millrace.audit_seal"),
      "t");
  EXPECT_EQ(problems(), 0);
}

TEST_F(Audit, KnowsWhatRetentionDropped) {
  for (int i = 0; i < 6; ++i) write(owner_);
  seal();
  owner_.run(
      "update millrace.system_configuration set config_value = '1' where config_key = "
      "'retention.audit_days'");
  owner_.script(
      "begin; set local millrace.retention = 'on'; delete from millrace.audit where audit_id in "
      "(select audit_id from millrace.audit_seal where chain_seq <= 3); commit");
  EXPECT_EQ(problems(), 3);  // Too young to have been dropped by rule.
  owner_.script(
      "set session_replication_role = replica; update millrace.audit_seal set at = at - interval "
      "'2 days' where chain_seq <= 3; set session_replication_role = origin");
  EXPECT_EQ(problems(), 0);
  owner_.script(
      "set session_replication_role = replica; delete from millrace.audit where audit_id = "
      "(select audit_id from millrace.audit_seal where chain_seq = 5); set "
      "session_replication_role = origin");
  EXPECT_EQ(problems(), 1);
}

// K06: whoever can write everything but the checkpoint is found out, whatever is changed.
TEST_F(Audit, ShowsEveryRandomTampering) {
  const std::uint64_t seed = SystemRandom().next();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  SeededRandom random(seed);
  for (int i = 0; i < 40; ++i) write(owner_, i % 4 == 0 ? kOther : kTenant);
  seal();
  const auto kept = fmt::format("[{}, {}]", checkpoint(), checkpoint(kOther));
  for (int i = 0; i < 10; ++i) write(owner_);
  seal();
  write(owner_);  // Not sealed yet: no problem.
  ASSERT_EQ(problems(kept), 0);

  const auto any_row = [&] {  // A sealed one, but the last: nothing follows it yet.
    return owner_.value(
        fmt::format("select audit_id from millrace.audit_seal order by audit_id offset {} "
                    "limit 1",
                    random.below(49)));
  };
  const std::vector<const char*> edits = {"at = at + interval '1 microsecond'",
                                          "tenant_id = gen_random_uuid()",
                                          "actor = actor || ' '",
                                          "worker_id = null",
                                          "worker_id = ''",
                                          "table_name = 'job'",
                                          "record_id = 's'",
                                          "operation = 'INSERT'",
                                          "action = 'failed'",
                                          "job_ids = '{}'",
                                          "job_ids = job_ids || job_ids",
                                          "old_values = null",
                                          "old_values = '{\"a\": 2}'",
                                          "new_values = new_values || '{\"n\": 0}'",
                                          "reason = null",
                                          "reason = 'wh', record_id = 'ry'",
                                          "category = 'clinical'",
                                          "patient_id = null",
                                          "xid = (xid::text::bigint - 1)::text::xid8",
                                          "audit_id = audit_id + 100000"};
  const std::vector<std::function<std::string()>> tamperings = {
      [&] {
        return fmt::format("update millrace.audit set {} where audit_id = {}",
                           edits[random.below(edits.size())], any_row());
      },
      [&] { return fmt::format("delete from millrace.audit where audit_id = {}", any_row()); },
      [&] { return fmt::format("delete from millrace.audit_seal where audit_id = {}", any_row()); },
      [&] {
        return fmt::format(
            "update millrace.audit_seal set hash = set_bit(hash, {}, 1 - get_bit(hash, {})) "
            "where audit_id = {}",
            7, 7, any_row());
      },
      [&] {  // Two rows change places.
        const auto a = 1 + random.below(29);
        return fmt::format(
            "with s as (select chain_seq, audit_id, at from millrace.audit_seal where tenant_id = "
            "'{0}' and "
            "chain_seq in ({1}, {2})) update "
            "millrace.audit_seal t set at = s.at, audit_id = -s.audit_id from s where t.tenant_id "
            "= '{0}' and "
            "t.chain_seq = {1} + {2} - s.chain_seq; update millrace.audit_seal set audit_id = "
            "-audit_id where "
            "audit_id < 0",
            kTenant, a, a + 1 + random.below(5));
      },
      [&] {  // A row from nowhere, dated back.
        return fmt::format(
            "insert into millrace.audit select (r).* from (select jsonb_populate_record(a, "
            "'{{\"audit_id\": 900000}}') as r from millrace.audit a where audit_id = {}) f",
            any_row());
      },
      [&] {  // The end of a chain is cut off, seals and rows.
        return fmt::format(
            "with g as (delete from millrace.audit_seal where tenant_id = '{}' and chain_seq "
            "> {} returning audit_id) delete from millrace.audit a using g where a.audit_id = "
            "g.audit_id",
            kTenant, random.below(30));
      },
      [&] {  // A row is changed and the chain after it hashed anew.
        return fmt::format(
            "update millrace.audit set reason = 'forged' where audit_id = (select audit_id from "
            "millrace.audit_seal where tenant_id = '{0}' and chain_seq = {1}); update "
            "millrace.audit_seal s "
            "set hash = c.hash from (select o.tenant_id, o.chain_seq, "
            "millrace.audit_chain(millrace.audit_seed(o.tenant_id), millrace.audit_digest(a)) over "
            "(order by "
            "o.chain_seq) as hash from millrace.audit_seal o join millrace.audit a on a.at = o.at "
            "and "
            "a.audit_id = o.audit_id where o.tenant_id = '{0}') c where s.tenant_id = c.tenant_id "
            "and "
            "s.chain_seq = c.chain_seq",
            kTenant, 1 + random.below(30));
      }};
  for (int i = 0; i < 150; ++i) {
    const auto tampering =
        tamperings[i < 16 ? static_cast<std::size_t>(i % 8) : random.below(tamperings.size())]();
    owner_.script("begin; set local session_replication_role = replica; " + tampering);
    EXPECT_GT(problems(kept), 0) << tampering;
    if (i % 10 == 0) {
      EXPECT_EQ(problems_by_page(7), problems_at_once()) << tampering;
    }
    owner_.script("rollback");
  }
  EXPECT_EQ(problems(kept), 0);
  EXPECT_TRUE(problems_by_page(7).empty());
}

// However long the chain, a piece of it is looked at.
TEST_F(Audit, IsVerifiedInPiecesOfBoundedSize) {
  for (int i = 0; i < 20; ++i) write(owner_, i % 2 == 0 ? kOther : kTenant);
  seal();
  EXPECT_TRUE(problems_by_page(1).empty());
  owner_.script(
      "set session_replication_role = replica; delete from millrace.audit where audit_id in "
      "(select "
      "audit_id from millrace.audit_seal where chain_seq in (3, 8)); set session_replication_role "
      "= "
      "origin");
  for (const int limit : {1, 2, 3, 7, 10, 1000}) {
    EXPECT_EQ(problems_by_page(limit), problems_at_once()) << limit;
  }
  EXPECT_EQ(problems_at_once().size(), 4U);
  // Of the tenant of the call alone.
  owner_.run("select set_config('millrace.tenant_id', $1, false)", pg::params(kTenant));
  EXPECT_EQ(problems_by_page(3).size(), 2U);
  EXPECT_EQ(problems_by_page(3), problems_at_once());
}

// Rows that retention dropped from the beginning of a chain are no problem, wherever a piece ends.
TEST_F(Audit, PiecesKnowThatTheBeginningOfAChainMayBeGone) {
  for (int i = 0; i < 10; ++i) write(owner_);
  owner_.script(
      "set session_replication_role = replica; update millrace.audit set at = at - "
      "interval '3000 days'; set session_replication_role = origin");
  seal();
  owner_.script(
      "set session_replication_role = replica; delete from millrace.audit where audit_id in "
      "(select "
      "audit_id from millrace.audit_seal where chain_seq <= 5); set session_replication_role = "
      "origin");
  for (const int limit : {1, 3, 5, 100}) EXPECT_TRUE(problems_by_page(limit).empty()) << limit;
  owner_.script(
      "set session_replication_role = replica; delete from millrace.audit where audit_id in "
      "(select "
      "audit_id from millrace.audit_seal where chain_seq = 8); set session_replication_role = "
      "origin");
  for (const int limit : {1, 3, 5, 100}) {
    EXPECT_EQ(problems_by_page(limit), problems_at_once()) << limit;
    EXPECT_EQ(problems_by_page(limit).size(), 1U) << limit;
  }
}

TEST_F(Audit, RefusesAPlaceThatIsNone) {
  for (const auto* bad : {R"({"at": "yesterday, perhaps"})", R"({"tenant_id": "x"})",
                          R"({"chain_seq": "many"})", R"({"all_gone": 7})"}) {
    EXPECT_EQ(
        owner_.refused("select millrace.verify_audit_page($1::jsonb)", pg::params(bad)).sqlstate,
        "MR024")
        << bad;
  }
  EXPECT_EQ(owner_.refused("select millrace.verify_audit_page(null, 0)").sqlstate, "MR024");
}

TEST_F(Audit, ComparesWithCheckpointsFromOutside) {
  for (int i = 0; i < 3; ++i) write(owner_);
  const auto empty = checkpoint();
  seal();
  const auto full = checkpoint();
  EXPECT_EQ(problems(empty), 0);
  EXPECT_EQ(problems(full), 0);
  EXPECT_EQ(problems(fmt::format("[{}, {}]", empty, full)), 0);
  EXPECT_EQ(owner_.value("select v.problem from millrace.verify_audit(null, jsonb_set($1::jsonb, "
                         "'{chain_seq}', '4')) v",
                         pg::params(full)),
            "cut: the chain ends before the checkpoint");
  EXPECT_EQ(owner_.value("select v.problem from millrace.verify_audit(null, jsonb_set($1::jsonb, "
                         "'{hash}', '\"00\"')) v",
                         pg::params(full)),
            "rewritten: the chain does not lead through the checkpoint");
  for (const auto* bad : {"{}", "7", "[{\"tenant_id\": \"x\"}]"}) {
    EXPECT_EQ(
        owner_.refused("select * from millrace.verify_audit(null, $1::jsonb)", pg::params(bad))
            .sqlstate,
        "MR024")
        << bad;
  }
}

}  // namespace
}  // namespace millrace::test
