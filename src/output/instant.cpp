#include "output/instant.h"

#include <fmt/format.h>

#include <charconv>

namespace millrace::output {
namespace {

constexpr std::string_view kForm = "0000-00-00T00:00:00.000Z";

}  // namespace

std::string to_text(Instant time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::optional<Instant> parse_instant(std::string_view text) {
  if (text.size() != kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == '0' ? !digit : text[i] != kForm[i]) return std::nullopt;
  }
  const auto number = [&](std::size_t at, std::size_t size) {
    int value = 0;
    std::from_chars(text.data() + at, text.data() + at + size, value);
    return value;
  };
  using namespace std::chrono;
  const year_month_day date(year(number(0, 4)), month(static_cast<unsigned>(number(5, 2))),
                            day(static_cast<unsigned>(number(8, 2))));
  if (!date.ok() || number(0, 4) < 1800) return std::nullopt;
  if (number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 59) return std::nullopt;
  return Instant(sys_days(date)) + hours(number(11, 2)) + minutes(number(14, 2)) +
         seconds(number(17, 2)) + milliseconds(number(20, 3));
}

}  // namespace millrace::output
