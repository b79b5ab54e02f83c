// The commands on a database, as scripts use them: JSON out, exit codes, one thing changed.
#include "base/file.h"
#include "program.h"
#include "support/database.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace millrace::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class Cli : public ::testing::Test {
 protected:
  RunResult run(std::vector<std::string> arguments, const RunOptions& options = {}) {
    arguments.insert(arguments.end(), {"--database-url", database_.url()});
    return run_millrace(arguments, options);
  }
  json::Value json(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const auto result = run(std::move(arguments));
    EXPECT_EQ(result.code, 0) << result.err;
    return result.json();
  }
  std::string enqueue(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "enqueue");
    return std::string(json(std::move(arguments)).at("job_id").as_string());
  }
  std::string status(const std::string& id) {
    return std::string(json({"jobs", "show", id}).at("status").as_string());
  }
  std::unique_ptr<BackgroundProgram> start_worker(std::vector<std::string> more,
                                                  RunOptions options = {}) {
    const auto ready = folder_.path() / "worker.json";
    std::vector<std::string> arguments{"worker", "--ready-file", ready.string(), "--database-url",
                                       database_.url()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto worker = std::make_unique<BackgroundProgram>(arguments, options);
    ready_ = worker->wait_for_ready(ready);
    return worker;
  }

  TestDatabase database_;
  TempFolder folder_;
  json::Object ready_;
};

TEST_F(Cli, EnqueueShowListCancel) {
  const auto id = enqueue({"noop", "--payload", R"({"n": 1})", "--priority", "7", "--name", "one"});
  const auto job = json({"jobs", "show", id});
  EXPECT_EQ(job.at("status").as_string(), "pending");
  EXPECT_EQ(job.at("priority").as_int64(), 7);
  EXPECT_EQ(job.at("job_name").as_string(), "one");
  const auto list = json({"jobs", "list", "--status", "pending"}).as_array();
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].at("job_id").as_string(), id);
  EXPECT_TRUE(json({"jobs", "list", "--status", "failed"}).as_array().empty());
  EXPECT_EQ(json({"jobs", "cancel", id}).as_array()[0].at("answer").as_string(), "cancelled");
  EXPECT_EQ(status(id), "cancelled");
}

TEST_F(Cli, EnqueueFromStandardInputAndInBulk) {
  const auto one =
      run({"enqueue", "noop", "--payload", "-"}, {.env = {}, .stdin_text = R"({"n": 1})"});
  EXPECT_EQ(one.code, 0) << one.err;
  const auto many = run({"enqueue", "noop", "--lines", "-", "--json"},
                        {.env = {}, .stdin_text = "{\"n\": 1}\n\n{\"n\": 2}\n"});
  EXPECT_EQ(many.code, 0) << many.err;
  EXPECT_EQ(many.json().at("created").as_int64(), 2);
  const auto broken =
      run({"enqueue", "noop", "--lines", "-"}, {.env = {}, .stdin_text = "{\"n\": 1}\nnonsense\n"});
  EXPECT_EQ(broken.code, 2);
  EXPECT_THAT(broken.err, HasSubstr("-:2"));
}

TEST_F(Cli, DedupeFindsTheLiveJob) {
  const auto id = enqueue({"noop", "--payload", R"({"n": 1})", "--dedupe", "k"});
  const auto again = json({"enqueue", "noop", "--payload", R"({"n": 1})", "--dedupe", "k"});
  EXPECT_EQ(again.at("job_id").as_string(), id);
  EXPECT_EQ(again.at("answer").as_string(), "duplicate");
}

TEST_F(Cli, WorkerRunsJobsAndStopsCleanly) {
  auto worker = start_worker({"--slots", "3"});
  EXPECT_EQ(ready_.at("pid").as_int64(), worker->pid());
  EXPECT_FALSE(ready_.at("worker_id").as_string().empty());
  const auto done = run({"enqueue", "sleep", "--payload", R"({"ms": 50})", "--wait",
                         "--wait-timeout", "60s", "--json"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.json().at("status").as_string(), "completed");
  const auto workers = json({"workers"}).as_array();
  ASSERT_EQ(workers.size(), 1U);
  EXPECT_TRUE(workers[0].at("alive").as_bool());
  EXPECT_EQ(workers[0].at("slots").as_int64(), 3);
  worker->signal(SIGTERM);
  EXPECT_EQ(worker->wait(), 0) << worker->err();
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "worker.json"));
  EXPECT_TRUE(json({"workers"}).as_array().empty());
}

// Least privilege: the worker's own role may neither read the policies nor do the keeper's work.
TEST_F(Cli, WorkerNeedsNoMoreThanItsOwnRole) {
  const auto ready = folder_.path() / "worker.json";
  BackgroundProgram worker({"worker", "--no-keeper", "--ready-file", ready.string(),
                            "--database-url", database_.url("millrace_worker")},
                           {});
  worker.wait_for_ready(ready);
  EXPECT_EQ(
      run({"enqueue", "noop", "--payload", R"({"n": 1})", "--wait", "--wait-timeout", "60s"}).code,
      0);
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.wait(), 0) << worker.err();
}

TEST_F(Cli, ExecHandlersOfTheExamples) {
  const auto examples = std::filesystem::path(MILLRACE_SOURCE_DIR) / "examples" / "exec";
  const auto picture = folder_.path() / "t.png";
  auto worker = start_worker({"--config", (examples / "millrace.toml").string()});
  const auto thumbnail =
      run({"enqueue", "thumbnail", "--wait", "--wait-timeout", "60s", "--json", "--payload",
           fmt::format(R"({{"source": "pattern:64x32:3", "width": 16, "target": "{}"}})",
                       picture.string())});
  ASSERT_EQ(thumbnail.code, 0) << thumbnail.err << thumbnail.out;
  EXPECT_EQ(thumbnail.json().at("result").at("width").as_int64(), 16);
  const auto checksum = run({"enqueue", "checksum", "--wait", "--wait-timeout", "60s", "--json",
                             "--payload", fmt::format(R"({{"path": "{}"}})", picture.string())});
  ASSERT_EQ(checksum.code, 0) << checksum.err << checksum.out;
  EXPECT_EQ(checksum.json().at("result").at("sha256"), thumbnail.json().at("result").at("sha256"));
  const auto wrong = run({"enqueue", "thumbnail", "--wait", "--wait-timeout", "60s", "--json",
                          "--payload", R"({"source": "nowhere.png", "target": "x"})"});
  EXPECT_EQ(wrong.code, 9);
  const auto id = std::string(wrong.json().at("job_id").as_string());
  EXPECT_EQ(wrong.json().at("status").as_string(), "failed");
  const auto shown = json({"jobs", "show", id, "--logs"});
  EXPECT_THAT(to_json(shown.at("logs")), HasSubstr("there is no file nowhere.png"));
  EXPECT_EQ(json({"dlq", "groups"}).as_array().size(), 1U);
  EXPECT_THAT(to_json(json({"queues", "list"})), HasSubstr(R"("queue":"images")"));
}

TEST_F(Cli, TomlNeverResetsAnOperatorsPolicy) {
  const auto file =
      folder_.write("millrace.toml", "[[queue]]\nname = \"mine\"\nmax_attempts = 4\n");
  const auto attempts = [&] {
    for (const auto& queue : json({"queues", "list"}).as_array()) {
      if (queue.at("queue").as_string() == "mine") return queue.at("max_attempts").as_int64();
    }
    return std::int64_t{-1};
  };
  start_worker({"--config", file.string()});
  EXPECT_EQ(attempts(), 4);
  EXPECT_EQ(run({"queues", "set", "mine", "max_attempts=9"}).code, 0);
  std::filesystem::remove(folder_.path() / "worker.json");
  start_worker({"--config", file.string()});
  EXPECT_EQ(attempts(), 9);
}

TEST_F(Cli, SupervisorReplacesAChildAndHandsItsJobsBack) {
  auto supervisor = start_worker({"--processes", "2", "--slots", "1", "--lease", "1h"});
  const auto worker_pids = [&] {
    std::vector<std::int64_t> pids;
    for (const auto& worker : json({"workers"}).as_array())
      pids.push_back(worker.at("pid").as_int64());
    return pids;
  };
  ASSERT_EQ(worker_pids().size(), 2U);
  const auto id = enqueue({"sleep", "--payload", R"({"ms": 600000})"});
  ASSERT_TRUE(eventually([&] { return status(id) == "processing"; }));
  const auto held_by = json({"jobs", "show", id}).at("worker_id");
  for (const auto& worker : json({"workers"}).as_array()) {
    if (worker.at("worker_id") != held_by) continue;
    ASSERT_EQ(::kill(static_cast<pid_t>(worker.at("pid").as_int64()), SIGKILL), 0);
  }
  // The lease of an hour would keep it; the supervisor gives it back at once.
  EXPECT_TRUE(eventually([&] {
    const auto job = json({"jobs", "show", id});
    return job.at("delivery_count").as_int64() >= 2 || job.at("status").as_string() != "processing";
  }));
  EXPECT_TRUE(eventually([&] { return worker_pids().size() == 2; }));
  EXPECT_EQ(run({"jobs", "cancel", id}).code, 0);
  supervisor->signal(SIGTERM);
  EXPECT_EQ(supervisor->wait(), 0) << supervisor->err();
  EXPECT_TRUE(json({"workers"}).as_array().empty());
}

TEST_F(Cli, CronBatchLimitsQueuesAudit) {
  const auto cron =
      json({"cron", "set", "nightly", "15 3 * * *", "noop", "--payload", R"({"n": 1})"});
  EXPECT_THAT(std::string(cron.at("next_due_at").as_string()), HasSubstr("T03:15:00"));
  const auto ran = json({"cron", "run", "nightly"});
  EXPECT_EQ(status(std::string(ran.at("job_id").as_string())), "pending");
  EXPECT_EQ(run({"cron", "delete", "nightly"}).code, 0);

  const auto batch =
      run({"batch", "create", "-", "--callback", "noop", "--json"},
          {.env = {}, .stdin_text = R"([{"job_type": "noop", "payload": {"n": 1}}])"});
  ASSERT_EQ(batch.code, 0) << batch.err;
  const auto id = std::string(batch.json().at("batch_id").as_string());
  EXPECT_EQ(json({"batch", "show", id}).at("total").as_int64(), 1);
  EXPECT_EQ(json({"jobs", "list", "--batch", id}).as_array().size(), 1U);

  EXPECT_EQ(run({"limits", "override", "openai/gpt-4o-mini", "requests_per_minute=5", "--reason",
                 "slow", "--for", "1h"})
                .code,
            0);
  const auto limits = json({"limits", "list"});
  EXPECT_THAT(to_json(limits), HasSubstr(R"("override_reason":"slow")"));
  EXPECT_EQ(run({"limits", "clear", "openai/gpt-4o-mini"}).code, 0);

  EXPECT_EQ(run({"queues", "pause", "default", "--reason", "deploy"}).code, 0);
  const auto findings = run({"doctor", "--json"}).json();
  EXPECT_THAT(to_json(findings), HasSubstr("default is paused by"));
  EXPECT_EQ(run({"queues", "resume", "default"}).code, 0);
  EXPECT_THAT(to_json(json({"audit", "show"})), HasSubstr("Queue resumed"));
  EXPECT_EQ(run({"audit", "verify"}).code, 0);
}

TEST_F(Cli, RetryRunsWaitingJobsNowAndDeadOnesAgain) {
  const auto waiting = enqueue({"noop", "--payload", R"({"n": 1})", "--delay", "1h"});
  EXPECT_EQ(run({"jobs", "retry", waiting}).code, 0);
  auto worker = start_worker({}, {.env = {{"MILLRACE_WORKER_TEST_OUTCOMES", "true"}}});
  EXPECT_EQ(run({"jobs", "watch", waiting, "--timeout", "60s"}).code, 0);
  const auto dead = enqueue({"sleep", "--payload", R"({"ms": 0, "fail": "permanent"})"});
  EXPECT_EQ(run({"jobs", "watch", dead, "--timeout", "60s"}).code, 9);
  const auto redriven = json({"dlq", "redrive", dead, "--rate", "60"}).as_array();
  ASSERT_EQ(redriven.size(), 1U);
  EXPECT_EQ(redriven[0].at("answer").as_string(), "redriven");
  EXPECT_TRUE(eventually([&] {
    const auto job = json({"jobs", "show", dead});
    return job.at("generation").as_int64() == 2 && job.at("status").as_string() == "failed";
  }));
}

TEST_F(Cli, DoctorNamesWhatIsWrong) {
  enqueue({"noop", "--payload", R"({"n": 1})"});
  const auto sick = run({"doctor", "--json"});
  EXPECT_EQ(sick.code, 7);
  const auto text = to_json(sick.json());
  EXPECT_THAT(text, HasSubstr("no keeper runs"));
  EXPECT_THAT(text, HasSubstr("no worker runs for: noop (1 jobs in default)"));
  auto worker = start_worker({});
  EXPECT_TRUE(eventually([&] { return run({"doctor"}).code == 0; })) << run({"doctor"}).out;
}

TEST_F(Cli, ConfigMasksSecretsAndNamesOrigins) {
  const auto result = run_millrace(
      {"config", "--json"},
      {.env = {{"DATABASE_URL", "postgres://u:topsecret@h/d"}, {"WORKER_CONCURRENCY", "50"}}});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, Not(HasSubstr("topsecret")));
  EXPECT_THAT(result.out, HasSubstr("postgres://u:***@h/d"));
  EXPECT_THAT(result.out, HasSubstr("environment WORKER_CONCURRENCY"));
}

TEST_F(Cli, MigrateStatusPlanUp) {
  const auto fresh = TestDatabase::empty();
  const auto on_fresh = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--database-url", fresh.url(), "--json"});
    return run_millrace(arguments);
  };
  EXPECT_THAT(on_fresh({"migrate", "status"}).out, HasSubstr(R"("state": "pending")"));
  EXPECT_FALSE(on_fresh({"migrate", "plan"}).json().as_array().empty());
  const auto up = on_fresh({"migrate", "up"});
  EXPECT_EQ(up.code, 0) << up.err;
  EXPECT_TRUE(on_fresh({"migrate", "plan"}).json().as_array().empty());
  EXPECT_THAT(on_fresh({"migrate", "status"}).out, Not(HasSubstr("pending")));
}

TEST(CliFiles, CompletionScriptsAreValidShell) {
  const TempFolder folder;
  const auto script = run_millrace({"completion", "bash"});
  ASSERT_EQ(script.code, 0) << script.err;
  const auto file = folder.write("completion", script.out);
  EXPECT_EQ(run_command({"bash", "-n", file.string()}).code, 0);
  const auto completed = run_command(
      {"bash", "-c",
       "source '" + file.string() +
           "'; COMP_WORDS=(millrace jobs li); COMP_CWORD=2; _millrace; echo \"${COMPREPLY[@]}\""});
  EXPECT_EQ(completed.out, "list\n") << completed.err;
}

// docs/cli.md names every command and option; docs/configuration.md every setting and its names.
TEST(CliFiles, DocumentationIsComplete) {
  const auto docs = std::filesystem::path(MILLRACE_SOURCE_DIR) / "docs";
  const auto cli = must(read_file(docs / "cli.md"));
  const auto script = run_millrace({"completion", "fish"}).out;
  std::size_t options = 0;
  std::istringstream lines(script);
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find(" -l ");
    const auto command = line.find(" -f -a ");
    if (line.starts_with("complete ") && command != line.npos) {
      const auto name = line.substr(command + 7, line.find(' ', command + 7) - command - 7);
      if (!name.starts_with('\''))
        EXPECT_TRUE(cli.contains(name + "`") || cli.contains(name + " "));
    }
    if (!line.starts_with("complete ") || at == line.npos) continue;
    const auto option = "--" + line.substr(at + 4, line.find(' ', at + 4) - at - 4);
    EXPECT_TRUE(cli.contains(option)) << "docs/cli.md does not name " << option << ": " << line;
    ++options;
  }
  EXPECT_GT(options, 50U);
  const auto configuration = must(read_file(docs / "configuration.md"));
  for (const auto& row : run_millrace({"config", "--json"}).json().as_array()) {
    for (const char* name : {"key", "variable"}) {
      const std::string text(row.at(name).as_string());
      EXPECT_TRUE(configuration.contains("`" + text + "`")) << text;
    }
  }
}

}  // namespace
}  // namespace millrace::test
