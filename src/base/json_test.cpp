#include "base/json.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace millrace {
namespace {

std::string error_of(std::string_view text, JsonLimits limits = {}) {
  const auto parsed = parse_json(text, limits);
  if (parsed) return "accepted";
  EXPECT_EQ(parsed.error().kind, ErrorKind::invalid_argument);
  EXPECT_FALSE(parsed.error().message.contains('\n'));
  return parsed.error().message;
}

TEST(ParseJson, ReadsWhatItWrites) {
  for (const auto* text :
       {"null", "true", "[]", "{}", R"({"a":[1,-2,0.1,1e+300,"x\n\"\\\u0001"],"b":{"c":null}})",
        R"("zwölf")", "18446744073709551615", "-9223372036854775808"}) {
    const auto value = parse_json(text);
    ASSERT_TRUE(value) << value.error().message;
    EXPECT_EQ(to_json(*value), text);
  }
}

TEST(ParseJson, RefusesDuplicateKeysAtAnyDepth) {
  EXPECT_TRUE(error_of(R"({"a":1,"b":2,"a":3})").contains(R"("a" appears twice)"));
  EXPECT_TRUE(error_of(R"([{"x":{"k":1,"\u006b":2}}])").contains(R"("k" appears twice)"));
  EXPECT_TRUE(error_of(R"({"":1,"":2})").contains("appears twice"));
  EXPECT_EQ(error_of(R"({"a":{"a":1},"b":[{"a":1},{"a":2}]})"), "accepted");
}

TEST(ParseJson, SaysWhatIsWrongAndWhere) {
  EXPECT_TRUE(error_of("").contains("empty"));
  EXPECT_TRUE(error_of("  \n").contains("empty"));
  EXPECT_TRUE(error_of("{\"a\":1,}").contains("at byte 7"));
  EXPECT_TRUE(error_of("{\"a\":1} x").contains("at byte 8"));
  EXPECT_TRUE(error_of("[1").contains("at byte 2"));
  EXPECT_TRUE(error_of("nul").contains("invalid JSON"));
  EXPECT_TRUE(error_of("\"\xff\"").contains("invalid JSON"));
  EXPECT_TRUE(error_of("\"\\ud800\"").contains("invalid JSON"));
  EXPECT_TRUE(error_of("1e999").contains("invalid JSON"));
  EXPECT_TRUE(error_of("NaN").contains("invalid JSON"));
  EXPECT_TRUE(error_of("// no comments\n1").contains("invalid JSON"));
}

TEST(ParseJson, HoldsItsLimits) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(error_of(nested(64)), "accepted");
  EXPECT_TRUE(error_of(nested(65)).contains("deeper than 64"));
  EXPECT_TRUE(error_of("[1,2,3]", {.max_bytes = 6}).contains("larger than the limit of 6"));
  EXPECT_EQ(error_of("[1,2,3]", {.max_bytes = 7}), "accepted");
}

TEST(ParseJson, KeepsLongKeysAndStringsWhole) {
  const std::string key(10'000, 'k');
  const std::string text = "{\"" + key + "\":\"" + std::string(10'000, 'v') + "\"}";
  const auto value = parse_json_object(text);
  ASSERT_TRUE(value);
  EXPECT_EQ(to_json(*value), text);
  EXPECT_TRUE(parse_json_object("[1]").error().message.contains("object is expected"));
}

TEST(ParseJson, NumbersAreTheNearestDouble) {
  for (const char* text : {"18446747307409551615", "0.1", "1.7976931348623157e308",
                           "2.2250738585072011e-308", "9007199254740993.5", "123456.789e-30"}) {
    EXPECT_EQ(parse_json(text)->as_double(), std::strtod(text, nullptr)) << text;
  }
  SeededRandom random(7);
  for (int i = 0; i < 2000; ++i) {
    const auto value = std::bit_cast<double>(random.next());
    if (!std::isfinite(value)) continue;
    const auto text = json_number(value);
    EXPECT_EQ(json_number(parse_json(text)->to_number<double>()), text);
  }
  EXPECT_FALSE(parse_json("1e999"));
  EXPECT_EQ(parse_json("1e-999")->as_double(), 0.0);
}

TEST(JsonNumber, PrintsAsEcmaScriptDoes) {
  const std::pair<double, const char*> cases[] = {
      {0.1, "0.1"},
      {1.0, "1"},
      {-0.0, "0"},
      {1e21, "1e+21"},
      {1e20, "100000000000000000000"},
      {1e-6, "0.000001"},
      {1e-7, "1e-7"},
      {123.456, "123.456"},
      {-1.5e-9, "-1.5e-9"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {0.30000000000000004, "0.30000000000000004"}};
  for (const auto& [number, text] : cases) EXPECT_EQ(json_number(number), text);
  EXPECT_EQ(json_number(std::nan("")), "null");
  EXPECT_EQ(json_number(std::numeric_limits<double>::infinity()), "null");
}

TEST(JsonQuote, EscapesControlsAndRepairsBrokenUtf8) {
  EXPECT_EQ(json_quote("a\"\\\n\x01z"), R"("a\"\\\n\u0001z")");
  EXPECT_EQ(json_quote("ok \xc3\xa9 bad \xc3( \xed\xa0\x80"), "\"ok é bad �( ���\"");
  EXPECT_EQ(json_quote(std::string_view("\0", 1)), R"("\u0000")");
}

TEST(CanonicalJson, SortsByUtf16UnitsAsRfc8785Asks) {
  const auto value =
      parse_json(R"({"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7})");
  ASSERT_TRUE(value);
  EXPECT_EQ(canonical_json(*value),
            "{\"\\r\":2,\"1\":4,\"\xc2\x80\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\xef\xac\xb3\":3}");
  EXPECT_EQ(canonical_json(*parse_json("[1.0,10000000000000001,1e2]")),
            "[1,10000000000000000,100]");
}

TEST(PrettyJson, GivesEachMemberALine) {
  EXPECT_EQ(to_pretty_json(*parse_json(R"({"a":[1,{}],"b":[]})")),
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}\n");
}

}  // namespace
}  // namespace millrace
