// Questions for the compute pipeline, all the way: HTTP, database, worker, mock app server.
#include "api_world.h"
#include "base/file.h"
#include "schema/schema.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::test {
namespace {

namespace fs = std::filesystem;
using identity::Role;
using testing::HasSubstr;
using testing::Not;

const fs::path kContracts = fs::path(MILLRACE_SOURCE_DIR) / "examples" / "contracts";

// One server, one worker and one mock for all tests; each test is a tenant of its own.
class ComputePipeline : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TempFolder>();
    const auto blobs = (folder_->path() / "blobs").string();
    world_ = std::make_unique<ApiWorld>(ApiWorld::Options{
        .env = {{"CONTRACTS_DIR", kContracts.string()}, {"MILLRACE_STORAGE_FOLDER", blobs}}});
    const auto mock_ready = folder_->path() / "mock.json";
    mock_ = std::make_unique<BackgroundProgram>(
        std::vector<std::string>{"appserver", "--listen", "127.0.0.1:0", "--contracts",
                                 kContracts.string(), "--ready-file", mock_ready.string()},
        RunOptions{});
    const auto ready = mock_->wait_for_ready(mock_ready);
    const auto worker_ready = folder_->path() / "worker.json";
    worker_ = std::make_unique<BackgroundProgram>(
        std::vector<std::string>{"worker", "--queue", "compute", "--ready-file",
                                 worker_ready.string()},
        RunOptions{.env = {{"DATABASE_URL", world_->database().url()},
                           {"CONTRACTS_DIR", kContracts.string()},
                           {"MILLRACE_STORAGE_FOLDER", blobs},
                           {"APP_SERVER_URL", std::string(ready.at("app_server_url").as_string())},
                           {"LOG_LEVEL", "info"}}});
    worker_->wait_for_ready(worker_ready);
  }
  static void TearDownTestSuite() {
    for (auto* program : {worker_.get(), mock_.get()}) {
      program->signal(SIGTERM);
      EXPECT_EQ(program->wait(), 0) << program->err();
    }
    worker_.reset();
    mock_.reset();
    world_.reset();
    folder_.reset();
  }
  static ApiWorld& world() { return *world_; }
  static std::string worker_log() { return worker_->err(); }

  ComputePipeline()
      : tenant_(world().new_tenant()), service_(world().jwt(Role::service_role, tenant_)) {}

  static std::string question(const std::string& inputs, const std::string& rest = "") {
    return fmt::format(R"({{"app_id":"app","definition":"beam","version":"1.0.0","inputs":{}{}}})",
                       inputs, rest);
  }
  Answered run(const std::string& inputs, const std::string& rest = "") {
    return world().post("/jobs/run", service_, question(inputs, rest));
  }
  std::string ask(const std::string& inputs) {
    const auto answered = run(inputs);
    EXPECT_EQ(answered.status, 202) << answered.body;
    return std::string(answered.json().at("job_id").as_string());
  }
  json::Object status(const std::string& job) {
    return world().get("/jobs/status/" + job, service_).json().as_object();
  }
  // The state it comes to rest in.
  json::Object ended(const std::string& job) {
    json::Object last;
    EXPECT_TRUE(eventually([&] {
      last = status(job);
      const auto& state = last.at("status");
      return state != json::Value("queued") && state != json::Value("running");
    })) << to_json(last)
        << worker_log();
    return last;
  }
  std::int64_t jobs_of_tenant() {
    auto sql = world().sql();
    return must(sql.query("select count(*) as n from millrace.job_fact where tenant_id = $1::uuid",
                          pg::params(tenant_.to_string())))[0]
        .i64("n");
  }

  TenantId tenant_;
  std::string service_;

 private:
  static std::unique_ptr<TempFolder> folder_;
  static std::unique_ptr<ApiWorld> world_;
  static std::unique_ptr<BackgroundProgram> mock_;
  static std::unique_ptr<BackgroundProgram> worker_;
};

std::unique_ptr<TempFolder> ComputePipeline::folder_;
std::unique_ptr<ApiWorld> ComputePipeline::world_;
std::unique_ptr<BackgroundProgram> ComputePipeline::mock_;
std::unique_ptr<BackgroundProgram> ComputePipeline::worker_;

TEST_F(ComputePipeline, AQuestionIsAnsweredWithOutputsThatKeepToTheirContract) {  // V-19, P-06
  const auto job = ask(R"({"span_m":6,"load_kn":12})");
  EXPECT_EQ(ended(job).at("status"), json::Value("succeeded"));
  const auto result = world().get("/jobs/result/" + job, service_);
  ASSERT_EQ(result.status, 200) << result.body;
  const auto contract = must(read_file(kContracts / "beam" / "1.0.0" / "outputs.schema.json"));
  const auto schema = must(schema::Schema::compile(must(parse_json(contract))));
  EXPECT_TRUE(schema.validate(result.json()).empty()) << result.body;
  EXPECT_NEAR(result.json().at("max_moment_knm").to_number<double>(), 18, 1e-9);
  // What the source's own formula gives for these inputs with their defaults; made by CPython.
  auto sql = world().sql();
  const auto row = must(sql.query(
      "select j.inputs_hash, j.payload_json -> 'section' ->> 'height_mm' as height, "
      "(select count(*) from millrace.result r where r.job_id = j.id and r.score is not null) as n "
      "from millrace.job j where j.id = $1::uuid",
      pg::params(job)));
  ASSERT_EQ(row.rows(), 1U);
  EXPECT_EQ(row[0].text("inputs_hash"),
            "4ec0c75797b7ce23693e94a8a77d8ed7a604e70037c4caae2ee94366e4b90158");
  EXPECT_EQ(row[0].text("height"), "200");
  EXPECT_EQ(row[0].i64("n"), 1);
}

TEST_F(ComputePipeline, AJobIsAMessageByItsSchema) {  // M-01
  const auto job = ask(R"({"span_m":4,"load_kn":1})");
  auto sql = world().sql();
  const auto said = must(
      sql.query("select millrace.compute_message($1::uuid)::text as message", pg::params(job)));
  const std::string text(said[0].text("message"));
  const auto message = must(parse_json(text));
  schema::SchemaOptions options;
  options.assert_formats = true;
  const auto file = must(read_file(kContracts / "message.schema.json"));
  const auto schema = must(schema::Schema::compile(must(parse_json(file)), std::move(options)));
  EXPECT_TRUE(schema.validate(message).empty()) << text;
  EXPECT_EQ(message.at("job_id"), json::Value(job));
  EXPECT_EQ(message.at("tenant_id"), json::Value(tenant_.to_string()));
  EXPECT_EQ(message.at("payload").at("span_m"), json::Value(4));
  // Its defaults are filled in.
  EXPECT_NE(message.at("payload").as_object().if_contains("section"), nullptr) << text;
  auto broken = message.as_object();
  broken["inputs"] = 1;
  EXPECT_FALSE(schema.validate(json::Value(broken)).empty());
  const auto plain = must(sql.query("select millrace.enqueue_job('noop', '{\"n\": 1}')"));
  const auto other =
      sql.query("select millrace.compute_message($1::uuid)", pg::params(plain[0].text(0)));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().sqlstate, "MR009");
}

TEST_F(ComputePipeline, ABusyAppServerCostsTheJobNothing) {  // V-20
  const auto job = ask(R"({"span_m":6,"load_kn":12,"simulate":{"answer":"throttle_once"}})");
  const auto end = ended(job);
  EXPECT_EQ(end.at("status"), json::Value("succeeded"));
  EXPECT_EQ(end.at("attempts"), json::Value(1));
  EXPECT_THAT(worker_log(), HasSubstr("call_appserver"));
}

TEST_F(ComputePipeline, ACrashInTheMiddleOfAnAnswerIsTriedAgain) {
  const auto job = ask(R"({"span_m":6,"load_kn":12,"simulate":{"answer":"crash_once"}})");
  const auto end = ended(job);
  EXPECT_EQ(end.at("status"), json::Value("succeeded"));
  EXPECT_EQ(end.at("attempts"), json::Value(2));
}

TEST_F(ComputePipeline, PoisonIsADeadLetterWithItsReason) {  // V-21, J-08
  const auto job = ask(R"({"span_m":6,"load_kn":12,"load_at_m":7})");
  const auto end = ended(job);
  EXPECT_EQ(end.at("status"), json::Value("failed"));
  EXPECT_EQ(end.at("attempts"), json::Value(1));
  const auto result = world().get("/jobs/result/" + job, service_);
  EXPECT_EQ(result.status, 422) << result.body;
  EXPECT_THAT(result.body, HasSubstr("app_server_422"));
  EXPECT_THAT(result.body, HasSubstr("/load_at_m"));
  const auto dead = world().get("/api/v1/dead-letters", world().key(Role::operator_, tenant_));
  EXPECT_THAT(dead.body, HasSubstr(job));
}

TEST_F(ComputePipeline, OutputsThatBreakTheirContractAreNotKept) {  // J-10
  const auto job = ask(R"({"span_m":6,"load_kn":12,"simulate":{"answer":"invalid"}})");
  EXPECT_EQ(ended(job).at("status"), json::Value("failed"));
  EXPECT_THAT(world().get("/jobs/result/" + job, service_).body, HasSubstr("invalid_outputs"));
  auto sql = world().sql();
  EXPECT_EQ(must(sql.query("select count(*) as n from millrace.result where job_id = $1::uuid",
                           pg::params(job)))[0]
                .i64("n"),
            0);
}

TEST_F(ComputePipeline, AnUnfinishedResultIsAConflict) {  // H-15
  const auto job = ask(R"({"span_m":6,"load_kn":12,"simulate":{"delay_ms":700}})");
  const auto early = world().get("/jobs/result/" + job, service_);
  EXPECT_EQ(early.status, 409) << early.body;
  EXPECT_EQ(early.json().at("code"), json::Value("not_finished"));
  EXPECT_EQ(ended(job).at("status"), json::Value("succeeded"));
}

TEST_F(ComputePipeline, InputsThatBreakTheContractMakeNoJob) {  // J-02
  const auto refused = run(R"({"span_m":"long","load_kn":12,"colour":"red"})");
  EXPECT_EQ(refused.status, 400) << refused.body;
  EXPECT_THAT(refused.body, HasSubstr("#/inputs/span_m"));
  EXPECT_EQ(jobs_of_tenant(), 0);
}

TEST_F(ComputePipeline, EqualQuestionsAreOneJob) {  // J-04, J-13, F03, F05
  const auto job = ask(R"({"span_m":7,"load_kn":12})");
  ended(job);
  const auto again = run(R"({"load_kn":12.0,"span_m":7.0,"material":"steel"})");
  EXPECT_EQ(again.json().at("job_id"), json::Value(job)) << again.body;
  EXPECT_EQ(again.json().at("answer"), json::Value("cached"));
  EXPECT_EQ(jobs_of_tenant(), 1);
  const auto fresh = run(R"({"span_m":7,"load_kn":12})", R"(,"max_age_seconds":0)");
  EXPECT_NE(fresh.json().at("job_id"), json::Value(job)) << fresh.body;
  const auto elsewhere =
      world().post("/jobs/run", world().jwt(Role::service_role, world().new_tenant()),
                   question(R"({"span_m":7,"load_kn":12})"));
  EXPECT_NE(elsewhere.json().at("job_id"), json::Value(job));
}

TEST_F(ComputePipeline, ARepeatedRequestGetsTheSameAnswer) {
  const std::vector<http::Header> key{{"Idempotency-Key", "\"q-1\""}};
  const auto body = question(R"({"span_m":8,"load_kn":12})");
  const auto first = world().post("/jobs/run", service_, body, key);
  ASSERT_EQ(first.status, 202) << first.body;
  const auto again = world().post("/jobs/run", service_, body, key);
  EXPECT_EQ(again.status, 202) << again.body;
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.header("idempotent-replayed"), "true");
  EXPECT_EQ(
      world().post("/jobs/run", service_, question(R"({"span_m":9,"load_kn":12})"), key).status,
      422);
  // A question that was refused leaves its key free.
  const std::vector<http::Header> other{{"Idempotency-Key", "\"q-2\""}};
  EXPECT_EQ(world().post("/jobs/run", service_, question("{}"), other).status, 400);
  EXPECT_EQ(world().post("/jobs/run", service_, question("{}"), other).status, 400);
}

TEST_F(ComputePipeline, ResultsBelongToWhoAsked) {  // T-01, T-02, T-12
  const auto ada = world().jwt(Role::authenticated, tenant_, world().new_user());
  const auto bob = world().jwt(Role::authenticated, tenant_, world().new_user());
  const auto body = question(R"({"span_m":6,"load_kn":13})");
  const auto asked = world().post("/jobs/run", ada, body);
  ASSERT_EQ(asked.status, 202) << asked.body;
  const std::string job(asked.json().at("job_id").as_string());
  ended(job);
  EXPECT_EQ(world().get("/jobs/result/" + job, ada).status, 200);
  for (const auto& token : {bob, world().jwt(Role::service_role, world().new_tenant())}) {
    EXPECT_EQ(world().get("/jobs/result/" + job, token).status, 404);
    EXPECT_EQ(world().get("/jobs/status/" + job, token).status, 404);
    EXPECT_EQ(world().get("/jobs/artifacts/" + job, token).status, 404);
  }
  const auto same = world().post("/jobs/run", bob, body);
  EXPECT_NE(same.json().at("job_id"), json::Value(job)) << same.body;
  EXPECT_EQ(world().post("/jobs/run", "", body).status, 401);
}

TEST_F(ComputePipeline, AnArtifactIsFetchedByItsLinkAlone) {  // J-11, V-19, I11
  const auto asked = world().post(
      "/jobs/run", service_,
      R"({"definition":"tour","version":"2.1.0","inputs":{"points":[[0,0],[1,1],[1,0],[0,1]],"drawing":true}})");
  ASSERT_EQ(asked.status, 202) << asked.body;
  const std::string job(asked.json().at("job_id").as_string());
  ASSERT_EQ(ended(job).at("status"), json::Value("succeeded")) << worker_log();
  const auto list = world().get("/jobs/artifacts/" + job, service_);
  ASSERT_EQ(list.status, 200) << list.body;
  const auto listed = list.json();
  ASSERT_EQ(listed.at("items").as_array().size(), 1U) << list.body;
  const auto& item = listed.at("items").at(0).as_object();
  EXPECT_EQ(item.at("kind"), json::Value("drawing"));
  EXPECT_FALSE(item.contains("store_key"));
  const std::string url(item.at("url").as_string());
  const auto path = url.substr(url.find("/jobs/"));
  const auto drawing = world().get(path);
  ASSERT_EQ(drawing.status, 200) << drawing.body;
  EXPECT_EQ(drawing.header("content-type"), "image/svg+xml");
  EXPECT_THAT(drawing.body, testing::StartsWith("<svg "));
  // The link opens this file and nothing else, and is written down nowhere.
  const auto token = path.substr(path.find("?token="));
  EXPECT_EQ(world().get("/jobs/artifacts/" + job + token).status, 401);
  EXPECT_EQ(world().get(path.substr(0, path.find('?'))).status, 401);
  EXPECT_EQ(world().get(path + "x").status, 401);
  EXPECT_THAT(world().program().err(), Not(HasSubstr(token.substr(7, 40))));
  auto sql = world().sql();
  EXPECT_EQ(must(sql.query("select count(*) as n from millrace.artifact a where job_id = $1::uuid "
                           "and to_jsonb(a)::text not like '%token%'",
                           pg::params(job)))[0]
                .i64("n"),
            1);
}

TEST_F(ComputePipeline, TheLogSaysWhoAndNotWhat) {  // O-01, T-08
  const auto job = ask(R"({"span_m":6,"load_kn":4321.25})");
  ended(job);
  EXPECT_TRUE(eventually([&] { return worker_log().contains(job); }));
  EXPECT_THAT(worker_log(), HasSubstr("beam@1.0.0"));
  EXPECT_THAT(worker_log(), Not(HasSubstr("4321.25")));
  EXPECT_THAT(world().program().err(), Not(HasSubstr("4321.25")));
}

// J-07, B12: whoever dies in the middle, there is one result, and its job is charged for it.
TEST(ComputeDeaths, AWorkerThatIsKilledLeavesOneResult) {
  const TempFolder folder;
  ApiWorld world({.env = {{"CONTRACTS_DIR", kContracts.string()}}});
  const auto mock_ready = folder.path() / "mock.json";
  BackgroundProgram mock({"appserver", "--listen", "127.0.0.1:0", "--contracts",
                          kContracts.string(), "--ready-file", mock_ready.string()},
                         RunOptions{});
  const auto mock_at = mock.wait_for_ready(mock_ready);
  const auto start = [&](const std::string& name) {
    const auto ready = folder.path() / (name + ".json");
    auto worker = std::make_unique<BackgroundProgram>(
        std::vector<std::string>{"worker", "--queue", "compute", "--lease", "1s", "--ready-file",
                                 ready.string()},
        RunOptions{
            .env = {{"DATABASE_URL", world.database().url()},
                    {"CONTRACTS_DIR", kContracts.string()},
                    {"APP_SERVER_URL", std::string(mock_at.at("app_server_url").as_string())}}});
    worker->wait_for_ready(ready);
    return worker;
  };
  auto first = start("first");
  const auto token = world.jwt(Role::service_role, world.new_tenant());
  const auto asked = world.post("/jobs/run", token, R"({"definition":"beam","version":"1.0.0",
      "inputs":{"span_m":6,"load_kn":12,"simulate":{"delay_ms":1500}}})");
  ASSERT_EQ(asked.status, 202) << asked.body;
  const std::string job(asked.json().at("job_id").as_string());
  const auto status = [&] { return world.get("/jobs/status/" + job, token).json().at("status"); };
  ASSERT_TRUE(eventually([&] { return status() == json::Value("running"); }));
  first->signal(SIGKILL);
  first->wait();
  auto second = start("second");
  EXPECT_TRUE(eventually([&] { return status() == json::Value("succeeded"); })) << second->err();
  auto sql = world.sql();
  EXPECT_EQ(must(sql.query("select count(*) as n from millrace.result"))[0].i64("n"), 1);
  EXPECT_EQ(world.get("/jobs/result/" + job, token).status, 200);
  second->signal(SIGTERM);
  EXPECT_EQ(second->wait(), 0) << second->err();
}

TEST(ComputeCommands, SayWhatIsMissing) {
  const auto no_contracts = run_millrace({"appserver", "--listen", "127.0.0.1:0"});
  EXPECT_EQ(no_contracts.code, 2);
  EXPECT_THAT(no_contracts.err, HasSubstr("compute.contracts_dir"));
  const auto engine = run_millrace({"appserver", "--contracts", kContracts.string()},
                                   {.env = {{"USE_COMPUTE", "true"}}, .stdin_text = {}, .cwd = {}});
  EXPECT_EQ(engine.code, 2);
  EXPECT_THAT(engine.err, HasSubstr("mock"));
  const auto url = run_millrace(
      {"worker"}, {.env = {{"APP_SERVER_URL", "http://x/solve"}}, .stdin_text = {}, .cwd = {}});
  EXPECT_EQ(url.code, 2);
  EXPECT_THAT(url.err, HasSubstr("{def}"));
}

}  // namespace
}  // namespace millrace::test
