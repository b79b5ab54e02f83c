// What the schema promises as a whole: the golden dump, functions that compile against it, names,
// keys, SQLSTATEs. MILLRACE_UPDATE_GOLDEN=1 writes tests/golden/schema/ anew.
#include "base/file.h"
#include "sql/engine.h"
#include "support/sql_source.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

namespace millrace::test {
namespace {

class Schema : public EngineTest {
 protected:
  // The rows of a query, one string each; a test expects them to be none.
  std::vector<std::string> list(const std::string& query) {
    std::vector<std::string> all;
    for (const auto row : sql.rows(query)) all.push_back(row.opt_text(0).value_or("(null)"));
    return all;
  }
};

const std::vector<std::string> kNone;

// Partitions cut by time and what belongs to tests only.
constexpr const char* kPart = R"(
  c.relnamespace = 'millrace'::regnamespace and c.relname !~ '_p[0-9]{8,}(_|$)' and c.relname <> 'test_clock')";

// The schema as files: one per table, with all that belongs to it, and one each for the rest.
using Files = std::map<std::string, std::string>;

constexpr const char* kTables = R"(
  select c.relname, format(E'create%s table millrace.%s%s (\n  %s\n)%s%s;%s',
              case c.relpersistence when 'u' then ' unlogged' else '' end, c.relname,
              case when c.relispartition then ' partition of ' || (select i.inhparent::regclass::text from pg_inherits i
                                                                     where i.inhrelid = c.oid) else '' end,
              string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
                || case a.attidentity when 'a' then ' generated always as identity' else '' end
                || case when a.attnotnull then ' not null' else '' end
                || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), ''), E',\n  ' order by a.attnum),
              coalesce(' partition by ' || pg_get_partkeydef(c.oid), ''),
              coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', ''),
              case when c.relrowsecurity then E'  -- row security'
                        || case when c.relforcerowsecurity then ' forced' else '' end else '' end)
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
   where c.relkind in ('r', 'p') and {} group by c.oid, c.relname order by c.relname)";
constexpr const char* kConstraints = R"(
  select c.relname, format('alter table millrace.%s add constraint %s %s;', c.relname, o.conname, pg_get_constraintdef(o.oid))
    from pg_constraint o join pg_class c on c.oid = o.conrelid where not c.relispartition and {} order by c.relname, o.conname)";
constexpr const char* kIndexes = R"(
  select c.relname, pg_get_indexdef(i.indexrelid) || ';' from pg_index i join pg_class c on c.oid = i.indrelid
   where not c.relispartition and not exists (select from pg_constraint o where o.conindid = i.indexrelid) and {}
   order by c.relname, i.indexrelid::regclass::text)";
constexpr const char* kTriggers = R"(
  select c.relname, pg_get_triggerdef(t.oid) || ';' from pg_trigger t join pg_class c on c.oid = t.tgrelid
   where not t.tgisinternal and not c.relispartition and {} order by c.relname, t.tgname)";
constexpr const char* kEnums = R"(
  select 'types', format('create type millrace.%s as enum (%s);', t.typname, string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder))
    from pg_type t join pg_enum e on e.enumtypid = t.oid where t.typnamespace = 'millrace'::regnamespace group by t.typname order by t.typname)";
constexpr const char* kTypes = R"(
  select 'types', format(E'create type millrace.%s as (\n  %s\n);', c.relname,
                         string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), E',\n  ' order by a.attnum))
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
   where c.relkind = 'c' and c.relnamespace = 'millrace'::regnamespace group by c.relname order by c.relname)";
constexpr const char* kSequences = R"(
  select 'types', format('create sequence millrace.%s as %s;', sequencename, data_type) from pg_sequences
   where schemaname = 'millrace' order by sequencename)";
constexpr const char* kViews = R"(
  select 'views', format(E'-- view millrace.%s (\n--   %s)', c.relname,
                         string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), E',\n--   ' order by a.attnum))
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 where c.relkind = 'v' and {} group by c.relname order by c.relname)";
// By their signatures; the bodies are in sql/functions.
constexpr const char* kFunctions = R"(
  select 'functions', format('-- %s millrace.%s(%s)%s %s%s', case p.prokind when 'a' then 'aggregate' else 'function' end, p.proname,
                             pg_get_function_arguments(p.oid), coalesce(' returns ' || pg_get_function_result(p.oid), ''),
                             case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
                             case when p.prosecdef then ' security definer' else '' end)
    from pg_proc p where p.pronamespace = 'millrace'::regnamespace order by p.proname)";

Files dump(Session& sql) {
  Files files;
  const auto add = [&](const std::string& folder, const std::string& query) {
    for (const auto row : sql.rows(query)) {
      files[folder + std::string(row.text(0)) + ".sql"] += std::string(row.text(1)) + "\n";
    }
  };
  for (const auto* query : {kTables, kConstraints, kIndexes, kTriggers}) {
    add("tables/", fmt::format(fmt::runtime(query), kPart));
  }
  for (const auto* query : {kEnums, kTypes, kSequences, kFunctions}) add("", query);
  add("", fmt::format(fmt::runtime(kViews), kPart));
  return files;
}

Files read_files(const std::filesystem::path& folder) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[entry.path().lexically_relative(folder).string()] = must(read_file(entry.path()));
  }
  return files;
}

// Without partitions cut by time.
TEST_F(Schema, golden_schema_is_what_the_migrations_make) {
  const std::filesystem::path folder = MILLRACE_GOLDEN_DIR "/schema";
  const auto actual = dump(sql);
  if (std::getenv("MILLRACE_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder / "tables");
    for (const auto& [name, text] : actual) {
      must(write_file_atomically(folder / name, text, 0644));
    }
    return;
  }
  auto wanted = read_files(folder);
  for (const auto& [name, text] : actual) EXPECT_EQ(text, wanted[name]) << name;
  for (const auto& [name, text] : wanted)
    EXPECT_TRUE(actual.contains(name)) << name << " is no more";
}

// --- Functions ---

TEST_F(Schema, a02_every_plpgsql_function_passes_plpgsql_check) {
  const auto installed = sql.connection().query("create extension plpgsql_check");
  ASSERT_TRUE(installed.has_value())
      << installed.error().message << ": tools/setup installs the package";
  const auto checked = sql.number(
      "select count(*) from pg_proc p join pg_language l on l.oid = p.prolang where l.lanname = "
      "'plpgsql' and "
      "p.pronamespace = 'millrace'::regnamespace");
  EXPECT_GT(checked, 60);
  EXPECT_EQ(
      list("select format('%s line %s: %s', p.proname, k.lineno, k.message) from pg_proc p join "
           "pg_language l on "
           "l.oid = p.prolang cross join lateral plpgsql_check_function_tb(p.oid, 0, fatal_errors "
           "=> false, "
           "other_warnings => false, extra_warnings => false) k where l.lanname = 'plpgsql' and "
           "p.pronamespace = "
           "'millrace'::regnamespace and p.prorettype <> 'trigger'::regtype and k.level = 'error'"),
      kNone);
  const std::vector<std::pair<std::string, std::string>> triggers = {
      {"check_configuration()", "system_configuration"},
      {"refuse_change()", "audit"},
      {"refuse_rewrite()", "job_history"}};
  for (const auto& [function, table] : triggers) {
    EXPECT_EQ(list(fmt::format(
                  "select k.message from plpgsql_check_function_tb('millrace.{}'::regprocedure, "
                  "'millrace.{}'::regclass, fatal_errors => false) k where k.level = 'error'",
                  function, table)),
              kNone);
  }
  EXPECT_EQ(
      list(
          "select k.message from plpgsql_check_function_tb('millrace.intake_rows()'::regprocedure, "
          "'millrace.job_intake'::regclass, fatal_errors => false, newtable => 'new_rows') k where "
          "k.level = 'error'"),
      kNone);
  EXPECT_EQ(
      list("select k.message from plpgsql_check_function_tb('millrace.check_trim()'::regprocedure, "
           "'millrace.audit_seal'::regclass, fatal_errors => false, oldtable => 'old_rows') k "
           "where k.level = 'error'"),
      kNone);
}

TEST_F(Schema, a06_every_sql_function_compiles_against_the_schema) {
  sql.run("set check_function_bodies = on");
  std::vector<std::string> broken;
  for (const auto row : sql.rows(
           "select p.proname, pg_get_functiondef(p.oid) from pg_proc p join pg_language l on l.oid "
           "= p.prolang where "
           "l.lanname = 'sql' and p.prokind = 'f' and p.pronamespace = 'millrace'::regnamespace")) {
    const auto made = sql.connection().script(std::string(row.text(1)));
    if (!made) broken.push_back(fmt::format("{}: {}", row.text(0), made.error().message));
  }
  EXPECT_EQ(broken, kNone);
}

TEST_F(Schema, a02_arguments_and_variables_carry_their_prefix) {
  // The sources' own functions keep the argument names of the sources.
  EXPECT_EQ(list("select p.proname || '.' || a.name from pg_proc p cross join lateral "
                 "unnest(p.proargnames[1:p.pronargs]) "
                 "a(name) where p.pronamespace = 'millrace'::regnamespace and p.prokind = 'f' and "
                 "a.name not like 'p\\_%' "
                 "and p.proname not in (select name from millrace.exposed_names() where kind = "
                 "'function')"),
            kNone);
  EXPECT_EQ(
      list(
          R"(select distinct p.proname || ': ' || v.line from pg_proc p join pg_language l on l.oid = p.prolang
       cross join lateral (select (regexp_match(p.prosrc, '\mdeclare\M(.*?)\mbegin\M'))[1] as head) d
       cross join lateral regexp_split_to_table(d.head, ';') v(line)
      where l.lanname = 'plpgsql' and p.pronamespace = 'millrace'::regnamespace
        and regexp_replace(v.line, '--[^\n]*', '', 'g') ~ '\S'
        and regexp_replace(v.line, '--[^\n]*', '', 'g') !~ '^\s*(v_[a-z0-9_]+|c\s+record)\M')"),
      kNone);
}

TEST_F(Schema, a05_nothing_settles_an_ambiguous_name_by_decree) {
  EXPECT_EQ(list("select proname from pg_proc where pronamespace = 'millrace'::regnamespace and "
                 "prosrc ~ '#variable_conflict'"),
            kNone);
}

TEST_F(Schema, i01_every_function_has_a_fixed_search_path) {
  EXPECT_EQ(list("select proname from pg_proc where pronamespace = 'millrace'::regnamespace and "
                 "prokind = 'f' and prosqlbody is null and "
                 "not coalesce(proconfig, '{}') @> array['search_path=pg_catalog, pg_temp']"),
            kNone)
      << "or a body that was bound when it was created";
}

TEST_F(Schema, one_signature_per_name) {
  EXPECT_EQ(list("select proname from pg_proc where pronamespace = 'millrace'::regnamespace group "
                 "by proname having "
                 "count(*) > 1"),
            kNone)
      << "PostgREST cannot resolve overloads";
}

// The clock that ships, which test databases replace by one that can be set.
TEST_F(Schema, b14_time_comes_from_the_wall_clock_of_the_database) {
  for (const auto& file : sql_files()) {
    if (file.path == "functions/core/now.sql") sql.script(std::string(file.text));
  }
  must(sql.connection().begin());
  sql.run("create temp table began as select millrace.now() as at");
  EXPECT_TRUE(sql.yes("select millrace.now() > at from began")) << "it stands in a transaction";
  EXPECT_TRUE(
      sql.yes("select millrace.now() between clock_timestamp() - interval '1 minute' and "
              "clock_timestamp()"));
  must(sql.connection().rollback());
}

// Settings of roles belong to the server, so the file is applied to roles without any, and undone.
TEST_F(Schema, g02_a_transaction_of_an_engine_role_does_not_idle_beyond_ten_seconds) {
  const std::vector<std::string> roles = {"millrace_api", "millrace_worker", "millrace_keeper",
                                          "millrace_reader"};
  must(sql.connection().begin());
  for (const auto& role : roles) {
    sql.run(fmt::format("alter role {} reset idle_in_transaction_session_timeout", role));
  }
  for (const auto& file : sql_files()) {
    if (file.path == "policies/50_role_settings.sql") sql.script(std::string(file.text));
  }
  for (const auto& role : roles) {
    EXPECT_TRUE(sql.yes(
        "select exists (select from pg_db_role_setting s join pg_roles r on r.oid = s.setrole "
        "where r.rolname = $1 and 'idle_in_transaction_session_timeout=10s' = any (s.setconfig))",
        pg::params(role)))
        << role;
  }
  must(sql.connection().rollback());
  for (const auto& role : roles) {
    Session session{database, {}, role};
    EXPECT_EQ(session.value("show idle_in_transaction_session_timeout"), "10s") << role;
  }
}

// --- Tables ---

// A day of accounts (provider_spend.day) is a name, not a time: whoever writes one says in which
// zone.
TEST_F(Schema, c08_every_time_is_an_instant) {
  EXPECT_EQ(list("select c.relname || '.' || a.attname from pg_attribute a join pg_class c on "
                 "c.oid = a.attrelid where "
                 "c.relnamespace = 'millrace'::regnamespace and a.atttypid in "
                 "('timestamp'::regtype, 'date'::regtype, "
                 "'time'::regtype, 'timetz'::regtype) and not (a.attname = 'day' and a.atttypid = "
                 "'date'::regtype)"),
            kNone);
}

TEST_F(Schema, a07_no_index_depends_on_the_time_of_day) {
  EXPECT_EQ(list("select i.indexrelid::regclass::text from pg_index i join pg_class c on c.oid = "
                 "i.indexrelid where "
                 "c.relnamespace = 'millrace'::regnamespace and (pg_get_expr(i.indpred, "
                 "i.indrelid) ~* 'now\\(|timestamp' "
                 "or pg_get_expr(i.indexprs, i.indrelid) ~* 'now\\(|timestamp')"),
            kNone);
}

TEST_F(Schema, a12_unique_means_the_whole_table) {
  EXPECT_EQ(
      list("select i.indexrelid::regclass::text from pg_index i join pg_class c on c.oid = "
           "i.indexrelid where "
           "c.relnamespace = 'millrace'::regnamespace and i.indisunique and i.indpred is not null"),
      kNone)
      << "on conflict cannot match a partial index";
}

TEST_F(Schema, f05_the_tenant_is_part_of_every_key_a_producer_chooses) {
  for (const char* key :
       {"dedupe_key_pkey", "idempotency_key_pkey", "serial_member_pkey", "cron_name_key"}) {
    EXPECT_EQ(sql.value("select a.attname from pg_constraint o join pg_attribute a on a.attrelid = "
                        "o.conrelid and "
                        "a.attnum = o.conkey[1] where o.conname = $1",
                        pg::params(key)),
              "tenant_id")
        << key;
  }
  EXPECT_EQ(list("select c.relname from pg_attribute a join pg_class c on c.oid = a.attrelid where "
                 "c.relnamespace = "
                 "'millrace'::regnamespace and c.relkind in ('r', 'p') and a.attname = 'tenant_id' "
                 "and not a.attnotnull"),
            kNone);
}

TEST_F(Schema, a09_outcomes_and_states_are_closed_sets) {
  EXPECT_EQ(sql.refused("insert into millrace.job_history (job_id, generation, tenant_id, "
                        "queue_id, type_id, status, "
                        "finished_at, attempt, delivery_count, crash_count, snooze_count) values "
                        "(millrace.new_id(), 1, "
                        "gen_random_uuid(), 1, 1, 'processing', now(), 0, 0, 0, 0)")
                .sqlstate,
            "23514");
  EXPECT_EQ(sql.refused("select 'running'::millrace.job_status").sqlstate, "22P02");
}

TEST_F(Schema, b06_a_wait_for_a_key_names_its_key_and_no_other_does) {
  enqueue(sql, R"({"delay_seconds": 60})");
  EXPECT_EQ(sql.refused("update millrace.delayed set reason = 'serial'").sqlstate, "23514");
  EXPECT_EQ(sql.refused("update millrace.delayed set wait_key = 's:x'").sqlstate, "23514");
}

TEST_F(Schema, f29_progress_and_beats_touch_no_index) {
  // An update that changes no indexed column stays on its page.
  EXPECT_EQ(list("select a.attname from pg_index i join pg_attribute a on a.attrelid = i.indrelid "
                 "and a.attnum = any "
                 "(i.indkey) where i.indrelid in ('millrace.worker'::regclass, "
                 "'millrace.lease'::regclass) and a.attname in "
                 "('beat_at', 'progress', 'progress_message', 'progress_data', 'renewed_at', "
                 "'running', 'draining')"),
            kNone);
  EXPECT_EQ(list("select a.attname from pg_index i join pg_attribute a on a.attrelid = i.indrelid "
                 "and a.attnum = any "
                 "(i.indkey) where i.indrelid = 'millrace.worker'::regclass and a.attname = "
                 "'lease_until'"),
            kNone);
}

// --- SQLSTATEs ---

TEST_F(Schema, every_registered_sqlstate_is_raised_and_every_raised_one_is_registered) {
  // lease_lost is never raised by SQL: batch verbs answer it per job, and the client library turns
  // the answer into it.
  EXPECT_EQ(list("select s.code from millrace.sqlstate s where s.code <> 'MR001' and not exists "
                 "(select from pg_proc p where "
                 "p.pronamespace = 'millrace'::regnamespace and position(s.code in p.prosrc) > 0)"),
            kNone);
  EXPECT_EQ(list("select distinct p.proname || ' ' || m.code[1] from pg_proc p cross join lateral "
                 "regexp_matches(p.prosrc, "
                 "'''(MR[0-9]{3})''', 'g') m(code) where p.pronamespace = 'millrace'::regnamespace "
                 "and m.code[1] not in "
                 "(select code from millrace.sqlstate)"),
            kNone);
}

}  // namespace
}  // namespace millrace::test
