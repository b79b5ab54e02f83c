#include "identity/freshness.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace millrace::identity {
namespace {

using std::chrono::seconds;

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Digits only, also in quotes. More than we can hold is as good as for ever.
std::optional<seconds> parse_seconds(std::string_view text) {
  constexpr std::int64_t kForever = std::int64_t{1} << 31U;  // RFC 9111 §1.2.2.
  text = trimmed(text);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos) return std::nullopt;
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{}) return seconds(kForever);
  return seconds(std::min(value, kForever));
}

struct Directives {
  std::optional<seconds> max_age;
  bool uncacheable = false;
};

void read_directives(std::string_view value, Directives& directives) {
  while (!value.empty()) {
    const auto end = std::min(value.find(','), value.size());
    const auto directive = trimmed(value.substr(0, end));
    value.remove_prefix(std::min(end + 1, value.size()));
    const auto equals = std::min(directive.find('='), directive.size());
    const auto name = trimmed(directive.substr(0, equals));
    if (http::same_name(name, "no-store") || http::same_name(name, "no-cache")) {
      directives.uncacheable = true;
    }
    if (http::same_name(name, "max-age") && equals < directive.size()) {
      const auto age = parse_seconds(directive.substr(equals + 1));
      // Said twice: the shorter one cannot be wrong.
      if (age) directives.max_age = std::min(*age, directives.max_age.value_or(*age));
    }
  }
}

}  // namespace

seconds freshness_of(const std::vector<http::Header>& headers, const FreshnessBounds& bounds) {
  Directives directives;
  seconds age{0};
  for (const auto& [name, value] : headers) {
    if (http::same_name(name, "Cache-Control")) read_directives(value, directives);
    if (http::same_name(name, "Age")) age = parse_seconds(value).value_or(age);
  }
  if (directives.uncacheable) return bounds.least;
  if (!directives.max_age) return bounds.unsaid;
  return std::clamp(*directives.max_age - age, bounds.least, bounds.most);
}

}  // namespace millrace::identity
