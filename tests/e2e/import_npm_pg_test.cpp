// millrace import on tables that the packages' own migrations made, filled and worked on by the
// packages themselves: what was moved their workers do not get, what went back they do.
#include "child_server.h"
#include "program.h"
#include "sql/session.h"
#include "support/server.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <unistd.h>

namespace millrace::test {
namespace {

using ::testing::Contains;

// What the scripts in npm/ leave behind.
struct Package {
  std::string name;  // As installed in build/npm.
  std::string major;
  std::string source;
  std::string script;
  int movable;
  int due;  // Of these, at once.
};

void PrintTo(const Package& package, std::ostream* out) { *out << package.name; }

class ImportNpm : public ::testing::TestWithParam<Package> {
 protected:
  ImportNpm() {
    // Modules are looked for beside the script and upwards.
    folder_ = npm_file("").parent_path().parent_path() / fmt::format("run-{}", ::getpid());
    std::filesystem::create_directories(folder_);
    std::filesystem::copy_file(
        std::filesystem::path(MILLRACE_SOURCE_DIR) / "tests/e2e/npm" / GetParam().script,
        folder_ / GetParam().script, std::filesystem::copy_options::overwrite_existing);
  }
  ~ImportNpm() override { std::filesystem::remove_all(folder_); }

  json::Value node(const std::string& verb) {
    const auto& package = GetParam();
    const auto ran = run_command({node_program().string(), (folder_ / package.script).string(),
                                  package.name, package.major, verb},
                                 {.env = {{"PGHOST", Server::get().socket_dir().string()},
                                          {"PGDATABASE", database_.name()},
                                          {"PGUSER", "postgres"}},
                                  .stdin_text = {},
                                  .cwd = {}});
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.json();
  }
  json::Object import_jobs(std::vector<std::string> arguments, int code) {
    arguments.insert(arguments.begin(), {"import", GetParam().source});
    arguments.insert(arguments.end(), {"--json", "--database-url", database_.url()});
    const auto ran = run_millrace(arguments);
    EXPECT_EQ(ran.code, code) << ran.err;
    return ran.json().as_object();
  }
  static std::vector<std::string> reasons(const json::Object& account) {
    std::vector<std::string> out;
    for (const auto& type : account.at("types").as_array()) {
      for (const auto& reason : type.at("reasons").as_array()) {
        out.emplace_back(reason.at("reason").as_string());
      }
    }
    return out;
  }
  std::int64_t jobs() { return sql_.number("select count(*) from millrace.job_fact"); }

  TestDatabase database_;
  Session sql_{database_};
  std::filesystem::path folder_;
};

TEST_P(ImportNpm, WhatWasMovedItsWorkersNoLongerGet) {  // D-09, D-12
  node("fill");
  const auto shown = import_jobs({}, 0);
  EXPECT_EQ(shown.at("to_move").as_int64(), GetParam().movable);
  EXPECT_THAT(reasons(shown), Contains("running"));
  EXPECT_EQ(jobs(), 0);
  const auto moved = import_jobs({"--apply"}, 7);
  EXPECT_EQ(moved.at("moved").as_int64(), GetParam().movable);
  EXPECT_EQ(jobs(), GetParam().movable);
  EXPECT_EQ(node("work").as_array().size(), 0U);
  EXPECT_EQ(import_jobs({"--apply"}, 7).at("moved").as_int64(), 0);
  EXPECT_EQ(jobs(), GetParam().movable);
}

TEST_P(ImportNpm, AJobArrivesAsItWasSent) {
  node("fill");
  import_jobs({"--apply"}, 7);
  const auto mail = [&](const std::string& member, const std::string& what) {
    return sql_.value(
        fmt::format("select {} from millrace.jobs j join millrace.job_fact f using "
                    "(job_id) where j.job_type = 'mail' and f.payload ? '{}'",
                    what, member));
  };
  EXPECT_EQ(mail("urgent", "j.priority"), "107");
  EXPECT_EQ(mail("n", "count(*)"), "5");
  EXPECT_EQ(mail("patient", "j.max_attempts"), GetParam().source == "pg-boss" ? "5" : "4");
  EXPECT_EQ(mail("later", "j.scheduled_at > millrace.now() + interval '50 minutes'"), "t");
  EXPECT_EQ(sql_.value("select f.payload ->> 'month' from millrace.jobs j join millrace.job_fact "
                       "f using (job_id) where j.job_type = 'report'"),
            "5");
}

TEST_P(ImportNpm, WhatWentBackItsWorkersGetAgain) {  // D-11
  node("fill");
  import_jobs({"--apply"}, 7);
  const auto back = run_millrace({"import", GetParam().source, "--undo", "--apply", "--json",
                                  "--database-url", database_.url()});
  EXPECT_EQ(back.code, 0) << back.err;
  const auto got = node("work");
  EXPECT_EQ(got.as_array().size(), static_cast<std::size_t>(GetParam().due));
  EXPECT_EQ(sql_.number("select count(*) from millrace.jobs where status <> 'cancelled'"), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Packages, ImportNpm,
    ::testing::Values(
        Package{"pg-boss", "12", "pg-boss", "pg_boss.mjs", 9, 8},
        Package{"pg-boss-10", "10", "pg-boss", "pg_boss.mjs", 9, 8},
        Package{"pg-boss-9", "9", "pg-boss", "pg_boss.mjs", 9, 8},
        Package{"graphile-worker", "18", "graphile-worker", "graphile_worker.mjs", 12, 10},
        Package{"graphile-worker-15", "15", "graphile-worker", "graphile_worker.mjs", 12, 10}),
    [](const auto& info) {
      auto name = info.param.name;
      std::ranges::replace(name, '-', '_');
      return name;
    });

}  // namespace
}  // namespace millrace::test
