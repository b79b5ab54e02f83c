#include "base/json.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace millrace {
namespace {

namespace bj = boost::json;

// Builds the value as Boost's own parser does, and looks at the keys of every object on the way.
struct Handler {
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  using Code = bj::error_code;

  // `room` is where the first values stand until their array or object is complete.
  explicit Handler(std::span<unsigned char> room) : stack({}, room.data(), room.size()) {}

  bj::value_stack stack;
  std::string partial_key;
  std::string partial_number;
  std::vector<std::string> keys;        // Of the objects that are open, one behind the other,
  std::vector<std::size_t> first_keys;  // and where those of each begin.
  std::optional<std::string> duplicate;

  bool on_document_begin(Code&) { return true; }
  bool on_document_end(Code&) { return true; }
  bool on_array_begin(Code&) { return true; }
  bool on_array_end(std::size_t n, Code&) {
    stack.push_array(n);
    return true;
  }
  bool on_object_begin(Code&) {
    first_keys.push_back(keys.size());
    return true;
  }
  bool on_object_end(std::size_t n, Code& code) {
    const std::span seen = std::span(keys).subspan(first_keys.back());
    std::ranges::sort(seen);
    if (const auto twice = std::ranges::adjacent_find(seen); twice != seen.end()) {
      duplicate = *twice;
      code = bj::make_error_code(bj::error::syntax);
      return false;
    }
    keys.resize(first_keys.back());
    first_keys.pop_back();
    stack.push_object(n);
    return true;
  }
  bool on_key_part(bj::string_view text, std::size_t, Code&) {
    partial_key += text;
    stack.push_chars(text);
    return true;
  }
  bool on_key(bj::string_view text, std::size_t, Code&) {
    partial_key += text;
    keys.push_back(std::move(partial_key));
    partial_key.clear();
    stack.push_key(text);
    return true;
  }
  bool on_string_part(bj::string_view text, std::size_t, Code&) {
    stack.push_chars(text);
    return true;
  }
  bool on_string(bj::string_view text, std::size_t, Code&) {
    stack.push_string(text);
    return true;
  }
  bool on_number_part(bj::string_view text, Code&) {
    partial_number += text;
    return true;
  }
  bool on_int64(std::int64_t value, bj::string_view, Code&) {
    partial_number.clear();
    stack.push_int64(value);
    return true;
  }
  bool on_uint64(std::uint64_t value, bj::string_view, Code&) {
    partial_number.clear();
    stack.push_uint64(value);
    return true;
  }
  bool on_double(double value, bj::string_view text, Code& code) {
    // Boost's own value may be off by a few of the last digits.
    partial_number += text;
    double exact = 0;
    const auto* end = partial_number.data() + partial_number.size();
    if (std::from_chars(partial_number.data(), end, exact).ec == std::errc{}) value = exact;
    partial_number.clear();
    if (!std::isfinite(value)) {  // 1e999: PostgreSQL and JavaScript disagree about it.
      code = bj::make_error_code(bj::error::exponent_overflow);
      return false;
    }
    stack.push_double(value);
    return true;
  }
  bool on_bool(bool value, Code&) {
    stack.push_bool(value);
    return true;
  }
  bool on_null(Code&) {
    stack.push_null();
    return true;
  }
  bool on_comment_part(bj::string_view, Code&) { return true; }
  bool on_comment(bj::string_view, Code&) { return true; }
};

// How many bytes of UTF-8 begin at `at`; 0 when they are not valid.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto first = byte(at);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80U) return 0;
  }
  const auto second = byte(at + 1);
  if (first == 0xe0 && second < 0xa0) return 0;  // Too long for what it says.
  if (first == 0xed && second > 0x9f) return 0;  // Half of a surrogate pair.
  if (first == 0xf0 && second < 0x90) return 0;
  if (first == 0xf4 && second > 0x8f) return 0;  // Past U+10FFFF.
  return length;
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    switch (c) {
      case '"':
        out += "\\\"";
        ++i;
        continue;
      case '\\':
        out += "\\\\";
        ++i;
        continue;
      case '\b':
        out += "\\b";
        ++i;
        continue;
      case '\f':
        out += "\\f";
        ++i;
        continue;
      case '\n':
        out += "\\n";
        ++i;
        continue;
      case '\r':
        out += "\\r";
        ++i;
        continue;
      case '\t':
        out += "\\t";
        ++i;
        continue;
      default:
        break;
    }
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
      ++i;
      continue;
    }
    const auto length = utf8_length(text, i);
    if (length == 0) {
      out += "\xef\xbf\xbd";  // U+FFFD.
      ++i;
      continue;
    }
    out.append(text.substr(i, length));
    i += length;
  }
  out += '"';
}

// RFC 8785 sorts keys by UTF-16 units, which differs from UTF-8 order past U+FFFF.
std::u16string utf16(std::string_view text) {
  std::u16string units;
  for (std::size_t i = 0; i < text.size();) {
    const auto length = std::max<std::size_t>(utf8_length(text, i), 1);
    const auto first = static_cast<unsigned char>(text[i]);
    std::uint32_t code = length == 1 ? first : first & (0xffU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
      code = (code << 6U) | (static_cast<unsigned char>(text[i + k]) & 0x3fU);
    }
    if (code >= 0x10000) {
      code -= 0x10000;
      units += static_cast<char16_t>(0xd800 + (code >> 10U));
      units += static_cast<char16_t>(0xdc00 + (code & 0x3ffU));
    } else {
      units += static_cast<char16_t>(code);
    }
    i += length;
  }
  return units;
}

struct Writer {
  std::string out;
  bool pretty = false;
  bool canonical = false;
  std::size_t depth = 0;

  void line() {
    if (!pretty) return;
    out += '\n';
    out.append(depth * 2, ' ');
  }

  void write(const bj::object& object) {
    if (object.empty()) {
      out += "{}";
      return;
    }
    std::vector<const bj::key_value_pair*> members;
    members.reserve(object.size());
    for (const auto& member : object) members.push_back(&member);
    if (canonical) {
      std::ranges::sort(members, {}, [](const auto* member) { return utf16(member->key()); });
    }
    out += '{';
    ++depth;
    for (bool first = true; const auto* member : members) {
      if (!first) out += ',';
      first = false;
      line();
      append_quoted(out, member->key());
      out += pretty ? ": " : ":";
      write(member->value());
    }
    --depth;
    line();
    out += '}';
  }

  void write(const bj::array& array) {
    if (array.empty()) {
      out += "[]";
      return;
    }
    out += '[';
    ++depth;
    for (bool first = true; const auto& element : array) {
      if (!first) out += ',';
      first = false;
      line();
      write(element);
    }
    --depth;
    line();
    out += ']';
  }

  void write(const bj::value& value) {
    switch (value.kind()) {
      case bj::kind::null:
        out += "null";
        return;
      case bj::kind::bool_:
        out += value.get_bool() ? "true" : "false";
        return;
      case bj::kind::int64:
        write_integer(value.get_int64());
        return;
      case bj::kind::uint64:
        write_integer(value.get_uint64());
        return;
      case bj::kind::double_:
        out += json_number(value.get_double());
        return;
      case bj::kind::string:
        append_quoted(out, value.get_string());
        return;
      case bj::kind::array:
        write(value.get_array());
        return;
      case bj::kind::object:
        write(value.get_object());
        return;
    }
  }

  void write_integer(auto value) {
    // ECMAScript has doubles only: canonical text must not depend on how we hold a number.
    constexpr auto kExactMax = 9'007'199'254'740'992;
    const bool exact =
        std::cmp_less_equal(value, kExactMax) && std::cmp_greater_equal(value, -kExactMax);
    out += canonical && !exact ? json_number(static_cast<double>(value)) : fmt::format("{}", value);
  }
};

}  // namespace

Result<json::Value> parse_json(std::string_view text, JsonLimits limits) {
  if (text.size() > limits.max_bytes) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("JSON of {} bytes is larger than the limit of {}", text.size(),
                            limits.max_bytes));
  }
  bj::parse_options options;
  options.max_depth = limits.max_depth;
  constexpr std::size_t kRoomBytes = 2048;
  alignas(json::Value) std::array<unsigned char, kRoomBytes> room;
  bj::basic_parser<Handler> parser(options, std::span<unsigned char>(room));
  auto& handler = parser.handler();
  handler.stack.reset();
  bj::error_code code;
  const auto used = parser.write_some(false, text.data(), text.size(), code);
  if (handler.duplicate) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("invalid JSON: the key {} appears twice in one object",
                            json_quote(std::string_view(*handler.duplicate).substr(0, 80))));
  }
  if (code == bj::error::too_deep) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("JSON is nested deeper than {} levels", limits.max_depth));
  }
  if (!code && used < text.size()) code = bj::make_error_code(bj::error::extra_data);
  if (code) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
      return fail(ErrorKind::invalid_argument, "invalid JSON: the text is empty");
    }
    return fail(ErrorKind::invalid_argument,
                fmt::format("invalid JSON at byte {}: {}", used, code.message()));
  }
  return handler.stack.release();
}

Result<json::Object> parse_json_object(std::string_view text, JsonLimits limits) {
  MR_TRY(auto value, parse_json(text, limits));
  if (!value.is_object()) return fail(ErrorKind::invalid_argument, "a JSON object is expected");
  return std::move(value.get_object());
}

std::string to_json(const json::Value& value) {
  Writer writer;
  writer.write(value);
  return std::move(writer.out);
}

std::string to_json(const json::Object& object) {
  Writer writer;
  writer.write(object);
  return std::move(writer.out);
}

std::string to_pretty_json(const json::Value& value) {
  Writer writer{.pretty = true};
  writer.write(value);
  writer.out += '\n';
  return std::move(writer.out);
}

std::string canonical_json(const json::Value& value) {
  Writer writer{.canonical = true};
  writer.write(value);
  return std::move(writer.out);
}

std::string json_quote(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_quoted(out, text);
  return out;
}

// ECMA-262 Number::toString: digits and exponent from the shortest form, laid out by size.
std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  if (value == 0) return "0";
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value),
                                 std::chars_format::scientific)
                       .ptr;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const auto e = text.find('e');
  std::string digits(text.substr(0, 1));
  if (e > 2) digits += text.substr(2, e - 2);
  int exponent = 0;
  const auto* from = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(from, text.data() + text.size(), exponent);

  const int count = static_cast<int>(digits.size());
  const int point = exponent + 1;  // Where the decimal point lies, counted in digits.
  std::string out = value < 0 ? "-" : "";
  if (point >= count && point <= 21) {
    out += digits + std::string(static_cast<std::size_t>(point - count), '0');
  } else if (point > 0 && point <= 21) {
    out += digits.substr(0, static_cast<std::size_t>(point)) + "." +
           digits.substr(static_cast<std::size_t>(point));
  } else if (point > -6 && point <= 0) {
    out += "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  } else {
    out += digits.substr(0, 1);
    if (count > 1) out += "." + digits.substr(1);
    out += fmt::format("e{}{}", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  return out;
}

}  // namespace millrace
