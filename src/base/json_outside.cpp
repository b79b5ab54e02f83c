#include "base/json_outside.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <charconv>

namespace millrace {
namespace {

// Deeper ones than any service sends say something.
constexpr int kDepthMax = 4;
constexpr std::size_t kEscapeBytes = 6;  // "\ud83d"

enum class Half { none, first, second };

Half half_at(std::string_view text, std::size_t at) {
  const auto escape = text.substr(std::min(at, text.size()), kEscapeBytes);
  if (escape.size() < kEscapeBytes || !escape.starts_with("\\u")) return Half::none;
  unsigned unit = 0;
  const auto* end = escape.data() + escape.size();
  const auto read = std::from_chars(escape.data() + 2, end, unit, 16);
  if (read.ec != std::errc{} || read.ptr != end) return Half::none;
  if (unit >= 0xd800 && unit <= 0xdbff) return Half::first;
  return unit >= 0xdc00 && unit <= 0xdfff ? Half::second : Half::none;
}

bool says_nothing_at(const json::Value& value, int depth) {
  if (value.is_null()) return true;
  if (value.is_bool()) return !value.get_bool();
  if (value.is_number()) return value.to_number<double>() == 0;
  if (value.is_string()) return value.get_string().empty();
  if (depth >= kDepthMax) return false;
  if (const auto* list = value.if_array()) {
    return std::ranges::all_of(
        *list, [&](const json::Value& item) { return says_nothing_at(item, depth + 1); });
  }
  return std::ranges::all_of(value.get_object(), [&](const auto& member) {
    return says_nothing_at(member.value(), depth + 1);
  });
}

}  // namespace

std::optional<std::string> mend_surrogates(std::string_view text) {
  std::optional<std::string> mended;
  for (auto at = text.find('\\'); at != text.npos; at = text.find('\\', at)) {
    const auto half = half_at(text, at);
    if (half == Half::none) {
      at += 2;  // Whatever is escaped, another backslash too, begins no escape itself.
    } else if (half == Half::first && half_at(text, at + kEscapeBytes) == Half::second) {
      at += 2 * kEscapeBytes;
    } else {
      if (!mended) mended = text;
      mended->replace(at, kEscapeBytes, "\\ufffd");
      at += kEscapeBytes;
    }
  }
  return mended;
}

bool says_nothing(const json::Value& value) { return says_nothing_at(value, 0); }

}  // namespace millrace
