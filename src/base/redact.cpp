#include "base/redact.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace millrace {
namespace {

constexpr std::array<std::string_view, 4> kNames{"text", "embedding", "vector", "content"};
constexpr std::string_view kBegin = "[REDACTED - ";
constexpr std::string_view kEnd = " chars]";

bool is_named(std::string_view name) { return std::ranges::find(kNames, name) != kNames.end(); }

bool is_redacted(std::string_view text) {
  if (!text.starts_with(kBegin) || !text.ends_with(kEnd)) return false;
  text.remove_prefix(kBegin.size());
  if (text.size() <= kEnd.size()) return false;
  text.remove_suffix(kEnd.size());
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Characters, not bytes: continuation bytes of UTF-8 do not count.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string replacement(std::string_view text) {
  return fmt::format("{}{}{}", kBegin, characters(text), kEnd);
}

json::Value replaced(const json::Value& value) {
  if (value.is_null()) return value;
  const auto* string = value.if_string();
  const auto text = string == nullptr ? to_json(value) : std::string(*string);
  if (string != nullptr && is_redacted(text)) return value;
  return json::Value(std::string_view(replacement(text)));
}

// Where the first member of such a name begins.
std::size_t first_name(std::string_view text) {
  auto first = text.npos;
  for (const auto name : kNames) first = std::min(first, text.find(fmt::format("\"{}\"", name)));
  return first;
}

}  // namespace

json::Value redact(json::Value value) {
  if (auto* object = value.if_object()) {
    for (auto& member : *object) {
      const std::string name(member.key());
      auto& held = member.value();
      held = is_named(name) ? replaced(held) : redact(std::move(held));
    }
  } else if (auto* array = value.if_array()) {
    for (auto& item : *array) item = redact(std::move(item));
  }
  return value;
}

std::string redact_text(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  const bool may_be_json = begin != text.npos && (text[begin] == '{' || text[begin] == '[');
  const auto first = may_be_json ? first_name(text) : text.npos;
  if (first == text.npos) return std::string(text);
  auto value = parse_json(text);
  if (value) return to_json(redact(*std::move(value)));
  return std::string(text.substr(0, first)) + replacement(text.substr(first));
}

}  // namespace millrace
