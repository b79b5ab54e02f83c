// The migrator against real databases, with small sets of files made for each question.
#include "store/migrator.h"

#include "cluster/private_cluster.h"
#include "support/database.h"
#include "support/must.h"
#include "support/sql_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <latch>
#include <thread>
#include <unistd.h>

namespace millrace::store {
namespace {

using std::chrono::milliseconds;
using test::must;
using test::TestDatabase;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SystemClock clock_now;
const Logger quiet = Logger::silent();

// A set of files that can be changed: the next version of the program.
class Files {
 public:
  Files() = default;
  Files(std::initializer_list<std::pair<const std::string, std::string>> files) : texts_(files) {}

  std::string& operator[](const std::string& path) { return texts_[path]; }
  void remove(const std::string& path) { texts_.erase(path); }
  // The program's own roles.sql.
  Files& with_roles() {
    for (const auto& file : test::sql_files()) {
      if (file.path == "roles.sql") texts_["roles.sql"] = file.text;
    }
    return *this;
  }
  std::vector<sql::SqlFile> list() const {
    std::vector<sql::SqlFile> files;
    for (const auto& [path, text] : texts_) files.push_back({path, text});
    return files;
  }

 private:
  std::map<std::string, std::string> texts_;
};

Result<MigrateReport> up(pg::SyncConnection& connection, const Files& files,
                         const MigrateOptions& options = {}) {
  const auto list = files.list();
  return Migrator(connection, list, clock_now, quiet).up(options);
}

std::string up_error(pg::SyncConnection& connection, const Files& files,
                     const MigrateOptions& options = {}) {
  const auto report = up(connection, files, options);
  return report ? "" : report.error().message;
}

std::vector<std::string> states(pg::SyncConnection& connection, const Files& files) {
  const auto list = files.list();
  std::vector<std::string> result;
  for (const auto& status : must(Migrator(connection, list, clock_now, quiet).status())) {
    result.push_back(fmt::format("{} {}", status.name, to_string(status.state)));
  }
  return result;
}

// All values of the first column, in the query's order, "," between.
std::string ask(pg::SyncConnection& connection, const std::string& sql) {
  std::vector<std::string> values;
  for (const auto row : must(connection.query(sql))) {
    values.push_back(row.opt_text(0).value_or("null"));
  }
  return fmt::format("{}", fmt::join(values, ","));
}

Files sample() {
  return {
      {"migrations/0001_tables.sql",
       "create table millrace.a (id int);\ncreate table millrace.b (id int);"},
      {"migrations/0002_more.sql", "alter table millrace.a add column name text;"},
      {"functions/a/count_a.sql",
       "create or replace function millrace.count_a() returns bigint language sql "
       "as $$ select count(*) from millrace.a $$;"},
      {"views/a_view.sql", "create or replace view millrace.a_view as select id from millrace.a"},
      {"policies/10_grants.sql", "revoke all on millrace.a from public;"}};
}

class MigratorTest : public ::testing::Test {
 protected:
  TestDatabase database_ = TestDatabase::empty();
  pg::SyncConnection connection_ = database_.connect();
};

TEST_F(MigratorTest, BringsAnEmptyDatabaseUpInOrder) {
  std::vector<std::string> steps;
  const auto report = must(up(connection_, sample(), {.progress = [&](const MigrateProgress& p) {
                                steps.push_back(p.step);
                                EXPECT_LE(p.done, p.total);
                              }}));
  EXPECT_EQ(report.version_before, 0);
  EXPECT_EQ(report.version_after, 2);
  EXPECT_THAT(report.migrations, ElementsAre("0001_tables", "0002_more"));
  EXPECT_EQ(report.files, 3U);
  EXPECT_THAT(steps, Contains("migrations/0002_more.sql"));
  EXPECT_EQ(ask(connection_, "select millrace.count_a()"), "0");
  EXPECT_EQ(ask(connection_,
                "select version || ' ' || name || ' ' || applied_by || ' ' || "
                "(length(checksum) = 64) from millrace.schema_migration order by 1"),
            "1 0001_tables postgres true,2 0002_more postgres true");
  EXPECT_EQ(ask(connection_, "select path from millrace.schema_function order by path"),
            "functions/a/count_a.sql,policies/10_grants.sql,views/a_view.sql");
}

// Roles belong to the server, not to a database: they may come after the rights were given.
TEST_F(MigratorTest, RightsAreGivenAgainToARoleThatCameLater) {
  auto files = sample().with_roles();
  files["policies/10_grants.sql"] =
      "grant usage on schema millrace to authenticated, service_role, millrace_api, "
      "millrace_worker, millrace_keeper, millrace_reader;";
  must(up(connection_, files, {.create_client_roles = true}));
  EXPECT_EQ(must(up(connection_, files)).files, 0U);
  must(connection_.query("revoke usage on schema millrace from service_role"));
  EXPECT_EQ(must(up(connection_, files)).files, 1U);
  EXPECT_EQ(ask(connection_, "select has_schema_privilege('service_role', 'millrace', 'usage')"),
            "t");
}

// A01, K07: what the version before the server left behind is taken over with its rows.
TEST_F(MigratorTest, TheServersTablesComeToADatabaseThatHasJobs) {
  Files before;
  Files now;
  for (const auto& file : test::sql_files()) {
    const std::string path(file.path);
    now[path] = file.text;
    if (path == "roles.sql" || (path.starts_with("migrations/") && path < "migrations/0017")) {
      before[path] = file.text;
    }
  }
  EXPECT_EQ(must(up(connection_, before)).version_after, 16);
  must(connection_.script(R"(
    insert into millrace.job_fact (job_id, tenant_id, queue_id, type_id, priority, payload, batch_id, scheduled_at, created_at, created_by)
    select ('0190a000-0000-7000-8000-00000000000' || i)::uuid, '00000000-0000-0000-0000-000000000000', t.queue_id, t.type_id, 5, '{"n": 1}',
           '0190a000-0000-7000-8000-0000000000b1', now(), now(), 'the version before'
      from millrace.job_type t, generate_series(1, 2) i where t.job_type = 'noop';
    insert into millrace.ready (job_id, tenant_id, queue_id, type_id, priority, flags, generation, attempt, delivery_count, crash_count,
        suspect_count, snooze_count, born_at, ready_at)
    select f.job_id, f.tenant_id, f.queue_id, f.type_id, f.priority, f.flags, 1, 0, 0, 0, 0, 0, f.created_at, f.created_at
      from millrace.job_fact f where f.job_id::text like '%1';
    insert into millrace.job_history (job_id, generation, tenant_id, queue_id, type_id, status, finished_at, attempt, delivery_count, crash_count,
        snooze_count, fingerprint)
    select f.job_id, 1, f.tenant_id, f.queue_id, f.type_id, 'failed', now(), 1, 1, 0, 0, 'print'
      from millrace.job_fact f where f.job_id::text like '%2';
    insert into millrace.event (tenant_id, kind) values ('00000000-0000-0000-0000-000000000000', 'job.failed');)"));
  const auto report = must(up(connection_, now));
  EXPECT_EQ(report.version_before, 16);
  EXPECT_GE(report.version_after, 17);
  const auto listed = [&](const std::string& filter) {
    return ask(connection_,
               fmt::format("select right(j ->> 'job_id', 1) || ' ' || (j ->> 'status') from "
                           "jsonb_array_elements(millrace.list_jobs('{}') -> 'jobs') j",
                           filter));
  };
  EXPECT_EQ(listed(R"({"batch_id": "0190a000-0000-7000-8000-0000000000b1"})"),
            "2 failed,1 pending");
  EXPECT_EQ(listed(R"({"fingerprint": "print"})"), "2 failed");
  EXPECT_EQ(listed(R"({"status": "failed"})"), "2 failed");
  EXPECT_EQ(ask(connection_,
                "select count(*) from millrace.read_events('0', 0, '{}', '{}', 10) where kind is "
                "not null"),
            "1");
  EXPECT_THAT(must(up(connection_, now)).migrations, IsEmpty());
}

TEST_F(MigratorTest, ASecondRunChangesNothing) {
  must(up(connection_, sample()));
  const auto before = ask(connection_,
                          "select applied_at from millrace.schema_function "
                          "union all select applied_at from millrace.schema_migration "
                          "order by 1");
  const auto report = must(up(connection_, sample()));
  EXPECT_THAT(report.migrations, IsEmpty());
  EXPECT_EQ(report.files, 0U);
  EXPECT_EQ(report.wrappers, 0U);
  EXPECT_EQ(before, ask(connection_,
                        "select applied_at from millrace.schema_function "
                        "union all select applied_at from millrace.schema_migration "
                        "order by 1"));
}

TEST_F(MigratorTest, StatusAndPlanChangeNothing) {
  auto files = sample();
  const auto list = files.list();
  Migrator migrator(connection_, list, clock_now, quiet);
  EXPECT_THAT(states(connection_, files), ElementsAre("0001_tables pending", "0002_more pending"));
  EXPECT_THAT(must(migrator.plan({})),
              ElementsAre("create schema millrace", "apply migrations/0001_tables.sql",
                          "apply migrations/0002_more.sql", "apply functions/a/count_a.sql (new)",
                          "apply views/a_view.sql (new)", "apply policies/10_grants.sql (new)"));
  EXPECT_EQ(ask(connection_, "select count(*) from pg_namespace where nspname = 'millrace'"), "0");

  must(migrator.up({}));
  EXPECT_THAT(states(connection_, files), ElementsAre("0001_tables applied", "0002_more applied"));
  EXPECT_THAT(must(migrator.plan({})), IsEmpty());
}

TEST_F(MigratorTest, TwentyAtOnceDoTheWorkOnce) {
  auto files = sample();
  // Would fail, or count twice, if any ran it again.
  files["migrations/0003_log.sql"] = "insert into millrace.b values (1);";
  files["functions/once.sql"] = "insert into millrace.b values (2);";
  constexpr int kCount = 20;
  std::latch ready(kCount);
  std::vector<Result<MigrateReport>> reports(kCount);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kCount; ++i) {
      threads.emplace_back([&, i] {
        auto connection = database_.connect();
        ready.arrive_and_wait();
        reports[static_cast<std::size_t>(i)] = up(connection, files);
      });
    }
  }
  std::size_t applied = 0;
  for (const auto& report : reports) {
    ASSERT_TRUE(report) << report.error().describe();
    applied += report->migrations.size();
  }
  EXPECT_EQ(applied, 3U);
  EXPECT_EQ(ask(connection_, "select id from millrace.b order by id"), "1,2");
}

TEST_F(MigratorTest, RefusesAMigrationThatWasChangedAfterItWasApplied) {
  auto files = sample();
  must(up(connection_, files));
  files["migrations/0001_tables.sql"] += "\n-- a harmless remark";
  files["functions/new.sql"] = "create table millrace.should_not_exist (id int);";
  EXPECT_THAT(up_error(connection_, files),
              AllOf(HasSubstr("migrations/0001_tables.sql was changed after it was applied"),
                    HasSubstr("write a new one")));
  EXPECT_THAT(states(connection_, files), ElementsAre("0001_tables changed", "0002_more applied"));
  EXPECT_EQ(ask(connection_, "select to_regclass('millrace.should_not_exist')"), "null");
}

TEST_F(MigratorTest, AnOlderProgramLeavesANewerDatabaseAlone) {
  auto files = sample();
  must(up(connection_, files));
  files.remove("migrations/0002_more.sql");
  files["functions/a/count_a.sql"] =
      "create or replace function millrace.count_a() returns bigint language sql "
      "as $$ select -1::bigint $$;";
  EXPECT_THAT(up_error(connection_, files),
              AllOf(HasSubstr("the database is newer than this program"), HasSubstr("0002_more")));
  EXPECT_THAT(states(connection_, files), ElementsAre("0001_tables applied", "0002_more unknown"));
  EXPECT_EQ(ask(connection_, "select millrace.count_a()"), "0");
}

TEST_F(MigratorTest, GoesOnAfterBeingKilledAtAnyStatement) {
  const std::vector<std::string> statements = {
      "create table millrace.one (id int)", "insert into millrace.one values (1)",
      "create index one_idx on millrace.one (id)", "comment on table millrace.one is 'x'"};
  const std::string kill = "select pg_terminate_backend(pg_backend_pid())";
  for (std::size_t at = 0; at <= statements.size(); ++at) {
    auto killing = statements;
    killing.insert(killing.begin() + static_cast<std::ptrdiff_t>(at), kill);
    Files files = sample();
    files["migrations/0003_killed.sql"] = fmt::format("{};", fmt::join(killing, ";\n"));
    auto victim = database_.connect();
    const auto report = up(victim, files);
    ASSERT_FALSE(report);
    EXPECT_EQ(ask(connection_, "select to_regclass('millrace.one')"), "null") << at;
    EXPECT_EQ(ask(connection_, "select max(version) from millrace.schema_migration"), "2") << at;
  }
  Files files = sample();
  files["migrations/0003_killed.sql"] = fmt::format("{};", fmt::join(statements, ";\n"));
  EXPECT_THAT(must(up(connection_, files)).migrations, ElementsAre("0003_killed"));
  EXPECT_EQ(ask(connection_, "select id from millrace.one"), "1");
}

TEST_F(MigratorTest, KilledAmongTheFunctionsItLeavesNoMixture) {
  auto files = sample();
  must(up(connection_, files));
  files["functions/a/count_a.sql"] =
      "create or replace function millrace.count_a() returns bigint language sql "
      "as $$ select 7::bigint $$;";
  files["functions/b.sql"] = "select pg_terminate_backend(pg_backend_pid());";
  auto victim = database_.connect();
  ASSERT_FALSE(up(victim, files));
  EXPECT_EQ(ask(connection_, "select millrace.count_a()"), "0");
  files.remove("functions/b.sql");
  must(up(connection_, files));
  EXPECT_EQ(ask(connection_, "select millrace.count_a()"), "7");
}

TEST_F(MigratorTest, AnErrorNamesFileLineAndSqlstateAndLeavesNothingBehind) {
  auto files = sample();
  files["migrations/0003_wrong.sql"] =
      "create table millrace.c (id int);\n\n-- wrong\nalter table millrace.nowhere add x int;";
  const auto report = up(connection_, files);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("sql/migrations/0003_wrong.sql:4: "));
  EXPECT_EQ(report.error().sqlstate, "42P01");
  EXPECT_EQ(ask(connection_, "select to_regclass('millrace.c')"), "null");
  EXPECT_EQ(ask(connection_, "select max(version) from millrace.schema_migration"), "2");
}

TEST_F(MigratorTest, AppliesChangedFilesAgainAndOnlyThose) {
  auto files = sample();
  files["functions/b.sql"] =
      "create table if not exists millrace.marks (id int); "
      "insert into millrace.marks values (1);";
  must(up(connection_, files));
  files["functions/a/count_a.sql"] =
      "create or replace function millrace.count_a() returns bigint language sql "
      "as $$ select 5::bigint $$;";
  EXPECT_EQ(must(up(connection_, files)).files, 2U);  // The function and the policies after it.
  EXPECT_EQ(ask(connection_, "select millrace.count_a()"), "5");
  EXPECT_EQ(ask(connection_, "select count(*) from millrace.marks"), "1");
  files.remove("functions/b.sql");
  files["functions/a/count_a.sql"] += " ";
  must(up(connection_, files));
  EXPECT_EQ(ask(connection_,
                "select count(*) from millrace.schema_function "
                "where path = 'functions/b.sql'"),
            "0");
}

TEST_F(MigratorTest, AFunctionThatAMigrationDroppedComesBack) {
  auto files = sample();
  must(up(connection_, files));
  files["migrations/0003_drop.sql"] = "drop function millrace.count_a();";
  must(up(connection_, files));
  EXPECT_EQ(ask(connection_, "select millrace.count_a()"), "0");
}

TEST_F(MigratorTest, FilesMayNeedEachOtherInAnyOrder) {
  auto files = sample();
  files["functions/a_first.sql"] =
      "create or replace function millrace.a_first(p_x int default millrace.z_last()) "
      "returns setof millrace.z_view language sql as $$ select * from millrace.z_view $$;";
  files["functions/z_last.sql"] =
      "create or replace function millrace.z_last() returns int language sql as $$ select 1 $$;";
  files["views/b_view.sql"] =
      "create or replace view millrace.b_view as select * from millrace.z_view;";
  files["views/z_view.sql"] =
      "create or replace view millrace.z_view as select millrace.z_last() as x;";
  must(up(connection_, files));
  EXPECT_EQ(ask(connection_, "select x from millrace.a_first()"), "1");

  files["functions/needs_nothing_that_exists.sql"] =
      "create or replace view millrace.v as select millrace.not_there();";
  EXPECT_THAT(up_error(connection_, files),
              HasSubstr("sql/functions/needs_nothing_that_exists.sql:1: "));
}

TEST_F(MigratorTest, AViewMayLoseColumns) {
  auto files = sample();
  files["views/wide.sql"] =
      "create or replace view millrace.wide as select 1 as a, 2 as b, 3 as c;";
  files["views/xtra.sql"] = "create or replace view millrace.xtra as select a from millrace.wide;";
  files["functions/rows_of.sql"] =
      "create or replace function millrace.rows_of() returns setof millrace.wide "
      "language sql as $$ select * from millrace.wide $$;";
  must(up(connection_, files));
  files["views/wide.sql"] = "create or replace view millrace.wide as select 3 as c, 1 as a;";
  must(up(connection_, files));
  EXPECT_EQ(ask(connection_, "select c || ' ' || a from millrace.rows_of()"), "3 1");
  EXPECT_EQ(ask(connection_, "select a from millrace.xtra"), "1");
}

TEST_F(MigratorTest, DoesNotDropAViewThatSomebodyBuiltOnOurs) {
  auto files = sample();
  files["views/wide.sql"] = "create or replace view millrace.wide as select 1 as a, 2 as b;";
  must(up(connection_, files));
  must(connection_.query("create view public.theirs as select b from millrace.wide"));
  files["views/wide.sql"] = "create or replace view millrace.wide as select 1 as a;";
  const auto report = up(connection_, files);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().describe(), HasSubstr("theirs"));
  EXPECT_EQ(ask(connection_, "select b from public.theirs"), "2");
}

TEST_F(MigratorTest, StepsBackFromABusyTableAndTriesAgain) {
  must(up(connection_, sample()));
  auto files = sample();
  files["migrations/0003_alter.sql"] = "alter table millrace.a add column extra int;";
  auto other = database_.connect();
  must(other.begin());
  must(other.query("lock table millrace.a in access share mode"));
  int waits = 0;
  must(up(connection_, files,
          {.lock_timeout = milliseconds(20), .progress = [&](const MigrateProgress& progress) {
             if (!progress.step.contains("waiting for a lock")) return;
             // Between two attempts others get through.
             if (++waits == 3) must(other.commit());
           }}));
  EXPECT_EQ(waits, 3);
  EXPECT_EQ(ask(connection_, "select count(extra) from millrace.a"), "0");
}

TEST_F(MigratorTest, GivesUpOnATableThatStaysBusy) {
  must(up(connection_, sample()));
  auto files = sample();
  files["migrations/0003_alter.sql"] = "alter table millrace.a add column extra int;";
  auto other = database_.connect();
  must(other.begin());
  must(other.query("lock table millrace.a in access share mode"));
  const auto report =
      up(connection_, files, {.lock_timeout = milliseconds(5), .lock_attempts_max = 2});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().sqlstate, "55P03");
  EXPECT_THAT(report.error().message, HasSubstr("gave up after 2 attempts"));
  must(other.rollback());
  must(up(connection_, files));
}

TEST_F(MigratorTest, LeavesNoSessionStateBehind) {
  const std::string settings =
      "select current_user || current_setting('search_path') || current_setting('lock_timeout') || "
      "current_setting('statement_timeout') || current_setting('check_function_bodies') || "
      "(select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid())";
  const auto before = ask(connection_, settings);
  auto files = sample();
  must(up(connection_, files.with_roles()));
  EXPECT_EQ(ask(connection_, settings), before);
}

TEST_F(MigratorTest, TestVersionsAreInstalledOnlyWhenAskedForAndStayOnTop) {
  auto files = sample();
  files["functions/now.sql"] =
      "create or replace function millrace.n() returns text language sql as $$ select 'real' $$;";
  files["testing/now.sql"] =
      "create or replace function millrace.n() returns text language sql as $$ select 'test' $$;";
  must(up(connection_, files));
  EXPECT_EQ(ask(connection_, "select millrace.n()"), "real");
  must(up(connection_, files, {.install_testing = true}));
  EXPECT_EQ(ask(connection_, "select millrace.n()"), "test");
  files["functions/now.sql"] += " ";
  must(up(connection_, files, {.install_testing = true}));
  EXPECT_EQ(ask(connection_, "select millrace.n()"), "test");
}

TEST_F(MigratorTest, DoesNotTouchASchemaOfThatNameThatItDidNotMake) {
  must(connection_.query("create schema millrace"));
  must(connection_.query("create table millrace.theirs (id int)"));
  EXPECT_THAT(up_error(connection_, sample()), HasSubstr("did not make"));
  EXPECT_EQ(ask(connection_,
                "select relname from pg_class where relnamespace = "
                "'millrace'::regnamespace"),
            "theirs");
}

// Roles of the server that a test needs; gone with it, after its database.
class RoleTest : public ::testing::Test {
 protected:
  RoleTest() : name_(fmt::format("migrator_{}_{}", ::getpid(), counter_++)) {}
  ~RoleTest() override {
    database_.reset();
    auto admin = must(pg::SyncConnection::connect(test::Server::get().url()));
    must(admin.query(fmt::format("drop role if exists {}", name_)));
  }

  // Connected to a new database as a role with these attributes.
  pg::SyncConnection connect_as(const std::string& attributes, bool may_create_schema = true) {
    auto admin = database_->connect();
    must(admin.query(fmt::format("create role {} login {}", name_, attributes)));
    if (may_create_schema) {
      must(admin.query(fmt::format("grant create on database {} to {}", database_->name(), name_)));
    }
    return database_->connect(name_);
  }

  static inline int counter_ = 0;
  std::string name_;
  std::optional<TestDatabase> database_ = TestDatabase::empty();
};

const std::string kOwners =
    "select distinct r.rolname from pg_roles r join (select relowner as owner from pg_class "
    "where relnamespace = 'millrace'::regnamespace union all select proowner from pg_proc "
    "where pronamespace = 'millrace'::regnamespace union all select nspowner from pg_namespace "
    "where nspname = 'millrace') o on o.owner = r.oid";

TEST_F(RoleTest, ARoleThatMayCreateRolesLeavesEverythingToTheOwner) {
  auto connection = connect_as("nosuperuser createrole");
  auto files = sample().with_roles();
  const auto report = must(up(connection, files));
  EXPECT_EQ(report.owner, "millrace_owner");
  EXPECT_THAT(report.notes, IsEmpty());
  EXPECT_EQ(ask(connection, kOwners), "millrace_owner");
  EXPECT_EQ(ask(connection,
                "select rolsuper or rolcanlogin or rolbypassrls or rolcreaterole "
                "from pg_roles where rolname = 'millrace_owner'"),
            "f");
  EXPECT_EQ(ask(connection,
                "select count(*) from pg_roles where rolname in ('millrace_owner', "
                "'millrace_api', 'millrace_worker', 'millrace_keeper', "
                "'millrace_reader')"),
            "5");
  EXPECT_EQ(ask(connection, "select applied_by from millrace.schema_migration where version = 1"),
            name_);
  // And again, and on to the next version.
  files["migrations/0003_next.sql"] = "create table millrace.c (id int);";
  must(up(connection, files));
  EXPECT_EQ(ask(connection, kOwners), "millrace_owner");
}

TEST_F(RoleTest, ARoleThatDoesNotInheritCanMigrateToo) {
  auto connection = connect_as("nosuperuser createrole noinherit");
  auto files = sample().with_roles();
  must(up(connection, files));
  EXPECT_THAT(must(up(connection, files)).migrations, IsEmpty());
  EXPECT_THAT(states(connection, files), ElementsAre("0001_tables applied", "0002_more applied"));
}

TEST_F(RoleTest, ARoleThatMayNotCreateRolesOwnsEverythingItself) {
  auto connection = connect_as("nosuperuser nocreaterole");
  auto files = sample().with_roles();
  files["policies/20_grants.sql"] =
      "grant select on millrace.a to millrace_absent, public;"
      "grant select on millrace.b to millrace_absent;"
      "create policy p on millrace.a to millrace_absent using (true);";
  const auto report = must(up(connection, files));
  EXPECT_EQ(report.owner, name_);
  EXPECT_EQ(ask(connection, kOwners), name_);
  EXPECT_THAT(report.notes,
              AllOf(Contains(HasSubstr("owned by role " + name_)),
                    Contains("role millrace_absent does not exist: its grants were left out")));
  EXPECT_EQ(ask(connection, "select has_table_privilege('public', 'millrace.a', 'select')"), "t");
  EXPECT_EQ(
      ask(connection, "select count(*) from pg_policy where polrelid = 'millrace.a'::regclass"),
      "0");
}

TEST_F(RoleTest, WithoutTheRightToCreateASchemaItSaysSo) {
  auto connection = connect_as("nosuperuser createrole", false);
  EXPECT_THAT(up_error(connection, sample().with_roles()),
              AllOf(HasSubstr("may not create a schema"), HasSubstr(name_)));
}

TEST_F(RoleTest, AStrangerMayNotChangeTheSchema) {
  auto admin = database_->connect();
  must(up(admin, sample()));
  const auto owners = ask(admin, kOwners);
  auto connection = connect_as("nosuperuser nocreaterole");
  auto files = sample();
  files["migrations/0003_theirs.sql"] = "create table millrace.theirs (id int);";
  ASSERT_FALSE(up(connection, files));
  EXPECT_EQ(ask(admin, kOwners), owners);
  EXPECT_EQ(ask(admin, "select to_regclass('millrace.theirs')"), "null");
}

// Fresh roles need a fresh server.
TEST(MigratorRoles, AreMadeOnceFromManyDatabasesAtOnce) {
  std::string pattern = "/tmp/millrace-test-XXXXXX";
  const std::filesystem::path place = ::mkdtemp(pattern.data());
  std::filesystem::permissions(place, std::filesystem::perms::all);
  {
    auto cluster = must(
        cluster::PrivateCluster::open_or_create({.data_dir = place / "data"}, clock_now, quiet));
    must(cluster.start());
    auto admin = must(pg::SyncConnection::connect(cluster.url()));
    constexpr int kCount = 3;
    for (int i = 0; i < kCount; ++i) must(admin.query(fmt::format("create database d{}", i)));
    auto files = sample().with_roles();
    std::latch ready(kCount);
    std::vector<Result<MigrateReport>> reports(kCount);
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < kCount; ++i) {
        threads.emplace_back([&, i] {
          pg::ConnectOptions options = pg::connect_options(cluster.url());
          options.overrides = {{"dbname", fmt::format("d{}", i)}};
          auto connection = must(pg::SyncConnection::connect(std::move(options)));
          ready.arrive_and_wait();
          reports[static_cast<std::size_t>(i)] =
              up(connection, files, {.create_client_roles = true, .engine_login = true});
        });
      }
    }
    for (const auto& report : reports) {
      ASSERT_TRUE(report) << report.error().describe();
      EXPECT_THAT(report->notes, IsEmpty());
    }
    EXPECT_EQ(ask(admin,
                  "select string_agg(rolname, ',' order by rolname) from pg_roles "
                  "where not rolcanlogin and rolname !~ '^pg_'"),
              "anon,authenticated,millrace_owner,service_role");
    // The engine's roles log in on the private cluster.
    for (const std::string role :
         {"millrace_api", "millrace_keeper", "millrace_reader", "millrace_worker"}) {
      auto connection = must(pg::SyncConnection::connect(cluster.url(role)));
      EXPECT_EQ(ask(connection, "select current_user"), role);
    }
    must(cluster.stop());
  }
  std::filesystem::remove_all(place);
}

class ExposeTest : public MigratorTest {
 protected:
  ExposeTest() {
    must(connection_.query(
        "do $$ begin create role service_role nologin; exception when duplicate_object or "
        "unique_violation then null; end $$"));
    files_ = sample();
    files_["functions/exposed_names.sql"] = names(
        "'function', 'add_up', 'function', 'pair', "
        "'function', 'listing', 'function', 'nothing', "
        "'function', 'maybe', 'function', 'many', "
        "'view', 'queue_view'");
    files_["functions/add_up.sql"] =
        "create or replace function millrace.add_up(p_a int, p_b int default 40 + 1, "
        "p_at timestamptz default clock_timestamp()) returns int language sql stable "
        "as $$ select p_a + p_b $$;";
    files_["functions/pair.sql"] =
        "create or replace function millrace.pair(p_in text, out p_left text, out p_right text) "
        "language sql immutable strict as $$ select p_in, upper(p_in) $$;";
    files_["functions/listing.sql"] =
        "create or replace function millrace.listing(p_n int) returns table (n int, label text) "
        "language sql as $$ select i, 'no ' || i from generate_series(1, p_n) i $$;";
    files_["functions/nothing.sql"] =
        "create or replace function millrace.nothing() returns void language plpgsql "
        "as $$ begin insert into millrace.b values (9); end $$;";
    files_["functions/maybe.sql"] =
        "create or replace function millrace.maybe(p_id int) returns millrace.a language sql "
        "as $$ select a from millrace.a where a.id = p_id $$;";
    files_["functions/many.sql"] =
        "create or replace function millrace.many(variadic p_all int[]) returns bigint "
        "language sql as $$ select sum(x) from unnest(p_all) x $$;";
    files_["views/queue_view.sql"] =
        "create or replace view millrace.queue_view as select id as \"Id\", name from millrace.a;";
    files_["policies/20_read.sql"] =
        "grant select on millrace.queue_view to service_role;"
        "grant usage on schema millrace to service_role;";
  }

  static std::string names(const std::string& pairs) {
    return fmt::format(
        "create or replace function millrace.exposed_names() returns table (kind text, name text) "
        "language sql immutable as $$ select x[i], x[i + 1] from (select array[{}]::text[] as x) "
        "s, "
        "generate_series(1, cardinality(x), 2) i $$;",
        pairs);
  }

  Result<MigrateReport> expose() { return up(connection_, files_, {.expose_schema = "public"}); }

  Files files_;
};

TEST_F(ExposeTest, WrappersBehaveLikeTheirOriginals) {
  EXPECT_EQ(must(expose()).wrappers, 7U);
  EXPECT_EQ(ask(connection_, "select public.add_up(1)"), "42");
  EXPECT_EQ(ask(connection_, "select public.add_up(p_b => 3, p_a => 1)"), "4");
  EXPECT_EQ(ask(connection_, "select p_left || p_right from public.pair('x')"), "xX");
  EXPECT_EQ(ask(connection_, "select label from public.listing(2) where n > 0"), "no 1,no 2");
  EXPECT_EQ(ask(connection_, "select public.maybe(1) is null"), "t");
  EXPECT_EQ(ask(connection_, "select public.many(1, 2, 3)"), "6");
  must(connection_.query("select public.nothing()"));
  EXPECT_EQ(ask(connection_, "select id from millrace.b"), "9");
  must(connection_.query("insert into millrace.a values (7, 'seven')"));
  EXPECT_EQ(ask(connection_, "select name from public.queue_view where \"Id\" = 7"), "seven");
  EXPECT_EQ(ask(connection_, "select (public.maybe(7)).name"), "seven");
  // Printed by PostgreSQL, the signatures are the same.
  EXPECT_EQ(ask(connection_,
                "select count(*) from pg_proc p join pg_proc m using (proname) where "
                "p.pronamespace = 'public'::regnamespace "
                "and m.pronamespace = 'millrace'::regnamespace "
                "and pg_get_function_arguments(p.oid) = pg_get_function_arguments(m.oid) "
                "and pg_get_function_result(p.oid) = pg_get_function_result(m.oid) "
                "and p.provolatile = m.provolatile and not p.prosecdef"),
            "6");
  EXPECT_EQ(must(expose()).wrappers, 0U);
}

TEST_F(ExposeTest, OnlyServiceRoleMayCallThem) {
  // As a hosted platform does.
  const auto reader = fmt::format("default_reader_{}", ::getpid());
  must(connection_.query(fmt::format("create role {}", reader)));
  for (const std::string kind : {"functions", "tables"}) {
    must(connection_.query(fmt::format(
        "alter default privileges in schema public grant all on {} to {}", kind, reader)));
  }
  must(expose());
  EXPECT_EQ(ask(connection_,
                "select distinct x.grantee::regrole::text from pg_proc p cross join "
                "aclexplode(p.proacl) x where p.pronamespace = 'public'::regnamespace order by 1"),
            "postgres,service_role");
  EXPECT_EQ(ask(connection_,
                "select x.grantee::regrole || ' ' || x.privilege_type from pg_class c cross join "
                "aclexplode(c.relacl) x where c.oid = 'public.queue_view'::regclass "
                "and x.grantee <> c.relowner"),
            "service_role SELECT");
  must(connection_.query("set role service_role"));
  EXPECT_EQ(ask(connection_, "select public.add_up(1)"), "42");
  must(connection_.query("reset role"));
  must(connection_.query(fmt::format("drop owned by {}", reader)));
  must(connection_.query(fmt::format("drop role {}", reader)));
}

TEST_F(ExposeTest, RefusesWhereNamesAreTakenAndCreatesNothing) {
  must(
      connection_.query("create function public.add_up(text) returns text language sql "
                        "as 'select $1'"));
  must(connection_.query("create table public.queue_view (id int)"));
  const auto report = expose();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::conflict);
  EXPECT_THAT(report.error().message,
              AllOf(HasSubstr("function add_up(text)"), HasSubstr("table queue_view"),
                    HasSubstr("nothing was created")));
  EXPECT_EQ(ask(connection_,
                "select count(*) from pg_proc where pronamespace = "
                "'public'::regnamespace"),
            "1");
  // The schema itself is up to date.
  EXPECT_EQ(ask(connection_, "select millrace.add_up(1)"), "42");
}

TEST_F(ExposeTest, WrappersFollowTheirOriginals) {
  must(expose());
  files_["migrations/0003_next.sql"] =
      "drop function millrace.add_up; drop function millrace.pair;";
  files_["functions/add_up.sql"] =
      "create or replace function millrace.add_up(p_a bigint) returns bigint language sql "
      "as $$ select p_a + 1 $$;";
  files_.remove("functions/pair.sql");
  files_["views/queue_view.sql"] =
      "create or replace view millrace.queue_view as select name from millrace.a;";
  // Without being asked to expose: what is exposed stays right.
  EXPECT_GE(must(up(connection_, files_)).wrappers, 3U);
  EXPECT_EQ(ask(connection_,
                "select pg_get_function_arguments(oid) from pg_proc "
                "where pronamespace = 'public'::regnamespace and proname = 'add_up'"),
            "p_a bigint");
  EXPECT_EQ(ask(connection_,
                "select count(*) from pg_proc where pronamespace = "
                "'public'::regnamespace and proname = 'pair'"),
            "0");
  EXPECT_EQ(ask(connection_,
                "select attname from pg_attribute where attrelid = "
                "'public.queue_view'::regclass and attnum > 0"),
            "name");
}

TEST_F(ExposeTest, RefusesASchemaThatDoesNotExist) {
  EXPECT_THAT(up_error(connection_, sample(), {.expose_schema = "public"}),
              HasSubstr("nothing to expose"));
  EXPECT_THAT(up_error(connection_, files_, {.expose_schema = "nowhere"}),
              HasSubstr("schema nowhere: it does not exist"));
}

TEST_F(RoleTest, ExposesForARoleThatIsNoSuperuser) {
  auto connection = connect_as("nosuperuser createrole noinherit");
  must(database_->connect().query(fmt::format("grant create on schema public to {}", name_)));
  auto files = sample().with_roles();
  files["functions/exposed_names.sql"] =
      "create or replace function millrace.exposed_names() returns table (kind text, name text) "
      "language sql immutable as $$ values ('function', 'count_a'), ('view', 'a_view') $$;";
  EXPECT_EQ(must(up(connection, files, {.expose_schema = "public"})).wrappers, 2U);
  files["views/a_view.sql"] =
      "create or replace view millrace.a_view as select name from millrace.a";
  must(up(connection, files, {.expose_schema = "public"}));
  EXPECT_EQ(ask(connection,
                "select attname from pg_attribute where attrelid = "
                "'public.a_view'::regclass and attnum > 0"),
            "name");
}

}  // namespace
}  // namespace millrace::store
