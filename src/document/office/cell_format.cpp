#include "document/office/cell_format.h"

#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace millrace::document {

namespace {

// The part for positive numbers, without quoted words, colours and fillers.
std::string bare_format(std::string_view format) {
  std::string bare;
  bool quoted = false;
  bool bracketed = false;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    if (c == '"') {
      quoted = !quoted;
    } else if (quoted) {
      continue;
    } else if (c == '[' || c == ']') {
      bracketed = c == '[';
    } else if (c == '\\' || c == '_' || c == '*') {
      ++i;
    } else if (c == ';') {
      break;
    } else if (!bracketed) {
      bare += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return bare;
}

bool is_date(std::string_view bare) {
  return bare.find_first_of("ydhms") != bare.npos && bare.find("general") == bare.npos;
}

std::string format_date(double value, std::string_view bare, bool from_1904) {
  using namespace std::chrono;
  // Serial 60 is a day that never was (29 February 1900), so day 0 differs before and behind it.
  const auto days_total = std::floor(value);
  const auto seconds_total = static_cast<long>(std::lround((value - days_total) * 86'400));
  const auto base =
      from_1904 ? sys_days{January / 1 / 1904} : sys_days{December / (value < 60 ? 31 : 30) / 1899};
  const auto date = year_month_day(base + days(static_cast<int>(days_total)));
  const bool has_date = bare.find_first_of("yd") != bare.npos;
  const bool has_time = bare.find_first_of("hs") != bare.npos;
  std::string text;
  if (has_date || !has_time) {
    text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  }
  if (has_time) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{:02}:{:02}", seconds_total / 3600 % 24, seconds_total / 60 % 60);
    if (bare.find('s') != bare.npos) text += fmt::format(":{:02}", seconds_total % 60);
  }
  return text;
}

std::string with_thousands(std::string text) {
  const auto first = text.starts_with('-') ? std::size_t{1} : 0;
  auto at = std::min(text.find('.'), text.size());
  while (at > first + 3) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

}  // namespace

std::string format_number(double value, std::string_view format, bool from_1904) {
  const auto bare = bare_format(format);
  constexpr double kDateMax = 2'958'465;  // 31 December 9999.
  if (is_date(bare) && value >= 0 && value <= kDateMax) return format_date(value, bare, from_1904);
  const auto digits = bare.find_first_of("0#");
  if (digits == bare.npos || bare.find('e') != bare.npos || std::abs(value) > 1e15) {
    return json_number(value);
  }
  const bool percent = bare.find('%') != bare.npos;
  const auto point = bare.find('.');
  int decimals = 0;
  for (auto i = point; point != bare.npos && i + 1 < bare.size(); ++i) {
    if (bare[i + 1] != '0' && bare[i + 1] != '#') break;
    decimals = std::min(decimals + 1, 15);
  }
  // A half is rounded up, as sheets do, not to the even digit.
  const auto scale = std::pow(10.0, decimals);
  const auto shown = std::round((percent ? value * 100 : value) * scale) / scale;
  auto text = fmt::format("{:.{}f}", shown, decimals);
  if (bare.find(',') != bare.npos) text = with_thousands(std::move(text));
  return percent ? text + "%" : text;
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
    case 9:
      return "0%";
    case 10:
      return "0.00%";
    case 14:
    case 15:
    case 16:
    case 17:
      return "yyyy-mm-dd";
    case 18:
    case 20:
      return "h:mm";
    case 19:
    case 21:
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
    case 46:
    case 47:
      return "h:mm:ss";
    default:
      return {};
  }
}

}  // namespace millrace::document
