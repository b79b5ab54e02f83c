// Spans reach a collector as OTLP, and a collector that is slow, away or hostile costs nobody time.
#include "http/otlp.h"

#include "base/json.h"
#include "base/run.h"
#include "http/scripted_server.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

namespace millrace::http {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

template <std::size_t N>
std::array<char, N> id(char digit) {
  std::array<char, N> out;
  out.fill(digit);
  return out;
}

Span span(std::string name) {
  return {.trace_id = id<32>('a'),
          .span_id = id<16>('b'),
          .name = std::move(name),
          .kind = SpanKind::server,
          .began = Clock::Wall(1'000'000'001ns),
          .ended = Clock::Wall(1'500'000'002ns)};
}

// Exporter and collector on one thread.
class Otlp : public testing::Test {
 protected:
  OtlpExporter& start(std::vector<Step> script, OtlpOptions options = {}) {
    server_.emplace(io_, std::move(script));
    options.url = server_->url("");
    options.interval = 1ms;
    options.retry_first = 1ms;
    exporter_.emplace(OtlpExporter::Services{.executor = io_.get_executor(),
                                             .client = client_,
                                             .clock = clock_,
                                             .random = random_,
                                             .log = log_,
                                             .metrics = metrics_},
                      std::move(options));
    exporter_->start();
    return *exporter_;
  }
  void TearDown() override {
    if (exporter_) run_blocking(io_, exporter_->stop());
  }
  void wait_for_requests(std::size_t count) {
    run_blocking(io_, server_->wait_for_requests(count));
  }
  void stop() { run_blocking(io_, exporter_->stop()); }
  double counted(std::string_view result) {
    return metrics_.family({.name = "millrace_trace_spans_total", .help = "", .labels = {"result"}})
        .counter({result})
        .value();
  }
  // The body of a request as JSON.
  json::Object body(std::size_t index) const {
    const auto& request = server_->requests().at(index);
    return parse_json_object(request.substr(request.find("\r\n\r\n") + 4)).value();
  }
  const json::Array& spans(const json::Object& sent) const {
    return sent.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").as_array();
  }

  boost::asio::io_context io_{1};
  SystemClock clock_;
  SeededRandom random_{7};
  std::vector<std::string> lines_;
  Logger log_{clock_, [this](std::string_view line) { lines_.emplace_back(line); },
              Logger::Format::json};
  MetricRegistry metrics_;
  Client client_{io_.get_executor()};
  std::optional<ScriptedServer> server_;
  std::optional<OtlpExporter> exporter_;
};

TEST_F(Otlp, SendsWhatTheProtocolAsksFor) {
  OtlpOptions options;
  options.service_version = "1.2.3";
  options.instance_id = "host-1";
  options.headers = {{"x-tenant", "ops"}};
  auto& exporter = start({answer(200, "{}")}, options);
  auto one = span("GET /api/v1/jobs/{id}");
  one.parent_id = id<16>('c');
  one.attributes = {{"http.route", "/api/v1/jobs/{id}"},
                    {"http.response.status_code", 503},
                    {"cut", true},
                    {"share", 0.5}};
  one.error = "unavailable";
  exporter.offer(one);
  wait_for_requests(1);
  EXPECT_THAT(server_->requests()[0], testing::StartsWith("POST /v1/traces HTTP/1.1\r\n"));
  EXPECT_THAT(server_->requests()[0], HasSubstr("\r\nContent-Type: application/json\r\n"));
  EXPECT_THAT(server_->requests()[0], HasSubstr("\r\nx-tenant: ops\r\n"));
  const auto expected = parse_json(R"({"resourceSpans":[{
      "resource":{"attributes":[
        {"key":"service.name","value":{"stringValue":"millrace"}},
        {"key":"service.version","value":{"stringValue":"1.2.3"}},
        {"key":"service.instance.id","value":{"stringValue":"host-1"}}]},
      "scopeSpans":[{"scope":{"name":"millrace"},"spans":[{
        "traceId":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","spanId":"bbbbbbbbbbbbbbbb",
        "parentSpanId":"cccccccccccccccc","name":"GET /api/v1/jobs/{id}","kind":2,
        "startTimeUnixNano":"1000000001","endTimeUnixNano":"1500000002",
        "attributes":[
          {"key":"http.route","value":{"stringValue":"/api/v1/jobs/{id}"}},
          {"key":"http.response.status_code","value":{"intValue":"503"}},
          {"key":"cut","value":{"boolValue":true}},
          {"key":"share","value":{"doubleValue":0.5}}],
        "status":{"code":2,"message":"unavailable"}}]}]}]})");
  ASSERT_TRUE(expected);
  EXPECT_EQ(json::Value(body(0)), *expected) << to_json(body(0));
  stop();
  EXPECT_EQ(counted("exported"), 1);
}

TEST_F(Otlp, ASpanThatBeginsATraceHasNoParent) {
  start({answer(200, "{}")}).offer(span("root"));
  wait_for_requests(1);
  EXPECT_FALSE(spans(body(0)).at(0).as_object().contains("parentSpanId"));
  EXPECT_FALSE(spans(body(0)).at(0).as_object().contains("status"));
}

TEST_F(Otlp, StoppingSendsWhatIsLeft) {
  auto& exporter = start({answer(200, "{}")}, {.batch_max = 3});
  for (int i = 0; i < 7; ++i) exporter.offer(span("s"));
  stop();
  std::size_t sent = 0;
  for (std::size_t i = 0; i < server_->requests().size(); ++i) {
    EXPECT_LE(spans(body(i)).size(), 3U);
    sent += spans(body(i)).size();
  }
  EXPECT_EQ(sent, 7U);
  EXPECT_EQ(counted("exported"), 7);
  exporter.offer(span("too late"));
  EXPECT_EQ(counted("dropped"), 1);
}

TEST_F(Otlp, AFullQueueDropsAndCounts) {
  Event open;
  Step held = answer(200, "{}");
  held.wait_for = open;
  auto& exporter = start({held}, {.queue_max = 5, .batch_max = 2});
  exporter.offer(span("first"));
  wait_for_requests(1);  // The collector has it and says nothing.
  for (int i = 0; i < 9; ++i) exporter.offer(span("s"));
  EXPECT_EQ(counted("dropped"), 4);
  open.set();
  stop();
  EXPECT_EQ(counted("exported"), 6);
}

TEST_F(Otlp, ABusyCollectorIsAskedAgain) {
  auto& exporter = start({answer(503, ""), answer(429, ""), answer(200, "{}")});
  exporter.offer(span("s"));
  wait_for_requests(3);
  stop();
  EXPECT_EQ(counted("exported"), 1);
  EXPECT_EQ(counted("failed"), 0);
}

TEST_F(Otlp, ACollectorThatRefusesIsNotAskedAgainAndComplainedAboutOnce) {
  auto& exporter = start({answer(400, "secret words"), answer(400, ""), answer(200, "{}")});
  exporter.offer(span("s"));
  wait_for_requests(1);
  exporter.offer(span("s"));
  wait_for_requests(2);
  exporter.offer(span("s"));
  wait_for_requests(3);
  stop();
  EXPECT_EQ(server_->requests().size(), 3U);
  EXPECT_EQ(counted("failed"), 2);
  EXPECT_EQ(counted("exported"), 1);
  EXPECT_EQ(std::ranges::count_if(
                lines_, [](const auto& line) { return line.contains("spans_not_exported"); }),
            1);
  for (const auto& line : lines_) EXPECT_THAT(line, Not(HasSubstr("secret words")));
}

TEST_F(Otlp, SpansThatTheCollectorRejectedAreNotCountedAsExported) {
  auto& exporter =
      start({answer(200, R"({"partialSuccess":{"rejectedSpans":"1"}})")}, {.batch_max = 2});
  exporter.offer(span("s"));
  exporter.offer(span("s"));
  wait_for_requests(1);
  stop();
  EXPECT_EQ(counted("exported") + counted("failed"), 2);
  EXPECT_GE(counted("failed"), 1);
}

TEST_F(Otlp, ACollectorThatSaysNothingDoesNotHoldUpTheEnd) {
  auto& exporter = start({Step{.silent = true}}, {.stop_timeout = 1ms});
  exporter.offer(span("s"));
  wait_for_requests(1);
  stop();
  EXPECT_EQ(counted("failed"), 1);
}

TEST_F(Otlp, FollowsTheCallerAndElseTheRatio) {
  auto& exporter = start({answer(200, "{}")}, {.sample_ratio = 0});
  TraceContext trace = make_trace(std::nullopt, random_);
  EXPECT_FALSE(exporter.samples(trace));
  trace = make_trace("00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01", random_);
  EXPECT_TRUE(exporter.samples(trace));
  trace = make_trace("00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-00", random_);
  EXPECT_FALSE(exporter.samples(trace));
}

// Anybody can write "sampled" into a header; the queue is for the traces that were chosen.
TEST_F(Otlp, CallersWhoAreNotTrustedDoNotDecide) {
  auto& exporter = start({answer(200, "{}")}, {.sample_ratio = 0.5, .trust_callers = false});
  int taken = 0;
  for (int i = 0; i < 100; ++i) {
    auto trace = make_trace(std::nullopt, random_);
    trace.parent_id = id<16>('b');
    const bool wanted = in_sample(trace.trace_id, 0.5);
    for (const std::uint8_t flags : {std::uint8_t{0}, std::uint8_t{1}}) {
      trace.flags = flags;
      EXPECT_EQ(exporter.samples(trace), wanted);
    }
    taken += wanted ? 1 : 0;
  }
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, 100);
}

TEST_F(Otlp, LongTextsAreCutBetweenCharacters) {
  std::string text(1023, 'x');
  text += "\xE2\x82\xAC";  // The euro sign, across the limit.
  auto one = span("s");
  one.attributes = {{"long", text}, {"short", "\xE2\x82\xAC"}};
  const auto sent = parse_json_object(otlp_json({.url = "http://a"}, {one})).value();
  const auto& attributes = spans(sent).at(0).at("attributes");
  EXPECT_EQ(attributes.at(0).at("value").at("stringValue").as_string(), std::string(1023, 'x'));
  EXPECT_EQ(attributes.at(1).at("value").at("stringValue").as_string(), "\xE2\x82\xAC");
}

TEST(OtlpSample, TheRatioIsKeptAndTheSameIdAlwaysGetsTheSameAnswer) {
  SeededRandom random(3);
  int taken = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto trace = make_trace(std::nullopt, random);
    const bool sampled = in_sample(trace.trace_id, 0.25);
    EXPECT_EQ(sampled, in_sample(trace.trace_id, 0.25));
    EXPECT_TRUE(!sampled || in_sample(trace.trace_id, 0.5));  // A larger share holds a smaller one.
    taken += sampled ? 1 : 0;
  }
  EXPECT_NEAR(taken, 2500, 200);
}

TEST(OtlpOptions, AreCheckedBeforeAnythingIsSent) {
  EXPECT_TRUE(check_otlp_options({.url = "http://127.0.0.1:4318"}));
  EXPECT_FALSE(check_otlp_options({.url = "127.0.0.1:4318"}));
  EXPECT_FALSE(check_otlp_options({.url = "http://a", .sample_ratio = 1.5}));
  const auto bad = check_otlp_options({.url = "http://a", .headers = {{"k", "hunter2\n"}}});
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, Not(HasSubstr("hunter2")));
}

TEST(OtlpOptions, TheUrlIsTheBaseOrTheWholeOfIt) {
  EXPECT_EQ(otlp_traces_url("http://a:4318"), "http://a:4318/v1/traces");
  EXPECT_EQ(otlp_traces_url("http://a:4318/"), "http://a:4318/v1/traces");
  EXPECT_EQ(otlp_traces_url("https://a/otlp/v1/traces"), "https://a/otlp/v1/traces");
  EXPECT_EQ(otlp_traces_url("https://a?x=1"), "https://a?x=1");
}

TEST(OtlpOptions, HeadersAreReadAsOpenTelemetryWritesThem) {
  const auto read = [](const char* text) { return parse_otlp_headers(Secret<std::string>(text)); };
  EXPECT_EQ(read("authorization=Bearer x=y, k = v").value(),
            (std::vector<Header>{{"authorization", "Bearer x=y"}, {"k", "v"}}));
  EXPECT_TRUE(read("").value().empty());
  ASSERT_FALSE(read("hunter2"));
  EXPECT_THAT(read("hunter2").error().message, Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace millrace::http
