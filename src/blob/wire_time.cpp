#include "blob/wire_time.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>

namespace millrace::blob {
namespace {

struct Parts {
  int year;
  unsigned month;
  unsigned day;
  unsigned weekday;  // 0: Sunday.
  int hour;
  int minute;
  int second;
};

Parts take_apart(Clock::Wall time) {
  const auto days = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - days));
  return {.year = static_cast<int>(date.year()),
          .month = static_cast<unsigned>(date.month()),
          .day = static_cast<unsigned>(date.day()),
          .weekday = std::chrono::weekday(days).c_encoding(),
          .hour = static_cast<int>(clock.hours().count()),
          .minute = static_cast<int>(clock.minutes().count()),
          .second = static_cast<int>(clock.seconds().count())};
}

// `size` digits at `offset`; negative when there is anything else.
int digits(std::string_view text, std::size_t offset, std::size_t size) {
  if (text.size() < offset + size) return -1;
  int number = -1;
  const char* const first = text.data() + offset;
  const auto [end, error] = std::from_chars(first, first + size, number);
  return error == std::errc() && end == first + size && *first != '-' ? number : -1;
}

}  // namespace

std::string to_http_date(Clock::Wall time) {
  constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto parts = take_apart(time);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays[parts.weekday], parts.day,
                     kMonths[parts.month - 1], parts.year, parts.hour, parts.minute, parts.second);
}

std::string to_iso_time(Clock::Wall time) {
  const auto parts = take_apart(time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.year, parts.month, parts.day,
                     parts.hour, parts.minute, parts.second);
}

std::string to_compact_time(Clock::Wall time) {
  const auto parts = take_apart(time);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", parts.year, parts.month, parts.day,
                     parts.hour, parts.minute, parts.second);
}

std::string to_compact_date(Clock::Wall time) { return to_compact_time(time).substr(0, 8); }

std::optional<Clock::Wall> parse_iso_time(std::string_view text) {
  using namespace std::chrono;
  const int year_number = digits(text, 0, 4);
  const int month_number = digits(text, 5, 2);
  const int day_number = digits(text, 8, 2);
  const int hour = digits(text, 11, 2);
  const int minute = digits(text, 14, 2);
  const int second = digits(text, 17, 2);
  if (year_number < 0 || month_number < 0 || day_number < 0 || hour < 0 || minute < 0 ||
      second < 0 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != ' ') ||
      text[13] != ':' || text[16] != ':') {
    return std::nullopt;
  }
  auto rest = text.substr(19);
  milliseconds fraction{0};
  if (rest.starts_with('.')) {
    const auto end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    auto decimals = std::string(rest.substr(1, end - 1));
    if (decimals.empty()) return std::nullopt;
    decimals.resize(3, '0');
    fraction = milliseconds(digits(decimals, 0, 3));
    rest.remove_prefix(end);
  }
  if (rest != "Z" && rest != "+00:00" && rest != "+00") return std::nullopt;
  const year_month_day date{year(year_number), month(static_cast<unsigned>(month_number)),
                            day(static_cast<unsigned>(day_number))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  return Clock::Wall(sys_days(date) + hours(hour) + minutes(minute) + seconds(second) + fraction);
}

}  // namespace millrace::blob
