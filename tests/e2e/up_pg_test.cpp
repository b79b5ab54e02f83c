// millrace up: a private cluster from nothing, found by the other commands, stopped cleanly.
#include "program.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

class Up : public ::testing::Test {
 protected:
  std::unique_ptr<BackgroundProgram> up(std::vector<std::string> more = {}) {
    const auto ready = folder_.path() / "ready.json";
    std::vector<std::string> arguments{"up", "--ready-file", ready.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto program = std::make_unique<BackgroundProgram>(arguments, here());
    ready_ = program->wait_for_ready(ready);
    return program;
  }
  RunOptions here() const { return {.env = {}, .stdin_text = {}, .cwd = folder_.path()}; }
  RunResult run(const std::vector<std::string>& arguments) {
    return run_millrace(arguments, here());
  }

  TempFolder folder_;
  json::Object ready_;
};

TEST_F(Up, RunsEverythingAndIsFoundByOtherCommands) {
  auto program = up();
  EXPECT_EQ(ready_.at("pid").as_int64(), program->pid());
  for (const char* key : {"database_url", "data_dir", "socket_dir", "version", "started_at"}) {
    EXPECT_TRUE(ready_.contains(key)) << key;
  }
  const auto job =
      run({"enqueue", "noop", "--payload", R"({"n": 1})", "--wait", "--wait-timeout", "60s"});
  EXPECT_EQ(job.code, 0) << job.err;
  EXPECT_EQ(run({"psql", "--", "-Atc", "select count(*) from millrace.jobs"}).out, "1\n");
  // The wrappers are in public, and the worker uses its own role.
  EXPECT_EQ(run({"psql", "--", "-Atc", "select count(*) from job_queue"}).out, "1\n");
  EXPECT_EQ(run({"psql", "--", "-Atc",
                 "select distinct usename from pg_stat_activity where application_name in "
                 "('millrace-worker', 'millrace-beat', 'millrace-keeper') order by 1"})
                .out,
            "millrace_keeper\nmillrace_worker\n");
  EXPECT_TRUE(eventually([&] { return run({"doctor"}).code == 0; })) << run({"doctor"}).out;

  const auto second = run({"up"});
  EXPECT_EQ(second.code, 4);
  EXPECT_THAT(second.err, HasSubstr("is already run by process"));

  program->signal(SIGTERM);
  EXPECT_EQ(program->wait(), 0) << program->err();
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "ready.json"));
  EXPECT_EQ(run({"jobs", "list"}).code, 5);
}

TEST_F(Up, KeepsJobsFromOneRunToTheNext) {
  auto first = up({"--no-worker"});
  const auto id = run({"enqueue", "noop", "--payload", R"({"n": 1})"}).out.substr(0, 36);
  EXPECT_THAT(run({"jobs", "show", id, "--json"}).out, HasSubstr(R"("status": "pending")"));
  first->signal(SIGKILL);  // Not even a goodbye.
  first->wait();
  std::filesystem::remove(folder_.path() / "ready.json");
  auto second = up();
  EXPECT_EQ(run({"jobs", "watch", id, "--timeout", "60s"}).code, 0);
  second->signal(SIGINT);
  EXPECT_EQ(second->wait(), 0) << second->err();
}

TEST_F(Up, AWorkerBesideItTakesPart) {
  auto program = up({"--no-worker"});
  const auto ready = folder_.path() / "worker.json";
  BackgroundProgram worker({"worker", "--ready-file", ready.string()}, here());
  const auto content = worker.wait_for_ready(ready);
  EXPECT_TRUE(content.contains("data_dir"));
  EXPECT_EQ(
      run({"enqueue", "sleep", "--payload", R"({"ms": 10})", "--wait", "--wait-timeout", "60s"})
          .code,
      0);
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.wait(), 0) << worker.err();
  program->signal(SIGTERM);
  EXPECT_EQ(program->wait(), 0) << program->err();
}

}  // namespace
}  // namespace millrace::test
