#include "base/duration.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

using std::chrono::milliseconds;

TEST(ParseDuration, ReadsWhatPeopleWrite) {
  const std::pair<const char*, std::int64_t> cases[] = {{"500ms", 500},
                                                        {"30s", 30'000},
                                                        {"5m", 300'000},
                                                        {"2h", 7'200'000},
                                                        {"1d", 86'400'000},
                                                        {"0", 0},
                                                        {"0s", 0},
                                                        {"1.5s", 1'500},
                                                        {"0.5m", 30'000},
                                                        {"1h30m", 5'400'000},
                                                        {"36525d", 36'525LL * 86'400'000},
                                                        {"1d2h3m4s5ms", 93'784'005}};
  for (const auto& [text, ms] : cases) EXPECT_EQ(parse_duration(text), milliseconds(ms)) << text;
}

TEST(ParseDuration, RefusesTheRestAndSaysWhy) {
  const std::pair<const char*, const char*> cases[] = {{"", "empty"},
                                                       {"-5s", "negative"},
                                                       {"5", "unit is missing"},
                                                       {"5x", "units are"},
                                                       {"s", "number"},
                                                       {"1.2.3s", "number"},
                                                       {"5 s", "units are"},
                                                       {"30m1h", "large to small"},
                                                       {"1s1s", "large to"},
                                                       {"1e3s", "units are"},
                                                       {"40000d", "100 years"},
                                                       {"0.1ms", "millisecond"},
                                                       {"infs", "number"},
                                                       {"5s ", "units are"},
                                                       {"nan", "number"}};
  for (const auto& [text, why] : cases) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::invalid_argument);
    EXPECT_TRUE(parsed.error().message.contains(why)) << parsed.error().message;
  }
}

TEST(FormatDuration, GivesTheShortFormThatReadsBackTheSame) {
  const std::pair<std::int64_t, const char*> cases[] = {
      {0, "0s"},         {500, "500ms"},       {1'500, "1500ms"},  {30'000, "30s"},
      {90'000, "1m30s"}, {5'400'000, "1h30m"}, {86'400'000, "1d"}, {61'001, "1m1s1ms"}};
  for (const auto& [ms, text] : cases) {
    EXPECT_EQ(format_duration(milliseconds(ms)), text);
    EXPECT_EQ(parse_duration(text), milliseconds(ms));
  }
}

}  // namespace
}  // namespace millrace
