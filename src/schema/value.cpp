#include "schema/value.h"

#include "base/assert.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

namespace millrace::schema {
namespace {

constexpr std::size_t kExcerptMax = 80;
constexpr double kTwo63 = 9223372036854775808.0;
constexpr double kTwo64 = 18446744073709551616.0;

template <class Integer>
std::partial_ordering compare_with_double(Integer left, double right) {
  constexpr bool kSigned = std::is_signed_v<Integer>;
  if (std::isnan(right)) return std::partial_ordering::unordered;
  if (right >= (kSigned ? kTwo63 : kTwo64)) return std::partial_ordering::less;
  if (right < (kSigned ? -kTwo63 : 0.0)) return std::partial_ordering::greater;
  const double whole = std::trunc(right);
  const auto as_integer = static_cast<Integer>(whole);
  if (left != as_integer) return left <=> as_integer;
  return whole <=> right;
}

std::partial_ordering reversed(std::partial_ordering order) { return 0 <=> order; }

template <class Integer>
std::partial_ordering compare_integer(Integer left, const json::Value& right) {
  const auto compare = [&](auto other) -> std::partial_ordering {
    if (std::cmp_less(left, other)) return std::partial_ordering::less;
    if (std::cmp_equal(left, other)) return std::partial_ordering::equivalent;
    return std::partial_ordering::greater;
  };
  if (right.is_int64()) return compare(right.get_int64());
  if (right.is_uint64()) return compare(right.get_uint64());
  return compare_with_double(left, right.get_double());
}

// digits * 10^exponent, without the sign; digits do not end in 0.
struct Decimal {
  std::uint64_t digits = 0;
  int exponent = 0;
};

Decimal stripped(Decimal number) {
  if (number.digits == 0) return {};
  while (number.digits % 10 == 0) {
    number.digits /= 10;
    ++number.exponent;
  }
  return number;
}

// The shortest text that stands for a double is what its writer meant by it.
Decimal decimal_of(double value) {
  std::array<char, 32> buffer;
  const auto* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                        std::abs(value), std::chars_format::scientific)
                              .ptr;
  Decimal number;
  const char* at = buffer.data();
  bool fraction = false;
  for (; at != end && *at != 'e'; ++at) {
    if (*at == '.') {
      fraction = true;
      continue;
    }
    number.digits = number.digits * 10 + static_cast<std::uint64_t>(*at - '0');
    if (fraction) --number.exponent;
  }
  int exponent = 0;
  ++at;
  if (at != end && *at == '+') ++at;
  std::from_chars(at, end, exponent);
  number.exponent += exponent;
  return stripped(number);
}

Decimal decimal_of(const json::Value& value) {
  if (value.is_double()) return decimal_of(value.get_double());
  if (value.is_uint64()) return stripped({.digits = value.get_uint64()});
  const auto integer = value.get_int64();
  const auto bits = static_cast<std::uint64_t>(integer);
  return stripped({.digits = integer < 0 ? std::uint64_t{0} - bits : bits});
}

std::uint64_t multiply_modulo(std::uint64_t a, std::uint64_t b, std::uint64_t modulus) {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(a) * b % modulus);
}

std::uint64_t power_of_ten_modulo(int exponent, std::uint64_t modulus) {
  std::uint64_t result = 1 % modulus;
  std::uint64_t base = 10 % modulus;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = multiply_modulo(result, base, modulus);
    base = multiply_modulo(base, base, modulus);
  }
  return result;
}

std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  seed ^= value + 0x9e3779b97f4a7c15U + (seed << 6U) + (seed >> 2U);
  return seed * 0xff51afd7ed558ccdU;
}

std::uint64_t hash_text(std::string_view text) { return std::hash<std::string_view>{}(text); }

// Integers that doubles can hold hash as doubles do.
std::uint64_t hash_number(const json::Value& value) {
  double number = 0;
  if (value.is_double()) {
    number = value.get_double();
  } else if (value.is_int64()) {
    number = static_cast<double>(value.get_int64());
  } else {
    number = static_cast<double>(value.get_uint64());
  }
  return mix(4, std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number));
}

bool equal_objects(const json::Object& left, const json::Object& right, Budget& budget) {
  if (left.size() != right.size()) return false;
  for (const auto& member : left) {
    const auto* other = right.if_contains(member.key());
    if (other == nullptr || !equal(member.value(), *other, budget)) return false;
  }
  return true;
}

bool equal_arrays(const json::Array& left, const json::Array& right, Budget& budget) {
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!equal(left[i], right[i], budget)) return false;
  }
  return true;
}

std::string cut(std::string text) {
  if (text.size() <= kExcerptMax) return text;
  auto end = kExcerptMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  text.resize(end);
  return text + "…";
}

}  // namespace

Type type_of(const json::Value& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return Type::null;
    case boost::json::kind::bool_:
      return Type::boolean;
    case boost::json::kind::string:
      return Type::string;
    case boost::json::kind::array:
      return Type::array;
    case boost::json::kind::object:
      return Type::object;
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
    case boost::json::kind::double_:
      break;
  }
  return Type::number;
}

std::string_view to_string(Type type) {
  switch (type) {
    case Type::null:
      return "null";
    case Type::boolean:
      return "a boolean";
    case Type::object:
      return "an object";
    case Type::array:
      return "an array";
    case Type::number:
      return "a number";
    case Type::string:
      return "a string";
  }
  return "a value";
}

std::partial_ordering compare_numbers(const json::Value& left, const json::Value& right) {
  MR_ASSERT(left.is_number());
  MR_ASSERT(right.is_number());
  if (left.is_int64()) return compare_integer(left.get_int64(), right);
  if (left.is_uint64()) return compare_integer(left.get_uint64(), right);
  if (right.is_double()) return left.get_double() <=> right.get_double();
  return reversed(compare_numbers(right, left));
}

bool is_integer(const json::Value& value) {
  if (value.is_int64() || value.is_uint64()) return true;
  if (!value.is_double()) return false;
  return std::isfinite(value.get_double()) && std::trunc(value.get_double()) == value.get_double();
}

bool is_multiple_of(const json::Value& value, const json::Value& divisor) {
  if (value.is_double() && !std::isfinite(value.get_double())) return false;
  const auto number = decimal_of(value);
  const auto by = decimal_of(divisor);
  if (number.digits == 0) return true;
  if (by.digits == 0) return false;
  const int shift = number.exponent - by.exponent;
  if (shift >= 0) {
    const auto rest = power_of_ten_modulo(shift, by.digits);
    return multiply_modulo(number.digits % by.digits, rest, by.digits) == 0;
  }
  // number.digits, which has no zero at its end, would have to be a multiple of ten.
  return false;
}

bool equal(const json::Value& left, const json::Value& right, Budget& budget) {
  const auto type = type_of(left);
  if (type != type_of(right)) return false;
  if (!budget.spend(1)) return false;
  switch (type) {
    case Type::null:
      return true;
    case Type::boolean:
      return left.get_bool() == right.get_bool();
    case Type::number:
      return compare_numbers(left, right) == 0;
    case Type::string:
      return budget.spend(left.get_string().size() / 64) && left.get_string() == right.get_string();
    case Type::array:
    case Type::object:
      break;
  }
  if (!budget.enter()) return false;
  const bool same = type == Type::array
                        ? equal_arrays(left.get_array(), right.get_array(), budget)
                        : equal_objects(left.get_object(), right.get_object(), budget);
  budget.leave();
  return same;
}

std::uint64_t hash(const json::Value& value, Budget& budget) {
  const auto type = type_of(value);
  if (!budget.spend(1)) return 0;
  if (type == Type::number) return hash_number(value);
  if (type == Type::string) {
    if (!budget.spend(value.get_string().size() / 64)) return 0;
    return mix(5, hash_text(value.get_string()));
  }
  if (type == Type::boolean) return mix(1, value.get_bool() ? 1 : 0);
  if (type == Type::null) return mix(0, 0);
  if (!budget.enter()) return 0;
  std::uint64_t result = type == Type::array ? 3 : 2;
  if (type == Type::array) {
    for (const auto& item : value.get_array()) result = mix(result, hash(item, budget));
  } else {
    // The order of members does not count.
    std::uint64_t sum = 0;
    for (const auto& member : value.get_object()) {
      sum += mix(hash_text(member.key()), hash(member.value(), budget));
    }
    result = mix(result, sum);
  }
  budget.leave();
  return result;
}

std::string excerpt(const json::Value& value) { return cut(to_json(value)); }

std::string quoted_name(std::string_view name) {
  auto text = cut(json_quote(name));
  // Cut names have lost their closing quote.
  if (!text.ends_with('"')) text += '"';
  return text;
}

}  // namespace millrace::schema
