// Workers over HTTP: a process belongs to the API token it came with, and claims within its tenant.
#include "sql/server_world.h"

namespace millrace::test {
namespace {

constexpr std::string_view kToken = "00000000-0000-4000-8000-0000000000c1";
constexpr std::string_view kForeign = "00000000-0000-4000-8000-0000000000c2";

class RemoteWorkers : public EngineTest {
 protected:
  static std::string enlist(Session& session, const std::string& id,
                            std::string_view token = kToken) {
    return session.value("select millrace.register_remote_worker($1, '{\"lease_ms\": 30000}', $2)",
                         pg::params(id, token));
  }
  static constexpr const char* kCheck =
      "select millrace.check_remote_worker($1, $2::uuid, $3::uuid, $4)";
  ServerSession remote{database, kTenant, "millrace_worker"};
};

TEST_F(RemoteWorkers, a_process_is_the_tokens_it_came_with) {
  const auto process = enlist(remote, "r1");
  remote.run(kCheck, pg::params("r1", process, kToken, false));
  EXPECT_EQ(remote.refused(kCheck, pg::params("r1", process, kForeign, false)).sqlstate, "MR023");
  EXPECT_EQ(remote.refused(kCheck, pg::params("r1", kAda, kToken, false)).sqlstate, "MR023");
  EXPECT_EQ(remote.refused(kCheck, pg::params("r2", process, kToken, false)).sqlstate, "MR023");
  // One of the fleet, without a token, is nobody's over HTTP.
  Worker local(sql, "local");
  EXPECT_EQ(remote.refused(kCheck, pg::params("local", local.process(), kToken, false)).sqlstate,
            "MR023");
  EXPECT_EQ(remote.refused("select millrace.register_remote_worker('r3', '{}', null)").sqlstate,
            "MR024");
  EXPECT_EQ(
      remote.refused("select millrace.register_remote_worker('r1', '{}', $1)", pg::params(kForeign))
          .sqlstate,
      "MR024");
}

// Declared dead: it may claim nothing, and still learns what became of its jobs.
TEST_F(RemoteWorkers, one_that_is_gone_may_only_ask) {
  const auto process = enlist(remote, "r1");
  sql.run("delete from millrace.worker");
  EXPECT_EQ(remote.refused(kCheck, pg::params("r1", process, kToken, false)).sqlstate, "MR023");
  remote.run(kCheck, pg::params("r1", process, kToken, true));
  // But not under the name of another that lives.
  enlist(remote, "r1", kForeign);
  EXPECT_EQ(remote.refused(kCheck, pg::params("r1", process, kToken, true)).sqlstate, "MR023");
}

TEST_F(RemoteWorkers, claims_stay_within_the_tenant_of_the_token) {
  as_tenant(sql, std::string(kOther));
  enqueue(sql);
  as_tenant(sql, std::string(kTenant));
  const auto mine = enqueue(sql);
  const auto process = enlist(remote, "r1");
  EXPECT_EQ(remote.value("select string_agg(job_id::text, ' ') from millrace.claim_jobs('r1', "
                         "$1::uuid, 'default', 10)",
                         pg::params(process)),
            mine);
}

// Those who claim job by job get jobs, also from a lane, each with a fence of its own.
TEST_F(RemoteWorkers, v02_claim_extend_report_and_settle_by_token) {
  as_tenant(sql, std::string(kTenant));
  const auto ids = enqueue_many(sql, 3);
  const auto process = enlist(remote, "r1");
  const auto rows =
      remote.rows("select job_id, token from millrace.claim_jobs('r1', $1::uuid, 'default', 2)",
                  pg::params(process));
  ASSERT_EQ(rows.rows(), 2U);
  const std::string job(rows[0].text(0));
  const std::string token(rows[0].text(1));
  EXPECT_EQ(remote.value("select answer from millrace.extend_leases('r1', array[$1::uuid], "
                         "array[$2::uuid], 60000)",
                         pg::params(job, token)),
            "extended");
  EXPECT_EQ(
      remote.value(
          "select answer from millrace.report_progress('r1', jsonb_build_array(jsonb_build_object("
          "'job_id', $1::text, 'token', $2::text, 'progress', 40)))",
          pg::params(job, token)),
      "settled");
  EXPECT_EQ(sql.value("select millrace.job_status($1) ->> 'progress'", pg::params(job)), "40");
  const auto settle = [&] {
    return remote.value(
        "select answer from millrace.settle_jobs('r1', jsonb_build_array(jsonb_build_object("
        "'job_id', $1::text, 'token', $2::text, 'outcome', 'ok', 'result', '{\"a\": 1}'::jsonb)))",
        pg::params(job, token));
  };
  EXPECT_EQ(settle(), "settled");
  EXPECT_EQ(settle(), "already_settled");
  EXPECT_EQ(sql.value("select millrace.job_status($1) #>> '{result,a}'", pg::params(job)), "1");
  EXPECT_EQ(remote.number("select millrace.retire_worker('r1', $1::uuid)", pg::params(process)), 1);
  EXPECT_EQ(imbalance(sql), "");
}

// I05: content is named by its digest; whoever could name any would be handed any.
TEST_F(RemoteWorkers, i05_cannot_say_which_content_is_an_artifact) {
  as_tenant(sql, std::string(kTenant));
  enqueue(sql);
  const auto process = enlist(remote, "r1");
  const auto rows =
      remote.rows("select job_id, token from millrace.claim_jobs('r1', $1::uuid, 'default', 1)",
                  pg::params(process));
  const auto settle = [&](const std::string& output) {
    return remote.connection().query(
        "select answer from millrace.settle_remote('r1', jsonb_build_array(jsonb_build_object("
        "'job_id', $1::text, 'token', $2::text, 'outcome', 'ok', 'effects', "
        "jsonb_build_object('output', $3::jsonb))))",
        pg::params(rows[0].text(0), rows[0].text(1), output));
  };
  const auto artifact = stored(sql, "another tenant's");
  const auto refused = settle(fmt::format(R"({{"outputs": {{}}, "artifacts": [{}]}})", artifact));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().sqlstate, "MR016");
  EXPECT_EQ(sql.number("select count(*) from millrace.artifact"), 0);
  const auto settled = settle(R"({"outputs": {"y": 1}})");
  ASSERT_TRUE(settled.has_value());
  EXPECT_EQ((*settled)[0].text(0), "settled");
  EXPECT_EQ(sql.number("select count(*) from millrace.result"), 1);
}

TEST_F(RemoteWorkers, a_disabled_tenant_registers_none) {
  ServerSession admin{database, ""};
  admin.run("select millrace.create_tenant('clinic', $1)", pg::params(kTenant));
  admin.run("select millrace.disable_tenant($1)", pg::params(kTenant));
  EXPECT_EQ(
      remote.refused("select millrace.register_remote_worker('r1', '{}', $1)", pg::params(kToken))
          .sqlstate,
      "MR026");
}

}  // namespace
}  // namespace millrace::test
