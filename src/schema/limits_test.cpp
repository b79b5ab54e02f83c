// What hostile schemas and values can cost: never more than the limits say, and the answer is then
// a clear refusal.
#include "schema/schema.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::schema {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

json::Value parse(std::string_view text) {
  auto value = parse_json(text, {.max_bytes = 16UZ << 20U, .max_depth = 10'000});
  EXPECT_TRUE(value) << value.error().message;
  return value ? *value : json::Value();
}

Schema compiled(std::string_view text, Limits limits = {}) {
  auto schema = Schema::compile(parse(text), {.limits = limits});
  if (!schema) throw std::runtime_error(schema.error().message);
  return *schema;
}

std::string limit_of(const Schema& schema, const json::Value& value) {
  const auto violations = schema.validate(value);
  if (violations.size() != 1 || violations[0].keyword != kLimitKeyword) return "no limit reached";
  return violations[0].message;
}

json::Value nested(int depth, std::string_view key) {
  json::Value value = 1;
  for (int i = 0; i < depth; ++i) {
    json::Object outer;
    outer.emplace(key, std::move(value));
    value = std::move(outer);
  }
  return value;
}

TEST(SchemaLimits, DepthOfValueAndSchema) {
  const auto schema = compiled(R"({"properties": {"a": {"$ref": "#"}}})");
  EXPECT_THAT(schema.validate(nested(400, "a")), IsEmpty());
  EXPECT_THAT(limit_of(schema, nested(2000, "a")), HasSubstr("deeper than 1000 levels"));
  // What no rule looks at costs nothing.
  EXPECT_THAT(schema.validate(nested(2000, "b")), IsEmpty());
  const auto compares = compiled(R"({"uniqueItems": true})");
  const auto deep = nested(2000, "a");
  EXPECT_THAT(limit_of(compares, json::Array{deep, deep}), HasSubstr("levels"));
  std::string text = "{}";
  for (int i = 0; i < 200; ++i) text = R"({"not": )" + text + "}";
  const auto refused = Schema::compile(parse(text));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the schema is nested deeper than 128 levels");
}

TEST(SchemaLimits, DepthIsReachedWhileTheReasonIsLookedFor) {
  const auto schema = compiled(R"({"properties": {"a": {"$ref": "#"}}, "required": ["b"]})");
  const auto violations = schema.validate(nested(2000, "a"));
  ASSERT_THAT(violations, testing::Not(IsEmpty()));
  EXPECT_LE(violations.size(), 100U);
}

// Each level asks the next one twice: 2^60 ways.
TEST(SchemaLimits, StepsOfSchemasThatMultiply) {
  std::string text = R"({"$ref": "#/$defs/s0", "$defs": {)";
  for (int i = 0; i < 60; ++i) {
    text += fmt::format(
        R"("s{0}": {{"anyOf": [{{"$ref": "#/$defs/s{1}"}}, {{"$ref": "#/$defs/s{1}"}}]}},)", i,
        i + 1);
  }
  const auto schema = compiled(text + R"("s60": {"type": "string"}}})", {.steps_max = 1'000'000});
  EXPECT_THAT(limit_of(schema, parse("1")), HasSubstr("more than 1000000 steps, the limit"));
  EXPECT_THAT(schema.validate(parse("\"x\"")), IsEmpty());
}

TEST(SchemaLimits, ReachingThemIsNeverSuccess) {
  const Limits few{.steps_max = 2000};
  json::Array ones;
  for (int i = 0; i < 1000; ++i) ones.emplace_back(1);
  const json::Value value(std::move(ones));
  for (const auto* text : {
           R"({"items": {"type": "number"}})",
           R"({"not": {"contains": {"type": "string"}}})",
           R"({"if": {"items": {"type": "number"}}, "else": true})",
           R"({"oneOf": [{"items": {"type": "number"}}, {"type": "string"}]})",
           R"({"anyOf": [{"not": {"items": {"type": "number"}}}, {"not": {"type": "array"}}]})",
           R"({"propertyNames": {"items": true}, "allOf": [{"items": {"enum": [1]}}]})",
           R"({"contains": {"type": "string"}, "minContains": 0, "unevaluatedItems": false})",
       }) {
    EXPECT_THAT(limit_of(compiled(text, few), value), HasSubstr("steps")) << text;
  }
}

TEST(SchemaLimits, CostlyPatternsAreRefusedNotGuessed) {
  const Limits few{.steps_max = 100'000};
  const auto value = parse("\"" + std::string(200, 'a') + "!\"");
  EXPECT_THAT(limit_of(compiled(R"({"pattern": "^(a+)+\\1b$"})", few), value), HasSubstr("steps"));
  EXPECT_THAT(limit_of(compiled(R"({"not": {"pattern": "^(a+)+\\1b$"}})", few), value),
              HasSubstr("steps"));
  EXPECT_THAT(compiled(R"({"pattern": "^(a+)+$"})", few).validate(value), SizeIs(1));
  EXPECT_THAT(limit_of(compiled(R"({"patternProperties": {"^(a+)+\\1b$": false}})", few),
                       nested(1, std::string(200, 'a'))),
              HasSubstr("steps"));
}

TEST(SchemaLimits, CountAndSizeOfViolations) {
  const auto schema = compiled(R"({"items": {"type": "string"}})");
  json::Array many;
  for (int i = 0; i < 1000; ++i) many.emplace_back(i);
  EXPECT_THAT(schema.validate(many), SizeIs(100));
  EXPECT_THAT(compiled(R"({"items": {"type": "string"}})", {.violations_max = 3}).validate(many),
              SizeIs(3));
  // Long names are shown in full once, and never in a message.
  json::Object object;
  for (int i = 0; i < 50; ++i) object.emplace(fmt::format("{}{}", std::string(100'000, 'k'), i), 1);
  const auto violations =
      compiled(R"({"additionalProperties": false})").validate(json::Value(std::move(object)));
  EXPECT_THAT(violations, SizeIs(3));
  for (const auto& violation : violations) EXPECT_LT(violation.message.size(), 300U);
}

TEST(SchemaLimits, MemoryOfNamesInSchemas) {
  // A long name above many schemas is kept once.
  std::string text = R"({"properties": {")" + std::string(500'000, 'k') + R"(": {"properties": {)";
  for (int i = 0; i < 20'000; ++i) text += fmt::format("{}\"{}\":{{}}", i == 0 ? "" : ",", i);
  EXPECT_TRUE(Schema::compile(parse(text + "}}}}")));
  std::string ids = R"({"$id": "http://x.example/)" + std::string(5000, 'k') + R"("})";
  const auto refused = Schema::compile(parse(ids));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("2048 bytes"));
}

TEST(SchemaLimits, SizeOfAllPatternsTogether) {
  std::string text = R"({"allOf": [)";
  for (int i = 0; i < 400; ++i) {
    text += fmt::format(R"({}{{"pattern": "(?:ab?){{{}}}"}})", i == 0 ? "" : ",", 3000 + i);
  }
  const auto refused = Schema::compile(parse(text + "]}"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("together are too large"));
}

}  // namespace
}  // namespace millrace::schema
