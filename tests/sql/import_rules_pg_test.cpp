// Moving jobs over: the map, what is refused and how, who may do it, and the way back.
#include "sql/import_world.h"

namespace millrace::test {
namespace {

using ImportRules = EngineTest;

constexpr const char* kUser = "00000000-0000-4000-8000-0000000000aa";
constexpr const char* kDocument = "00000000-0000-4000-8000-0000000000dd";

// --- The map, and what is wrong ---

TEST_F(ImportRules, TheMapRenamesMovesToQueuesAndSkips) {
  sql.script(kPgBossTables);
  sql.run("select millrace.set_queue('mails', '{}')");
  sql.script(
      "insert into pgboss.job (name, data) values ('send mail/now', '{\"n\": 1}'), "
      "('report', '{\"n\": 2}'), ('noise', '{\"n\": 3}'), ('plain', '{\"n\": 4}')");
  EXPECT_EQ(report(sql, "pg-boss", "pgboss"), "to move 3; its name cannot be a job type: map it 1");
  const auto* map = R"({"queue": "mails", "priority": 500, "types": {"send mail/now": "send_mail",
    "report": {"type": "report_generation", "queue": "default"}, "noise": {"skip": true}}})";
  EXPECT_EQ(report(sql, "pg-boss", "pgboss", map), "to move 3; skipped by the map 1");
  move_batch(sql, "pg-boss", "pgboss", {.map = map});
  EXPECT_EQ(sql.value("select string_agg(format('%s %s %s', t.job_type, q.queue, f.priority), ', ' "
                      "order by f.payload ->> 'n') from millrace.job_fact f join millrace.job_type "
                      "t using (type_id) join millrace.queue q on q.queue_id = f.queue_id"),
            "send_mail mails 500, report_generation default 500, plain mails 500");
}

TEST_F(ImportRules, WhatIsWrongIsSaidAndNothingIsMoved) {
  const auto refused = [&](const std::string& source, const std::string& schema,
                           const std::string& map = "{}") {
    return sql.refused("select millrace.import_batch($1, $2, 10, $3::jsonb)",
                       pg::params(source, schema, map));
  };
  EXPECT_EQ(refused("sidekiq", "public").sqlstate, "MR024");
  EXPECT_EQ(refused("pg-boss", "pgboss").message, "schema pgboss has no table job");
  EXPECT_EQ(refused("guardian", "millrace").sqlstate, "MR024") << "these are our own views";
  sql.script("create view public.job_queue as select 1 as id");
  EXPECT_EQ(refused("guardian", "public").message, "public.job_queue is not a table");
  sql.script("drop view public.job_queue; create table public.job_queue (id uuid)");
  EXPECT_NE(refused("guardian", "public").message.find("has no column job_type"),
            std::string::npos);
  sql.script("drop table public.job_queue");
  sql.script(kGuardianTables);
  sql.script(
      "insert into public.job_queue (job_type, job_payload) values ('audit_cleanup', "
      "'{\"n\": 1}')");
  EXPECT_EQ(refused("guardian", "public", R"({"kueue": "x"})").message,
            "the map has an unknown field kueue");
  EXPECT_EQ(refused("guardian", "public", R"({"queue": "nowhere"})").sqlstate, "MR007");
  sql.run("select millrace.set_config_value('system.enqueue_enabled', 'false')");
  EXPECT_EQ(refused("guardian", "public").sqlstate, "MR021");
  sql.run("select millrace.set_config_value('system.enqueue_enabled', 'true')");
  sql.script(
      "alter table public.job_queue drop constraint job_queue_status_check; "
      "alter table public.job_queue add check (status in ('pending', 'processing'))");
  const auto error = refused("guardian", "public");
  EXPECT_EQ(error.sqlstate, "MR024") << error.message;
  EXPECT_NE(error.hint.find("rows"), std::string::npos) << error.hint;
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 0);
  EXPECT_EQ(sql.number("select count(*) from public.job_queue where status = 'pending'"), 1);
}

// --- Rights ---

// The source is read and written with the caller's rights, the engine with its own.
TEST_F(ImportRules, TheCallerNeedsItsOwnRightsOnTheSource) {
  sql.script(kGuardianTables);
  sql.script(
      "insert into public.job_queue (job_type, job_payload) values ('audit_cleanup', "
      "'{\"n\": 1}')");
  Session api{database, "millrace_api"};
  const auto* batch = "select count(*) from millrace.import_batch('guardian', 'public')";
  EXPECT_EQ(api.refused(batch).sqlstate, "42501");
  sql.script("grant select on public.job_queue to millrace_api");
  EXPECT_EQ(api.refused(batch).sqlstate, "42501") << "to read is not enough";
  EXPECT_EQ(api.value("select jobs from millrace.import_report('guardian', 'public')"), "1");
  sql.script("grant update on public.job_queue to millrace_api");
  // S-09: rows that a policy hides would be left behind without a word.
  sql.script("alter table public.job_queue enable row level security");
  const auto hidden = api.refused(batch);
  EXPECT_EQ(hidden.sqlstate, "42501");
  EXPECT_NE(hidden.message.find("row security of public.job_queue"), std::string::npos);
  sql.script("alter table public.job_queue disable row level security");
  EXPECT_EQ(api.value(batch), "1");
  for (const auto* role : {"authenticated", "service_role", "millrace_worker", "millrace_reader"}) {
    Session other{database, role};
    EXPECT_EQ(other.refused(batch).sqlstate, "42501") << role;
    EXPECT_EQ(
        other.refused("select millrace.accept_imports('guardian', 'public', '{}', '{}')").sqlstate,
        "42501")
        << role;
  }
}

// --- What is switched off ---

TEST_F(ImportRules, JobsOfADisabledTypeOrTenantStay) {
  sql.script(kExportTables);
  sql.script(
      fmt::format("insert into public.export_jobs (user_id, document_id, format, options, "
                  "status) values ('{0}', '{0}', 'pdf', '{{}}', 'pending')",
                  kUser));
  sql.run("select millrace.set_job_type('export_pdf', '{\"enabled\": false}')");
  EXPECT_EQ(report(sql, "export", "public"), "its job type is disabled 1");
  sql.run("select millrace.set_job_type('export_pdf', '{\"enabled\": true}')");
  sql.run(
      "insert into millrace.tenant (tenant_id, name, disabled_at, created_at, created_by, "
      "updated_at) values ($1, 'gone', now(), now(), 'test', now())",
      pg::params(kUser));
  EXPECT_EQ(report(sql, "export", "public"), "its tenant is disabled 1");
  for (const auto& one : move_batch(sql, "export", "public")) EXPECT_EQ(one.job_id, "");
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 0);
}

// --- Back again ---

TEST_F(ImportRules, ARowThatWasChangedInTheSourceStopsTheWayBack) {
  sql.script(kGuardianTables);
  sql.script(
      "insert into public.job_queue (job_type, job_payload) select 'audit_cleanup', "
      "jsonb_build_object('n', i) from generate_series(1, 3) i");
  move_batch(sql, "guardian", "public");
  sql.script("update public.job_queue set status = 'completed' where job_payload ->> 'n' = '2'");
  const auto error = sql.refused("select millrace.import_undo('guardian', 'public')");
  EXPECT_EQ(error.sqlstate, "MR024");
  EXPECT_EQ(places(sql), "ready 3, delayed 0, leased 0") << "nothing was moved back";
  EXPECT_EQ(sql.number("select count(*) from public.job_queue where status = 'pending'"), 0);
}

// A tenant's operator sees and moves back the tenant's own.
TEST_F(ImportRules, WhatGoesBackIsConfinedToTheTenantOfTheCall) {
  sql.script(kExportTables);
  sql.script(
      fmt::format("insert into public.export_jobs (user_id, document_id, format, options, "
                  "status) select u::uuid, u::uuid, 'pdf', '{{}}', 'pending' from "
                  "unnest(array['{}', '{}']) u",
                  kUser, kDocument));
  move_batch(sql, "export", "public");
  as_tenant(sql, kUser);
  EXPECT_EQ(sql.number("select sum(jobs) from millrace.imports_overview('export', 'public')"), 1);
  EXPECT_EQ(sql.number("select count(*) from millrace.import_undo('export', 'public')"), 1);
  EXPECT_EQ(sql.number("select millrace.forget_imports('export', 'public')"), 0);
  EXPECT_EQ(
      sql.value("select status from public.export_jobs where user_id = $1", pg::params(kDocument)),
      "cancelled");
}

}  // namespace
}  // namespace millrace::test
