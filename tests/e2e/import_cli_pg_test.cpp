// millrace import, as an operator runs it: the account it gives, what is in the database
// afterwards, killed in the middle and run again.
#include "program.h"
#include "sql/import_world.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ImportCli : public ::testing::Test {
 protected:
  RunResult run(std::vector<std::string> arguments, const RunOptions& options = {}) {
    arguments.insert(arguments.begin(), "import");
    arguments.insert(arguments.end(), {"--database-url", database_.url()});
    return run_millrace(arguments, options);
  }
  json::Object json(std::vector<std::string> arguments, int code) {
    arguments.emplace_back("--json");
    const auto result = run(std::move(arguments));
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_EQ(result.err, "");
    return result.json().as_object();
  }
  void fill(const Source& source, int n) {
    sql_.script(source.tables);
    sql_.script(fmt::format(fmt::runtime(source.fill), n));
  }
  std::int64_t jobs() { return sql_.number("select count(*) from millrace.job_fact"); }

  TestDatabase database_;
  Session sql_{database_};
};

TEST_F(ImportCli, ShowsWhatWouldBeMovedAndChangesNothing) {
  const auto source = pg_boss_source();
  fill(source, 12);
  sql_.script("insert into pgboss.job (name, data) values ('a b', '{\"n\": 1}')");
  const auto before = sql_.value(source.rows);
  const auto shown = run({"pg-boss"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, ContainsRegex("TYPE +BECOMES +QUEUE +LIVE +TO MOVE +LEFT ALONE +WHY"));
  EXPECT_THAT(shown.out, ContainsRegex("mail +mail \\(new\\) +default +14 +13 +1 +1 running"));
  EXPECT_THAT(shown.out, ContainsRegex("a b .* 1 +0 +1 +1 its name cannot be a job type: map it"));
  EXPECT_THAT(shown.out, ContainsRegex("total +16 +13 +3"));
  EXPECT_EQ(shown.err, "nothing was changed; --apply moves 13 jobs\n");
  const auto account = json({"pg-boss", "--dry-run"}, 0);
  EXPECT_FALSE(account.at("applied").as_bool());
  EXPECT_EQ(account.at("live").as_int64(), 16);
  EXPECT_EQ(account.at("to_move").as_int64(), 13);
  EXPECT_EQ(account.at("left_alone").as_int64(), 3);
  EXPECT_EQ(account.at("types").as_array().size(), 3U);
  EXPECT_EQ(sql_.value(source.rows), before);
  EXPECT_EQ(jobs(), 0);
}

TEST_F(ImportCli, MovesEveryJobOfEverySourceAndSaysWhatIsLeft) {
  for (const auto& source : all_sources()) {
    const auto had = jobs();
    fill(source, 9);
    const auto account = json({source.name, "--apply"}, source.left > 0 ? 7 : 0);
    EXPECT_TRUE(account.at("applied").as_bool());
    EXPECT_EQ(account.at("moved").as_int64(), 9 + source.more) << source.name;
    EXPECT_EQ(account.at("left_alone").as_int64(), source.left) << source.name;
    EXPECT_EQ(jobs() - had, 9 + source.more) << source.name;
    const auto again = json({source.name, "--apply"}, source.left > 0 ? 7 : 0);
    EXPECT_EQ(again.at("moved").as_int64(), 0) << source.name;
    EXPECT_EQ(jobs() - had, 9 + source.more) << source.name;
  }
}

TEST_F(ImportCli, EndsWellWhenNothingIsLeft) {
  fill(pg_boss_source(), 3);
  EXPECT_EQ(run({"pg-boss", "--apply"}).code, 7);
  sql_.script(
      "update pgboss.job set state = 'completed' where state = 'active' or name like "
      "'\\_\\_pgboss%'");
  const auto done = run({"pg-boss", "--apply"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out, "no live jobs\n");
  EXPECT_EQ(done.err, "");
}

TEST_F(ImportCli, MovesAtMostTheLimitAndGoesOnFromThere) {
  fill(guardian_source(), 9);
  const auto some = json({"guardian", "--apply", "--limit", "4"}, 7);
  EXPECT_EQ(some.at("moved").as_int64(), 4);
  EXPECT_EQ(some.at("left_alone").as_int64(), 9);
  EXPECT_EQ(json({"guardian", "--apply"}, 7).at("moved").as_int64(), 6);
}

TEST_F(ImportCli, ReadsTheMap) {
  fill(pg_boss_source(), 2);
  const TempFolder folder;
  const auto map = folder.write("map.toml", "priority = 7\n[types]\nmail = \"send_mail\"\n");
  json({"pg-boss", "--apply", "--map", map.string()}, 7);
  EXPECT_EQ(sql_.value("select string_agg(distinct job_type || ' ' || priority_default, ',') from "
                       "millrace.jobs j join millrace.job_type t using (job_type)"),
            "send_mail 7");
}

// Whatever a batch was doing when its process was killed: each job is moved once.
TEST_F(ImportCli, KilledInTheMiddleItGoesOnFromThere) {
  fill(guardian_source(), 1500);
  for (const auto* fault : {"import_move.before=kill", "import_move.after_send=kill",
                            "import_move.after=kill", "import_report.after=kill@2"}) {
    const auto killed = run({"guardian", "--apply"}, {.env = {{"MILLRACE_FAULT", fault}}});
    EXPECT_EQ(killed.code, 128 + SIGKILL) << fault << killed.err;
  }
  EXPECT_TRUE(eventually([&] {
    run({"guardian", "--apply"});
    return json({"guardian"}, 0).at("to_move").as_int64() == 0;
  }));
  EXPECT_EQ(jobs(), 1501);
  EXPECT_EQ(sql_.number("select count(*) from public.job_queue where status = 'pending'"), 0);
  EXPECT_EQ(imbalance(sql_), "");
}

TEST_F(ImportCli, MovesBackWhatNobodyWasGiven) {
  const auto source = graphile_source();
  fill(source, 6);
  const auto before = sql_.value(source.rows);
  EXPECT_EQ(run({"graphile-worker", "--apply"}).code, 7);
  const auto shown = run({"graphile-worker", "--undo"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, ContainsRegex("TYPE +TO GO BACK +STAY +WHY"));
  EXPECT_THAT(shown.out, ContainsRegex("mail +3 +0"));
  const auto back = run({"graphile-worker", "--undo", "--apply", "--json"});
  EXPECT_EQ(back.code, 0) << back.err;
  EXPECT_EQ(back.json().at(0).at("went_back").as_int64(), 3);
  EXPECT_EQ(sql_.value(source.rows), before);
  EXPECT_EQ(run({"graphile-worker", "--undo"}).out, "no jobs were moved over from there\n");
}

TEST_F(ImportCli, BadInputGivesOneLineAndTheDocumentedCode) {
  struct Bad {
    std::vector<std::string> arguments;
    int code;
    std::string says;
  };
  const TempFolder folder;
  const auto map = folder.write("map.toml", "priority = 7\nqueue = 3\n");
  const auto nowhere = folder.write("nowhere.toml", "queue = \"nowhere\"\n");
  sql_.script(kGuardianTables);
  const std::vector<Bad> all = {
      {{}, 2, "SOURCE"},
      {{"sidekiq"}, 2, "sidekiq"},
      {{"pg-boss"}, 2, "schema pgboss has no table job; name the schema"},
      {{"guardian", "--schema", "legacy"}, 2, "schema legacy has no table job_queue"},
      {{"guardian", "--apply", "--dry-run"}, 2, "exclude each other"},
      {{"guardian", "--limit", "0"}, 2, "--limit must be at least 1"},
      {{"guardian", "--map", "/no/such/file"}, 2, "--map: "},
      {{"guardian", "--map", map.string()}, 2, ":2: queue must be the name of a queue"},
      {{"guardian", "--map", nowhere.string()}, 3, "queue 'nowhere' does not exist"}};
  for (const auto& bad : all) {
    const auto result = run(bad.arguments);
    EXPECT_EQ(result.code, bad.code) << result.err << result.out;
    EXPECT_EQ(result.error_lines(), 1U) << result.err;
    EXPECT_THAT(result.err, StartsWith("millrace: "));
    EXPECT_THAT(result.err, HasSubstr(bad.says));
    EXPECT_EQ(result.out, "");
  }
  sql_.run("select millrace.set_config_value('system.enqueue_enabled', 'false')");
  sql_.script(
      "insert into public.job_queue (job_type, job_payload) values ('audit_cleanup', "
      "'{\"n\": 1}')");
  const auto closed = run({"guardian", "--apply"});
  EXPECT_EQ(closed.code, 5);
  EXPECT_THAT(closed.err, EndsWith("[MR021]\n"));
  EXPECT_THAT(closed.err, HasSubstr("after 0 jobs were moved"));
}

}  // namespace
}  // namespace millrace::test
