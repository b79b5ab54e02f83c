#include "http/retry_after.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

namespace millrace::http {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::sys_days;

// Sunday 2030-01-06 12:00:00 UTC.
const auto kNow =
    std::chrono::system_clock::time_point(sys_days(2030y / std::chrono::January / 6)) + 12h;

struct Case {
  std::string value;
  std::optional<milliseconds> wait;
};

TEST(RetryAfter, UnderstandsWhatServersSend) {
  const std::vector<Case> cases = {
      {"0", 0ms},
      {"1", 1s},
      {"120", 120s},
      {"  30\t", 30s},
      {"007", 7s},
      {"1.5", 1500ms},
      {"0.0001", 1ms},
      {"3.", 3s},
      {"3600", 1h},
      {"Sun, 06 Jan 2030 12:00:30 GMT", 30s},
      {"Sunday, 06-Jan-30 12:00:30 GMT", 30s},
      {"Sun Jan  6 12:00:30 2030", 30s},
      {"Sun, 06 Jan 2030 12:00:00 GMT", 0ms},
      {"Mon, 06 Jan 2030 12:00:30 GMT", 30s},  // Wrong weekday, clear date.
      {"Sun, 06 Jan 2030 12:00:60 GMT", 60s},  // Leap second.
  };
  for (const auto& [value, wait] : cases) EXPECT_EQ(parse_retry_after(value, kNow), wait) << value;
}

TEST(RetryAfter, CutsLongWaitsToAnHour) {
  for (const auto* value : {"3601", "86400", "31556951", "Mon, 07 Jan 2030 12:00:00 GMT",
                            "Sun, 05 Jan 2031 12:00:00 GMT"}) {
    EXPECT_EQ(parse_retry_after(value, kNow), kRetryAfterMax) << value;
  }
}

TEST(RetryAfter, IgnoresWhatMakesNoSense) {
  const std::vector<std::string> values = {
      "", " ", "-1", "+1", "soon", "1 s", "1s", "0x10", "1e3", "inf", "nan", ".5", "1.2.3", "1,5",
      // Absurd.
      "31556953", "99999999999999999999999", std::string(400, '9'), "Tue, 06 Jan 2032 12:00:00 GMT",
      "Fri, 31 Dec 9999 23:59:59 GMT",
      // In the past.
      "Sun, 06 Jan 2030 11:59:59 GMT", "Sun, 06 Nov 1994 08:49:37 GMT",
      "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
      // Not dates.
      "Sun, 06 Jan 2030 12:00:30", "Sun, 06 Jan 2030 12:00:30 UTC", "Sun, 6 Jan 2030 12:00:30 GMT",
      "Sun, 06 January 2030 12:00:30 GMT", "Sun, 31 Feb 2030 12:00:30 GMT",
      "Sun, 00 Jan 2030 12:00:30 GMT", "Sun, 06 Jan 2030 24:00:00 GMT",
      "Sun, 06 Jan 2030 12:60:00 GMT", "Sun, 06 Jan 2030 12:00:61 GMT",
      "Sun, 06 Jan 2030 12:00:30 GMT, again", "Xyz, 06 Jan 2030 12:00:30 GMT",
      "2030-01-06T12:00:30Z", "Sun Jan 06 12:00:30 2030 GMT", std::string("1\0", 2)};
  for (const auto& value : values) EXPECT_EQ(parse_retry_after(value, kNow), std::nullopt) << value;
}

TEST(RetryAfter, ReadsTheExamplesOfRfc9110AsOneInstant) {
  const auto expected = sys_days(1994y / std::chrono::November / 6) + 8h + 49min + 37s;
  for (const auto* text : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                           "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(parse_http_date(text, kNow), expected) << text;
  }
}

TEST(RetryAfter, TwoDigitYearsAreWithinFiftyYears) {
  const auto year_of = [](const char* text) {
    const auto time = parse_http_date(text, kNow);
    const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(time.value()));
    return static_cast<int>(date.year());
  };
  EXPECT_EQ(year_of("Sunday, 06-Jan-80 12:00:00 GMT"), 2080);
  EXPECT_EQ(year_of("Sunday, 06-Jan-81 12:00:00 GMT"), 1981);
  EXPECT_EQ(year_of("Sunday, 06-Jan-00 12:00:00 GMT"), 2000);
}

TEST(RetryAfter, AnyBytesGiveAWaitInRangeOrNothing) {
  std::mt19937 random(20300106);  // NOLINT(bugprone-random-generator-seed): the same every time.
  const std::string alphabet = "0123456789.-+ :,SunJaGMTeb\t\xff";
  const std::string valid = "Sun, 06 Jan 2030 12:00:30 GMT";
  for (int i = 0; i < 20000; ++i) {
    std::string value = i % 2 == 0 ? valid : std::string(random() % 40, '0');
    for (std::size_t changes = random() % 4 + 1; changes > 0 && !value.empty(); --changes) {
      value[random() % value.size()] = alphabet[random() % alphabet.size()];
    }
    const auto wait = parse_retry_after(value, kNow);
    if (!wait) continue;
    EXPECT_GE(*wait, 0ms) << value;
    EXPECT_LE(*wait, kRetryAfterMax) << value;
  }
}

}  // namespace
}  // namespace millrace::http
