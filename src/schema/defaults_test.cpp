// J-01: the defaults of inputs.schema.json are filled in before anything is hashed or run.
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
  auto value = parse_json(text);
  EXPECT_TRUE(value) << text << value.error().message;
  return value ? *value : json::Value();
}

Schema compiled(std::string_view text, SchemaOptions options = {}) {
  auto schema = Schema::compile(parse(text), std::move(options));
  if (!schema) throw std::runtime_error(schema.error().message);
  return *schema;
}

std::string filled(const Schema& schema, std::string_view value) {
  auto result = schema.with_defaults(parse(value));
  if (!result) return result.error().message;
  // What was filled in is there: a second time adds nothing.
  EXPECT_EQ(to_json(*schema.with_defaults(*result)), to_json(*result));
  return to_json(*result);
}

std::string filled(std::string_view schema, std::string_view value, SchemaOptions options = {}) {
  return filled(compiled(schema, std::move(options)), value);
}

TEST(Defaults, FillAbsentPropertiesInTheOrderOfTheSchema) {
  const auto* schema = R"({"properties": {"a": {"default": 1}, "b": {}, "c": {"default": null}}})";
  EXPECT_EQ(filled(schema, "{}"), R"({"a":1,"c":null})");
  EXPECT_EQ(filled(schema, R"({"c":2,"z":3})"), R"({"c":2,"z":3,"a":1})");
  EXPECT_EQ(filled(schema, R"({"a":null})"), R"({"a":null,"c":null})");
  EXPECT_EQ(filled(schema, "[]"), "[]");
  EXPECT_EQ(filled(R"({"default": 3})", "{}"), "{}");
  EXPECT_EQ(filled("true", "{}"), "{}");
}

TEST(Defaults, ReachIntoWhatIsThereAndWhatWasFilledIn) {
  const auto* schema = R"({"properties": {
    "page": {"default": {}, "properties": {"size": {"default": "A4"}}},
    "absent": {"properties": {"x": {"default": 1}}},
    "list": {"items": {"properties": {"n": {"default": 0}}}},
    "pair": {"prefixItems": [{"properties": {"l": {"default": 1}}}], "items": {"properties": {"r": {"default": 2}}}}},
    "patternProperties": {"^x-": {"properties": {"p": {"default": true}}}},
    "additionalProperties": {"properties": {"q": {"default": false}}}})";
  EXPECT_EQ(filled(schema, "{}"), R"({"page":{"size":"A4"}})");
  EXPECT_EQ(
      filled(schema,
             R"({"page":{"size":"A5"},"list":[{},{"n":1},3],"pair":[{},{}],"x-1":{},"other":{}})"),
      R"({"page":{"size":"A5"},"list":[{"n":0},{"n":1},3],"pair":[{"l":1},{"r":2}],"x-1":{"p":true},"other":{"q":false}})");
}

TEST(Defaults, FollowReferencesAndAllOf) {
  const auto* schema = R"({
    "$defs": {"limit": {"type": "integer", "default": 10}, "base": {"properties": {"b": {"default": "base"}, "a": {"default": "late"}}}},
    "properties": {"limit": {"$ref": "#/$defs/limit"}, "a": {"default": "own"}, "m": {"allOf": [{}, {"default": 5}]},
                   "n": {"$ref": "#/$defs/limit", "default": 20}},
    "allOf": [{"$ref": "#/$defs/base"}, {"properties": {"b": {"default": "second"}}}]})";
  EXPECT_EQ(filled(schema, "{}"), R"({"limit":10,"a":"own","m":5,"n":20,"b":"base"})");
  // In draft 7 what stands beside $ref does not count.
  EXPECT_EQ(
      filled(
          R"({"definitions": {"l": {"default": 1}}, "properties": {"n": {"$ref": "#/definitions/l", "default": 2}}})",
          "{}", {.draft = Draft::draft7}),
      R"({"n":1})");
}

TEST(Defaults, ComeFromTheBranchThatHolds) {
  const auto* schema = R"({
    "properties": {"kind": {"default": "a"}},
    "if": {"properties": {"kind": {"const": "a"}}},
    "then": {"properties": {"x": {"default": 1}}},
    "else": {"properties": {"y": {"default": 2}}}})";
  EXPECT_EQ(filled(schema, "{}"), R"({"kind":"a","x":1})");
  EXPECT_EQ(filled(schema, R"({"kind":"b"})"), R"({"kind":"b","y":2})");
}

TEST(Defaults, ComeFromAlternativesThatHold) {
  const auto* any = R"({"anyOf": [
    {"required": ["a"], "properties": {"x": {"default": 1}}},
    {"required": ["b"], "properties": {"x": {"default": 2}, "y": {"default": 2}}}]})";
  EXPECT_EQ(filled(any, R"({"a":0})"), R"({"a":0,"x":1})");
  EXPECT_EQ(filled(any, R"({"a":0,"b":0})"), R"({"a":0,"b":0,"x":1,"y":2})");
  EXPECT_EQ(filled(any, "{}"), "{}");
  const auto* one = R"({"oneOf": [
    {"properties": {"k": {"const": 1}, "x": {"default": 1}}, "required": ["k"]},
    {"properties": {"k": {"const": 2}, "x": {"default": 2}}, "required": ["k"]},
    {"required": ["both"], "properties": {"x": {"default": 3}}}]})";
  EXPECT_EQ(filled(one, R"({"k":2})"), R"({"k":2,"x":2})");
  EXPECT_EQ(filled(one, R"({"k":2,"both":1})"), R"({"k":2,"both":1})");
  EXPECT_EQ(filled(R"({"not": {"properties": {"x": {"default": 1}}, "required": ["z"]}})", "{}"),
            "{}");
}

TEST(Defaults, ComeFromDependentSchemasWhenTheirPropertyIsThere) {
  const auto* schema =
      R"({"dependentSchemas": {"card": {"properties": {"currency": {"default": "EUR"}}}}})";
  EXPECT_EQ(filled(schema, "{}"), "{}");
  EXPECT_EQ(filled(schema, R"({"card":1})"), R"({"card":1,"currency":"EUR"})");
}

TEST(Defaults, BadOnesAreFilledInAndShowWhenTheValueIsValidated) {
  const auto schema = compiled(R"({"properties": {"n": {"type": "integer", "default": "three"},
                                                  "m": {"type": "integer", "default": 3},
                                                  "o": {"default": {}, "required": ["p"], "properties": {"p": {"default": 1}}}}})");
  EXPECT_THAT(schema.validate(parse("{}")), IsEmpty());
  const auto value = schema.with_defaults(parse("{}"));
  ASSERT_TRUE(value);
  const auto violations = schema.validate(*value);
  ASSERT_THAT(violations, SizeIs(1));
  EXPECT_EQ(violations[0].instance_path, "/n");
  const auto bad = schema.check_defaults();
  ASSERT_THAT(bad, SizeIs(1));
  EXPECT_EQ(bad[0].message,
            "default of /properties/n: the value must be a whole number, is a string");
}

TEST(Defaults, AreCopies) {
  const auto schema = compiled(R"({"properties": {"list": {"default": [1]}}})");
  auto first = schema.with_defaults(json::Object{});
  ASSERT_TRUE(first);
  first->as_object()["list"].as_array().emplace_back(2);
  EXPECT_EQ(filled(schema, "{}"), R"({"list":[1]})");
}

TEST(Defaults, ThatNestWithoutEndAreRefused) {
  EXPECT_THAT(filled(R"({"properties": {"a": {"$ref": "#", "default": {}}}})", "{}"),
              HasSubstr("cannot be filled in: schema and value are nested deeper"));
  const auto schema = compiled(R"({"properties": {"a": {"$ref": "#", "default": {}}}})");
  EXPECT_THAT(schema.check_defaults(), SizeIs(1));
}

TEST(Defaults, ThatAddTooMuchAreRefused) {
  const auto text = fmt::format(R"({{"items": {{"properties": {{"a": {{"default": "{}"}}}}}}}})",
                                std::string(100'000, 'x'));
  const auto schema = compiled(text);
  json::Array many;
  for (int i = 0; i < 1000; ++i) many.emplace_back(json::Object{});
  const auto result = schema.with_defaults(many);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::invalid_argument);
  EXPECT_THAT(result.error().message, HasSubstr("more than 8388608 bytes"));
}

}  // namespace
}  // namespace millrace::schema
