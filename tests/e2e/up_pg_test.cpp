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

// A dump carries ids of transactions that the next server has not come to yet.
TEST_F(Up, t27_ARestoreIntoAnotherServerIsRefusedUntilItIsPutRight) {
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
  const auto dump = (folder_.path() / "dump").string();
  auto first = up();
  EXPECT_EQ(run({"psql", "--", "-qc",
                 "do $$ begin for i in 1..5000 loop perform pg_current_xact_id(); commit; end "
                 "loop; end $$"})
                .code,
            0);
  const auto enqueue = [&](const char* count, std::vector<std::string> more) {
    std::vector<std::string> arguments{"enqueue",     "noop",    "--payload",
                                       R"({"n": 1})", "--count", count};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto done = run(arguments);
    EXPECT_EQ(done.code, 0) << done.err;
  };
  enqueue("5", {"--wait", "--wait-timeout", "60s"});
  EXPECT_EQ(run({"queues", "pause", "default"}).code, 0);
  enqueue("10", {});
  const std::string url(ready_.at("database_url").as_string());
  run({"psql", "--", "-c", "\\! pg_dump -Fc -f '" + dump + "' '" + url + "'"});
  ASSERT_TRUE(std::filesystem::exists(dump));
  first->signal(SIGTERM);
  EXPECT_EQ(first->wait(), 0) << first->err();

  const TempFolder other;
  const RunOptions there{.env = {}, .stdin_text = {}, .cwd = other.path()};
  const auto ready = other.path() / "ready.json";
  BackgroundProgram second({"up", "--no-worker", "--ready-file", ready.string()}, there);
  std::string restored(second.wait_for_ready(ready).at("database_url").as_string());
  const auto database = restored.rfind("/millrace");
  ASSERT_NE(database, std::string::npos) << restored;
  restored.replace(database, 9, "/restored");
  EXPECT_EQ(run_millrace({"psql", "--", "-qc", "create database restored"}, there).code, 0);
  run_millrace({"psql", "--", "-c", "\\! pg_restore -d '" + restored + "' '" + dump + "'"}, there);
  const auto in_restored = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--database-url", restored});
    return run_millrace(arguments, there);
  };
  const auto refused = in_restored({"worker", "--queue", "default"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, HasSubstr("restore-check"));
  const auto checked = in_restored({"restore-check"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_EQ(in_restored({"queues", "resume", "default"}).code, 0);
  const auto worker_ready = other.path() / "worker.json";
  BackgroundProgram worker({"--database-url", restored, "worker", "--queue", "default",
                            "--ready-file", worker_ready.string()},
                           there);
  worker.wait_for_ready(worker_ready);
  EXPECT_TRUE(eventually([&] {
    return in_restored({"psql", "--", "-Atc",
                        "select count(*) from millrace.jobs where status = 'completed'"})
               .out == "15\n";
  })) << worker.err();
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.wait(), 0) << worker.err();
  second.signal(SIGTERM);
  EXPECT_EQ(second.wait(), 0) << second.err();
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
