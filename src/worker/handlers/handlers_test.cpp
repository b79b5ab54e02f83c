// Handlers: outcome tables, row by row, and the handlers themselves without a runtime.
#include "base/run.h"
#include "base/spawn.h"
#include "worker/handlers/builtin.h"
#include "worker/handlers/control_line.h"
#include "worker/handlers/exec_handler.h"
#include "worker/handlers/exec_outcome.h"
#include "worker/handlers/function_handler.h"
#include "worker/handlers/http_handler.h"
#include "worker/handlers/http_outcome.h"

#include <gtest/gtest.h>

#include <csignal>
#include <future>

namespace millrace::worker {
namespace {

using namespace std::chrono_literals;
using Kind = Outcome::Kind;

// A job with its context, outside any runtime.
struct Loose {
  explicit Loose(std::string payload = "{}", std::chrono::milliseconds timeout = 10s)
      : output(clock, {}, nullptr) {
    job.payload_json = std::move(payload);
    job.id = JobId{Uuid{{1, 2, 3}}};
    context = std::make_shared<JobContext>(JobContext::Parts{.job = job,
                                                             .output = output,
                                                             .token = cancel.token(),
                                                             .clock = clock,
                                                             .deadline = clock.now() + timeout,
                                                             .run_timeout = timeout});
  }
  Outcome run(Handler& handler) { return run_blocking(handler.run(context)); }

  SystemClock clock;
  ClaimedJob job;
  JobOutput output;
  CancelSource cancel;
  std::shared_ptr<JobContext> context;
};

// ---- HTTP: one row per answer (D14) ----

struct StatusRow {
  int status;
  const char* retry_after;
  Kind kind;
};

class HttpStatus : public ::testing::TestWithParam<StatusRow> {};

TEST_P(HttpStatus, HasOneMeaning) {
  const auto& row = GetParam();
  http::Response response;
  response.status = row.status;
  if (row.retry_after != nullptr) response.headers.emplace_back("Retry-After", row.retry_after);
  const auto outcome = http_outcome(response, std::chrono::system_clock::time_point{});
  EXPECT_EQ(outcome.kind, row.kind) << to_string(outcome.kind);
  if (row.retry_after != nullptr && row.kind != Kind::permanent && row.kind != Kind::ok) {
    EXPECT_EQ(outcome.retry_after, 7s);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, HttpStatus,
    ::testing::Values(
        StatusRow{200, nullptr, Kind::ok}, StatusRow{201, nullptr, Kind::ok},
        StatusRow{204, nullptr, Kind::ok}, StatusRow{299, nullptr, Kind::ok},
        StatusRow{301, nullptr, Kind::permanent}, StatusRow{302, nullptr, Kind::permanent},
        StatusRow{307, nullptr, Kind::permanent}, StatusRow{400, nullptr, Kind::permanent},
        StatusRow{401, nullptr, Kind::permanent}, StatusRow{403, nullptr, Kind::permanent},
        StatusRow{404, nullptr, Kind::permanent}, StatusRow{405, nullptr, Kind::permanent},
        StatusRow{408, nullptr, Kind::retry}, StatusRow{409, nullptr, Kind::retry},
        StatusRow{410, nullptr, Kind::permanent}, StatusRow{413, nullptr, Kind::permanent},
        StatusRow{415, nullptr, Kind::permanent}, StatusRow{422, nullptr, Kind::permanent},
        StatusRow{422, "7", Kind::permanent}, StatusRow{425, nullptr, Kind::retry},
        StatusRow{429, nullptr, Kind::throttled}, StatusRow{429, "7", Kind::throttled},
        StatusRow{451, nullptr, Kind::permanent}, StatusRow{499, nullptr, Kind::permanent},
        StatusRow{500, nullptr, Kind::retry}, StatusRow{502, nullptr, Kind::retry},
        StatusRow{503, nullptr, Kind::retry}, StatusRow{503, "7", Kind::throttled},
        StatusRow{504, "7", Kind::retry}, StatusRow{529, nullptr, Kind::throttled},
        StatusRow{544, nullptr, Kind::retry}, StatusRow{599, nullptr, Kind::retry}),
    [](const auto& info) {
      return std::to_string(info.param.status) +
             (info.param.retry_after != nullptr ? "_with_retry_after" : "");
    });

TEST(HttpOutcome, TransportErrorsRetryAndOnlyABadRequestDoesNot) {
  const auto kind = [](ErrorKind error) {
    return http_outcome(Error{.kind = error, .message = "x"}).kind;
  };
  EXPECT_EQ(kind(ErrorKind::unavailable), Kind::retry);
  EXPECT_EQ(kind(ErrorKind::in_doubt), Kind::retry);
  EXPECT_EQ(kind(ErrorKind::internal), Kind::retry);
  EXPECT_EQ(kind(ErrorKind::throttled), Kind::retry);
  EXPECT_EQ(kind(ErrorKind::cancelled), Kind::cancelled);
  EXPECT_EQ(kind(ErrorKind::invalid_argument), Kind::permanent);
}

TEST(HttpOutcome, TheBodyIsTheResult) {
  const auto outcome_of = [](std::string body, std::string type) {
    http::Response response;
    response.status = 200;
    response.body = std::move(body);
    response.headers.emplace_back("content-type", std::move(type));
    return http_outcome(response, std::chrono::system_clock::time_point{});
  };
  EXPECT_EQ(outcome_of(R"({"score":1})", "application/json").result_json, R"({"score":1})");
  EXPECT_EQ(outcome_of("  \n", "application/json").result_json, "");
  EXPECT_EQ(outcome_of("done", "text/plain").result_json, R"("done")");
  EXPECT_EQ(outcome_of("{broken", "application/json; charset=utf-8").kind, Kind::permanent);
  EXPECT_EQ(outcome_of("{broken", "application/vnd.x+json").kind, Kind::permanent);
  EXPECT_EQ(outcome_of(std::string(300 * 1024, '1'), "application/json").kind, Kind::permanent);
}

TEST(HttpOutcome, AFailureSaysWhatTheEndpointSaid) {
  http::Response response;
  response.status = 422;
  response.body = "field x is missing";
  const auto outcome = http_outcome(response, std::chrono::system_clock::time_point{});
  EXPECT_TRUE(outcome.error_json.contains("http_422"));
  EXPECT_TRUE(outcome.error_json.contains("field x is missing"));
}

TEST(HttpRequest, CarriesKeyDeadlineAndCorrelation) {
  ClaimedJob job;
  job.id = JobId{Uuid{{9}}};
  job.generation = 3;
  job.correlation_id = "c\r\nx: y";
  job.traceparent = "00-abc-def-01";
  job.job_type = "solve";
  const auto request =
      http_request(job, {.url = "http://x/solve", .headers = {{"Authorization", "t"}}}, 10s,
                   std::chrono::system_clock::time_point(1500ms));
  const auto header = [&](std::string_view name) -> std::string {
    for (const auto& [key, value] : request.headers) {
      if (key == name) return value;
    }
    return "(none)";
  };
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(header("Idempotency-Key"), job.id.to_string() + ":3");
  EXPECT_EQ(header("x-correlation-id"), "cx: y");
  EXPECT_EQ(header("X-Millrace-Deadline"), "1970-01-01T00:00:11.500Z");
  EXPECT_EQ(header("X-Millrace-Timeout-Ms"), "10000");
  EXPECT_EQ(header("traceparent"), "00-abc-def-01");
  EXPECT_EQ(header("Authorization"), "t");
  EXPECT_EQ(request.service, "http:solve");
}

TEST(D13, TimeoutsNestByATenthOrMore) {
  boost::asio::io_context io(1);
  http::Client client(io.get_executor());
  const HttpHandler over_http(client, {.url = "http://x/"});
  const ExecHandler exec({.argv = {"x"}});
  for (const auto timeout : {10ms, 1000ms, 240'000ms}) {
    const auto request = http_request({}, {.url = "http://x/"}, timeout, {});
    EXPECT_GE(request.total_timeout * 10, timeout * 11);
    EXPECT_GE(over_http.wait_limit(timeout) * 10, request.total_timeout * 11);
    EXPECT_GE(exec.wait_limit(timeout) * 10, timeout * 11);
  }
}

TEST(HttpOutcome, WordsOfAnAnswerAreKeptWithoutWhatDocumentsSay) {  // T-09
  http::Response response;
  response.status = 422;
  response.body = R"({"error":"unreadable","pages":[{"text":"Jane Doe"}]})";
  const auto outcome = http_outcome(response, std::chrono::system_clock::time_point{});
  EXPECT_TRUE(outcome.error_json.contains("unreadable")) << outcome.error_json;
  EXPECT_TRUE(outcome.error_json.contains("[REDACTED - 8 chars]")) << outcome.error_json;
  EXPECT_FALSE(outcome.error_json.contains("Jane")) << outcome.error_json;
}

// ---- exec: one row per way to end ----

sandbox::ChildResult exited(int code, std::string out = {}) {
  sandbox::ChildResult result;
  result.exit_code = code;
  result.stdout_text = std::move(out);
  return result;
}

TEST(ExecOutcome, ExitCodesHaveTheirMeaning) {
  const ExecNotes notes{.retry_after = 9s, .last_line = "disk is full"};
  EXPECT_EQ(exec_outcome(exited(0), notes).kind, Kind::ok);
  const auto throttled = exec_outcome(exited(69), notes);
  EXPECT_EQ(throttled.kind, Kind::throttled);
  EXPECT_EQ(throttled.retry_after, 9s);
  EXPECT_TRUE(throttled.error_json.contains("disk is full"));
  EXPECT_EQ(exec_outcome(exited(65), notes).kind, Kind::permanent);
  const auto retry = exec_outcome(exited(75), notes);
  EXPECT_EQ(retry.kind, Kind::retry);
  EXPECT_EQ(retry.retry_after, 9s);
  EXPECT_FALSE(retry.crash);
  for (const int code : {1, 2, 64, 66, 70, 126, 127, 255}) {
    EXPECT_EQ(exec_outcome(exited(code), notes).kind, Kind::retry) << code;
  }
}

TEST(ExecOutcome, ASignalIsACrashUnlessWeSentIt) {
  sandbox::ChildResult crashed;
  crashed.signal = SIGSEGV;
  const auto outcome = exec_outcome(crashed, {});
  EXPECT_EQ(outcome.kind, Kind::retry);
  EXPECT_TRUE(outcome.crash);
  EXPECT_TRUE(outcome.error_json.contains("SIGSEGV"));
  sandbox::ChildResult late;
  late.signal = SIGKILL;
  late.timed_out = true;
  EXPECT_EQ(exec_outcome(late, {}).kind, Kind::retry);
  EXPECT_FALSE(exec_outcome(late, {}).crash);
  sandbox::ChildResult stopped;
  stopped.signal = SIGTERM;
  stopped.cancelled = true;
  EXPECT_FALSE(exec_outcome(stopped, {}).crash);
}

TEST(ExecOutcome, StdoutIsOneJsonValueOrNothing) {
  EXPECT_EQ(exec_outcome(exited(0, " \n"), {}).result_json, "");
  EXPECT_EQ(exec_outcome(exited(0, "\n{\"a\": 1}\n"), {}).result_json, "{\"a\": 1}");
  const auto broken = exec_outcome(exited(0, "done!"), {});
  EXPECT_EQ(broken.kind, Kind::permanent);
  EXPECT_TRUE(broken.error_json.contains("stdout must be one JSON value"));
  EXPECT_EQ(exec_outcome(exited(0, "{} {}"), {}).kind, Kind::permanent);
  sandbox::ChildResult flood;
  flood.signal = SIGTERM;
  flood.output_overflow = true;
  EXPECT_EQ(exec_outcome(flood, {}).kind, Kind::permanent);
}

TEST(ExecControl, LinesAreProgressLogOrRetryAfter) {
  Loose loose;
  ExecNotes notes;
  take_control_line(R"({"progress": 41.7, "message": "half", "data": {"page": 2}})", *loose.context,
                    notes);
  take_control_line(R"({"log": "careful", "level": "warn"})", *loose.context, notes);
  take_control_line(R"({"retry_after": 1.5})", *loose.context, notes);
  take_control_line(R"({"retry_after": -4})", *loose.context, notes);
  take_control_line("nonsense", *loose.context, notes);
  take_control_line(R"({"something": 1})", *loose.context, notes);
  const auto report = loose.output.take_report();
  ASSERT_TRUE(report.progress.has_value());
  EXPECT_EQ(report.progress->percent, 41);
  EXPECT_EQ(report.progress->message, "half");
  EXPECT_EQ(report.progress->data_json, R"({"page":2})");
  ASSERT_EQ(report.logs.size(), 3U);
  EXPECT_EQ(report.logs[0].message, "careful");
  EXPECT_EQ(report.logs[0].level, LogLevel::warn);
  EXPECT_EQ(notes.retry_after, 1500ms);
  take_control_line(R"({"retry_after": 1e99})", *loose.context, notes);
  EXPECT_EQ(notes.retry_after, 24h);
}

TEST(ExecHandler, GivesTheProgramItsJobAndReadsItsAnswer) {
  Loose loose(R"({"n": 3})");
  loose.job.correlation_id = "c-9";
  ExecHandler handler({.argv = {"/bin/sh", "-c",
                                "read -r job; echo working >&2; echo '{\"progress\": 50}' >&3; "
                                "case $job in *'\"n\": 3'*) ;; *) exit 65;; esac; "
                                "printf '{\"id\":\"%s\",\"cid\":\"%s\",\"a\":%s}' "
                                "\"$MILLRACE_JOB_ID\" \"$MILLRACE_CORRELATION_ID\" "
                                "\"$MILLRACE_ATTEMPT\""}});
  const auto outcome = loose.run(handler);
  ASSERT_EQ(outcome.kind, Kind::ok) << outcome.error_json;
  EXPECT_EQ(outcome.result_json,
            "{\"id\":\"" + loose.job.id.to_string() + "\",\"cid\":\"c-9\",\"a\":1}");
  const auto report = loose.output.take_report();
  EXPECT_EQ(report.progress->percent, 50);
  ASSERT_EQ(report.logs.size(), 1U);
  EXPECT_EQ(report.logs[0].message, "working");
}

TEST(ExecHandler, AProgramThatRunsTooLongIsARetry) {
  Loose loose("{}", 50ms);
  ExecHandler handler({.argv = {"/bin/sleep", "600"}});
  const auto outcome = loose.run(handler);
  EXPECT_EQ(outcome.kind, Kind::retry);
  EXPECT_TRUE(outcome.error_json.contains("timeout"));
}

// What a stage of a pipeline says of its program (limits.wall, limits.output).
TEST(ExecHandler, ALimitOfItsOwnEndsAProgramBeforeTheRunTimeout) {
  Loose loose("{}", 600s);
  ExecHandler handler({.argv = {"/bin/sleep", "600"}, .wall = 50ms});
  const auto outcome = loose.run(handler);
  EXPECT_EQ(outcome.kind, Kind::retry);
  EXPECT_TRUE(outcome.error_json.contains("timeout"));
}

TEST(ExecHandler, AnswersAreAsLargeAsTheirLimit) {
  const auto outcome_of = [](std::size_t max_bytes) {
    Loose loose;
    ExecHandler handler(
        {.argv = {"/bin/sh", "-c",
                  "printf '\"'; head -c 400000 /dev/zero | tr '\\0' x; printf '\"'"},
         .result_max_bytes = max_bytes});
    return loose.run(handler);
  };
  EXPECT_EQ(outcome_of(kExecResultMaxBytes).kind, Kind::permanent);
  EXPECT_EQ(outcome_of(1'000'000).result_json.size(), 400'002U);
}

TEST(ExecHandler, AMissingProgramIsARetryThatNamesIt) {
  Loose loose;
  ExecHandler handler({.argv = {"/no/such/program"}});
  const auto outcome = loose.run(handler);
  EXPECT_EQ(outcome.kind, Kind::retry);
  EXPECT_TRUE(outcome.error_json.contains("/no/such/program"));
}

// ---- C++ ----

TEST(FunctionHandler, RunsOnAThreadOfItsOwn) {
  BlockingPool pool;
  std::thread::id ran_on;
  FunctionHandler handler(
      [&](const ClaimedJob&, JobContext& context) {
        ran_on = std::this_thread::get_id();
        context.progress(10);
        return Outcome::ok("1");
      },
      pool);
  Loose loose;
  const auto outcome = loose.run(handler);
  EXPECT_EQ(outcome.result_json, "1");
  EXPECT_TRUE(ran_on != std::this_thread::get_id());
  EXPECT_EQ(loose.output.take_report().progress->percent, 10);
}

TEST(FunctionHandler, AnExceptionIsARetry) {
  BlockingPool pool;
  FunctionHandler handler(
      [](const ClaimedJob&, JobContext&) -> Outcome { throw std::runtime_error("boom"); }, pool);
  FunctionHandler strange([](const ClaimedJob&, JobContext&) -> Outcome { throw 3; }, pool);
  Loose loose;
  const auto outcome = loose.run(handler);
  EXPECT_EQ(outcome.kind, Kind::retry);
  EXPECT_TRUE(outcome.error_json.contains("boom"));
  EXPECT_EQ(loose.run(strange).kind, Kind::retry);
}

awaitable<Outcome> greet(const ClaimedJob& job, JobContext& context) {  // NOLINT: as handlers are.
  co_await context.clock().sleep_for(1ms);
  if (job.payload_json == "[]") throw std::runtime_error("boom");
  co_return Outcome::ok("\"hello\"");
}

TEST(CoroutineHandler, RunsBesideTheIoAndMayThrow) {
  boost::asio::thread_pool pool(1);
  CoroutineHandler handler(greet, pool);
  Loose loose;
  EXPECT_EQ(loose.run(handler).result_json, "\"hello\"");
  Loose bad("[]");
  EXPECT_EQ(bad.run(handler).kind, Kind::retry);
}

TEST(BlockingPool, StartsAThreadOnlyWhenNoneIsIdle) {
  BlockingPool pool;
  for (int i = 0; i < 5; ++i) {
    std::promise<void> done;
    pool.submit([&] { done.set_value(); });
    done.get_future().wait();
  }
  EXPECT_LE(pool.threads(), 5U);
  std::promise<void> open;
  auto gate = open.get_future().share();
  std::vector<std::future<void>> started;
  for (int i = 0; i < 8; ++i) {
    auto begun = std::make_shared<std::promise<void>>();
    started.push_back(begun->get_future());
    pool.submit([begun, gate] {
      begun->set_value();
      gate.wait();
    });
  }
  for (auto& begun : started) begun.wait();  // All eight run at once.
  EXPECT_GE(pool.threads(), 8U);
  open.set_value();
}

TEST(HandlerRegistry, RefusesTwoHandlersForOneType) {
  HandlerRegistry registry;
  EXPECT_TRUE(registry.add("a", std::make_unique<NoopHandler>()).has_value());
  EXPECT_EQ(registry.add("a", std::make_unique<NoopHandler>()).error().kind, ErrorKind::conflict);
  EXPECT_FALSE(registry.add("", std::make_unique<NoopHandler>()).has_value());
  EXPECT_TRUE(registry.add("b", std::make_unique<NoopHandler>(), {.queue = "other"}).has_value());
  EXPECT_EQ(registry.job_types(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(registry.job_types_by_queue().at("other"), std::vector<std::string>{"b"});
  EXPECT_EQ(registry.find("c"), nullptr);
}

// ---- noop, sleep ----

TEST(SleepHandler, ChecksItsPayload) {
  SleepHandler handler;
  EXPECT_EQ(Loose(R"({"ms": 1})").run(handler).kind, Kind::ok);
  EXPECT_EQ(Loose("{}").run(handler).kind, Kind::ok);
  for (const auto* bad :
       {R"({"ms": -1})", R"({"ms": 3600001})", R"({"ms": "soon"})", "[]", R"({"fail": "retry"})"}) {
    EXPECT_EQ(Loose(bad).run(handler).kind, Kind::permanent) << bad;
  }
}

TEST(SleepHandler, EndsAsTestsWish) {
  SleepHandler handler(true);
  EXPECT_EQ(Loose(R"({"fail": "retry"})").run(handler).kind, Kind::retry);
  EXPECT_EQ(Loose(R"({"fail": "permanent"})").run(handler).kind, Kind::permanent);
  EXPECT_EQ(Loose(R"({"fail": "throttled"})").run(handler).kind, Kind::throttled);
  EXPECT_EQ(Loose(R"({"fail": "partial"})").run(handler).kind, Kind::partial);
  EXPECT_THROW(Loose(R"({"fail": "throw"})").run(handler), std::runtime_error);
  EXPECT_EQ(Loose(R"({"fail": "what"})").run(handler).kind, Kind::permanent);
  Loose second(R"({"fail": "retry", "fail_attempts": 1})");
  second.job.attempt = 2;
  EXPECT_EQ(second.run(handler).kind, Kind::ok);
}

TEST(SleepHandler, CanBeCancelled) {
  Loose loose(R"({"ms": 3600000})");
  loose.cancel.cancel("enough");
  SleepHandler handler;
  EXPECT_EQ(loose.run(handler).kind, Kind::cancelled);
}

}  // namespace
}  // namespace millrace::worker
