// Tenants: created, limited, disabled; and what being disabled means for everybody who acts for
// one.
#include "sql/server_world.h"

namespace millrace::test {
namespace {

class Tenants : public EngineTest {
 protected:
  void make(std::string_view id, const std::string& name, const std::string& limits = "{}") {
    api.run("select millrace.create_tenant($1, $2, $3::jsonb)", pg::params(name, id, limits));
  }
  std::string audit(std::string_view tenant) {
    return sql.value(
        "select string_agg(action, ' ' order by audit_id) from millrace.audit where tenant_id = $1"
        " and table_name in ('tenant', 'user_profiles', 'api_token')",
        pg::params(tenant));
  }
  ServerSession api{database, ""};
};

// K06: every change, in the chain of the tenant it concerns.
TEST_F(Tenants, k06_every_change_is_audited_where_it_belongs) {
  make(kTenant, "clinic", R"({"quota_bytes": 10})");
  api.run("select millrace.set_tenant_quota($1, '{\"quota_files\": 3}')", pg::params(kTenant));
  api.run("select millrace.disable_tenant($1, 'unpaid')", pg::params(kTenant));
  api.run("select millrace.enable_tenant($1)", pg::params(kTenant));
  EXPECT_EQ(audit(kTenant),
            "tenant_created tenant_quota_set tenant_quota_set tenant_disabled tenant_enabled");
  EXPECT_EQ(audit("00000000-0000-0000-0000-000000000000"), "(null)");
}

TEST_F(Tenants, a_repeat_finds_its_own_success_and_changes_nothing) {
  make(kTenant, "clinic");
  make(kTenant, "clinic");
  EXPECT_EQ(audit(kTenant), "tenant_created");
  EXPECT_EQ(api.refused("select millrace.create_tenant('clinic')").sqlstate, "MR024");
  EXPECT_EQ(api.refused("select millrace.create_tenant('other', $1)", pg::params(kTenant)).sqlstate,
            "MR024");
  api.run("select millrace.disable_tenant($1)", pg::params(kTenant));
  api.run("select millrace.disable_tenant($1)", pg::params(kTenant));
  EXPECT_EQ(audit(kTenant), "tenant_created tenant_disabled");
}

TEST_F(Tenants, bad_values_are_refused_by_name) {
  for (const auto* call :
       {"select millrace.create_tenant('')", "select millrace.create_tenant(repeat('x', 201))",
        "select millrace.create_tenant('a', null, '{\"quota_bytes\": -1}')",
        "select millrace.create_tenant('a', null, '{\"quota_bytes\": 1.5}')",
        "select millrace.create_tenant('a', null, '{\"size\": 1}')",
        "select millrace.create_tenant('a', 'ffffffff-ffff-ffff-ffff-ffffffffffff')",
        "select millrace.disable_tenant('00000000-0000-0000-0000-000000000000')"}) {
    EXPECT_EQ(api.refused(call).sqlstate, "MR024") << call;
  }
  for (const auto* call : {"disable_tenant", "enable_tenant"}) {
    EXPECT_EQ(api.refused(fmt::format("select millrace.{}($1)", call), pg::params(kOther)).sqlstate,
              "MR034");
  }
  EXPECT_EQ(api.refused("select millrace.set_tenant_quota($1, '{}')", pg::params(kOther)).sqlstate,
            "MR034");
  EXPECT_EQ(sql.number("select count(*) from millrace.tenant"), 0);
}

// Neither enqueue nor read, whatever the role that acts for it; others go on.
TEST_F(Tenants, a_disabled_tenant_can_neither_enqueue_nor_read) {
  make(kTenant, "clinic");
  make(kOther, "other");
  ServerSession service{database, kTenant, "service_role"};
  ServerSession elsewhere{database, kOther, "service_role"};
  User ada{database, kAda};
  const auto job = service.value("select millrace.create_export_job($1, $1)", pg::params(kAda));
  EXPECT_EQ(ada.number("select count(*) from millrace.export_jobs"), 1);
  api.run("select millrace.disable_tenant($1)", pg::params(kTenant));

  EXPECT_EQ(ada.refused("select count(*) from millrace.export_jobs").sqlstate, "MR026");
  EXPECT_EQ(ada.refused("select millrace.job_status($1)", pg::params(job)).sqlstate, "MR026");
  EXPECT_EQ(ada.refused("select millrace.list_jobs()").sqlstate, "MR026");
  EXPECT_EQ(ada.refused("select millrace.cancel_mine(array[$1::uuid])", pg::params(job)).sqlstate,
            "MR026");
  EXPECT_EQ(ada.refused("select count(*) from millrace.shell_files").sqlstate, "MR026");
  for (const auto* call :
       {"select millrace.enqueue_job('noop', '{\"n\": 1}')",
        "select millrace.enqueue_job('noop', '{\"n\": 1}', '{\"delay_seconds\": 5}')",
        "select millrace.enqueue_array('noop', array['{\"n\": 1}'::jsonb])",
        "select millrace.enqueue_jobs('[{\"job_type\": \"noop\", \"payload\": {\"n\": 1}}]')",
        "select millrace.enqueue_job_v3('audit_cleanup', 'n', '{\"a\": 1}')",
        "select millrace.create_batch('[{\"job_type\": \"noop\", \"payload\": {\"n\": 1}}]')",
        "select job_id from millrace.claim_next_job_v3('w')"}) {
    EXPECT_EQ(service.refused(call).sqlstate, "MR026") << call;
  }
  // An operator who acts for it adds nothing, but may look.
  ServerSession operator_{database, kTenant};
  EXPECT_EQ(operator_.refused("select millrace.enqueue_job('noop', '{\"n\": 1}')").sqlstate,
            "MR026");
  EXPECT_EQ(operator_.value("select millrace.get_job($1) ->> 'status'", pg::params(job)),
            "pending");
  EXPECT_EQ(operator_
                .refused("select millrace.begin_upload(jsonb_build_object('kind', 'file', "
                         "'user_id', $1::text))",
                         pg::params(kAda))
                .sqlstate,
            "MR026");
  // Others do not notice, and it comes back whole.
  elsewhere.run("select millrace.enqueue_job('noop', '{\"n\": 1}')");
  api.run("select millrace.enable_tenant($1)", pg::params(kTenant));
  EXPECT_EQ(ada.number("select count(*) from millrace.export_jobs"), 1);
  service.run("select millrace.enqueue_job('noop', '{\"n\": 1}')");
}

TEST_F(Tenants, jobs_of_a_disabled_tenant_that_wait_are_still_done) {
  make(kTenant, "clinic");
  ServerSession service{database, kTenant, "service_role"};
  const auto job = service.value("select millrace.enqueue_job('noop', '{\"n\": 1}')");
  api.run("select millrace.disable_tenant($1)", pg::params(kTenant));
  Worker worker(sql);
  // With a follow-up of its own, which is no new work from outside.
  EXPECT_EQ(worker.settle(worker.take(), "ok",
                          R"({"effects": {"jobs": [{"job_type": "noop", "payload": {"n": 2}}]}})"),
            "settled");
  EXPECT_EQ(status(sql, job), "completed");
  EXPECT_EQ(imbalance(sql), "");
}

// A run of a cron entry is an enqueue like any other: it is noted as failed and the others run.
TEST_F(Tenants, cron_of_a_disabled_tenant_enqueues_nothing) {
  make(kTenant, "clinic");
  ServerSession mine{database, kTenant};
  mine.run(
      "select millrace.set_cron('tick', '* * * * *', "
      "'{\"job_type\": \"noop\", \"payload\": {\"n\": 1}}')");
  api.run("select millrace.disable_tenant($1)", pg::params(kTenant));
  pass(sql, "61 seconds");
  EXPECT_EQ(sql.number("select millrace.run_cron(10)"), 1);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 0);
  EXPECT_TRUE(sql.yes("select last_error like 'MR026%' and enabled from millrace.cron"));
}

TEST_F(Tenants, limits_of_a_tenant_are_its_own_or_those_of_all) {
  make(kTenant, "clinic", R"({"quota_bytes": 7, "requests_per_minute": 30})");
  EXPECT_EQ(api.value("select quota_bytes || ' ' || quota_files from millrace.list_tenants()"),
            "7 1000000");
  api.run("select millrace.set_config_value('tenant.quota_files', '0')");
  api.run("select millrace.set_tenant_quota($1, '{\"quota_bytes\": null}')", pg::params(kTenant));
  EXPECT_EQ(api.value("select concat(quota_bytes, ' ', quota_files) from millrace.list_tenants()"),
            "107374182400 ");
  EXPECT_EQ(api.value("select concat(disabled, ' ', requests_per_minute) "
                      "from millrace.tenant_policy($1)",
                      pg::params(kTenant)),
            "f 30");
  EXPECT_EQ(api.value("select concat(disabled, ' ', requests_per_minute) "
                      "from millrace.tenant_policy($1)",
                      pg::params(kOther)),
            "f ");
  EXPECT_EQ(api.refused("select millrace.set_config_value('tenant.quota_bytes', 'much')").sqlstate,
            "MR020");
}

TEST_F(Tenants, lists_go_on_behind_an_id_and_are_confined) {
  make(kTenant, "a");
  make(kOther, "b");
  EXPECT_EQ(api.value("select string_agg(name, ' ') from millrace.list_tenants()"), "a b");
  EXPECT_EQ(
      api.value("select string_agg(name, ' ') from millrace.list_tenants($1)", pg::params(kTenant)),
      "b");
  ServerSession confined{database, kOther};
  EXPECT_EQ(confined.value("select string_agg(name, ' ') from millrace.list_tenants()"), "b");
}

// --- Profiles ---

// V-07, S-10: the owner test, and nothing wider.
TEST_F(Tenants, v07_a_user_has_the_own_profiles_and_no_others) {
  User ada{database, kAda};
  User bob{database, kBob};
  User ada_elsewhere{database, kAda, kOther};
  const auto mine = ada.value("select millrace.create_profile('Ada')");
  const auto bobs = bob.value("select millrace.create_profile('Bob')");
  EXPECT_EQ(ada.value("select string_agg(id::text, ' ') from millrace.user_profiles"), mine);
  EXPECT_EQ(ada.value("select string_agg(id::text, ' ') from millrace.list_profiles()"), mine);
  EXPECT_TRUE(ada.yes("select millrace.has_profile_access($1)", pg::params(mine)));
  EXPECT_FALSE(ada.yes("select millrace.has_profile_access($1)", pg::params(bobs)));
  EXPECT_FALSE(ada_elsewhere.yes("select millrace.has_profile_access($1)", pg::params(mine)));
  for (auto* other : {static_cast<Session*>(&bob), static_cast<Session*>(&ada_elsewhere)}) {
    EXPECT_EQ(other->refused("select millrace.rename_profile($1, 'x')", pg::params(mine)).sqlstate,
              "MR036");
    EXPECT_EQ(other->refused("select millrace.delete_profile($1)", pg::params(mine)).sqlstate,
              "MR036");
  }
  EXPECT_EQ(ada.refused("select millrace.create_profile('x', $1)", pg::params(kBob)).sqlstate,
            "MR015");
  ada.run("select millrace.rename_profile($1, 'Ada L.')", pg::params(mine));
  EXPECT_EQ(
      ada.value("select display_name from millrace.list_profiles(null, 1, $1)", pg::params(mine)),
      "Ada L.");
  // Names of patients are not in the audit.
  EXPECT_EQ(sql.number("select count(*) from millrace.audit where new_values::text like '%Ada%' or "
                       "old_values::text like '%Ada%' or reason like '%Ada%'"),
            0);
}

TEST_F(Tenants, a_profile_with_a_chosen_id_is_made_once) {
  User ada{database, kAda};
  User bob{database, kBob};
  const std::string id = "00000000-0000-4000-8000-00000000d001";
  EXPECT_EQ(ada.value("select millrace.create_profile('a', null, $1)", pg::params(id)), id);
  EXPECT_EQ(ada.value("select millrace.create_profile('a', null, $1)", pg::params(id)), id);
  EXPECT_EQ(bob.refused("select millrace.create_profile('b', null, $1)", pg::params(id)).sqlstate,
            "MR024");
  EXPECT_EQ(audit(kTenant), "profile_created");
}

// A service that is confined to no tenant makes profiles where the user's others are.
TEST_F(Tenants, a_service_makes_profiles_in_the_tenant_of_the_user) {
  User ada{database, kAda};
  ada.run("select millrace.create_profile('a')");
  ServerSession service{database, "", "service_role"};
  const auto id = service.value("select millrace.create_profile('b', $1)", pg::params(kAda));
  EXPECT_EQ(sql.value("select tenant_id from millrace.user_profiles where id = $1", pg::params(id)),
            kTenant);
  const auto bobs = service.value("select millrace.create_profile('c', $1)", pg::params(kBob));
  EXPECT_EQ(
      sql.value("select tenant_id from millrace.user_profiles where id = $1", pg::params(bobs)),
      kBob);
}

}  // namespace
}  // namespace millrace::test
