#include "app/context.h"

#include <gtest/gtest.h>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;

TEST(ParseTimestamp, ReadsWhatPostgresqlWrites) {
  const auto time = parse_timestamp("2026-11-15T09:50:48.123+02:00");
  ASSERT_TRUE(time);
  EXPECT_EQ(format_timestamp(*time), "2026-11-15T07:50:48Z");
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00.25Z"), Clock::Wall(250ms));
  EXPECT_EQ(parse_timestamp("1970-01-01 00:00:01-01"), Clock::Wall(1h + 1s));
  EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00.0000019"), Clock::Wall(1us));
}

TEST(ParseTimestamp, ATimeThatTheClockCannotHoldIsNone) {
  for (const char* text : {"infinity", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "", "x",
                           "2026-11-15", "2026-11-15T09:50:48+x"}) {
    EXPECT_FALSE(parse_timestamp(text)) << text;
  }
}

TEST(ParseInterval, ReadsWhatPostgresqlWrites) {
  EXPECT_EQ(parse_interval("00:05:00"), 5min);
  EXPECT_EQ(parse_interval("1 day 02:03:04.5"), 24h + 2h + 3min + 4500ms);
  EXPECT_EQ(parse_interval("30 days"), 30 * 24h);
  EXPECT_EQ(parse_interval("-00:05:00"), -5min);
  EXPECT_EQ(parse_interval("-1 days +02:00:00"), -22h);
  EXPECT_EQ(parse_interval("1000000:00:00"), 1'000'000h);
}

TEST(ParseInterval, MonthsHaveNoLengthAndNonsenseNeither) {
  for (const char* text : {"1 mon 2 days", "1 year", "x", "1:2", "nan:0:0", "0:0:nan"}) {
    EXPECT_FALSE(parse_interval(text)) << text;
  }
}

}  // namespace
}  // namespace millrace::app
