#include "schema/value.h"

#include <boost/json/array.hpp>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace millrace::schema {
namespace {

json::Value parse(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value) << text;
  return value ? *value : json::Value();
}

Budget plenty() { return {1'000'000, 1000}; }

bool same(std::string_view left, std::string_view right) {
  auto budget = plenty();
  const auto a = parse(left);
  const auto b = parse(right);
  const bool equals = equal(a, b, budget);
  EXPECT_EQ(equals, equal(b, a, budget)) << left << " " << right;
  if (equals) EXPECT_EQ(hash(a, budget), hash(b, budget)) << left << " " << right;
  return equals;
}

bool multiple(std::string_view value, std::string_view divisor) {
  return is_multiple_of(parse(value), parse(divisor));
}

TEST(Value, ComparesNumbersByValueWhateverHoldsThem) {
  EXPECT_TRUE(same("1", "1.0"));
  EXPECT_TRUE(same("-0.0", "0"));
  EXPECT_TRUE(same("1e3", "1000"));
  EXPECT_FALSE(same("9007199254740993", "9007199254740992.0"));
  EXPECT_TRUE(same("9007199254740992", "9007199254740992.0"));
  EXPECT_TRUE(same("18446744073709551615", "18446744073709551615"));
  EXPECT_FALSE(same("18446744073709551615", "18446744073709551616"));
  EXPECT_TRUE(same("18446744073709551616", "1.8446744073709551616e19"));
  EXPECT_FALSE(same("9223372036854775807", "9223372036854775808.0"));
  EXPECT_TRUE(same("-9223372036854775808", "-9223372036854775808.0"));
  EXPECT_FALSE(same("1", "1.5"));
}

TEST(Value, OrdersNumbersExactlyAtTheEndsOfTheirRanges) {
  const auto less = [](std::string_view a, std::string_view b) {
    return compare_numbers(parse(a), parse(b)) < 0 && compare_numbers(parse(b), parse(a)) > 0;
  };
  EXPECT_TRUE(less("-1", "18446744073709551615"));
  EXPECT_TRUE(less("9223372036854775807", "9223372036854775808"));
  EXPECT_TRUE(less("18446744073709551615", "18446744073709551616"));
  EXPECT_TRUE(less("-1e300", "-9223372036854775808"));
  EXPECT_TRUE(less("0", "0.5"));
  EXPECT_TRUE(less("-0.5", "0"));
  EXPECT_TRUE(less("9007199254740992.0", "9007199254740993"));
  const json::Value nan(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(compare_numbers(nan, json::Value(1)), std::partial_ordering::unordered);
  EXPECT_EQ(compare_numbers(json::Value(1), nan), std::partial_ordering::unordered);
}

TEST(Value, KnowsAnIntegerHoweverItIsWritten) {
  for (const auto* text : {"1", "1.0", "-0.0", "1e300", "18446744073709551615"}) {
    EXPECT_TRUE(is_integer(parse(text))) << text;
  }
  for (const auto* text : {"1.5", "1e-300", "\"1\"", "null", "true"}) {
    EXPECT_FALSE(is_integer(parse(text))) << text;
  }
  EXPECT_FALSE(is_integer(json::Value(std::numeric_limits<double>::infinity())));
}

TEST(Value, DividesInDecimalDigits) {
  EXPECT_TRUE(multiple("0.3", "0.1"));
  EXPECT_TRUE(multiple("0.0075", "0.0001"));
  EXPECT_FALSE(multiple("0.00751", "0.0001"));
  EXPECT_TRUE(multiple("4.35", "0.01"));
  EXPECT_TRUE(multiple("-21", "7"));
  EXPECT_TRUE(multiple("0", "0.7"));
  EXPECT_FALSE(multiple("1e308", "0.123456789"));
  EXPECT_TRUE(multiple("12391239123", "1e-8"));
  EXPECT_TRUE(multiple("9007199254740993", "3"));
  EXPECT_FALSE(multiple("9007199254740993", "2"));
  EXPECT_TRUE(multiple("-9223372036854775808", "2"));
  EXPECT_TRUE(multiple("18446744073709551615", "5"));
  EXPECT_TRUE(multiple("1e308", "1e-308"));
  EXPECT_FALSE(multiple("5e-324", "1"));
  EXPECT_TRUE(multiple("100", "1e2"));
  EXPECT_FALSE(multiple("150", "1e2"));
  EXPECT_FALSE(is_multiple_of(json::Value(std::nan("")), json::Value(1)));
}

TEST(Value, ComparesDeeplyAndWithoutRegardToTheOrderOfMembers) {
  EXPECT_TRUE(same(R"({"a":[1,{"b":2}],"c":null})", R"({"c":null,"a":[1.0,{"b":2.0}]})"));
  EXPECT_FALSE(same("[1,2]", "[2,1]"));
  EXPECT_FALSE(same(R"({"a":1})", R"({"a":1,"b":1})"));
  EXPECT_FALSE(same("false", "0"));
  EXPECT_FALSE(same("[false]", "[0]"));
  EXPECT_FALSE(same("\"\"", "null"));
  EXPECT_FALSE(same("\"1\"", "1"));
}

TEST(Value, StopsComparingWhenTheBudgetIsUsedUp) {
  const auto value = parse("[1,2,3,4,5,6]");
  Budget few(3, 1000);
  EXPECT_FALSE(equal(value, value, few));
  EXPECT_TRUE(few.stopped());
  json::Value deep = json::Array{};
  for (int i = 0; i < 100; ++i) deep = json::Array{deep};
  Budget shallow(1'000'000, 50);
  EXPECT_FALSE(equal(deep, deep, shallow));
  EXPECT_TRUE(shallow.too_deep());
}

TEST(Value, CutsExcerptsBetweenCharacters) {
  EXPECT_EQ(excerpt(parse(R"({"a":0.1})")), R"({"a":0.1})");
  const auto cut = quoted_name(std::string(79, 'x') + "ééé");
  EXPECT_TRUE(cut.ends_with("…\"")) << cut;
  EXPECT_EQ(cut, "\"" + std::string(79, 'x') + "…\"");
}

}  // namespace
}  // namespace millrace::schema
