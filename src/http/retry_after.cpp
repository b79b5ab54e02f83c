#include "http/retry_after.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

namespace millrace::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::sys_seconds;
using std::chrono::system_clock;

constexpr milliseconds kAbsurd = std::chrono::years(1);

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads a fixed layout from left to right; the first mismatch makes everything after it fail too.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool good() const { return good_; }
  bool finished() const { return good_ && rest_.empty(); }

  void literal(std::string_view text) {
    good_ = good_ && rest_.starts_with(text);
    if (good_) rest_.remove_prefix(text.size());
  }

  int number(std::size_t digits) {
    if (good_ && rest_.size() >= digits &&
        std::all_of(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(digits), is_digit)) {
      int value = 0;
      for (const char c : rest_.substr(0, digits)) value = value * 10 + (c - '0');
      rest_.remove_prefix(digits);
      return value;
    }
    good_ = false;
    return 0;
  }

  // " 6" or "16", as asctime writes the day.
  int padded_number() {
    if (!rest_.starts_with(' ')) return number(2);
    literal(" ");
    return number(1);
  }

  // The weekday says nothing that the date does not; a wrong one is forgiven, a non-word is not.
  void weekday(bool full_name) {
    for (const auto day : kDays) {
      const auto name = full_name ? day : day.substr(0, 3);
      if (!rest_.starts_with(name)) continue;
      literal(name);
      return;
    }
    good_ = false;
  }

  unsigned month() {
    for (unsigned i = 0; i < kMonths.size(); ++i) {
      if (!rest_.starts_with(kMonths[i])) continue;
      literal(kMonths[i]);
      return i + 1;
    }
    good_ = false;
    return 1;
  }

  std::chrono::seconds time_of_day() {
    const int hour = number(2);
    literal(":");
    const int minute = number(2);
    literal(":");
    const int second = number(2);
    if (hour > 23 || minute > 59 || second > 60) good_ = false;  // 60: a leap second.
    return std::chrono::hours(hour) + std::chrono::minutes(minute) + std::chrono::seconds(second);
  }

 private:
  std::string_view rest_;
  bool good_ = true;
};

std::optional<sys_seconds> to_time(int year, unsigned month, int day, std::chrono::seconds time) {
  const std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + time;
}

std::optional<sys_seconds> parse_imf_date(std::string_view text) {
  Reader in(text);
  in.weekday(false);
  in.literal(", ");
  const int day = in.number(2);
  in.literal(" ");
  const unsigned month = in.month();
  in.literal(" ");
  const int year = in.number(4);
  in.literal(" ");
  const auto time = in.time_of_day();
  in.literal(" GMT");
  if (!in.finished()) return std::nullopt;
  return to_time(year, month, day, time);
}

std::optional<sys_seconds> parse_rfc850_date(std::string_view text, system_clock::time_point now) {
  Reader in(text);
  in.weekday(true);
  in.literal(", ");
  const int day = in.number(2);
  in.literal("-");
  const unsigned month = in.month();
  in.literal("-");
  const int short_year = in.number(2);
  in.literal(" ");
  const auto time = in.time_of_day();
  in.literal(" GMT");
  if (!in.finished()) return std::nullopt;
  // RFC 9110: a year that seems more than 50 years ahead is the latest past year with those digits.
  const std::chrono::year_month_day today(std::chrono::floor<std::chrono::days>(now));
  const int this_year = static_cast<int>(today.year());
  int year = this_year - this_year % 100 + short_year;
  if (year > this_year + 50) year -= 100;
  return to_time(year, month, day, time);
}

std::optional<sys_seconds> parse_asctime_date(std::string_view text) {
  Reader in(text);
  in.weekday(false);
  in.literal(" ");
  const unsigned month = in.month();
  in.literal(" ");
  const int day = in.padded_number();
  in.literal(" ");
  const auto time = in.time_of_day();
  in.literal(" ");
  const int year = in.number(4);
  if (!in.finished()) return std::nullopt;
  return to_time(year, month, day, time);
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// Digits, perhaps with a fraction; no sign, no exponent, no "inf".
std::optional<milliseconds> parse_seconds(std::string_view text) {
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == '.'; });
  if (!plain || text.empty() || !is_digit(text.front())) return std::nullopt;
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (seconds > std::chrono::duration<double>(kAbsurd).count()) return std::nullopt;
  // Rounded up: a wait must not be shorter than asked for.
  return std::chrono::ceil<milliseconds>(std::chrono::duration<double>(seconds));
}

}  // namespace

std::optional<sys_seconds> parse_http_date(std::string_view text, system_clock::time_point now) {
  if (auto time = parse_imf_date(text)) return time;
  if (auto time = parse_rfc850_date(text, now)) return time;
  return parse_asctime_date(text);
}

std::optional<milliseconds> parse_retry_after(std::string_view value,
                                              system_clock::time_point now) {
  value = trim(value);
  auto wait = parse_seconds(value);
  if (!wait) {
    const auto time = parse_http_date(value, now);
    if (!time) return std::nullopt;
    // In milliseconds: the year 9999 has no representation in the clock's nanoseconds.
    wait = *time - std::chrono::floor<milliseconds>(now);
    if (*wait < milliseconds::zero() || *wait > kAbsurd) return std::nullopt;
  }
  return std::min(*wait, kRetryAfterMax);
}

}  // namespace millrace::http
