#include "api/compute/inputs_hash.h"

#include "identity/digest.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace millrace::api {
namespace {

namespace bj = boost::json;

// Digits and decimal exponent of the shortest text that reads as the same number.
struct Decimal {
  std::string digits;
  int point = 0;  // Where the decimal point lies, counted in digits.
};

Decimal decimal_of(double value) {
  std::array<char, 40> buffer;
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value),
                                     std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
  const auto e = text.find('e');
  Decimal out{.digits = std::string(text.substr(0, 1))};
  if (e > 2) out.digits += text.substr(2, e - 2);
  int exponent = 0;
  const auto* from = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(from, text.data() + text.size(), exponent);
  out.point = exponent + 1;
  return out;
}

// float.__repr__: an exponent of two digits or more outside of 1e-4 … 1e16, ".0" on whole numbers.
std::string python_float(double value) {
  const std::string sign = std::signbit(value) ? "-" : "";
  if (value == 0) return sign + "0.0";
  auto [digits, point] = decimal_of(value);
  const int count = static_cast<int>(digits.size());
  if (point <= -4 || point > 16) {
    auto out = sign + digits.substr(0, 1);
    if (count > 1) out += "." + digits.substr(1);
    const int exponent = point - 1;
    return out + fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (point <= 0) {
    return sign + "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  }
  if (point >= count) {
    digits.append(static_cast<std::size_t>(point - count), '0');
    return sign + digits + ".0";
  }
  const auto whole = static_cast<std::size_t>(point);
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

// A number by its value, however it was written: 1 is 1.0. Doubles that are whole numbers of up to
// 64 bits get all their digits, as integers have them; RFC 8785 would round both.
std::string exact_float(double value) {
  constexpr double kWholeMax = 18446744073709551616.0;  // 2^64
  if (std::abs(value) < kWholeMax && value == std::trunc(value)) {
    return value == 0 ? "0" : fmt::format("{:.0f}", value);
  }
  return json_number(value);
}

struct Writer {
  std::string (*number)(double);
  std::string out = {};

  void write(const bj::object& object) {
    std::vector<const bj::key_value_pair*> members;
    members.reserve(object.size());
    for (const auto& member : object) members.push_back(&member);
    // Bytes of UTF-8 sort as code points do.
    std::ranges::sort(members, {},
                      [](const auto* member) { return std::string_view(member->key()); });
    out += '{';
    for (bool first = true; const auto* member : members) {
      if (!first) out += ',';
      first = false;
      out += json_quote(member->key());
      out += ':';
      write(member->value());
    }
    out += '}';
  }

  void write(const bj::array& array) {
    out += '[';
    for (bool first = true; const auto& element : array) {
      if (!first) out += ',';
      first = false;
      write(element);
    }
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
        out += std::to_string(value.get_int64());
        return;
      case bj::kind::uint64:
        out += std::to_string(value.get_uint64());
        return;
      case bj::kind::double_:
        out += number(value.get_double());
        return;
      case bj::kind::string:
        out += json_quote(value.get_string());
        return;
      case bj::kind::array:
        write(value.get_array());
        return;
      case bj::kind::object:
        write(value.get_object());
        return;
    }
  }
};

void add_part(std::string& out, std::string_view part) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    out += static_cast<char>((part.size() >> static_cast<unsigned>(shift)) & 0xffU);
  }
  out += part;
}

bool fits_64_bits(std::string_view digits) {
  const auto* end = digits.data() + digits.size();
  std::int64_t negative = 0;
  std::uint64_t positive = 0;
  const auto read = digits.starts_with('-') ? std::from_chars(digits.data(), end, negative)
                                            : std::from_chars(digits.data(), end, positive);
  return read.ec == std::errc{} && read.ptr == end;
}

}  // namespace

std::string python_json(const json::Value& value) {
  Writer writer{.number = python_float};
  writer.write(value);
  return std::move(writer.out);
}

std::string inputs_hash(const json::Value& inputs, std::string_view definition,
                        std::string_view version) {
  auto text = python_json(inputs);
  text += definition;
  text += version;
  return identity::to_hex(identity::sha256(text));
}

std::array<std::uint8_t, 32> compute_key(const ComputeKeyParts& parts) {
  Writer writer{.number = exact_float};
  writer.write(parts.inputs);
  std::string text;
  add_part(text, "millrace/compute/1");
  add_part(text, parts.tenant.to_string());
  add_part(text, parts.owner ? parts.owner->to_string() : std::string());
  add_part(text, parts.app_id);
  add_part(text, parts.definition);
  add_part(text, parts.version);
  add_part(text, writer.out);
  return identity::sha256(text);
}

Result<void> check_whole_numbers(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\') ++at;
      }
      ++at;
      continue;
    }
    if (c != '-' && (c < '0' || c > '9')) {
      ++at;
      continue;
    }
    const auto end = std::min(text.find_first_not_of("+-.0123456789eE", at), text.size());
    const auto number = text.substr(at, end - at);
    if (number.find_first_of(".eE") == number.npos && !fits_64_bits(number)) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("the whole number at byte {} has more than 64 bits", at));
    }
    at = end;
  }
  return {};
}

}  // namespace millrace::api
