// Random schemas and values: whatever they are, the answer comes, is the same every time, and keeps
// what is promised of it. The seed is printed; a failing one becomes a test of its own.
#include "base/random.h"

#include "schema/schema.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

namespace millrace::schema {
namespace {

constexpr std::uint64_t kSeed = 20'240'229;
constexpr int kRounds = 3000;

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  json::Value value(int depth) {
    switch (random_.below(depth > 0 ? 9 : 6)) {
      case 0:
        return nullptr;
      case 1:
        return random_.below(2) == 0;
      case 2:
        return random_.between(-3, 3);
      case 3:
        return static_cast<double>(random_.between(-300, 300)) / 100;
      case 4:
        return random_.below(2) == 0 ? json::Value(random_.next())
                                     : json::Value(static_cast<double>(random_.next()));
      case 5:
        return json::Value(text());
      case 6: {
        json::Array array;
        for (auto n = random_.below(4); n > 0; --n) array.push_back(value(depth - 1));
        return array;
      }
      default: {
        json::Object object;
        for (auto n = random_.below(4); n > 0; --n) object[name()] = value(depth - 1);
        return object;
      }
    }
  }

  json::Value schema(int depth) {
    if (random_.below(12) == 0) return random_.below(4) != 0;
    json::Object object;
    for (auto n = random_.below(5); n > 0; --n) add_keyword(object, depth);
    return object;
  }

  json::Value document() {
    auto root = schema(4);
    if (!root.is_object()) return root;
    json::Object definitions;
    for (const auto* name : {"a", "b", "c"}) definitions[name] = schema(3);
    root.as_object()["$defs"] = std::move(definitions);
    if (random_.below(4) == 0) root.as_object()["$dynamicAnchor"] = "node";
    return root;
  }

 private:
  std::string name() { return std::string(1, "abcd"[random_.below(4)]); }
  std::string text() {
    static constexpr std::array<const char*, 7> kTexts = {"",   "a",  "ab",        "é🐲",
                                                          "aa", "A1", "2024-02-29"};
    return kTexts[random_.below(kTexts.size())];
  }

  json::Value count() { return random_.below(4); }

  void add_keyword(json::Object& out, int depth) {
    static constexpr std::array<const char*, 6> kCounts = {
        "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"};
    static constexpr std::array<const char*, 9> kSingle = {
        "items", "contains", "additionalProperties", "propertyNames", "not", "if",
        "then",  "else",     "unevaluatedItems"};
    static constexpr std::array<const char*, 3> kLists = {"allOf", "anyOf", "oneOf"};
    static constexpr std::array<const char*, 4> kMaps = {"properties", "dependentSchemas",
                                                         "patternProperties", "$defs"};
    static constexpr std::array<const char*, 7> kTypes = {"null",   "boolean", "object", "array",
                                                          "number", "string",  "integer"};
    static constexpr std::array<const char*, 7> kReferences = {
        "#", "#/$defs/a", "#/$defs/b", "#/$defs/c", "#/$defs", "#none", "#node"};
    switch (random_.below(depth > 0 ? 16 : 8)) {
      case 0:
        out["type"] = kTypes[random_.below(kTypes.size())];
        return;
      case 1:
        out[kCounts[random_.below(kCounts.size())]] = count();
        return;
      case 2:
        out[random_.below(2) == 0 ? "minimum" : "exclusiveMaximum"] = random_.between(-2, 2);
        return;
      case 3:
        out["enum"] = json::Array{value(1), value(0), value(2)};
        return;
      case 4:
        out["default"] = value(2);
        return;
      case 5:
        out["required"] = json::Array{json::Value(name())};
        return;
      case 6:
        out["pattern"] = random_.below(2) == 0 ? "^(a|b)*$" : "(\\w)\\1|(?=.)é";
        return;
      case 7:
        out["uniqueItems"] = true;
        return;
      case 8:
        out[random_.below(6) == 0 ? "$dynamicRef" : "$ref"] =
            kReferences[random_.below(kReferences.size())];
        return;
      case 9:
        out["unevaluatedProperties"] = schema(depth - 1);
        return;
      case 10:
      case 11:
        out[kSingle[random_.below(kSingle.size())]] = schema(depth - 1);
        return;
      case 12:
      case 13: {
        json::Array list;
        for (auto n = 1 + random_.below(3); n > 0; --n) list.push_back(schema(depth - 1));
        out[kLists[random_.below(kLists.size())]] = std::move(list);
        return;
      }
      default: {
        json::Object map;
        for (auto n = random_.below(4); n > 0; --n) map[name()] = schema(depth - 1);
        out[kMaps[random_.below(kMaps.size())]] = std::move(map);
        return;
      }
    }
  }

  SeededRandom random_;
};

void check_answer(const Schema& schema, const json::Value& value) {
  const auto violations = schema.validate(value);
  EXPECT_EQ(schema.validate(value), violations);
  EXPECT_LE(violations.size(), 100U);
  for (const auto& violation : violations) {
    EXPECT_FALSE(violation.message.empty());
    EXPECT_FALSE(violation.message.contains('\n'));
    if (violation.keyword == kLimitKeyword) continue;
    boost::json::error_code code;
    EXPECT_NE(value.find_pointer(violation.instance_path, code), nullptr)
        << violation.instance_path;
    EXPECT_NE(schema.document().find_pointer(violation.schema_path, code), nullptr)
        << violation.schema_path;
  }
}

void check_defaults(const Schema& schema, const json::Value& value) {
  const auto filled = schema.with_defaults(value);
  if (!filled) {
    EXPECT_EQ(filled.error().kind, ErrorKind::invalid_argument);
    return;
  }
  // Nothing is taken away or changed.
  if (const auto* before = value.if_object()) {
    ASSERT_TRUE(filled->is_object());
    for (const auto& member : *before) {
      const auto* after = filled->get_object().if_contains(member.key());
      ASSERT_NE(after, nullptr);
      if (!member.value().is_structured()) EXPECT_EQ(*after, member.value());
    }
  } else if (!value.is_array()) {
    EXPECT_EQ(*filled, value);
  }
  check_answer(schema, *filled);
}

TEST(RandomSchemas, NeverCrashAndKeepTheirPromises) {
  Maker maker(kSeed);
  int compiled = 0;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(fmt::format("seed {} round {}", kSeed, round));
    const auto document = maker.document();
    const auto schema = Schema::compile(document, {.limits = {.steps_max = 200'000}});
    if (!schema) {
      EXPECT_EQ(schema.error().kind, ErrorKind::invalid_argument);
      EXPECT_FALSE(schema.error().message.empty());
      continue;
    }
    ++compiled;
    for (int i = 0; i < 5; ++i) {
      const auto value = maker.value(3);
      check_answer(*schema, value);
      check_defaults(*schema, value);
    }
    static_cast<void>(schema->check_defaults());
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << to_json(document);
      return;
    }
  }
  EXPECT_GT(compiled, kRounds / 3);
}

// A schema is a value, too: any value at all may be handed in as one.
TEST(RandomSchemas, AnyValueIsCompiledOrRefused) {
  Maker maker(kSeed + 1);
  for (int round = 0; round < kRounds; ++round) {
    const auto schema = Schema::compile(maker.value(5));
    if (!schema) EXPECT_EQ(schema.error().kind, ErrorKind::invalid_argument);
  }
}

}  // namespace
}  // namespace millrace::schema
