#include "schema/schema.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

// J-01, J-10, H-23: payloads, outputs and request bodies are held against schemas.
namespace millrace::schema {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

json::Value parse(std::string_view text) {
  auto value = parse_json(text, {.max_depth = 1000});
  EXPECT_TRUE(value) << text << ": " << value.error().message;
  return value ? *value : json::Value();
}

Schema compiled(std::string_view text, SchemaOptions options = {}) {
  auto schema = Schema::compile(parse(text), std::move(options));
  if (!schema) throw std::runtime_error(schema.error().message);
  return *schema;
}

std::string refusal(std::string_view text, SchemaOptions options = {}) {
  const auto schema = Schema::compile(parse(text), std::move(options));
  if (schema) return "accepted";
  EXPECT_EQ(schema.error().kind, ErrorKind::invalid_argument);
  EXPECT_FALSE(schema.error().message.contains('\n'));
  return schema.error().message;
}

std::vector<std::string> messages(const Schema& schema, std::string_view value) {
  std::vector<std::string> texts;
  for (const auto& violation : schema.validate(parse(value))) texts.push_back(violation.message);
  return texts;
}

std::vector<std::string> messages(std::string_view schema, std::string_view value) {
  return messages(compiled(schema), value);
}

bool valid(std::string_view schema, std::string_view value, SchemaOptions options = {}) {
  return compiled(schema, std::move(options)).validate(parse(value)).empty();
}

TEST(Schema, NamesFieldRuleAndPlaceOfEveryViolation) {
  const auto schema = compiled(R"({
    "type": "object", "required": ["name", "a/b"],
    "properties": {"age": {"type": "integer", "minimum": 18}, "tags": {"items": {"$ref": "#/$defs/tag"}}},
    "$defs": {"tag": {"type": "string", "maxLength": 3}}})");
  const auto violations =
      schema.validate(parse(R"({"age": 12, "a/b": 1, "tags": ["ok", "long", 7]})"));
  ASSERT_THAT(violations, SizeIs(4));
  EXPECT_EQ(violations[0], (Violation{.instance_path = "",
                                      .schema_path = "/required",
                                      .keyword = "required",
                                      .message = "the value must have the property \"name\""}));
  EXPECT_EQ(violations[1], (Violation{.instance_path = "/age",
                                      .schema_path = "/properties/age/minimum",
                                      .keyword = "minimum",
                                      .message = "/age must be 18 or more"}));
  EXPECT_EQ(violations[2], (Violation{.instance_path = "/tags/1",
                                      .schema_path = "/$defs/tag/maxLength",
                                      .keyword = "maxLength",
                                      .message = "/tags/1 must have at most 3 characters, has 4"}));
  EXPECT_EQ(violations[3], (Violation{.instance_path = "/tags/2",
                                      .schema_path = "/$defs/tag/type",
                                      .keyword = "type",
                                      .message = "/tags/2 must be a string, is a number"}));
}

TEST(Schema, ExplainsEveryKeywordInWords) {
  const struct {
    const char* schema;
    const char* value;
    const char* message;
  } cases[] = {
      {R"({"type": ["string", "null"]})", "1", "must be null or a string, is a number"},
      {R"({"type": "integer"})", "1.5", "must be a whole number, is a number"},
      {R"({"enum": [1, "a"]})", "2", "must be one of [1,\"a\"]"},
      {R"({"const": {"a": 1}})", "2", "must be {\"a\":1}"},
      {R"({"maximum": 2.5})", "3", "must be 2.5 or less"},
      {R"({"exclusiveMinimum": 3})", "3", "must be more than 3"},
      {R"({"exclusiveMaximum": 3})", "3", "must be less than 3"},
      {R"({"multipleOf": 0.01})", "0.001", "must be a multiple of 0.01"},
      {R"({"minLength": 2})", "\"é\"", "must have at least 2 characters, has 1"},
      {R"({"pattern": "^a"})", "\"b\"", "must match the pattern \"^a\""},
      {R"({"minItems": 1})", "[]", "must have at least 1 items, has 0"},
      {R"({"maxItems": 1})", "[1,2]", "must have at most 1 items, has 2"},
      {R"({"uniqueItems": true})", "[1,2,1.0]", "must not have equal items, 0 and 2 are"},
      {R"({"contains": {"const": 1}})", "[2]", "must contain at least 1 item of the kind"},
      {R"({"contains": {"const": 1}, "maxContains": 1})", "[1,1]", "must contain at most 1 item"},
      {R"({"minProperties": 1})", "{}", "must have at least 1 properties, has 0"},
      {R"({"maxProperties": 0})", R"({"a":1})", "must have at most 0 properties, has 1"},
      {R"({"propertyNames": {"maxLength": 1}})", R"({"ab":1})", "property of the name \"ab\""},
      {R"({"additionalProperties": false})", R"({"a":1})",
       "/a is a property that the schema does not allow"},
      {R"({"prefixItems": [true], "items": false})", "[1,2]", "/1 is an item too many"},
      {R"({"properties": {"a": false}})", R"({"a":1})", "/a is not allowed"},
      {R"({"dependentRequired": {"a": ["b"]}})", R"({"a":1})",
       "must have the property \"b\", because it has \"a\""},
      {R"({"unevaluatedProperties": false})", R"({"a":1})", "/a is a property"},
      {R"({"not": {}})", "1", "must not match the schema of not"},
      {R"({"oneOf": [{}, {}]})", "1", "must match exactly one schema of oneOf, matches 0 and 1"},
      {R"({"anyOf": [{"type": "null"}]})", "1", "must match one of the 1 schemas of anyOf"},
      {"false", "1", "the value is not allowed"},
  };
  for (const auto& [schema, value, message] : cases) {
    const auto found = messages(schema, value);
    ASSERT_THAT(found, testing::Not(IsEmpty())) << schema;
    EXPECT_THAT(found.front(), HasSubstr(message)) << schema;
  }
}

// Messages are logged and sent to clients; payloads hold what nobody may read there.
TEST(Schema, NeverShowsValuesOfTheInstance) {
  const auto schema = compiled(R"({
    "properties": {
      "a": {"type": "null"}, "b": {"const": 1}, "c": {"enum": [1]}, "d": {"pattern": "^x$"},
      "e": {"maxLength": 1}, "f": {"anyOf": [{"maxLength": 1}]}, "g": {"not": {"type": "string"}},
      "h": {"format": "date"}}})",
                               {.assert_formats = true});
  std::string value = "{";
  for (const char name : std::string("abcdefgh")) {
    value += std::string(value.size() > 1 ? "," : "") + "\"" + name + "\":\"hunter2\"";
  }
  const auto violations = schema.validate(parse(value + "}"));
  EXPECT_GE(violations.size(), 8U);
  for (const auto& violation : violations) {
    EXPECT_THAT(violation.message, testing::Not(HasSubstr("hunter2")));
  }
}

TEST(Schema, ShowsTheAlternativeThatComesClosest) {
  const auto schema = compiled(R"({"oneOf": [
    {"type": "string"},
    {"properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
    {"properties": {"kind": {"const": "square"}, "side": {"type": "number"}}, "required": ["kind", "side"]}]})");
  EXPECT_THAT(messages(schema, R"({"kind": "square", "side": "long"})"),
              ElementsAre("the value must match one of the 3 schemas of oneOf",
                          "/side must be a number, is a string"));
  EXPECT_THAT(messages(schema, R"({"kind": "circle"})"),
              ElementsAre("the value must match one of the 3 schemas of oneOf",
                          "the value must have the property \"radius\""));
}

TEST(Schema, RefusesWhatItsMetaSchemaRefuses) {
  const auto draft7 = SchemaOptions{.draft = Draft::draft7};
  EXPECT_EQ(refusal(R"({"minimum": "1"})"), "schema: /minimum must be a number, is a string");
  EXPECT_EQ(refusal(R"({"minimum": "1"})", draft7),
            "schema: /minimum must be a number, is a string");
  EXPECT_THAT(refusal(R"({"properties": {"a": {"type": "strin"}}})"),
              HasSubstr("/properties/a/type must be one of"));
  EXPECT_THAT(refusal(R"({"items": [{}]})"), HasSubstr("/items must be"));
  EXPECT_EQ(refusal(R"({"items": [{}]})", draft7), "accepted");
  EXPECT_THAT(refusal(R"({"required": ["a", "a"]})"), HasSubstr("/required must not have equal"));
  EXPECT_THAT(refusal(R"({"multipleOf": 0})"), HasSubstr("/multipleOf must be more than 0"));
  EXPECT_THAT(refusal(R"({"$anchor": "1"})"), HasSubstr("/$anchor must match the pattern"));
  EXPECT_THAT(refusal("[]"), HasSubstr("must be an object, true or false"));
  EXPECT_THAT(refusal("3", draft7), HasSubstr("must be an object, true or false"));
}

TEST(Schema, RefusesPatternsAndReferencesThatMeanNothing) {
  EXPECT_EQ(refusal(R"({"properties": {"a": {"pattern": "("}}})"),
            "/properties/a/pattern \"(\" is not a pattern of ECMA-262: at byte 1: a group is not "
            "closed, a ')' is missing");
  EXPECT_THAT(refusal(R"({"patternProperties": {"[": {}}})"), HasSubstr("not a pattern"));
  EXPECT_EQ(refusal(R"({"items": {"$ref": "#/$defs/no"}})"),
            "/items/$ref \"#/$defs/no\" leads nowhere: there is nothing at \"/$defs/no\"");
  EXPECT_THAT(refusal(R"({"$ref": "#no"})"), HasSubstr("no anchor \"no\""));
  EXPECT_THAT(refusal(R"({"$ref": "http://x.example/y.json"})"), HasSubstr("nothing is fetched"));
  EXPECT_THAT(refusal(R"({"$ref": "#/a", "a": 1})"), HasSubstr("is not a schema"));
  EXPECT_THAT(refusal(R"({"$ref": "#/a", "a": {"type": 1}})"), HasSubstr("schema /a: /type must"));
  EXPECT_THAT(refusal(R"({"$ref": "#/%zz~"})"), HasSubstr("is not a JSON pointer"));
  EXPECT_THAT(refusal(R"({"$defs": {"a": {"$id": "x"}, "b": {"$id": "x"}}})"),
              HasSubstr("/$defs/b/$id is the $id of another schema too"));
}

TEST(Schema, RefusesReferencesInACircle) {
  EXPECT_THAT(refusal(R"({"$ref": "#"})"), HasSubstr("refers to itself without end"));
  EXPECT_THAT(
      refusal(R"({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}},
                          "items": {"$ref": "#/$defs/a"}})"),
      HasSubstr("refers to itself without end"));
  EXPECT_EQ(refusal(R"({"properties": {"next": {"$ref": "#"}}})"), "accepted");
  // Only a value can tell: found out when one comes.
  const auto schema = compiled(R"({"anyOf": [{"$ref": "#"}]})");
  const auto violations = schema.validate(parse("1"));
  ASSERT_THAT(violations, SizeIs(1));
  EXPECT_EQ(violations[0].keyword, kLimitKeyword);
  EXPECT_THAT(violations[0].message, HasSubstr("nested deeper than 1000 levels"));
}

TEST(Schema, ReadsEachDocumentByItsOwnDraft) {
  // In draft 7 nothing beside $ref counts, and dependencies do.
  const auto* text =
      R"({"$defs": {"s": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/s", "maxLength": 1}}})";
  EXPECT_FALSE(valid(text, R"({"a": "xx"})"));
  EXPECT_TRUE(valid(text, R"({"a": "xx"})", {.draft = Draft::draft7}));
  const auto draft7 = compiled(
      R"({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "null"}]})");
  EXPECT_EQ(draft7.draft(), Draft::draft7);
  EXPECT_THAT(draft7.validate(parse("[1]")), SizeIs(1));
  EXPECT_THAT(refusal(R"({"$schema": "http://json-schema.org/draft-04/schema#"})"),
              HasSubstr("is neither draft 7 nor 2020-12"));
  // A draft 7 document that a 2020-12 one refers to.
  SchemaOptions options;
  options.documents["http://x.example/old.json"] = parse(
      R"({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "null"}]})");
  const auto mixed = compiled(R"({"$ref": "http://x.example/old.json"})", options);
  EXPECT_EQ(mixed.draft(), Draft::draft2020_12);
  const auto violations = mixed.validate(parse("[1]"));
  ASSERT_THAT(violations, SizeIs(1));
  EXPECT_EQ(violations[0].schema_path, "http://x.example/old.json#/items/0/type");
}

TEST(Schema, FindsDocumentsByTheirUriAndByTheirId) {
  SchemaOptions options{.base_uri = "http://x.example/contracts/root.json"};
  options.documents["http://x.example/contracts/money.json"] =
      parse(R"({"$id": "http://y.example/money", "$defs": {"cents": {"type": "integer"}}})");
  const auto* by_uri = R"({"$ref": "money.json#/$defs/cents"})";
  const auto* by_id = R"({"$ref": "http://y.example/money#/$defs/cents"})";
  EXPECT_FALSE(valid(by_uri, "1.5", options));
  EXPECT_FALSE(valid(by_id, "1.5", options));
  EXPECT_TRUE(valid(by_id, "15", options));
}

TEST(Schema, DocumentsThatNobodyRefersToMayBeBroken) {
  SchemaOptions options;
  options.documents["http://x.example/a"] = parse(R"({"type": 1})");
  options.documents["http://x.example/b"] = parse(R"({"$schema": "http://x.example/unknown"})");
  options.documents["http://x.example/c"] = parse(
      R"({"$id": "http://x.example/d", "$defs": {"a": {"$id": "e"}, "b": {"$id": "e"}, "c": {}}})");
  EXPECT_EQ(refusal("{}", options), "accepted");
  EXPECT_EQ(
      refusal(R"({"$ref": "http://x.example/a"})", options),
      "schema http://x.example/a#: /type must match one of the 2 schemas of anyOf; /type must "
      "be one of [\"array\",\"boolean\",\"integer\",\"null\",\"number\",\"object\",\"string\"]");
  EXPECT_THAT(refusal(R"({"$ref": "http://x.example/b"})", options), HasSubstr("unknown"));
  for (const auto* reference : {"c", "d", "d#/$defs/c", "e"}) {
    EXPECT_THAT(refusal(R"({"$ref": "http://x.example/)" + std::string(reference) + "\"}", options),
                HasSubstr("is the $id of another schema too"));
  }
}

TEST(Schema, TakesMetaSchemasThatAreHandedIn) {
  SchemaOptions options;
  options.documents["http://x.example/meta"] = parse(R"({
    "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "http://x.example/meta",
    "$vocabulary": {"https://json-schema.org/draft/2020-12/vocab/core": true,
                    "https://json-schema.org/draft/2020-12/vocab/validation": true,
                    "https://json-schema.org/draft/2020-12/vocab/format-assertion": true,
                    "http://x.example/vocabulary": false},
    "required": ["title"]})");
  const auto* head = R"({"$schema": "http://x.example/meta", "title": "t", )";
  EXPECT_EQ(refusal(R"({"$schema": "http://x.example/meta"})", options),
            "schema: the value must have the property \"title\"");
  EXPECT_FALSE(valid(head + std::string(R"("type": "string"})"), "1", options));
  // Without the vocabulary of applicators, they say nothing.
  EXPECT_TRUE(valid(head + std::string(R"("items": {"type": "string"}})"), "[1]", options));
  EXPECT_FALSE(valid(head + std::string(R"("format": "date"})"), "\"x\"", options));
  // Its own mistakes are found although this meta-schema allows them.
  EXPECT_EQ(refusal(head + std::string(R"("minLength": -1})"), options),
            "/minLength must be a whole number, 0 or more");
  options.documents["http://x.example/needs"] = parse(R"({
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$vocabulary": {"http://x.example/vocabulary": true}})");
  EXPECT_THAT(refusal(R"({"$schema": "http://x.example/needs"})", options),
              HasSubstr("needs the vocabulary \"http://x.example/vocabulary\""));
}

TEST(Schema, DemandsFormatsOnlyWhenAsked) {
  EXPECT_TRUE(valid(R"({"format": "uuid"})", "\"x\""));
  EXPECT_FALSE(valid(R"({"format": "uuid"})", "\"x\"", {.assert_formats = true}));
  EXPECT_TRUE(valid(R"({"format": "uuid"})", "1", {.assert_formats = true}));
  EXPECT_TRUE(valid(R"({"format": "color"})", "\"x\"", {.assert_formats = true}));
}

TEST(Schema, DoesNotBlameUnevaluatedPropertiesForOtherFaults) {
  EXPECT_THAT(
      messages(
          R"({"allOf": [{"properties": {"a": {"type": "string"}}}], "unevaluatedProperties": false})",
          R"({"a": 1})"),
      ElementsAre("/a must be a string, is a number"));
}

TEST(Schema, IsSharedByThreads) {
  const auto schema =
      compiled(R"({"items": {"pattern": "^(a|b)*$", "unevaluatedProperties": false}})");
  const auto good = parse(R"(["abab", "", "a"])");
  const auto bad = parse(R"(["abab", "c"])");
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([copy = schema, &good, &bad] {
      for (int n = 0; n < 50; ++n) {
        EXPECT_THAT(copy.validate(good), IsEmpty());
        EXPECT_THAT(copy.validate(bad), SizeIs(1));
      }
    });
  }
}

TEST(Schema, KeepsItsDocument) {
  const auto schema = compiled(R"({"title": "t"})");
  EXPECT_EQ(to_json(schema.document()), R"({"title":"t"})");
}

}  // namespace
}  // namespace millrace::schema
