#include "output/fhir/timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::output::fhir {
namespace {

struct Case {
  std::string text;
  Timing timing;
};

TEST(Timing, UnderstandsWhatPrescriptionsSay) {
  const std::vector<Case> cases = {
      {"twice daily", {.frequency = 2, .period = 1, .unit = "d"}},
      {"BID", {.frequency = 2, .period = 1, .unit = "d"}},
      {"b.i.d.", {.frequency = 2, .period = 1, .unit = "d"}},
      {"once a day", {.frequency = 1, .period = 1, .unit = "d"}},
      {"3 times a day", {.frequency = 3, .period = 1, .unit = "d"}},
      {"three times daily", {.frequency = 3, .period = 1, .unit = "d"}},
      {"3x/day", {.frequency = 3, .period = 1, .unit = "d"}},
      {"once weekly", {.frequency = 1, .period = 1, .unit = "wk"}},
      {"every 8 hours", {.frequency = 1, .period = 8, .unit = "h"}},
      {"q8h", {.frequency = 1, .period = 8, .unit = "h"}},
      {"q4-6h PRN", {.frequency = 1, .period = 4, .period_max = 6, .unit = "h", .as_needed = true}},
      {"every other day", {.frequency = 1, .period = 2, .unit = "d"}},
      {"at bedtime", {.frequency = 1, .period = 1, .unit = "d", .when = {"HS"}}},
      {"twice daily with meals", {.frequency = 2, .period = 1, .unit = "d", .when = {"C"}}},
      {"as needed", {.as_needed = true}},
      {"before meals", {.when = {"AC"}}},
  };
  for (const auto& expected : cases) {
    const auto timing = parse_timing(expected.text);
    ASSERT_TRUE(timing) << expected.text;
    EXPECT_EQ(*timing, expected.timing) << expected.text;
  }
}

TEST(Timing, GivesNothingForAnythingThatLeavesADoubt) {
  for (const auto* text : {"", "1-0-1", "twice daily except Sundays", "twice", "every day or two",
                           "q0h", "0 times a day", "every 6-4 hours", "1.5 times a day",
                           "daily BID", "once", "for pain", "every 2000 hours"}) {
    EXPECT_FALSE(parse_timing(text)) << text;
  }
}

TEST(TimeSpan, IsANumberAndAUnit) {
  EXPECT_EQ(parse_time_span("for 7 days"), (TimeSpan{.value = 7, .unit = "d"}));
  EXPECT_EQ(parse_time_span("two weeks"), (TimeSpan{.value = 2, .unit = "wk"}));
  EXPECT_EQ(parse_time_span("x 10 days"), (TimeSpan{.value = 10, .unit = "d"}));
  EXPECT_EQ(parse_time_span("7d"), (TimeSpan{.value = 7, .unit = "d"}));
  for (const auto* text : {"", "long", "7", "until review", "-3 days"}) {
    EXPECT_FALSE(parse_time_span(text)) << text;
  }
}

TEST(Timing, IsWrittenAsRepeat) {
  EXPECT_EQ(to_json(repeat_of(parse_timing("q4-6h"), parse_time_span("7 days"))),
            R"({"boundsDuration":{"value":7,"unit":"d","system":"http://unitsofmeasure.org",)"
            R"("code":"d"},"frequency":1,"period":4,"periodMax":6,"periodUnit":"h"})");
  EXPECT_TRUE(repeat_of(std::nullopt, std::nullopt).empty());
}

}  // namespace
}  // namespace millrace::output::fhir
