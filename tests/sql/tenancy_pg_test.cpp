// Tenancy and privileges: who may call, read and write what, and that no claim, setting or
// temporary object widens it. MILLRACE_UPDATE_GOLDEN=1 writes tests/golden/grants.golden.txt anew.
#include "base/file.h"
#include "base/random.h"
#include "session.h"
#include "support/sql_source.h"

#include <cstdlib>
#include <map>
#include <set>
#include <vector>

namespace millrace::test {
namespace {

constexpr std::string_view kAda = "00000000-0000-4000-8000-0000000000aa";
constexpr std::string_view kBob = "00000000-0000-4000-8000-0000000000bb";
constexpr std::string_view kTenant = "00000000-0000-4000-8000-000000000001";
constexpr std::string_view kOther = "00000000-0000-4000-8000-000000000002";

// Every grant on schema millrace and what is in it, but for partitions and what only tests have.
constexpr const char* kGrants = R"(
  with object as (
    select 'schema' as kind, n.nspname::text as name, n.nspacl as acl, n.nspowner as owner,
           'n' as class
      from pg_namespace n where n.nspname = 'millrace'
    union all
    select case c.relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end, c.relname,
           c.relacl, c.relowner, case c.relkind when 'S' then 'S' else 'r' end
      from pg_class c
     where c.relnamespace = 'millrace'::regnamespace and c.relkind in ('r', 'p', 'v', 'S')
       and not c.relispartition and c.relname <> 'test_clock'
    union all
    select 'column', c.relname || '.' || a.attname, a.attacl, c.relowner, 'c'
      from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = 'millrace'::regnamespace and a.attacl is not null
       and not c.relispartition
    union all
    select 'function', p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')',
           p.proacl, p.proowner, 'f'
      from pg_proc p where p.pronamespace = 'millrace'::regnamespace)
  select o.kind || ' ' || o.name || ': ' || coalesce(r.rolname, 'PUBLIC') || ' '
           || lower(g.privilege_type)
    from object o
    cross join lateral aclexplode(coalesce(o.acl, acldefault(o.class::"char", o.owner))) g
    left join pg_roles r on r.oid = g.grantee
   where g.grantee <> o.owner order by 1)";

class Tenancy : public ::testing::Test {
 protected:
  std::string golden_text() {
    std::string text;
    for (const auto row : owner_.rows(kGrants)) text += std::string(row.text(0)) + "\n";
    return text;
  }
  void apply_policies() {
    for (const auto& file : sql_files()) {
      if (file.path.starts_with("policies/")) {
        owner_.script("begin; set local role millrace_owner; " + std::string(file.text) +
                      "; commit");
      }
    }
  }
  static void claims(Session& session, std::string_view json) {
    session.run("select set_config('request.jwt.claims', $1, false)", pg::params(json));
  }
  static void tenant(Session& session, std::string_view id) {
    session.run("select set_config('millrace.tenant_id', $1, false)", pg::params(id));
  }
  static std::string token(std::string_view user, std::string_view tenant_id = kTenant) {
    return fmt::format(
        R"({{"sub": "{}", "role": "authenticated", "app_metadata": {{"tenant_id": "{}"}}}})", user,
        tenant_id);
  }
  std::string export_of(std::string_view user, std::string_view tenant_id, int document) {
    Session service{database_, "service_role"};
    tenant(service, tenant_id);
    return service.value("select millrace.create_export_job($1, $2)",
                         pg::params(user, fmt::format("00000000-0000-4000-8000-{:012}", document)));
  }

  TestDatabase database_;
  Session owner_{database_};
};

// I02: the whole list, reviewed as a file.
TEST_F(Tenancy, GrantsAreTheOnesInTheGoldenFile) {
  const std::string path = MILLRACE_GOLDEN_DIR "/grants.golden.txt";
  const auto actual = golden_text();
  if (std::getenv("MILLRACE_UPDATE_GOLDEN") != nullptr) {
    must(write_file_atomically(path, actual, 0644));
  }
  const auto golden = must(read_file(path));
  std::set<std::string> want;
  std::set<std::string> have;
  for (auto [text, lines] : {std::pair{&golden, &want}, std::pair{&actual, &have}}) {
    for (std::size_t begin = 0; begin < text->size();) {
      const auto end = text->find('\n', begin);
      lines->insert(text->substr(begin, end - begin));
      begin = end == std::string::npos ? text->size() : end + 1;
    }
  }
  for (const auto& line : want) EXPECT_TRUE(have.contains(line)) << "missing: " << line;
  for (const auto& line : have)
    EXPECT_TRUE(want.contains(line)) << "not in the golden file: " << line;
}

// I02: a hosted platform gives its client roles default privileges on everything that is created.
TEST_F(Tenancy, DefaultPrivilegesOfAPlatformDoNotReachTheSchema) {
  const auto before = golden_text();
  owner_.script(
      "set role millrace_owner;"
      "alter default privileges in schema millrace grant all on tables to anon, authenticated, "
      "public;"
      "alter default privileges in schema millrace grant all on routines to anon, authenticated, "
      "public;"
      "alter default privileges in schema millrace grant all on sequences to anon, authenticated;"
      "create table millrace.added (a int); create function millrace.added() returns int language "
      "sql "
      "as 'select 1'; create sequence millrace.added_seq;"
      "grant all on all tables in schema millrace to anon, authenticated, public;"
      "grant all on all routines in schema millrace to anon, authenticated, service_role;"
      "grant usage on schema millrace to anon; reset role");
  ASSERT_NE(golden_text(), before);
  apply_policies();
  owner_.script(
      "set role millrace_owner; create table millrace.added_later (a int); create function "
      "millrace.added_later() returns int language sql as 'select 1'; reset role");
  for (const auto* role : {"anon", "authenticated"}) {
    for (const auto* object : {"added", "added_later"}) {
      EXPECT_EQ(owner_.value(
                    "select has_table_privilege($1, 'millrace.' || $2, 'select, insert, update, "
                    "delete') or has_function_privilege($1, 'millrace.' || $2 || '()', 'execute')",
                    pg::params(role, object)),
                "f")
          << role << " " << object;
    }
  }
  owner_.script(
      "drop table millrace.added, millrace.added_later; drop function millrace.added(), "
      "millrace.added_later(); drop sequence millrace.added_seq");
  EXPECT_EQ(golden_text(), before);
}

// Policies are applied at every deploy, next to running workers: a second time they change nothing.
TEST_F(Tenancy, PoliciesAppliedAgainTakeNoLockOnABusyTable) {
  const auto oids = "select string_agg(oid::text, ',' order by oid) from pg_policy";
  const auto before = owner_.value(oids);
  Session busy{database_};
  busy.script("begin; select * from millrace.job_fact, millrace.lease, millrace.audit limit 1");
  owner_.run("set lock_timeout = '2s'");
  apply_policies();
  EXPECT_EQ(owner_.value(oids), before);
}

// I08, I03: a tenant in every row, and row security that holds for the owner too.
TEST_F(Tenancy, EveryTenantTableForcesRowSecurity) {
  const auto rows = owner_.rows(
      "select c.relname, c.relrowsecurity, c.relforcerowsecurity, c.relispartition, a.attnotnull "
      "from "
      "pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' where "
      "c.relnamespace = 'millrace'::regnamespace and c.relkind in ('r', 'p')");
  EXPECT_GT(rows.rows(), 20U);
  for (const auto row : rows) {
    EXPECT_TRUE(row.boolean("relrowsecurity")) << row.text(0);
    EXPECT_TRUE(row.boolean("relforcerowsecurity") || row.boolean("relispartition")) << row.text(0);
    EXPECT_TRUE(row.boolean("attnotnull")) << row.text(0);
  }
  EXPECT_EQ(
      owner_.value("select rolsuper or rolbypassrls or rolcanlogin from pg_roles where rolname = "
                   "'millrace_owner'"),
      "f");
}

// I01: nothing that a caller puts in front can be found by a function.
TEST_F(Tenancy, EveryFunctionFixesItsSearchPath) {
  for (const auto row :
       owner_.rows("select p.oid::regprocedure::text from pg_proc p where p.pronamespace = "
                   "'millrace'::regnamespace and p.prokind = 'f' and p.prosqlbody is null and not "
                   "coalesce('search_path=pg_catalog, pg_temp' = any (p.proconfig), false)")) {
    ADD_FAILURE() << row.text(0) << " has no fixed search_path";
  }
  for (const auto row :
       owner_.rows("select p.oid::regprocedure::text from pg_proc p where p.pronamespace = "
                   "'millrace'::regnamespace and p.prosecdef and p.prorettype <> "
                   "'trigger'::regtype and not exists "
                   "(select from aclexplode(p.proacl) g where g.grantee <> p.proowner)")) {
    ADD_FAILURE() << row.text(0) << " runs as its owner but nobody may call it";
  }
}

TEST_F(Tenancy, TemporaryObjectsOfACallerAreNotFound) {
  Session client{database_, "service_role"};
  const auto id =
      client.value("select millrace.enqueue_job_v3('audit_cleanup', 'n', '{\"a\": 1}')");
  const auto audited = owner_.number("select count(*) from millrace.audit");
  client.script(
      "create temp table lease as select * from millrace.job_queue limit 0;"
      "create temp table job_queue (id uuid, worker_id text, status text, completed_at "
      "timestamptz, "
      "job_result jsonb, updated_at timestamptz);"
      "create temp table job_history (job_id uuid, worker_id text, status text, redriven_at "
      "timestamptz);"
      "create temp table audit (x int);"
      "create function pg_temp.now() returns timestamptz language sql as $$ select "
      "'epoch'::timestamptz $$;"
      "set search_path = pg_temp, millrace, public");
  client.run("insert into pg_temp.job_queue values ($1, 'evil', 'processing')", pg::params(id));
  client.run("insert into pg_temp.job_history values ($1, 'evil', 'completed')", pg::params(id));
  EXPECT_FALSE(client.yes("select millrace.complete_job($1, 'evil')", pg::params(id)));
  EXPECT_FALSE(client.yes("select millrace.update_job_heartbeat($1, 'evil')", pg::params(id)));
  EXPECT_EQ(owner_.number("select count(*) from millrace.audit"), audited);
  EXPECT_EQ(client.value("select millrace.now() > now() - interval '1 day'"), "t");
}

// I01: a caller's own operators stand before those of the database, and would run with the rights
// of the owner.
TEST_F(Tenancy, OperatorsOfACallerAreNotFound) {
  owner_.script(
      "create schema caller; grant usage on schema caller to public;"
      "create function caller.trap(uuid, uuid) returns boolean language plpgsql as "
      "$$ begin raise exception 'found what the caller put in front'; end $$;"
      "create function caller.trap(text, text) returns boolean language plpgsql as "
      "$$ begin raise exception 'found what the caller put in front'; end $$;"
      "create operator caller.= (leftarg = uuid, rightarg = uuid, function = caller.trap);"
      "create operator caller.= (leftarg = text, rightarg = text, function = caller.trap)");
  Session client{database_, "service_role"};
  client.run("set search_path = caller, pg_catalog");
  ASSERT_EQ(client.refused("select 'a'::text = 'a'::text").message,
            "found what the caller put in front");
  const auto id =
      client.value("select millrace.enqueue_job_v3('audit_cleanup', 'n', '{\"a\": 1}')");
  EXPECT_EQ(client.value("select job_id from millrace.claim_next_job_v3('w')"), id);
  EXPECT_TRUE(client.yes("select millrace.update_job_heartbeat($1, 'w')", pg::params(id)));
  EXPECT_TRUE(client.yes("select millrace.update_job_progress($1, 5)", pg::params(id)));
  EXPECT_TRUE(client.yes("select millrace.reschedule_job($1, 0, 'r', false)", pg::params(id)));
  EXPECT_EQ(client.value("select millrace.get_job($1) ->> 'status'", pg::params(id)), "pending");
  EXPECT_EQ(
      client.value("select answer from millrace.cancel_jobs(array[$1::uuid])", pg::params(id)),
      "cancelled");
  EXPECT_TRUE(client.yes("select millrace.acquire_api_capacity('openai', 'gpt-4o-mini', 1)"));
  client.run("select millrace.release_api_capacity('openai', 'gpt-4o-mini', 1, 1)");
}

// I10: each component can do its own work and nobody else's.
TEST_F(Tenancy, EveryComponentMayCallWhatIsItsOwnAndNothingElse) {
  const std::map<std::string, std::string> calls = {
      {"select * from millrace.claim_jobs('w', null, 'default', 1)", "millrace_worker"},
      {"select * from millrace.complete_jobs('w', '{}', '{}')", "millrace_worker"},
      {"select * from millrace.settle_jobs('w', '[]')", "millrace_worker"},
      {"select millrace.register_worker('w', '{}')", "millrace_worker"},
      {"select millrace.hand_back_process('s', 'w')", "millrace_worker"},
      {"select millrace.elect('d', 'h', '1 s')", "millrace_keeper"},
      {"select millrace.reclaim(1)", "millrace_keeper"},
      {"select millrace.promote_due(1)", "millrace_keeper"},
      {"select millrace.work_at_hand()", "millrace_keeper"},
      {"select millrace.maintain_partitions()", "millrace_keeper"},
      {"select millrace.seal_audit(1)", "millrace_keeper"},
      {"select * from millrace.redrive_jobs('{}')", "millrace_api"},
      {"select millrace.set_queue('default', '{}')", "millrace_api"},
      {"select millrace.set_config_value('no', 'such')", "millrace_api"},
      {"select millrace.set_limit('p', 'e', '{}')", "millrace_api"},
      {"select millrace.set_cron('c', '* * * * *', '{}')", "millrace_api"}};
  for (const auto* role : {"authenticated", "service_role", "millrace_api", "millrace_worker",
                           "millrace_keeper", "millrace_reader"}) {
    Session session{database_, role};
    for (const auto& [call, component] : calls) {
      const auto result = session.connection().query(call);
      const bool refused = !result && result.error().sqlstate == "42501";
      EXPECT_EQ(refused, component != role) << role << ": " << call;
    }
  }
}

// I02, T-03: anon may not even look at the schema; every function refuses it, one by one.
TEST_F(Tenancy, AnonIsRefusedEverything) {
  Session anon{database_, "anon"};
  claims(anon, R"({"role": "service_role", "sub": "00000000-0000-4000-8000-0000000000aa"})");
  const auto calls = owner_.rows(
      "select format('select millrace.%I(%s)', p.proname, (select string_agg('null::' || "
      "format_type(t.oid, null), ', ' order by a.i) from unnest(p.proargtypes) with ordinality "
      "a(oid, i) "
      "join pg_type t on t.oid = a.oid)), has_function_privilege('anon', p.oid, 'execute') from "
      "pg_proc p "
      "where p.pronamespace = 'millrace'::regnamespace and p.prokind = 'f' and p.prorettype <> "
      "'trigger'::regtype");
  EXPECT_GT(calls.rows(), 100U);
  for (const auto row : calls) {
    EXPECT_FALSE(row.boolean(1)) << row.text(0);
    EXPECT_EQ(anon.refused(std::string(row.text(0))).sqlstate, "42501") << row.text(0);
  }
  for (const auto row : owner_.rows("select c.relname from pg_class c where c.relnamespace = "
                                    "'millrace'::regnamespace and c.relkind in ('r', 'p', 'v')")) {
    EXPECT_EQ(anon.refused(fmt::format("select * from millrace.{}", row.text(0))).sqlstate, "42501")
        << row.text(0);
  }
}

// T-02, T-11, S-11: proved with a user's token: own rows only, of the own tenant only.
TEST_F(Tenancy, AUserSeesOnlyTheOwnJobs) {
  const auto mine = export_of(kAda, kTenant, 1);
  const auto bobs = export_of(kBob, kTenant, 1);
  const auto elsewhere = export_of(kAda, kOther, 1);
  Session user{database_, "authenticated"};
  const auto seen = [&](std::string_view view, std::string_view key) {
    return user.value(
        fmt::format("select string_agg({0}::text, ',' order by {0}) from millrace.{1}", key, view));
  };
  EXPECT_EQ(seen("export_jobs", "id"), "(null)");  // Without a token: nothing.
  claims(user, token(kAda));
  EXPECT_EQ(seen("export_jobs", "id"), mine);
  EXPECT_EQ(seen("job_fact", "job_id"), mine);
  EXPECT_EQ(seen("ready", "job_id"), mine);
  EXPECT_EQ(user.value("select status from millrace.export_jobs where id = $1", pg::params(mine)),
            "pending");
  claims(user, token(kBob));
  EXPECT_EQ(seen("export_jobs", "id"), bobs);
  claims(user, token(kAda, kOther));
  EXPECT_EQ(seen("export_jobs", "id"), elsewhere);

  // In each place, and through to the end.
  Session service{database_, "service_role"};
  const auto locked_by =
      service.value("select locked_by from millrace.fetch_next_export_job($1)", pg::params(kBob));
  claims(user, token(kAda));
  EXPECT_EQ(seen("lease", "job_id"), "(null)");
  claims(user, token(kBob));
  EXPECT_EQ(seen("lease", "job_id"), bobs);
  service.run("select millrace.fail_job($1, $2, '{\"message\": \"secret\"}')",
              pg::params(bobs, locked_by));
  EXPECT_EQ(user.value("select error_message from millrace.export_jobs"), "secret");
  EXPECT_EQ(seen("attempt", "job_id"), bobs);
  claims(user, token(kAda));
  EXPECT_EQ(seen("attempt", "job_id"), "(null)");
  EXPECT_EQ(seen("delayed", "job_id"), "(null)");
  service.run("select millrace.cancel_job($1)", pg::params(bobs));
  EXPECT_EQ(seen("job_history", "job_id"), "(null)");
  claims(user, token(kBob));
  EXPECT_EQ(seen("job_history", "job_id"), bobs);
  EXPECT_EQ(user.refused("select * from millrace.lease").sqlstate,
            "42501");  // It has a fence column.
  EXPECT_EQ(user.refused("select * from millrace.job_queue").sqlstate, "42501");
}

// A user without tenant in the token is a tenant of one; exports made for them land there.
TEST_F(Tenancy, AnExportMadeForAUserWithoutTenantIsTheirs) {
  Session service{database_, "service_role"};
  const auto id =
      service.value("select millrace.create_export_job($1, $2)", pg::params(kAda, kBob));
  Session user{database_, "authenticated"};
  claims(user, fmt::format(R"({{"sub": "{}"}})", kAda));
  EXPECT_EQ(user.value("select id from millrace.export_jobs"), id);
  claims(user, fmt::format(R"({{"sub": "{}"}})", kBob));
  EXPECT_EQ(user.value("select id from millrace.export_jobs"), "(none)");
}

// I03, I04: claims that are forged, malformed or left over from another transaction open nothing.
TEST_F(Tenancy, ForgedClaimsAndSettingsGiveNoRight) {
  export_of(kAda, kTenant, 1);
  export_of(kAda, kOther, 1);
  Session user{database_, "authenticated"};
  for (const auto* forged :
       {R"({"role": "service_role"})", R"({"role": "millrace_owner", "tenant_id": "*"})", "{",
        "null", "7", R"({"sub": {"a": 1}})", R"({"sub": "'; select 1; --"})",
        R"({"app_metadata": "x", "sub": null})"}) {
    claims(user, forged);
    EXPECT_EQ(user.number("select count(*) from millrace.export_jobs"), 0) << forged;
    EXPECT_EQ(
        user.refused("select millrace.enqueue_job_v3('audit_cleanup', 'n', '{\"a\": 1}')").sqlstate,
        "42501")
        << forged;
  }
  claims(user, token(kAda));
  tenant(user, kOther);  // For engine roles and service_role only.
  EXPECT_EQ(user.number("select count(*) from millrace.export_jobs"), 1);
  EXPECT_EQ(user.value("select millrace.current_tenant()"), kTenant);
  EXPECT_EQ(user.refused("select millrace.is_service_role()").sqlstate, "42501");

  // A role that was given the tables but has no policy sees none of the rows.
  const auto role = fmt::format("t_{:016x}", SystemRandom().next());
  owner_.script(
      fmt::format("create role {0}; grant usage on schema millrace to {0}; "
                  "grant select on all tables in schema millrace to {0}",
                  role));
  {
    Session stranger{database_, role};
    claims(stranger, R"({"role": "service_role"})");
    EXPECT_EQ(stranger.number("select count(*) from millrace.job_fact"), 0);
    EXPECT_EQ(stranger.number("select count(*) from millrace.audit"), 0);
  }
  owner_.script(fmt::format("drop owned by {0}; drop role {0}", role));
}

// I03: claims are only read where they hold something to read, and a key may be spelt in more than
// one way.
TEST_F(Tenancy, ClaimsConfineAServiceHoweverTheyAreSpelt) {
  Session service{database_, "service_role"};
  for (const auto* form :
       {R"({{"tenant_id": "{}"}})", R"({{"tenan\u0074_id": "{}"}})", R"({{"sub":"{}"}})",
        R"({{"\u0073ub":"{}"}})", R"({{"app_metadata": {{"tenant_id": "{}"}}}})"}) {
    const auto json = fmt::format(fmt::runtime(form), kTenant);
    claims(service, json);
    EXPECT_EQ(service.value("select millrace.tenant_scope()"), kTenant) << json;
  }
  for (const auto* json : {R"({"role": "service_role", "jti": "k1"})", R"({"jti": "tenant_id"})",
                           R"({"sub": "nobody"})", "\"sub\"", "nonsense", "\\", ""}) {
    claims(service, json);
    EXPECT_EQ(service.value("select millrace.tenant_scope()"), "(null)") << json;
  }
}

// K06: whoever acts is named by the token, else by the setting.
TEST_F(Tenancy, TheActorIsTheUserOfTheTokenElseTheOneThatWasSet) {
  owner_.run("select set_config('millrace.actor', 'key:k1', false)");
  for (const auto* form : {R"({{"sub": "{}"}})", R"({{"s\u0075b": "{}"}})"}) {
    claims(owner_, fmt::format(fmt::runtime(form), kAda));
    EXPECT_EQ(owner_.value("select millrace.actor()"), fmt::format("user:{}/postgres", kAda));
  }
  for (const auto* json : {R"({"role": "service_role"})", R"({"sub": "nobody"})", "nonsense", ""}) {
    claims(owner_, json);
    EXPECT_EQ(owner_.value("select millrace.actor()"), "key:k1/postgres") << json;
  }
}

TEST_F(Tenancy, APooledConnectionForgetsTheUserBeforeIt) {
  const auto mine = export_of(kAda, kTenant, 1);
  Session pooled{database_};
  for (int round = 0; round < 2; ++round) {
    pooled.script("begin; set local role authenticated");
    pooled.run("select set_config('request.jwt.claims', $1, true)", pg::params(token(kAda)));
    EXPECT_EQ(pooled.value("select id from millrace.export_jobs"), mine);
    pooled.script("commit; begin; set local role authenticated");
    EXPECT_EQ(pooled.number("select count(*) from millrace.export_jobs"), 0);
    pooled.run("select set_config('request.jwt.claims', $1, true)", pg::params(token(kBob)));
    EXPECT_EQ(pooled.number("select count(*) from millrace.export_jobs"), 0);
    pooled.script("rollback");
  }
}

// I06: clients have no write at all; engine roles have it through functions alone.
TEST_F(Tenancy, NobodyWritesATable) {
  const std::map<std::string, std::set<std::string>> allowed = {
      {"service_role", {"job_intake INSERT"}}, {"millrace_api", {"job_intake INSERT"}}};
  for (const auto* role : {"anon", "authenticated", "service_role", "millrace_api",
                           "millrace_worker", "millrace_keeper", "millrace_reader"}) {
    std::set<std::string> writes;
    for (const auto row : owner_.rows("select c.relname || ' ' || w.privilege from pg_class c "
                                      "cross join unnest(array['INSERT', "
                                      "'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) "
                                      "w(privilege) where c.relnamespace = "
                                      "'millrace'::regnamespace and c.relkind in ('r', 'p', 'v') "
                                      "and (has_table_privilege($1, c.oid, "
                                      "w.privilege) or (w.privilege in ('INSERT', 'UPDATE') and "
                                      "has_any_column_privilege($1, c.oid, "
                                      "w.privilege)))",
                                      pg::params(role))) {
      writes.insert(std::string(row.text(0)));
    }
    const auto found = allowed.find(role);
    EXPECT_EQ(writes, found == allowed.end() ? std::set<std::string>{} : found->second) << role;
  }
  Session worker{database_, "millrace_worker"};
  EXPECT_EQ(worker.refused("select * from millrace.job_fact").sqlstate, "42501");
  EXPECT_EQ(worker.refused("select millrace.reclaim(1)").sqlstate, "42501");
  Session keeper{database_, "millrace_keeper"};
  EXPECT_EQ(keeper.refused("select * from millrace.settle_jobs('w', '[]')").sqlstate, "42501");
  EXPECT_EQ(keeper.number("select millrace.reclaim(1)"), 0);
}

// Another tenant's job is a job that does not exist, for every verb.
TEST_F(Tenancy, AnotherTenantsJobsBehaveLikeUnknownOnes) {
  Session ours{database_, "service_role"};
  Session theirs{database_, "service_role"};
  tenant(ours, kTenant);
  tenant(theirs, kOther);
  const auto waiting =
      ours.value("select millrace.enqueue_job_v3('audit_cleanup', 'n', '{\"a\": 1}')");
  const auto running = ours.value("select millrace.create_export_job($1, $1)", pg::params(kAda));
  const auto holder = ours.value("select locked_by from millrace.fetch_next_export_job()");
  EXPECT_EQ(theirs.value("select job_id from millrace.claim_next_job_v3('w')"), "(none)");
  EXPECT_EQ(theirs.value("select id from millrace.fetch_next_export_job()"), "(none)");
  for (const auto& id : {waiting, running}) {
    EXPECT_EQ(theirs.refused("select millrace.cancel_job($1)", pg::params(id)).sqlstate, "MR009");
    EXPECT_EQ(theirs.refused("select millrace.get_job($1)", pg::params(id)).sqlstate, "MR009");
    EXPECT_EQ(
        theirs.value("select answer from millrace.cancel_jobs(array[$1::uuid])", pg::params(id)),
        "not_found");
    EXPECT_FALSE(theirs.yes("select millrace.complete_job($1, $2)", pg::params(id, holder)));
    EXPECT_FALSE(theirs.yes("select millrace.fail_job($1, $2, '{}')", pg::params(id, holder)));
    EXPECT_FALSE(
        theirs.yes("select millrace.update_job_heartbeat($1, $2)", pg::params(id, holder)));
    EXPECT_FALSE(theirs.yes("select millrace.reschedule_job($1, 1, 'r')", pg::params(id)));
    EXPECT_FALSE(theirs.yes("select millrace.update_job_progress($1, 5)", pg::params(id)));
    EXPECT_EQ(theirs.value("select id from millrace.get_job_status($1, $2)", pg::params(id, kAda)),
              "(none)");
  }
  Session auditor{database_, "millrace_reader"};
  tenant(auditor, kOther);
  EXPECT_EQ(auditor.refused("select * from millrace.job_audit($1)", pg::params(running)).sqlstate,
            "MR009");
  EXPECT_EQ(auditor.refused("select millrace.audit_checkpoint($1)", pg::params(kTenant)).sqlstate,
            "MR015");
  EXPECT_EQ(
      auditor.refused("select * from millrace.verify_audit($1)", pg::params(kTenant)).sqlstate,
      "MR015");
  // And none of it has touched them.
  EXPECT_TRUE(ours.yes("select millrace.complete_job($1, $2)", pg::params(running, holder)));
  EXPECT_EQ(ours.value("select job_id from millrace.claim_next_job_v3('w')"), waiting);
  // Repeats of another tenant's finished job find nothing either.
  EXPECT_FALSE(theirs.yes("select millrace.complete_job($1, $2)", pg::params(running, holder)));
}

TEST_F(Tenancy, AReaderIsConfinedByTheTenantOfItsSession) {
  const auto mine = export_of(kAda, kTenant, 1);
  export_of(kAda, kOther, 2);
  Session reader{database_, "millrace_reader"};
  EXPECT_EQ(reader.number("select count(*) from millrace.jobs"), 2);
  tenant(reader, kTenant);
  EXPECT_EQ(reader.value("select string_agg(job_id::text, ',') from millrace.jobs"), mine);
  EXPECT_EQ(reader.number("select count(distinct tenant_id) from millrace.audit"), 1);
  tenant(reader, "not a uuid");
  EXPECT_EQ(reader.refused("select * from millrace.jobs").sqlstate, "MR015");
  owner_.run(
      "update millrace.system_configuration set is_sensitive = true where config_key = "
      "'partition.days'");
  tenant(reader, "");
  EXPECT_EQ(reader.number("select count(*) from millrace.system_configuration where is_sensitive"),
            0);
}

}  // namespace
}  // namespace millrace::test
