// What answers of the app server mean, row by row, and the handler against a scripted server.
#include "app/compute/compute_outcome.h"

#include "app/compute/compute_handler.h"
#include "base/run.h"
#include "blob/digest.h"
#include "http/kept_calls.h"
#include "http/scripted_server.h"
#include "worker/handlers/http_handler.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace millrace::app {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Kind = Outcome::Kind;
using testing::HasSubstr;
using testing::Not;

class ComputeAnswers : public testing::Test {
 protected:
  ComputeAnswers() {
    std::string name = (fs::temp_directory_path() / "contracts-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    fs::create_directories(folder_ / "beam" / "1.0.0");
    std::ofstream(folder_ / "beam" / "1.0.0" / "inputs.schema.json") << "{}";
    std::ofstream(folder_ / "beam" / "1.0.0" / "outputs.schema.json")
        << R"({"type":"object","required":["y"],"properties":{"y":{"type":"number"}}})";
    contracts_ = api::ContractSet::load(folder_).value();
  }
  ~ComputeAnswers() override { fs::remove_all(folder_); }

  std::variant<ComputeOutputs, Outcome> read(int status, std::string body = "",
                                             std::vector<http::Header> headers = {},
                                             int attempt = 1) {
    http::Response response;
    response.status = status;
    response.body = std::move(body);
    response.headers = std::move(headers);
    const auto contract = contracts_.find(kName);
    return read_answer(response, {.contract = *contract, .attempt = attempt, .now = {}});
  }
  Outcome outcome(int status, std::string body = "", std::vector<http::Header> headers = {},
                  int attempt = 1) {
    return std::get<Outcome>(read(status, std::move(body), std::move(headers), attempt));
  }

  const api::ContractName kName{.app_id = "app", .definition = "beam", .version = "1.0.0"};
  fs::path folder_;
  api::ContractSet contracts_;
};

TEST_F(ComputeAnswers, GoodOutputsAreKeptAsTheyWereWritten) {  // J-07
  const auto kept =
      std::get<ComputeOutputs>(read(200, R"({"y": 1.00000000000000000001, "score": 0.5})"));
  EXPECT_EQ(kept.outputs_json, R"({"y": 1.00000000000000000001, "score": 0.5})");
  EXPECT_EQ(kept.score, 0.5);
  const auto outcome = settled_outputs(kept, {}, kName);
  EXPECT_EQ(outcome.kind, Kind::ok);
  EXPECT_FALSE(outcome.plain());
  EXPECT_THAT(outcome.effects_json, HasSubstr("1.00000000000000000001"));
  EXPECT_TRUE(parse_json(outcome.effects_json).has_value()) << outcome.effects_json;
}

TEST_F(ComputeAnswers, OutputsThatBreakTheirContractAreNotKept) {  // J-10
  const auto bad = outcome(200, R"({"y":"secret"})");
  EXPECT_EQ(bad.kind, Kind::permanent);
  EXPECT_THAT(bad.error_json, HasSubstr("invalid_outputs"));
  EXPECT_THAT(bad.error_json, HasSubstr("/y"));
  EXPECT_THAT(bad.error_json, Not(HasSubstr("secret")));
  EXPECT_EQ(outcome(200, "<html>").kind, Kind::permanent);
  EXPECT_EQ(outcome(200, "").kind, Kind::permanent);
  EXPECT_THAT(outcome(200, R"({"y":1,"text":")" + std::string(300'000, 'x') + "\"}").error_json,
              HasSubstr("outputs_too_large"));
}

TEST_F(ComputeAnswers, PoisonIsDeadAtOnceWithTheAppServersReasons) {  // J-08, V-21
  const auto poison = outcome(422, R"({"errors":[{"pointer":"/load_at_m","detail":"beyond"}]})");
  EXPECT_EQ(poison.kind, Kind::permanent);
  const auto error = parse_json_object(poison.error_json).value();
  EXPECT_EQ(error.at("error_type"), json::Value("app_server_422"));
  EXPECT_EQ(error.at("details").at("errors").at(0).at("detail"), json::Value("beyond"));
  EXPECT_EQ(outcome(400).kind, Kind::permanent);
  EXPECT_EQ(outcome(404, "not JSON").kind, Kind::permanent);
  const auto quoted = outcome(422, R"({"page":{"content":"Jane Doe"}})");  // T-09
  EXPECT_THAT(quoted.error_json, HasSubstr("[REDACTED - 8 chars]"));
  EXPECT_THAT(quoted.error_json, Not(HasSubstr("Jane")));
}

TEST_F(ComputeAnswers, ThrottlingWaitsAsLongAsItSays) {  // V-20
  const auto told = outcome(429, "", {{"Retry-After", "7"}});
  EXPECT_EQ(told.kind, Kind::throttled);
  EXPECT_EQ(told.retry_after, 7s);
  const auto untold = outcome(429);
  EXPECT_EQ(untold.kind, Kind::throttled);
  EXPECT_EQ(untold.retry_after, 1s);
  EXPECT_EQ(outcome(503, "", {{"Retry-After", "7"}}).kind, Kind::throttled);
  EXPECT_EQ(outcome(529).kind, Kind::throttled);
}

TEST_F(ComputeAnswers, TroubleIsTriedAgainAtAGrowingDistance) {
  for (const int status : {408, 409, 425, 500, 502, 503, 504}) {
    EXPECT_EQ(outcome(status).kind, Kind::retry) << status;
  }
  EXPECT_EQ(outcome(502, "", {}, 1).retry_after, 1s);
  EXPECT_EQ(outcome(502, "", {}, 4).retry_after, 8s);
  EXPECT_EQ(outcome(502, "", {}, 100).retry_after, 60s);
  const auto away = no_answer({.kind = ErrorKind::unavailable, .message = "refused"}, 2);
  EXPECT_EQ(away.kind, Kind::retry);
  EXPECT_EQ(away.retry_after, 2s);
  EXPECT_EQ(no_answer({.kind = ErrorKind::in_doubt, .message = "cut"}, 1).kind, Kind::retry);
}

TEST_F(ComputeAnswers, OurOwnBadCredentialsAreNoFaultOfTheJob) {
  EXPECT_EQ(outcome(401).kind, Kind::blocked);
  EXPECT_EQ(outcome(403).kind, Kind::blocked);
}

TEST_F(ComputeAnswers, ArtifactsComeBesideTheOutputs) {  // J-11
  const std::vector<http::Header> type{
      {"Content-Type", "application/vnd.millrace.outputs+json; charset=utf-8"}};
  const auto kept = std::get<ComputeOutputs>(
      read(200,
           R"({"outputs":{"y":1.50},"score":2,"artifacts":[{"kind":"k","file_name":"a.svg",)"
           R"("content_type":"image/svg+xml","data":"PHN2Zy8+","expires_in_seconds":60},)"
           R"({"kind":"k","data":"","content_type":"bad\r\nheader: x"}]})",
           type));
  EXPECT_EQ(kept.outputs_json, R"({"y":1.50})");
  EXPECT_EQ(kept.score, 2);
  ASSERT_EQ(kept.files.size(), 2U);
  EXPECT_EQ(kept.files[0].bytes, "<svg/>");
  EXPECT_EQ(kept.files[0].expires_in, 60s);
  EXPECT_EQ(kept.files[1].content_type, "application/octet-stream");
  for (const auto* bad : {R"({"score":1})", R"({"outputs":{"y":1},"artifacts":{}})",
                          R"({"outputs":{"y":1},"artifacts":[{"kind":"k"}]})",
                          R"({"outputs":{"y":1},"artifacts":[{"kind":"k","data":"%%%"}]})"}) {
    EXPECT_EQ(std::get<Outcome>(read(200, bad, type)).kind, Kind::permanent) << bad;
  }
}

// A job with its context, outside any runtime.
struct Loose {
  explicit Loose(std::string payload) : output(clock, {}, nullptr) {
    job.payload_json = std::move(payload);
    job.id = JobId{Uuid{{1, 2, 3}}};
    job.correlation_id = "order-17";
    context = std::make_shared<worker::JobContext>(
        worker::JobContext::Parts{.job = job,
                                  .output = output,
                                  .token = cancel.token(),
                                  .clock = clock,
                                  .deadline = clock.now() + 10s,
                                  .run_timeout = 10s});
  }

  SystemClock clock;
  ClaimedJob job;
  worker::JobOutput output;
  CancelSource cancel;
  std::shared_ptr<worker::JobContext> context;
};

class ComputeCalls : public ComputeAnswers {
 protected:
  Outcome run(const http::Step& step, const std::string& payload = kPayload) {
    http::ScriptedServer server(io_, {step});
    http::Client client(io_.get_executor(), {.call_watch = &calls_});
    ComputeHandler handler(
        {.client = client,
         .contracts = api::ContractDirectory::open(folder_, log_).value(),
         .log = log_},
        {.url = server.url("/gh/{def}:{ver}/solve"), .token = Secret<std::string>("hush")});
    Loose loose(payload);
    auto outcome = run_blocking(io_, handler.run(loose.context));
    requests_ = server.requests();
    return outcome;
  }

  static inline const std::string kPayload =
      R"({"app_id": "app", "definition": "beam", "version": "1.0.0", "inputs": {"x": 1.50}})";
  boost::asio::io_context io_{1};
  std::vector<std::string> logged_;
  SystemClock clock_;
  Logger log_{clock_, [this](std::string_view line) { logged_.emplace_back(line); },
              Logger::Format::json, LogLevel::debug};
  http::KeptCalls calls_;
  std::vector<std::string> requests_;
};

TEST_F(ComputeCalls, TheInputsAreTheBodyAndIdsComeAlong) {  // J-06, A-07, F08
  const auto outcome = run(http::answer(200, R"({"y":2})", "Content-Type: application/json\r\n"));
  EXPECT_EQ(outcome.kind, Kind::ok) << outcome.error_json;
  ASSERT_EQ(requests_.size(), 1U);
  const auto& request = requests_.front();
  EXPECT_THAT(request, testing::StartsWith("POST /gh/beam:1.0.0/solve HTTP/1.1\r\n"));
  EXPECT_THAT(request, testing::EndsWith("\r\n\r\n{\"x\": 1.50}"));
  EXPECT_THAT(request, HasSubstr("x-correlation-id: order-17\r\n"));
  EXPECT_THAT(request, HasSubstr("Idempotency-Key: "));
  EXPECT_THAT(request, HasSubstr("X-Millrace-Timeout-Ms: 10000\r\n"));
  EXPECT_THAT(request, HasSubstr("Authorization: Bearer hush\r\n"));
  EXPECT_THAT(calls_.calls(), testing::ElementsAre("app_server 200"));
  for (const auto* const event : {"call_appserver", "persist"}) {  // O-01, O-02
    const auto line = std::ranges::find_if(
        logged_, [&](const auto& text) { return text.contains(fmt::format("\"{}\"", event)); });
    ASSERT_NE(line, logged_.end()) << event;
    EXPECT_THAT(*line, HasSubstr("\"cid\":\"order-17\""));
    EXPECT_THAT(*line, HasSubstr("\"definition\":\"beam@1.0.0\""));
    EXPECT_THAT(*line, HasSubstr("\"ms\":"));
    EXPECT_THAT(*line, Not(HasSubstr("\"x\"")));
  }
}

TEST_F(ComputeCalls, TheWorkerWaitsLongerThanItTellsTheAppServer) {  // J-09, D13
  http::Client client(io_.get_executor());
  const ComputeHandler handler({.client = client,
                                .contracts = api::ContractDirectory::open(folder_, log_).value(),
                                .log = log_},
                               {.url = "http://x/{def}:{ver}", .token = {}});
  for (const auto timeout : {10ms, 1000ms, 240'000ms}) {
    const auto request = worker::http_request({}, {.url = "http://x/"}, timeout, {});
    EXPECT_GE(request.total_timeout * 10, timeout * 11);
    EXPECT_GE(handler.wait_limit(timeout) * 10, request.total_timeout * 11);
  }
}

TEST_F(ComputeCalls, AnAnswerThatIsCutOffIsTriedAgain) {
  auto step = http::answer(200, R"({"y":2})");
  step.cut = 30;
  const auto outcome = run(step);
  EXPECT_EQ(outcome.kind, Kind::retry);
  EXPECT_THAT(outcome.error_json, Not(HasSubstr("hush")));
}

TEST_F(ComputeCalls, ArtifactsWithoutAPlaceForThemFailTheJob) {
  const auto outcome =
      run(http::answer(200, R"({"outputs":{"y":1},"artifacts":[{"kind":"k","data":""}]})",
                       "Content-Type: application/vnd.millrace.outputs+json\r\n"));
  EXPECT_EQ(outcome.kind, Kind::permanent);
  EXPECT_THAT(outcome.error_json, HasSubstr("no_blob_store"));
}

TEST_F(ComputeCalls, AWorkerThatIsBehindWaitsForTheContract) {
  const auto outcome =
      run(http::answer(200, "{}"), R"({"definition":"beam","version":"9.0.0","inputs":{}})");
  EXPECT_EQ(outcome.kind, Kind::retry);
  EXPECT_TRUE(requests_.empty());
}

TEST_F(ComputeCalls, APayloadThatLeadsElsewhereCallsNobody) {  // I13
  for (const auto* payload : {R"({"definition":"../admin","version":"1","inputs":{}})",
                              R"({"definition":"beam","version":"1.0.0"})", R"({})"}) {
    EXPECT_EQ(run(http::answer(200, "{}"), payload).kind, Kind::permanent) << payload;
    EXPECT_TRUE(requests_.empty());
  }
}

TEST(AppServerUrl, HasTheNamesInTheirPlaces) {
  EXPECT_EQ(app_server_url("http://a/gh/{def}:{ver}/solve", "beam", "1.0.0+x"),
            "http://a/gh/beam:1.0.0%2Bx/solve");
}

}  // namespace
}  // namespace millrace::app
