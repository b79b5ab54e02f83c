// Bad input of every kind gives one clear line, the documented exit code and SQLSTATE, and changes
// nothing. The exit codes are those of docs/cli.md.
#include "program.h"
#include "support/database.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kSomeJob = "01890000-0000-7000-8000-000000000001";

struct Expected {
  int code;
  std::string says;           // Part of the line.
  std::string sqlstate = {};  // At its end, in brackets.
};

void expect_refusal(const RunResult& result, const Expected& expected) {
  EXPECT_EQ(result.code, expected.code) << result.err << result.out;
  EXPECT_EQ(result.error_lines(), 1U) << result.err;
  EXPECT_THAT(result.err, StartsWith("millrace: "));
  EXPECT_THAT(result.err, HasSubstr(expected.says));
  if (!expected.sqlstate.empty()) {
    EXPECT_THAT(result.err, EndsWith(fmt::format(" [{}]\n", expected.sqlstate)));
  }
  EXPECT_EQ(result.out, "");
}

class BadInput : public ::testing::Test {
 protected:
  RunResult run(std::vector<std::string> arguments, const RunOptions& options = {}) {
    arguments.insert(arguments.end(), {"--database-url", database_.url()});
    return run_millrace(arguments, options);
  }
  RunResult enqueue(std::vector<std::string> arguments, const RunOptions& options = {}) {
    arguments.insert(arguments.begin(), "enqueue");
    return run(std::move(arguments), options);
  }
  std::int64_t jobs() {
    auto connection = database_.connect();
    return must(connection.query("select count(*) as n from millrace.job_fact"))[0].i64("n");
  }
  std::string enqueue_one(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"noop", "--payload", R"({"n": 1})"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto result = enqueue(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out.substr(0, 36);
  }

  TestDatabase database_;
};

TEST_F(BadInput, UnknownJobType) {
  expect_refusal(enqueue({"nope", "--payload", R"({"n": 1})"}),
                 {2, "job type 'nope' is not registered", "MR002"});
  EXPECT_EQ(jobs(), 0);
}

TEST_F(BadInput, MisspeltJobTypeNamesTheNearest) {
  expect_refusal(enqueue({"slep", "--payload", R"({"n": 1})"}),
                 {2, "did you mean 'sleep'?", "MR002"});
}

TEST_F(BadInput, EmptyPayload) {
  expect_refusal(enqueue({"noop", "--payload", "{}"}), {2, "payload cannot be empty", "MR003"});
  expect_refusal(enqueue({"noop"}), {2, "payload cannot be empty", "MR003"});
  EXPECT_EQ(jobs(), 0);
}

TEST_F(BadInput, PayloadWithoutARequiredKey) {
  expect_refusal(enqueue({"export_pdf", "--payload", R"({"n": 1})"}),
                 {2, "export jobs require document_id in payload", "MR003"});
}

TEST_F(BadInput, TenMegabytePayload) {
  const TempFolder folder;
  const auto file =
      folder.write("big.json", fmt::format(R"({{"text": "{}"}})", std::string(10'000'000, 'x')));
  expect_refusal(enqueue({"noop", "--payload", "@" + file.string()}),
                 {2, "the limit is 262144", "MR004"});
  EXPECT_EQ(jobs(), 0);
}

TEST_F(BadInput, InvalidJson) {
  expect_refusal(enqueue({"noop", "--payload", R"({"n": )"}), {2, "--payload: invalid JSON"});
  expect_refusal(enqueue({"noop", "--payload", R"({"n": 1, "n": 2})"}), {2, "--payload: "});
  expect_refusal(enqueue({"noop", "--payload", "-"}, {.env = {}, .stdin_text = "nonsense"}),
                 {2, "--payload: invalid JSON"});
}

TEST_F(BadInput, PayloadThatIsNoObject) {
  expect_refusal(enqueue({"noop", "--payload", "[1, 2]"}), {2, "--payload: "});
}

TEST_F(BadInput, PayloadFileThatIsMissing) {
  expect_refusal(enqueue({"noop", "--payload", "@/no/such/file"}), {2, "--payload: "});
}

TEST_F(BadInput, BadCronExpression) {
  expect_refusal(run({"cron", "set", "x", "99 * * * *", "noop", "--payload", R"({"n": 1})"}),
                 {2, "minute", "MR012"});
  expect_refusal(run({"cron", "set", "x", "* * *", "noop", "--payload", R"({"n": 1})"}),
                 {2, "cron", "MR012"});
}

TEST_F(BadInput, UnknownTimeZone) {
  expect_refusal(run({"cron", "set", "x", "0 3 * * *", "noop", "--payload", R"({"n": 1})", "--zone",
                      "Mars/Olympus"}),
                 {2, "Mars/Olympus", "MR012"});
}

TEST_F(BadInput, NegativeDelay) {
  expect_refusal(enqueue({"noop", "--payload", R"({"n": 1})", "--delay", "-5m"}),
                 {2, "--delay: '-5m' is negative"});
  expect_refusal(enqueue({"noop", "--payload", R"({"n": 1})", "--delay", "5 parsecs"}),
                 {2, "--delay: "});
}

TEST_F(BadInput, PriorityOutOfRange) {
  expect_refusal(enqueue({"noop", "--payload", R"({"n": 1})", "--priority", "1001"}),
                 {2, "between 0 and 1000", "MR005"});
  expect_refusal(enqueue({"noop", "--payload", R"({"n": 1})", "--priority", "high"}),
                 {2, "--priority: 'high' is not a whole number"});
}

TEST_F(BadInput, DueTimeThatIsNoTime) {
  expect_refusal(enqueue({"noop", "--payload", R"({"n": 1})", "--at", "tomorrow-ish"}),
                 {2, "scheduled_at", "MR006"});
}

TEST_F(BadInput, UnknownQueue) {
  expect_refusal(enqueue({"noop", "--payload", R"({"n": 1})", "--queue", "nope"}),
                 {3, "queue 'nope' does not exist", "MR007"});
  expect_refusal(run({"queues", "pause", "nope"}), {3, "queue 'nope' does not exist", "MR007"});
  expect_refusal(run({"worker", "--queue", "nope"}), {3, "queue 'nope' does not exist", "MR007"});
}

TEST_F(BadInput, WrongTokenChangesNothing) {
  auto connection = database_.connect();
  const auto id = enqueue_one();
  const auto nonce = must(connection.query(
      R"(select millrace.register_worker('w', '{"queues": ["default"]}') as id)"))[0]
                         .uuid("id");
  must(connection.query("select job_id from millrace.claim_jobs('w', $1, 'default', 1)",
                        pg::params(nonce)));
  const auto answer =
      must(connection.query("select answer from millrace.complete_jobs('w', array[$1]::uuid[],"
                            " array[gen_random_uuid()])",
                            pg::params(id)));
  EXPECT_EQ(answer[0].text("answer"), "lease_lost");
  EXPECT_THAT(run({"jobs", "show", id, "--json"}).out, HasSubstr(R"("status": "processing")"));
}

TEST_F(BadInput, OtherTenantsJobsDoNotExist) {
  const auto id = enqueue_one();
  const std::string other = "00000000-0000-4000-8000-00000000000f";
  expect_refusal(run({"jobs", "show", id, "--tenant", other}), {3, "does not exist", "MR009"});
  const auto cancel = run({"jobs", "cancel", id, "--tenant", other, "--json"});
  EXPECT_EQ(cancel.code, 3);
  EXPECT_THAT(cancel.out, HasSubstr("not_found"));
  expect_refusal(run({"jobs", "list", "--tenant", "me"}), {2, "--tenant: 'me' is not a uuid"});
}

TEST_F(BadInput, IdThatIsNoUuid) {
  expect_refusal(run({"jobs", "show", "17"}), {2, "job id: '17' is not a uuid"});
  expect_refusal(run({"batch", "show", "17"}), {2, "batch id: '17' is not a uuid"});
}

TEST_F(BadInput, UnknownJobAndBatch) {
  expect_refusal(run({"jobs", "show", kSomeJob}), {3, "does not exist", "MR009"});
  expect_refusal(run({"batch", "show", kSomeJob}), {3, "does not exist", "MR018"});
  expect_refusal(run({"cron", "delete", "nope"}), {3, "does not exist"});
}

TEST_F(BadInput, DependencyOnAnUnknownJob) {
  expect_refusal(enqueue({"noop", "--payload", R"({"n": 1})", "--after", kSomeJob}),
                 {2, "after.jobs names job", "MR019"});
  EXPECT_EQ(jobs(), 0);
}

TEST_F(BadInput, IdempotencyKeyUsedForAnotherRequest) {
  enqueue_one({"--idempotency-key", "k"});
  expect_refusal(enqueue({"noop", "--payload", R"({"n": 2})", "--idempotency-key", "k"}),
                 {4, "idempotency", "MR011"});
}

TEST_F(BadInput, CancellingAFinishedJobIsAConflict) {
  const auto id = enqueue_one();
  EXPECT_EQ(run({"jobs", "cancel", id}).code, 0);
  const auto again = run({"jobs", "cancel", id});
  EXPECT_EQ(again.code, 4);
  EXPECT_THAT(again.out, HasSubstr("already_final"));
}

TEST_F(BadInput, PolicyOutOfRange) {
  expect_refusal(run({"queues", "set", "q", "max_attempts=0"}), {2, "max_attempts", "MR017"});
  expect_refusal(run({"queues", "set", "q", "max_attempt=5"}),
                 {2, "did you mean 'max_attempts'?", "MR017"});
  expect_refusal(run({"queues", "set", "q", "lease=30"}), {2, "lease: 30 needs a unit"});
  expect_refusal(run({"queues", "set", "Bad Name"}), {2, "queue must have", "MR017"});
}

TEST_F(BadInput, UnknownLimit) {
  expect_refusal(run({"limits", "override", "no/thing", "requests_per_minute=5"}),
                 {3, "no:thing", "MR013"});
  expect_refusal(run({"limits", "set", "openai/gpt-4o-mini", "speed=5"}), {2, "speed", "MR017"});
  expect_refusal(run({"limits", "clear", "nothing"}), {2, "'nothing' is not PROVIDER/ENDPOINT"});
}

TEST_F(BadInput, EnqueueSwitchedOff) {
  EXPECT_EQ(run({"config", "set", "system.enqueue_enabled", "false"}).code, 0);
  expect_refusal(enqueue({"noop", "--payload", R"({"n": 1})"}), {5, "switched off", "MR021"});
}

TEST_F(BadInput, RoleWithoutPermission) {
  auto connection = database_.connect();
  const auto role = "nobody_" + database_.name();
  must(connection.query("create role \"" + role + "\" login"));
  const auto result = run_millrace(
      {"enqueue", "noop", "--payload", R"({"n": 1})", "--database-url", database_.url(role)});
  expect_refusal(result, {6, "permission denied", "42501"});
  must(connection.query("drop role \"" + role + "\""));
}

TEST_F(BadInput, DatabaseWithoutTheSchema) {
  const auto empty = TestDatabase::empty();
  expect_refusal(
      run_millrace({"enqueue", "noop", "--payload", R"({"n": 1})", "--database-url", empty.url()}),
      {8, "no Millrace schema; run 'millrace migrate up'", "3F000"});
}

TEST_F(BadInput, BenchRefusesADatabaseWithOthersJobs) {
  enqueue_one();
  expect_refusal(run({"bench", "drain"}), {4, "holds 1 jobs of others; take an empty one"});
}

TEST(BadEnvironment, DatabaseDown) {
  const TempFolder folder;
  expect_refusal(run_millrace({"jobs", "list", "--database-url",
                               "postgresql:///x?host=" + folder.path().string()}),
                 {5, "cannot connect to the database"});
}

TEST(BadEnvironment, NoDatabaseAtAll) {
  expect_refusal(run_millrace({"jobs", "list"}),
                 {5,
                  "cannot connect: no DATABASE_URL and no private cluster in .millrace; start "
                  "one with 'millrace up'"});
}

TEST(BadEnvironment, BadUrl) {
  expect_refusal(run_millrace({"jobs", "list", "--database-url", "nonsense://x"}),
                 {2, "cannot connect to the database"});
}

TEST(BadEnvironment, MalformedToml) {
  const TempFolder folder;
  folder.write("millrace.toml", "[worker\nslots = 3\n");
  expect_refusal(run_millrace({"config"}, {.env = {}, .stdin_text = {}, .cwd = folder.path()}),
                 {8, "millrace.toml:1:"});
}

TEST(BadEnvironment, UnknownKeyInToml) {
  const TempFolder folder;
  folder.write("millrace.toml", "[worker]\nslotz = 3\n");
  expect_refusal(run_millrace({"config"}, {.env = {}, .stdin_text = {}, .cwd = folder.path()}),
                 {8, "millrace.toml:2: unknown key worker.slotz; did you mean worker.slots?"});
}

TEST(BadEnvironment, HandlerProgramThatIsMissing) {
  const TempFolder folder;
  folder.write("millrace.toml", "[[handler]]\ntype = \"a\"\nrun = \"exec:./nothing.py\"\n");
  expect_refusal(run_millrace({"worker"}, {.env = {}, .stdin_text = {}, .cwd = folder.path()}),
                 {2, "millrace.toml:1: handler 'a': "});
}

TEST(BadEnvironment, ConfigurationFileThatIsMissing) {
  expect_refusal(run_millrace({"config", "--config", "/no/such.toml"}),
                 {8, "cannot read the configuration"});
}

TEST(BadEnvironment, VariablesThatDisagree) {
  expect_refusal(run_millrace({"config"}, {.env = {{"WORKER_CONCURRENCY", "5"},
                                                   {"MILLRACE_WORKER_SLOTS", "6"}}}),
                 {8, "MILLRACE_WORKER_SLOTS and WORKER_CONCURRENCY disagree about worker.slots"});
}

TEST(BadCommandLine, UnknownCommandAndOption) {
  expect_refusal(run_millrace({"jbos"}), {2, "unknown command 'jbos'; did you mean 'jobs'?"});
  expect_refusal(run_millrace({"jobs", "list", "--limt", "3"}),
                 {2, "unknown option '--limt' of 'jobs list'; did you mean '--limit'?"});
  expect_refusal(run_millrace({"jobs", "show"}), {2, "jobs show: ID is required"});
  expect_refusal(run_millrace({"jobs"}), {2, "jobs: which command?"});
}

TEST(BadDataDirectory, FolderThatIsNotOurs) {
  const TempFolder folder;
  folder.write("precious.txt", "mine");
  expect_refusal(run_millrace({"up", "--data-dir", folder.path().string(), "--log-level", "error"}),
                 {4, folder.path().string()});
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "precious.txt"));
}

// A file system of a few megabytes where we may mount one, a limit on the size of files otherwise:
// either way PostgreSQL cannot write its files.
TEST(BadDataDirectory, DiskFull) {
  const TempFolder folder;
  const auto mount = folder.path() / "small";
  std::filesystem::create_directory(mount);
  const auto up = fmt::format("exec '{}' up --log-level error --data-dir ", MILLRACE_PROGRAM);
  const auto probe = run_command(
      {"unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=1m none '" + mount.string() + "'"});
  const auto script =
      probe.code == 0 ? fmt::format("mount -t tmpfs -o size=8m,mode=0711 none '{}' && {} '{}/data'",
                                    mount.string(), up, mount.string())
                      : fmt::format("ulimit -f 2048; {} '{}/data'", up, mount.string());
  const auto result = probe.code == 0 ? run_command({"unshare", "-m", "sh", "-c", script})
                                      : run_command({"bash", "-c", script});
  EXPECT_EQ(result.code, 5) << result.err;
  EXPECT_EQ(result.error_lines(), 1U) << result.err;
  EXPECT_THAT(result.err,
              ::testing::AnyOf(HasSubstr("No space left on device"), HasSubstr("File too large")));
}

}  // namespace
}  // namespace millrace::test
