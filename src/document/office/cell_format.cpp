#include "document/office/cell_format.h"

#include "base/json.h"
#include "document/office/format_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace millrace::document {

namespace {

using Kind = FormatToken::Kind;

bool has(const FormatSection& section, Kind kind) {
  return std::ranges::find(section.tokens, kind, &FormatToken::kind) != section.tokens.end();
}

bool has_letter(const FormatSection& section, char letter) {
  return std::ranges::any_of(section.tokens, [&](const FormatToken& token) {
    return token.kind == Kind::date && token.text.front() == letter;
  });
}

// A number without a format: what adding tenths leaves in the last places is noise.
std::string format_general(double value) {
  constexpr double kWhole = 1e15;
  constexpr int kDigits = 11;
  constexpr int kDigitsMax = 15;
  if (value == std::trunc(value) || std::abs(value) >= kWhole) return json_number(value);
  // Cents stay, however large the amount.
  const auto before = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  const auto text = fmt::format("{:.{}g}", value, std::clamp(before + 2, kDigits, kDigitsMax));
  double shown = value;
  std::from_chars(text.data(), text.data() + text.size(), shown);
  return json_number(shown);
}

std::string format_date(double value, const FormatSection& section, bool from_1904) {
  using namespace std::chrono;
  constexpr std::int64_t kDay = 86'400;
  const auto seconds_total = std::llround(value * static_cast<double>(kDay));
  const auto days_total = seconds_total / kDay;
  const auto second = seconds_total % kDay;
  // Serial 60 is a day that never was (29 February 1900), so day 0 differs before and behind it.
  const auto base = from_1904 ? sys_days{January / 1 / 1904}
                              : sys_days{December / (days_total < 60 ? 31 : 30) / 1899};
  const auto date = year_month_day(base + days(static_cast<int>(days_total)));
  const bool has_date = has_letter(section, 'y') || has_letter(section, 'd');
  const bool has_seconds = has_letter(section, 's');
  const bool has_time = has_letter(section, 'h') || has_seconds;
  std::string text;
  if (has_date || !has_time) {
    text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  }
  if (has_time) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{:02}:{:02}", second / 3600, second / 60 % 60);
    if (has_seconds) text += fmt::format(":{:02}", second % 60);
  }
  return text;
}

// "[h]:mm": hours of all days together.
std::string format_elapsed(double value, const FormatCode::Choice& chosen) {
  const auto total = std::llround(std::abs(value) * 86'400);
  std::string text = value < 0 && total > 0 && !chosen.says_sign ? "-" : "";
  for (const auto& token : chosen.section->tokens) {
    const bool counted = token.kind == Kind::elapsed;
    if (token.kind == Kind::literal || token.kind == Kind::slash) text += token.text;
    if (!counted && token.kind != Kind::date) continue;
    const char letter = token.text.front();
    if (letter != 'h' && letter != 'm' && letter != 's') continue;
    const std::int64_t unit = letter == 'h' ? 3600 : letter == 'm' ? 60 : 1;
    const auto shown = total / unit;
    const auto part = counted ? shown : shown % (letter == 'h' ? 24 : 60);
    text += fmt::format("{:0{}}", part, std::min<std::size_t>(token.text.size(), 2));
  }
  return text;
}

// Without a sign. A half is rounded up, as sheets do, not to the even digit; and of the digits that
// they show: 1.005 is a little less, and still 1.01.
double rounded(double value, int decimals) {
  constexpr double kExactMax = 1e12;
  constexpr double kALittle = 4 * std::numeric_limits<double>::epsilon();
  const auto scale = std::pow(10.0, decimals);
  const auto scaled = value * scale;
  return std::round(scaled < kExactMax ? scaled * (1 + kALittle) : scaled) / scale;
}

// Digits before the point, from the right, where the format has a place for each; what is left
// over stands at the first place.
std::string with_places(std::string_view digits, std::span<const FormatToken> places,
                        bool grouped) {
  const auto is_place = [](const FormatToken& token) { return token.kind == Kind::digit; };
  auto left = static_cast<std::size_t>(std::ranges::count_if(places, is_place));
  std::string reversed;
  std::size_t written = 0;
  const auto write = [&] {
    if (grouped && written > 0 && written % 3 == 0) reversed += ',';
    reversed += digits.back();
    digits.remove_suffix(1);
    ++written;
  };
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    if (place->kind == Kind::comma) continue;
    if (!is_place(*place)) {
      reversed.append(place->text.rbegin(), place->text.rend());
      continue;
    }
    --left;
    if (!digits.empty()) write();
    while (left == 0 && !digits.empty()) write();
  }
  return {reversed.rbegin(), reversed.rend()};
}

// Where the parts of a number stand in a section.
struct NumberShape {
  std::size_t begin = 0;  // The first place for a digit.
  std::size_t point = 0;  // Behind the last place before the point.
  std::size_t end = 0;    // Behind the last place.
  std::size_t zeros = 1;  // Digits before the point, at least.
  int decimals = 0;
  int decimals_min = 0;
  double scale = 1;
  bool grouped = false;
};

NumberShape shape_of(const FormatSection& section) {
  NumberShape shape;
  const auto& tokens = section.tokens;
  const auto is = [&](std::size_t at, Kind kind) {
    return at < tokens.size() && tokens[at].kind == kind;
  };
  bool seen_point = false;
  bool seen_digit = false;
  std::size_t zeros = 0;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (tokens[at].kind == Kind::percent) shape.scale *= 100;
    if (is(at, Kind::point) && !seen_point) {
      seen_point = true;
      if (!seen_digit) shape.begin = shape.point = at;
      shape.end = at + 1;
    } else if (is(at, Kind::digit)) {
      if (!seen_digit && !seen_point) shape.begin = at;
      seen_digit = true;
      shape.end = at + 1;
      const bool zero = tokens[at].text == "0";
      if (!seen_point) {
        shape.point = at + 1;
        if (zero || zeros > 0) ++zeros;
      } else {
        ++shape.decimals;
        if (zero) shape.decimals_min = shape.decimals;
      }
    }
  }
  shape.zeros = std::max<std::size_t>(zeros, 1);
  constexpr int kDecimalsMax = 15;
  shape.decimals = std::min(shape.decimals, kDecimalsMax);
  shape.decimals_min = std::min(shape.decimals_min, kDecimalsMax);
  // A comma behind the last place is a thousand less.
  for (auto at = shape.point; is(at, Kind::comma); ++at) shape.scale /= 1'000;
  for (auto at = shape.end; at > shape.point && is(at, Kind::comma); ++at) shape.scale /= 1'000;
  for (auto at = shape.begin; at < shape.point; ++at) {
    if (is(at, Kind::comma)) shape.grouped = true;
  }
  return shape;
}

// `value` has no sign: what stands for it is in the section, or put before it.
std::string format_shaped(double value, const FormatSection& section) {
  const auto shape = shape_of(section);
  const auto tokens = std::span(section.tokens);
  const auto shown = rounded(value * shape.scale, shape.decimals);
  if (!std::isfinite(shown)) return json_number(value);  // Percents of percents.
  auto number = fmt::format("{:.{}f}", shown, shape.decimals);
  const auto whole_size = std::min(number.find('.'), number.size());
  auto fraction = number.substr(whole_size);
  auto spare = static_cast<std::size_t>(shape.decimals - shape.decimals_min);
  for (; spare > 0 && fraction.ends_with('0'); --spare) fraction.pop_back();
  if (fraction == ".") fraction.clear();
  auto digits = number.substr(0, whole_size);
  if (digits.size() < shape.zeros) digits.insert(0, shape.zeros - digits.size(), '0');

  const auto add_words = [](std::string& text, std::span<const FormatToken> words) {
    for (const auto& token : words) {
      const bool place = token.kind == Kind::digit || token.kind == Kind::point;
      if (!place && token.kind != Kind::comma) text += token.text;
    }
  };
  std::string text;
  add_words(text, tokens.first(shape.begin));
  const auto places = tokens.subspan(shape.begin, shape.point - shape.begin);
  text += places.empty() ? digits : with_places(digits, places, shape.grouped);
  text += fraction;
  add_words(text, tokens.subspan(shape.point));
  return text;
}

std::string trimmed(std::string text) {
  text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace

std::string format_number(double value, std::string_view format, bool from_1904) {
  return format_number(value, FormatCode::parse(format), from_1904);
}

std::string format_number(double value, const FormatCode& code, bool from_1904) {
  if (!std::isfinite(value)) return json_number(value);
  const auto chosen = code.section_for(value);
  const auto& section = *chosen.section;
  constexpr double kDateMax = 2'958'466;  // Behind 31 December 9999.
  if (has(section, Kind::elapsed)) {
    const bool is_time = std::abs(value) < kDateMax;
    return is_time ? trimmed(format_elapsed(value, chosen)) : format_general(value);
  }
  if (has(section, Kind::date)) {
    const bool is_day = value >= 0 && value < kDateMax;
    return is_day ? format_date(value, section, from_1904) : format_general(value);
  }
  const std::string sign = value < 0 && !chosen.says_sign ? "-" : "";
  if (has(section, Kind::general)) {
    std::string text = sign;
    for (const auto& token : section.tokens) {
      text += token.kind == Kind::general ? format_general(std::abs(value)) : token.text;
    }
    return trimmed(std::move(text));
  }
  constexpr double kShapedMax = 1e15;
  if (has(section, Kind::exponent) || std::abs(value) > kShapedMax) return format_general(value);
  // Fractions, and words alone: the number says more.
  const bool plain = has(section, Kind::digit) && !has(section, Kind::slash);
  if (!plain) return format_general(value);
  return sign + trimmed(format_shaped(std::abs(value), section));
}

std::string_view builtin_format(int id) {
  switch (id) {
    case 1:
      return "0";
    case 2:
      return "0.00";
    case 3:
      return "#,##0";
    case 4:
      return "#,##0.00";
    // Money, in whatever currency the reader's country has.
    case 5:
    case 6:
    case 41:
    case 42:
      return "#,##0";
    case 7:
    case 8:
    case 43:
    case 44:
      return "#,##0.00";
    case 9:
      return "0%";
    case 10:
      return "0.00%";
    // Those above 26 are of Chinese, Japanese and Korean programs; some mean times in one of them
    // and dates in another, and are left alone.
    case 14:
    case 15:
    case 16:
    case 17:
    case 27:
    case 28:
    case 29:
    case 30:
    case 31:
    case 36:
    case 50:
    case 51:
    case 54:
    case 57:
    case 58:
      return "yyyy-mm-dd";
    case 18:
    case 20:
    case 32:
      return "h:mm";
    case 19:
    case 21:
    case 33:
      return "h:mm:ss";
    case 22:
      return "yyyy-mm-dd h:mm";
    case 37:
    case 38:
      return "#,##0";
    case 39:
    case 40:
      return "#,##0.00";
    case 45:
    case 47:
      return "h:mm:ss";
    case 46:
      return "[h]:mm:ss";
    default:
      return {};
  }
}

}  // namespace millrace::document
