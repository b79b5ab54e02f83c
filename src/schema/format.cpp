#include "schema/format.h"

#include "schema/regex/syntax.h"
#include "schema/schema.h"
#include "schema/uri.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

namespace millrace::schema {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Takes exactly `digits` digits off the front.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (!is_digit(text[i])) return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

bool take_any_case(std::string_view& text, char upper) {
  return take(text, upper) || take(text, static_cast<char>(upper | 0x20));
}

// "Z" or "+05:30", in minutes.
std::optional<int> take_offset(std::string_view& text) {
  if (take_any_case(text, 'Z')) return 0;
  const int sign = text.starts_with('-') ? -1 : 1;
  if (!take(text, '+') && !take(text, '-')) return std::nullopt;
  const auto hours = take_number(text, 2);
  if (!hours || *hours > 23 || !take(text, ':')) return std::nullopt;
  const auto minutes = take_number(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  return sign * (*hours * 60 + *minutes);
}

// RFC 3339 durations: numbers with units, in order, without gaps between the units of a part.
bool take_units(std::string_view& text, std::string_view units) {
  std::size_t last = std::string_view::npos;
  while (!text.empty() && is_digit(text.front())) {
    while (!text.empty() && is_digit(text.front())) text.remove_prefix(1);
    if (text.empty()) return false;
    const auto unit = units.find(text.front());
    if (unit == std::string_view::npos) return false;
    if (last != std::string_view::npos && unit != last + 1) return false;
    last = unit;
    text.remove_prefix(1);
  }
  return last != std::string_view::npos;
}

bool is_atom_char(char c) {
  return is_letter(c) || is_digit(c) || std::string_view("!#$%&'*+-/=?^_`{|}~").contains(c);
}

bool is_local_part(std::string_view text) {
  if (text.empty() || text.size() > 64) return false;
  if (text.starts_with('"')) {
    if (text.size() < 3 || !text.ends_with('"')) return false;
    const auto quoted = text.substr(1, text.size() - 2);
    bool escaped = false;
    for (const char c : quoted) {
      if (c < 0x20 || c > 0x7e || (c == '"' && !escaped)) return false;
      escaped = c == '\\' && !escaped;
    }
    return !escaped;
  }
  if (text.starts_with('.') || text.ends_with('.') || text.contains("..")) return false;
  return std::ranges::all_of(text, [](char c) { return c == '.' || is_atom_char(c); });
}

// RFC 3986 allows these, and %41, in every part that is not the scheme.
bool is_uri_text(std::string_view text, std::string_view extra) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) return false;
      i += 2;
    } else if (!is_letter(c) && !is_digit(c) && !std::string_view("-._~!$&'()*+,;=").contains(c) &&
               !extra.contains(c)) {
      return false;
    }
  }
  return true;
}

bool is_authority(std::string_view text) {
  if (const auto at = text.rfind('@'); at != std::string_view::npos) {
    if (!is_uri_text(text.substr(0, at), ":")) return false;
    text.remove_prefix(at + 1);
  }
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return false;
    const auto inside = text.substr(1, close - 1);
    const bool future = inside.starts_with('v') || inside.starts_with('V');
    if (future ? !is_uri_text(inside, ":") : !is_ipv6(inside)) return false;
    text.remove_prefix(close + 1);
  } else {
    const auto colon = std::min(text.rfind(':'), text.size());
    if (!is_uri_text(text.substr(0, colon), "")) return false;
    text.remove_prefix(colon);
  }
  if (text.empty()) return true;
  return take(text, ':') && std::ranges::all_of(text, is_digit);
}

using FormatEntry = std::pair<std::string_view, FormatCheck*>;
constexpr std::array kFormats = {
    FormatEntry{"date", is_date},         FormatEntry{"date-time", is_date_time},
    FormatEntry{"duration", is_duration}, FormatEntry{"email", is_email},
    FormatEntry{"hostname", is_hostname}, FormatEntry{"ipv4", is_ipv4},
    FormatEntry{"ipv6", is_ipv6},         FormatEntry{"json-pointer", is_json_pointer},
    FormatEntry{"regex", is_regex},       FormatEntry{"time", is_time},
    FormatEntry{"uri", is_uri},           FormatEntry{"uri-reference", is_uri_reference},
    FormatEntry{"uuid", is_uuid},
};

}  // namespace

FormatCheck* find_format(std::string_view name) {
  const auto found = std::ranges::find(kFormats, name, &FormatEntry::first);
  return found == kFormats.end() ? nullptr : found->second;
}

std::vector<std::string_view> known_formats() {
  std::vector<std::string_view> names;
  for (const auto& [name, check] : kFormats) names.push_back(name);
  return names;
}

bool is_date(std::string_view text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, '-')) return false;
  const auto month = take_number(text, 2);
  if (!month || !take(text, '-')) return false;
  const auto day = take_number(text, 2);
  if (!day || !text.empty()) return false;
  return std::chrono::year_month_day(std::chrono::year(*year),
                                     std::chrono::month(static_cast<unsigned>(*month)),
                                     std::chrono::day(static_cast<unsigned>(*day)))
      .ok();
}

bool is_time(std::string_view text) {
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return false;
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59 || !take(text, ':')) return false;
  const auto second = take_number(text, 2);
  if (!second || *second > 60) return false;
  if (take(text, '.')) {
    if (text.empty() || !is_digit(text.front())) return false;
    while (!text.empty() && is_digit(text.front())) text.remove_prefix(1);
  }
  const auto offset = take_offset(text);
  if (!offset || !text.empty()) return false;
  if (*second < 60) return true;
  // Leap seconds come at the end of a day in UTC.
  const int utc = ((*hour * 60 + *minute - *offset) % 1440 + 1440) % 1440;
  return utc == 23 * 60 + 59;
}

bool is_date_time(std::string_view text) {
  if (text.size() < 11 || (text[10] != 'T' && text[10] != 't')) return false;
  return is_date(text.substr(0, 10)) && is_time(text.substr(11));
}

bool is_duration(std::string_view text) {
  if (!take(text, 'P') || text.empty()) return false;
  if (text.ends_with('W')) return take_units(text, "W") && text.empty();
  if (!text.starts_with('T') && !take_units(text, "YMD")) return false;
  if (text.empty()) return true;
  return take(text, 'T') && take_units(text, "HMS") && text.empty();
}

bool is_email(std::string_view text) {
  const auto at = text.rfind('@');
  if (at == std::string_view::npos || !is_local_part(text.substr(0, at))) return false;
  auto domain = text.substr(at + 1);
  if (!domain.starts_with('[')) return is_hostname(domain);
  if (!domain.ends_with(']')) return false;
  domain = domain.substr(1, domain.size() - 2);
  if (domain.starts_with("IPv6:")) return is_ipv6(domain.substr(5));
  return is_ipv4(domain);
}

bool is_hostname(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  for (;;) {
    const auto dot = std::min(text.find('.'), text.size());
    const auto label = text.substr(0, dot);
    if (label.empty() || label.size() > 63) return false;
    if (label.starts_with('-') || label.ends_with('-')) return false;
    if (!std::ranges::all_of(label,
                             [](char c) { return is_letter(c) || is_digit(c) || c == '-'; })) {
      return false;
    }
    if (dot == text.size()) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_ipv4(std::string_view text) {
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && !take(text, '.')) return false;
    std::size_t digits = 0;
    while (digits < text.size() && is_digit(text[digits])) ++digits;
    if (digits == 0 || digits > 3 || (digits > 1 && text.front() == '0')) return false;
    const auto value = take_number(text, digits);
    if (!value || *value > 255) return false;
  }
  return text.empty();
}

bool is_ipv6(std::string_view text) {
  int groups = 0;
  bool shortened = false;
  if (text.starts_with("::")) {
    shortened = true;
    text.remove_prefix(2);
  }
  while (!text.empty()) {
    if (text.contains('.') && !text.contains(':')) {
      groups += 2;
      if (!is_ipv4(text)) return false;
      text = {};
      break;
    }
    std::size_t digits = 0;
    while (digits < text.size() && is_hex(text[digits])) ++digits;
    if (digits == 0 || digits > 4) return false;
    text.remove_prefix(digits);
    ++groups;
    if (text.empty()) break;
    if (text.starts_with("::")) {
      if (shortened) return false;
      shortened = true;
      text.remove_prefix(2);
    } else if (!take(text, ':') || text.empty()) {
      return false;
    }
  }
  return shortened ? groups < 8 : groups == 8;
}

bool is_uri_reference(std::string_view text) {
  const auto parts = split_uri(text);
  if (parts.authority && !is_authority(*parts.authority)) return false;
  // What looks like a scheme and is none would be one to others.
  if (!parts.scheme && !parts.authority &&
      parts.path.substr(0, parts.path.find('/')).contains(':')) {
    return false;
  }
  return is_uri_text(parts.path, ":@/") && is_uri_text(parts.query.value_or(""), ":@/?") &&
         is_uri_text(parts.fragment.value_or(""), ":@/?");
}

bool is_uri(std::string_view text) {
  return split_uri(text).scheme.has_value() && is_uri_reference(text);
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !is_hex(text[i])) return false;
  }
  return true;
}

bool is_json_pointer(std::string_view text) { return pointer_tokens(text).has_value(); }

bool is_regex(std::string_view text) { return parse_pattern(text).has_value(); }

}  // namespace millrace::schema
