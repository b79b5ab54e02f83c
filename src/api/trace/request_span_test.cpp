#include "api/trace/request_span.h"

#include "base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace millrace::api {
namespace {

using namespace std::chrono_literals;

class KeptSpans final : public http::Tracer {
 public:
  bool samples(const http::TraceContext& trace) const override { return trace.sampled(); }
  void offer(http::Span span) override { spans.push_back(std::move(span)); }

  std::vector<http::Span> spans;
};

std::string text_of(const http::Span& span) {
  std::string all = span.name + "|" + span.error;
  for (const auto& [key, value] : span.attributes) {
    all += "|" + key + "=";
    if (const auto* text = std::get_if<std::string>(&value.get())) all += *text;
    if (const auto* number = std::get_if<std::int64_t>(&value.get())) {
      all += std::to_string(*number);
    }
  }
  return all;
}

class RequestSpan : public testing::Test {
 protected:
  RequestSpan() {
    trace_ = http::make_trace("00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01", random_);
    record_.method = "GET";
    record_.path = "/storage/v1/object/jane-doe.pdf";
    record_.route = "/storage/v1/object/{path...}";
    record_.status = 200;
    record_.duration = 250ms;
    record_.correlation_id = "c-1";
    record_.trace = &trace_;
    record_.fields = &fields_;
  }

  SeededRandom random_{1};
  ManualClock clock_;
  http::TraceContext trace_;
  std::vector<LogField> fields_;
  http::AccessRecord record_;
};

TEST_F(RequestSpan, SaysWhatTheAccessLogKnowsAndTakesTheCallersPlaceInTheTrace) {
  const auto span = request_span(record_, clock_.wall());
  EXPECT_EQ(span.trace_id, trace_.trace_id);
  EXPECT_EQ(span.parent_id, trace_.parent_id);
  EXPECT_EQ(span.span_id, trace_.span_id);
  EXPECT_EQ(span.ended - span.began, 250ms);
  EXPECT_EQ(span.kind, http::SpanKind::server);
  EXPECT_EQ(text_of(span),
            "GET /storage/v1/object/{path...}||http.request.method=GET"
            "|http.route=/storage/v1/object/{path...}|http.response.status_code=200"
            "|http.request.body.size=0|http.response.body.size=0|millrace.cid=c-1");
}

TEST_F(RequestSpan, NeverHoldsAPathOrAFieldThatIsNotOnTheList) {  // J07, T-08
  fields_ = {{"job_id", "j-1"}, {"refusal", "expired"}, {"file_name", "jane-doe.pdf"}};
  const auto text = text_of(request_span(record_, clock_.wall()));
  EXPECT_THAT(text, testing::HasSubstr("|millrace.job_id=j-1"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("jane")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("expired")));
}

TEST_F(RequestSpan, OnlyOurOwnFailuresAreErrors) {
  record_.status = 404;
  EXPECT_EQ(request_span(record_, clock_.wall()).error, "");
  record_.status = 503;
  EXPECT_EQ(request_span(record_, clock_.wall()).error, "503");
  record_.status = 200;
  record_.cut = true;
  EXPECT_EQ(request_span(record_, clock_.wall()).error, "cut");
}

TEST_F(RequestSpan, IsOfferedOnlyForTracesThatAreSampled) {
  KeptSpans kept;
  trace_request(kept, record_, clock_.wall());
  EXPECT_EQ(kept.spans.size(), 1U);
  trace_.flags = 0;
  trace_request(kept, record_, clock_.wall());
  record_.trace = nullptr;
  trace_request(kept, record_, clock_.wall());
  EXPECT_EQ(kept.spans.size(), 1U);
}

}  // namespace
}  // namespace millrace::api
