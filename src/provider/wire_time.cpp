#include "provider/wire_time.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace millrace::provider {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAbsurd = std::chrono::years(1);
constexpr std::size_t kTextMax = 64;  // Longer is no time.

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Takes "12", "12.5", "12." or ".5" from the front; no sign, no exponent, no "inf".
std::optional<double> take_number(std::string_view& text) {
  const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto figures = text.substr(0, end);
  if (std::ranges::none_of(figures, is_digit)) return std::nullopt;
  if (std::ranges::count(figures, '.') > 1) return std::nullopt;
  double value = 0;
  const auto [last, error] =
      std::from_chars(figures.data(), figures.data() + figures.size(), value);
  if (error != std::errc() || last != figures.data() + figures.size()) return std::nullopt;
  text.remove_prefix(end);
  return value;
}

std::optional<milliseconds> wait_of(double count_ms) {
  if (!(count_ms >= 0) || count_ms > static_cast<double>(kAbsurd.count())) return std::nullopt;
  return std::min(milliseconds(static_cast<milliseconds::rep>(std::ceil(count_ms))), kWaitMax);
}

struct Unit {
  std::string_view name;
  double in_ms;
};

// The longer names first: "ms" before "m".
constexpr auto kUnits = std::to_array<Unit>({{"ns", 1e-6},
                                             {"us", 1e-3},
                                             {"\u00b5s", 1e-3},
                                             {"\u03bcs", 1e-3},
                                             {"ms", 1},
                                             {"s", 1e3},
                                             {"m", 6e4},
                                             {"h", 3.6e6}});

std::optional<milliseconds> parse_plain(std::string_view text, double in_ms) {
  text = trim(text);
  if (text.empty() || text.size() > kTextMax || !is_digit(text.front())) return std::nullopt;
  const auto number = take_number(text);
  if (!number || !text.empty()) return std::nullopt;
  return wait_of(*number * in_ms);
}

// Figures at a fixed place; negative when there is anything else.
int figures_at(std::string_view text, std::size_t offset, std::size_t count) {
  if (text.size() < offset + count) return -1;
  int value = 0;
  for (const char c : text.substr(offset, count)) {
    if (!is_digit(c)) return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

bool has_separators(std::string_view text) {
  return text.size() >= 20 && text[4] == '-' && text[7] == '-' &&
         (text[10] == 'T' || text[10] == 't' || text[10] == ' ') && text[13] == ':' &&
         text[16] == ':';
}

// ".123456" from the front, in whole milliseconds.
std::optional<milliseconds> take_decimals(std::string_view& text) {
  if (!text.starts_with('.')) return milliseconds(0);
  const auto end = std::min(text.find_first_not_of("0123456789", 1), text.size());
  if (end == 1) return std::nullopt;
  int ms = 0;
  for (std::size_t i = 1; i <= 3; ++i) ms = ms * 10 + (i < end ? text[i] - '0' : 0);
  text.remove_prefix(end);
  return milliseconds(ms);
}

// "Z", "+02:00"
std::optional<std::chrono::minutes> offset_of(std::string_view text) {
  if (text == "Z" || text == "z") return std::chrono::minutes(0);
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return std::nullopt;
  const int hours = figures_at(text, 1, 2);
  const int minutes = figures_at(text, 4, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
  const auto offset = std::chrono::hours(hours) + std::chrono::minutes(minutes);
  return text[0] == '-' ? -offset : offset;
}

}  // namespace

std::optional<milliseconds> parse_go_duration(std::string_view text) {
  text = trim(text);
  if (text == "0") return milliseconds(0);
  if (text.empty() || text.size() > kTextMax) return std::nullopt;
  double total_ms = 0;
  while (!text.empty()) {
    const auto number = take_number(text);
    if (!number) return std::nullopt;
    const auto* const unit = std::ranges::find_if(
        kUnits, [&](const Unit& candidate) { return text.starts_with(candidate.name); });
    if (unit == kUnits.end()) return std::nullopt;
    text.remove_prefix(unit->name.size());
    total_ms += *number * unit->in_ms;
  }
  return wait_of(total_ms);
}

std::optional<milliseconds> parse_seconds(std::string_view text) { return parse_plain(text, 1e3); }

std::optional<milliseconds> parse_milliseconds(std::string_view text) {
  return parse_plain(text, 1);
}

std::optional<Instant> parse_rfc3339(std::string_view text) {
  using namespace std::chrono;
  text = trim(text);
  if (text.size() > kTextMax || !has_separators(text)) return std::nullopt;
  const int y = figures_at(text, 0, 4);
  const int mon = figures_at(text, 5, 2);
  const int d = figures_at(text, 8, 2);
  const int h = figures_at(text, 11, 2);
  const int min = figures_at(text, 14, 2);
  const int s = figures_at(text, 17, 2);
  if (y < 1970 || mon < 0 || d < 0 || h < 0 || h > 23 || min < 0 || min > 59 || s < 0 || s > 60) {
    return std::nullopt;
  }
  const year_month_day date{year(y), month(static_cast<unsigned>(mon)),
                            day(static_cast<unsigned>(d))};
  if (!date.ok()) return std::nullopt;
  auto rest = text.substr(19);
  const auto decimals = take_decimals(rest);
  const auto offset = offset_of(rest);
  if (!decimals || !offset) return std::nullopt;
  const Instant local = sys_days(date) + hours(h) + minutes(min) + seconds(s) + *decimals;
  return local - *offset;
}

std::optional<milliseconds> wait_until(Instant instant, Wall now) {
  const auto wait = instant - std::chrono::floor<milliseconds>(now);
  if (wait < milliseconds::zero() || wait > kAbsurd) return std::nullopt;
  return std::min(wait, kWaitMax);
}

}  // namespace millrace::provider
