#include "provider/wire_time.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace millrace::provider {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

TEST(GoDuration, ReadsWhatServicesSend) {
  EXPECT_EQ(parse_go_duration("12ms"), 12ms);
  EXPECT_EQ(parse_go_duration("1s"), 1s);
  EXPECT_EQ(parse_go_duration("6m0s"), 6min);
  EXPECT_EQ(parse_go_duration("1m2.5s"), 62'500ms);
  EXPECT_EQ(parse_go_duration("0s"), 0ms);
  EXPECT_EQ(parse_go_duration("0"), 0ms);
  EXPECT_EQ(parse_go_duration(" 20ms "), 20ms);
  EXPECT_EQ(parse_go_duration(".5s"), 500ms);
}

TEST(GoDuration, AWaitIsNeverShorterThanAskedFor) {
  EXPECT_EQ(parse_go_duration("250us"), 1ms);
  EXPECT_EQ(parse_go_duration("250\u00b5s"), 1ms);
  EXPECT_EQ(parse_go_duration("1ns"), 1ms);
  EXPECT_EQ(parse_go_duration("1.0001s"), 1'001ms);
}

TEST(GoDuration, IsCappedAtAnHour) {
  EXPECT_EQ(parse_go_duration("1h0m1s"), 1h);
  EXPECT_EQ(parse_go_duration("720h"), 1h);
}

TEST(GoDuration, IgnoresWhatIsNoneOrNegativeOrAbsurd) {
  for (const auto* text :
       {"", " ", "-1s", "+1s", "1", "1.5", "s", "1x", "1s2", "1 s", "1e3s", "infs", "nans", "1..2s",
        ".s", "9000h", "1s\n", "0x1s", "999999999999999999999999h"}) {
    EXPECT_EQ(parse_go_duration(text), std::nullopt) << text;
  }
}

TEST(Seconds, ReadsIntegersAndDecimals) {
  EXPECT_EQ(parse_seconds("20"), 20s);
  EXPECT_EQ(parse_seconds("1.5"), 1'500ms);
  EXPECT_EQ(parse_seconds("0"), 0s);
  EXPECT_EQ(parse_seconds("7200"), 1h);
  for (const auto* text : {"", "-1", "1s", "nan", "1e3", ".", "99999999999", "1,5"}) {
    EXPECT_EQ(parse_seconds(text), std::nullopt) << text;
  }
}

TEST(Milliseconds, ReadsIntegersAndDecimals) {
  EXPECT_EQ(parse_milliseconds("1500"), 1'500ms);
  EXPECT_EQ(parse_milliseconds("12.2"), 13ms);
  EXPECT_EQ(parse_milliseconds("7200000"), 1h);
  EXPECT_EQ(parse_milliseconds("-5"), std::nullopt);
  EXPECT_EQ(parse_milliseconds("soon"), std::nullopt);
}

TEST(Rfc3339, ReadsInstantsInAllTheirSpellings) {
  const auto noon = parse_rfc3339("2026-08-01T12:00:00Z");
  ASSERT_TRUE(noon);
  EXPECT_EQ(*noon, Instant(std::chrono::sys_days(std::chrono::year(2026) / 8 / 1) + 12h));
  EXPECT_EQ(parse_rfc3339("2026-08-01t12:00:00z"), noon);
  EXPECT_EQ(parse_rfc3339("2026-08-01 12:00:00+00:00"), noon);
  EXPECT_EQ(parse_rfc3339("2026-08-01T14:30:00+02:30"), noon);
  EXPECT_EQ(parse_rfc3339("2026-08-01T11:00:00-01:00"), noon);
  EXPECT_EQ(parse_rfc3339("2026-08-01T12:00:00.25Z"), *noon + 250ms);
  EXPECT_EQ(parse_rfc3339("2026-08-01T12:00:00.123456789Z"), *noon + 123ms);
}

TEST(Rfc3339, RefusesWhatIsNoInstant) {
  for (const auto* text :
       {"", "2026-08-01", "2026-08-01T12:00:00", "2026-13-01T12:00:00Z", "2026-02-30T12:00:00Z",
        "2026-08-01T24:00:00Z", "2026-08-01T12:60:00Z", "2026-08-01T12:00:61Z",
        "2026-08-01T12:00:00.Z", "2026-08-01T12:00:00+0200", "2026-08-01T12:00:00+24:00",
        "2026-08-01T12:00:00Zx", "1969-08-01T12:00:00Z", "-026-08-01T12:00:00Z",
        "2026/08/01T12:00:00Z"}) {
    EXPECT_EQ(parse_rfc3339(text), std::nullopt) << text;
  }
}

TEST(WaitUntil, IsBetweenNowAndAnHour) {
  const Wall now = std::chrono::sys_days(std::chrono::year(2026) / 8 / 1);
  const auto at = [&](milliseconds offset) {
    return Instant(std::chrono::floor<milliseconds>(now)) + offset;
  };
  EXPECT_EQ(wait_until(at(5s), now), 5s);
  EXPECT_EQ(wait_until(at(0s), now), 0s);
  EXPECT_EQ(wait_until(at(2h), now), 1h);
  EXPECT_EQ(wait_until(at(-1s), now), std::nullopt);
  EXPECT_EQ(wait_until(at(std::chrono::days(400)), now), std::nullopt);
  EXPECT_EQ(wait_until(*parse_rfc3339("9999-12-31T23:59:59Z"), now), std::nullopt);
}

// Whatever comes over the wire: no crash, and a wait is one that can be waited.
TEST(WireTimes, HoldForAnyBytes) {
  constexpr std::string_view kAlphabet = "0123456789.:-+TZtzhmsun \u00b5e\x01\xff";
  const Wall now = std::chrono::sys_days(std::chrono::year(2026) / 8 / 1);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SeededRandom random(seed);
    SCOPED_TRACE(seed);
    for (int i = 0; i < 5'000; ++i) {
      std::string text;
      // Half of them are near misses of a real one.
      if (random.below(2) == 0) text = random.below(2) == 0 ? "2026-08-01T12:00:00.5Z" : "1m30s";
      const auto changes = random.below(12);
      for (std::uint64_t c = 0; c < changes; ++c) {
        const char letter = kAlphabet[random.below(kAlphabet.size())];
        const auto at = random.below(text.size() + 1);
        if (at < text.size() && random.below(2) == 0) {
          text[at] = letter;
        } else {
          text.insert(at, 1, letter);
        }
      }
      for (const auto wait :
           {parse_go_duration(text), parse_seconds(text), parse_milliseconds(text)}) {
        if (wait) {
          ASSERT_GE(*wait, 0ms) << text;
          ASSERT_LE(*wait, kWaitMax) << text;
        }
      }
      if (const auto instant = parse_rfc3339(text)) {
        const auto wait = wait_until(*instant, now);
        if (wait) {
          ASSERT_GE(*wait, 0ms) << text;
          ASSERT_LE(*wait, kWaitMax) << text;
        }
      }
    }
  }
}

}  // namespace
}  // namespace millrace::provider
