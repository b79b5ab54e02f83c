// What metrics and traces are told of runs, and what of the settings is refused.
#include "app/observe/call_metrics.h"
#include "app/observe/process_metrics.h"
#include "app/observe/run_telemetry.h"
#include "app/observe/telemetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <variant>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class KeptSpans final : public http::Tracer {
 public:
  bool samples(const http::TraceContext& trace) const override {
    return trace.from_caller() ? trace.sampled() : begin_here;
  }
  void offer(http::Span span) override { spans.push_back(std::move(span)); }

  bool begin_here = false;
  std::vector<http::Span> spans;
};

std::string attribute(const http::Span& span, std::string_view key) {
  for (const auto& [name, value] : span.attributes) {
    if (name != key) continue;
    if (const auto* text = std::get_if<std::string>(&value.get())) return *text;
    if (const auto* number = std::get_if<std::int64_t>(&value.get())) {
      return std::to_string(*number);
    }
  }
  return "-";
}

std::string_view id_of(const std::array<char, 16>& id) { return {id.data(), id.size()}; }

class Runs : public testing::Test {
 protected:
  Runs() {
    job_.id = *JobId::parse("01890a5d-ac96-774b-bcce-b302099a8057");
    job_.queue = "fast_queue";
    job_.job_type = "ocr";
    job_.attempt = 2;
    job_.payload_json = R"({"name":"Jane Doe"})";
  }

  void run(Outcome outcome, std::chrono::milliseconds took = 250ms) {
    auto own = watch_.begin_run(job_);
    std::optional<std::string> came_with;
    if (own) came_with = std::exchange(job_.traceparent, *own);
    watch_.end_run({.job = job_, .outcome = &outcome, .took = took, .came_with = came_with});
  }

  MetricRegistry registry_;
  KeptSpans tracer_;
  ManualClock clock_;
  SeededRandom random_{5};
  ClaimedJob job_;
  RunTelemetry watch_{registry_, &tracer_, clock_, random_};
};

TEST_F(Runs, AreCountedByQueueTypeAndOutcome) {  // O-04, O-08
  run(Outcome::ok());
  run(Outcome::retry("timeout", "too slow"));
  run(Outcome::retry("timeout", "too slow"));
  const auto page = registry_.render();
  EXPECT_THAT(page,
              HasSubstr("millrace_job_run_seconds_count{queue=\"fast_queue\",job_type=\"ocr\","
                        "outcome=\"ok\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("outcome=\"retry\"} 2\n"));
  EXPECT_THAT(page, HasSubstr("millrace_worker_running_jobs 0\n"));
  EXPECT_THAT(page, Not(HasSubstr("too slow")));
}

TEST_F(Runs, OutcomesThatCameTooLateAreCounted) {  // K05
  watch_.settled(Answer::settled);
  watch_.settled(Answer::lease_lost);
  const auto page = registry_.render();
  EXPECT_THAT(page, HasSubstr("millrace_job_settlements_total{answer=\"lease_lost\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("millrace_job_settlements_total{answer=\"settled\"} 1\n"));
}

TEST_F(Runs, ALostLeaseIsAnEndOfItsOwn) {
  (void)watch_.begin_run(job_);
  EXPECT_THAT(registry_.render(), HasSubstr("millrace_worker_running_jobs 1\n"));
  watch_.end_run({.job = job_, .outcome = nullptr, .took = 1ms, .came_with = std::nullopt});
  EXPECT_THAT(registry_.render(), HasSubstr("outcome=\"lease_lost\"} 1\n"));
}

TEST_F(Runs, ManyKindsOfJobsDoNotFillMemory) {
  for (int i = 0; i < 3000; ++i) {
    job_.job_type = "type_" + std::to_string(i);
    run(Outcome::ok());
  }
  EXPECT_THAT(registry_.render(), HasSubstr("{queue=\"other\",job_type=\"other\","));
}

TEST_F(Runs, StagesHaveTheSourcesMetrics) {  // O-03
  job_.stage = "ocr";
  run(Outcome::ok());
  run(Outcome::permanent("bad_pdf", "of Jane Doe"));
  const auto page = registry_.render();
  EXPECT_THAT(page,
              HasSubstr("processing_stage_duration_seconds_count{stage=\"ocr\",status=\"ok\"} "
                        "1\n"));
  EXPECT_THAT(page,
              HasSubstr("processing_stage_errors_total{stage=\"ocr\",error_type=\"bad_pdf\"} 1\n"));
  EXPECT_THAT(page, Not(HasSubstr("Jane")));
}

TEST_F(Runs, StagesSayWhatTheyHavePaid) {  // O-03
  job_.stage = "ocr";
  run(Outcome::ok(R"({"pages":3,"costs":{"azure_di":1.5,"openai":2}})"));
  run(Outcome::ok(R"({"costs":{"openai":0.25,"free":0,"owed":-3,"unknown":"4","odd":{}}})"));
  run(Outcome::ok(R"({"pages":"costs"})"));
  job_.stage.clear();
  run(Outcome::ok(R"({"costs":{"openai":100}})"));
  const auto page = registry_.render();
  EXPECT_THAT(page, HasSubstr("processing_costs_total{service=\"azure_di\"} 1.5\n"));
  EXPECT_THAT(page, HasSubstr("processing_costs_total{service=\"openai\"} 2.25\n"));
  for (const auto* const other : {"free", "owed", "unknown", "odd"}) {
    EXPECT_THAT(page, Not(HasSubstr(std::string("service=\"") + other)));
  }
}

TEST_F(Runs, TheLatencyCountsFromTheIdOfTheJob) {  // O-05
  const auto made = made_at(job_.id);
  ASSERT_TRUE(made);
  clock_.set_wall(*made + 90s);
  run(Outcome::ok());
  run(Outcome::retry("timeout", ""));  // Not done yet.
  const auto page = registry_.render();
  EXPECT_THAT(page, HasSubstr("millrace_job_latency_seconds_sum{queue=\"fast_queue\"} 90\n"));
  EXPECT_THAT(page, HasSubstr("millrace_job_latency_seconds_count{queue=\"fast_queue\"} 1\n"));
  EXPECT_FALSE(made_at(*JobId::parse("8c4f2f0e-6f0b-4f7e-9f5f-0a8b8f3f2b11")));
}

TEST_F(Runs, ContinueTheTraceOfTheRequestThatMadeTheJob) {
  job_.traceparent = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01";
  run(Outcome::retry("timeout", "of Jane Doe"));
  ASSERT_EQ(tracer_.spans.size(), 1U);
  const auto& span = tracer_.spans[0];
  EXPECT_EQ(std::string(span.trace_id.data(), 32), std::string(32, 'a'));
  EXPECT_EQ(id_of(span.parent_id), std::string(16, 'b'));
  EXPECT_NE(id_of(span.span_id), std::string(16, 'b'));
  // What the handler sends on names the run's span.
  EXPECT_THAT(job_.traceparent, HasSubstr(std::string(id_of(span.span_id)) + "-01"));
  EXPECT_EQ(span.kind, http::SpanKind::consumer);
  EXPECT_EQ(span.ended - span.began, 250ms);
  EXPECT_EQ(span.error, "retry");
  EXPECT_EQ(attribute(span, "messaging.destination.name"), "fast_queue");
  EXPECT_EQ(attribute(span, "messaging.message.id"), job_.id.to_string());
  EXPECT_EQ(attribute(span, "millrace.attempt"), "2");
  EXPECT_EQ(attribute(span, "millrace.outcome"), "retry");
  for (const auto& [name, value] : span.attributes) {  // J07: ids and outcomes only.
    if (const auto* text = std::get_if<std::string>(&value.get())) {
      EXPECT_THAT(*text, Not(HasSubstr("Jane"))) << name;
    }
  }
}

TEST_F(Runs, OfATraceThatIsNotSampledLeaveNoSpanAndTheJobAsItWas) {
  const std::string carried = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-00";
  job_.traceparent = carried;
  run(Outcome::ok());
  EXPECT_TRUE(tracer_.spans.empty());
  EXPECT_EQ(job_.traceparent, carried);
}

TEST_F(Runs, OfAJobWithoutATraceMayBeginOne) {
  tracer_.begin_here = true;
  run(Outcome::ok());
  ASSERT_EQ(tracer_.spans.size(), 1U);
  EXPECT_EQ(tracer_.spans[0].parent_id[0], '\0');
  EXPECT_TRUE(tracer_.spans[0].error.empty());
}

TEST(CallsOfOthers, AreCountedByAnswerAndMeasured) {  // O-03, O-08, O-09
  MetricRegistry registry;
  CallMetrics calls(registry);
  calls.called("app_server", 200, 1500ms);
  calls.called("app_server", 429, 500ms);
  calls.called("app_server", 0, 10s);
  const auto page = registry.render();
  for (const auto* const status : {"200", "429", "none"}) {
    EXPECT_THAT(page, HasSubstr(std::string("external_api_calls_total{service=\"app_server\",") +
                                "status=\"" + status + "\"} 1\n"));
  }
  EXPECT_THAT(page, HasSubstr("millrace_external_call_seconds_count{service=\"app_server\"} 3\n"));
  EXPECT_THAT(page, HasSubstr("millrace_external_call_seconds_sum{service=\"app_server\"} 12\n"));
}

TEST(ProcessUse, IsWhatTheKernelSays) {  // O-10
  const auto use = read_process_use();
  EXPECT_GT(use.resident_bytes, 1024 * 1024);
  EXPECT_GE(use.open_files, 3);
  EXPECT_GE(use.cpu_seconds, 0);
  MetricRegistry registry;
  const SystemClock clock;
  ProcessMetrics metrics(registry, clock);
  metrics.update();
  EXPECT_THAT(registry.render(), HasSubstr("millrace_process_resident_bytes "));
  EXPECT_THAT(registry.render(), HasSubstr("millrace_build_info{version=\""));
}

// The pages are open to everybody, and on a busy server a look at all its files takes a while.
TEST(ProcessUse, IsReadOnceASecondHoweverManyAsk) {
  MetricRegistry registry;
  ManualClock clock;
  ProcessMetrics metrics(registry, clock);
  const auto before = metrics.update().open_files;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/dev/null", "r"),
                                                             &std::fclose);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(metrics.update().open_files, before);
  clock.advance(std::chrono::seconds(1));
  EXPECT_EQ(metrics.update().open_files, before + 1);
}

class TraceSettings : public testing::Test {
 protected:
  static Result<std::optional<http::OtlpOptions>> read(Environment environment) {
    Settings::Sources sources;
    sources.folder = "/nonexistent";
    sources.environment = std::move(environment);
    auto settings = Settings::load(sources);
    EXPECT_TRUE(settings) << settings.error().message;
    return otlp_options(*settings);
  }
};

TEST_F(TraceSettings, TracesAreOffUnlessAskedFor) {
  const auto options = read({});
  ASSERT_TRUE(options);
  EXPECT_FALSE(*options);
}

TEST_F(TraceSettings, NameCollectorShareAndHeaders) {
  const auto options = read({{"MILLRACE_TRACE_OTLP_URL", "http://127.0.0.1:4318"},
                             {"MILLRACE_TRACE_OTLP_HEADERS", "authorization=Bearer hunter2"},
                             {"MILLRACE_TRACE_SAMPLE_RATIO", "0.05"},
                             {"MILLRACE_TRACE_TRUST_CALLERS", "false"}});
  ASSERT_TRUE(options) << options.error().message;
  ASSERT_TRUE(*options);
  EXPECT_DOUBLE_EQ((*options)->sample_ratio, 0.05);
  EXPECT_FALSE((*options)->trust_callers);
  EXPECT_EQ((*options)->headers.at(0).second, "Bearer hunter2");
}

TEST_F(TraceSettings, RefuseWhatCannotBeRightByTheirNamesAndWithoutSecrets) {
  const auto ratio = read({{"MILLRACE_TRACE_SAMPLE_RATIO", "often"}});
  ASSERT_FALSE(ratio);
  EXPECT_THAT(ratio.error().message, HasSubstr("trace.sample_ratio"));
  const auto url = read({{"MILLRACE_TRACE_OTLP_URL", "collector:4318"}});
  ASSERT_FALSE(url);
  EXPECT_THAT(url.error().message, HasSubstr("trace.otlp_url"));
  const auto headers = read({{"MILLRACE_TRACE_OTLP_URL", "http://127.0.0.1:4318"},
                             {"MILLRACE_TRACE_OTLP_HEADERS", "hunter2"}});
  ASSERT_FALSE(headers);
  EXPECT_THAT(headers.error().message, HasSubstr("trace.otlp_headers"));
  EXPECT_THAT(headers.error().message, Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace millrace::app
