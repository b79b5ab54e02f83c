#include "http/server_trace.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace millrace::http {
namespace {

constexpr std::string_view kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr std::string_view kSpan = "00f067aa0ba902b7";
const std::string kValid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

std::string text(const auto& id) { return {id.data(), id.size()}; }

TEST(Traceparent, IsTakenApart) {
  const auto trace = parse_traceparent(kValid);
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(text(trace->trace_id), kTrace);
  EXPECT_EQ(text(trace->parent_id), kSpan);
  EXPECT_EQ(trace->flags, 1);
  EXPECT_TRUE(trace->sampled());
  EXPECT_TRUE(trace->from_caller());
}

TEST(Traceparent, OfALaterVersionGivesTheFieldsWeKnow) {
  EXPECT_TRUE(parse_traceparent("01" + kValid.substr(2)).has_value());
  EXPECT_TRUE(parse_traceparent("cc" + kValid.substr(2) + "-more").has_value());
  EXPECT_FALSE(parse_traceparent("cc" + kValid.substr(2) + "more").has_value());
}

TEST(Traceparent, MalformedOnesAreNone) {
  for (std::size_t size = 0; size < kValid.size(); ++size) {
    EXPECT_FALSE(parse_traceparent(kValid.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(parse_traceparent(kValid + "-more").has_value()) << "version 00 has no more fields";
  EXPECT_FALSE(parse_traceparent("ff" + kValid.substr(2)).has_value());
  for (std::size_t i = 0; i < kValid.size(); ++i) {
    for (const char bad : {'G', 'A', ' ', '\0', '\n'}) {
      auto broken = kValid;
      broken[i] = bad;
      EXPECT_FALSE(parse_traceparent(broken).has_value()) << broken;
    }
  }
  EXPECT_FALSE(
      parse_traceparent("00-" + std::string(32, '0') + "-00f067aa0ba902b7-01").has_value());
  EXPECT_FALSE(
      parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-" + std::string(16, '0') + "-01")
          .has_value());
}

TEST(Trace, OfACallerGoesOnWithASpanOfOurs) {
  SeededRandom random(1);
  const auto trace = make_trace(kValid, random);
  EXPECT_EQ(text(trace.trace_id), kTrace);
  EXPECT_NE(text(trace.span_id), kSpan);
  const auto sent_on = parse_traceparent(trace.traceparent());
  ASSERT_TRUE(sent_on.has_value()) << trace.traceparent();
  EXPECT_EQ(sent_on->trace_id, trace.trace_id);
  EXPECT_EQ(sent_on->parent_id, trace.span_id);
  EXPECT_EQ(sent_on->flags, 1);
}

TEST(Trace, BeginsHereWhenTheCallersIsMissingOrMalformed) {
  SeededRandom random(2);
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const auto trace = i % 2 == 0 ? make_trace(std::nullopt, random)
                                  : make_trace(std::string_view("00-bad"), random);
    EXPECT_FALSE(trace.from_caller());
    EXPECT_TRUE(parse_traceparent(trace.traceparent()).has_value()) << trace.traceparent();
    EXPECT_TRUE(seen.insert(text(trace.trace_id)).second);
  }
}

// H-24
TEST(CorrelationId, IsShortAndHarmless) {
  EXPECT_TRUE(is_correlation_id("c-1"));
  EXPECT_TRUE(is_correlation_id("req_01H:abc/DEF+g=~.@"));
  EXPECT_TRUE(is_correlation_id(std::string(128, 'a')));
  EXPECT_FALSE(is_correlation_id(""));
  EXPECT_FALSE(is_correlation_id(std::string(129, 'a')));
  for (const auto* bad : {"a b", "a\"b", "a\\b", "a\nb", "a\x7f", "a<b", "a,b", "\xC3\xBC"}) {
    EXPECT_FALSE(is_correlation_id(bad)) << bad;
  }
}

TEST(CorrelationId, MadeHereIsAUuid) {
  SeededRandom random(3);
  const auto id = make_correlation_id(random);
  EXPECT_TRUE(Uuid::parse({id.data(), id.size()}).has_value());
  EXPECT_NE(id, make_correlation_id(random));
}

}  // namespace
}  // namespace millrace::http
