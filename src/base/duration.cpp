#include "base/duration.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace millrace {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ms;
};

constexpr std::array<Unit, 5> kUnits{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr double kMaxMs = 100.0 * 366 * 86'400'000;

const Unit* find_unit(std::string_view name) {
  for (const auto& unit : kUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

bool is_number_part(char c) { return (c >= '0' && c <= '9') || c == '.'; }

}  // namespace

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const auto invalid = [&](std::string_view why) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' is not a duration: {} (examples: 500ms, 30s, 5m, 2h, 1d, 1h30m)",
                            text.substr(0, 40), why));
  };
  if (text.empty()) return invalid("it is empty");
  if (text == "0") return std::chrono::milliseconds(0);
  if (text.front() == '-') return invalid("it must not be negative");
  double total_ms = 0;
  std::int64_t last_unit_ms = INT64_MAX;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t number_end = at;
    while (number_end < text.size() && is_number_part(text[number_end])) ++number_end;
    double number = 0;
    const auto parsed = std::from_chars(text.data() + at, text.data() + number_end, number,
                                        std::chars_format::fixed);
    if (number_end == at || parsed.ec != std::errc{} || parsed.ptr != text.data() + number_end) {
      return invalid("a number is expected");
    }
    std::size_t unit_end = number_end;
    while (unit_end < text.size() && !is_number_part(text[unit_end])) ++unit_end;
    const auto unit_name = text.substr(number_end, unit_end - number_end);
    if (unit_name.empty()) return invalid("a unit is missing");
    const auto* unit = find_unit(unit_name);
    if (unit == nullptr) return invalid("the units are ms, s, m, h and d");
    if (unit->ms >= last_unit_ms) return invalid("units must go from large to small");
    last_unit_ms = unit->ms;
    total_ms += number * static_cast<double>(unit->ms);
    at = unit_end;
  }
  if (total_ms > kMaxMs) return invalid("it is longer than 100 years");
  if (total_ms > 0 && total_ms < 0.5) return invalid("it is shorter than a millisecond");
  return std::chrono::milliseconds(std::llround(total_ms));
}

std::string format_duration(std::chrono::milliseconds duration) {
  if (duration.count() == 0) return "0s";
  const bool negative = duration.count() < 0;
  std::string text = negative ? "-" : "";
  // Unsigned: the most negative number has no positive counterpart.
  auto rest = static_cast<std::uint64_t>(duration.count());
  if (negative) rest = 0 - rest;
  if (rest < 10'000 && rest % 1'000 != 0) return text + fmt::format("{}ms", rest);
  for (const auto& unit : kUnits) {
    const auto unit_ms = static_cast<std::uint64_t>(unit.ms);
    if (rest < unit_ms) continue;
    text += fmt::format("{}{}", rest / unit_ms, unit.name);
    rest %= unit_ms;
  }
  return text;
}

}  // namespace millrace
