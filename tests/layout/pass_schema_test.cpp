// The JSON Schemas of the passes: they are schemas, strict ones, and say what the readers say.
#include "layout/clinical/pass_schema.h"

#include "layout/clinical/letter.h"
#include "layout/clinical/narrative.h"
#include "schema/schema.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::layout::clinical {
namespace {

schema::Schema compiled(Pass pass, Form form) {
  return schema::Schema::compile(pass_schema(pass, form)).value();
}

// Every schema within a schema.
void walk(const json::Value& value, const std::function<void(const json::Object&)>& visit) {
  if (const auto* array = value.if_array()) {
    for (const auto& element : *array) walk(element, visit);
    return;
  }
  const auto* object = value.if_object();
  if (object == nullptr) return;
  visit(*object);
  for (const auto& member : *object) {
    if (member.key() == "properties") {
      for (const auto& property : member.value().as_object()) walk(property.value(), visit);
    } else if (member.key() == "items" || member.key() == "anyOf") {
      walk(member.value(), visit);
    }
  }
}

TEST(PassSchemas, HaveNothingThatStrictModesRefuse) {
  static constexpr auto kKnown =
      std::to_array<std::string_view>({"type", "enum", "properties", "required",
                                       "additionalProperties", "items", "anyOf", "description"});
  for (const auto pass : kPasses) {
    for (const auto form : {Form::answer, Form::stored}) {
      const auto document = pass_schema(pass, form);
      EXPECT_EQ(document.at("type").as_string(), "object");
      walk(document, [&](const json::Object& part) {
        for (const auto& member : part) {
          EXPECT_NE(std::ranges::find(kKnown, std::string_view(member.key())), kKnown.end())
              << member.key();
        }
        const auto* properties = part.if_contains("properties");
        if (properties == nullptr) return;
        EXPECT_EQ(part.at("additionalProperties"), json::Value(false));
        EXPECT_EQ(part.at("required").as_array().size(), properties->as_object().size());
        for (const auto& name : part.at("required").as_array()) {
          EXPECT_TRUE(properties->as_object().contains(name.as_string()));
        }
      });
    }
  }
}

json::Value answer_of(json::Value detection) {
  for (auto& entity : detection.as_object()["entities"].as_array()) {
    entity.as_object().erase("char");
    entity.as_object().erase("doubts");
  }
  return detection;
}

Extraction full_extraction() {
  auto extraction = letter_extraction();
  extraction.rejected = {{.evidence = {"e5"}, .why = "family history"}};
  extraction.facts[0].codes = {{.system = "http://www.nlm.nih.gov/research/umls/rxnorm",
                                .code = "6809",
                                .display = "metformin"}};
  extraction.facts.push_back(
      fact("f7", FactType::Immunization, {"e3"}, R"({"vaccine":"x","date":"2024","lot":"A1"})"));
  extraction.facts.push_back(
      fact("f8", FactType::Procedure, {"e3"}, R"({"name":"x","date":"2024-01"})"));
  extraction.facts.push_back(
      fact("f9", FactType::Practitioner, {"e3"}, R"({"name":"x","role":"surgeon"})"));
  extraction.facts.push_back(
      fact("f10", FactType::Encounter, {"e3"}, R"({"kind":"admission","start":"2024"})"));
  return extraction;
}

Narrative full_narrative() {
  return {.sentences = {{.text = "You take metformin.", .facts = {"f1"}}},
          .uncertain = {"f2"},
          .conflicts = {{.facts = {"f1", "f2"}, .note = "different dose"}}};
}

// A document of one pass, and the reader for it.
struct Sample {
  Pass pass = Pass::detect;
  Form form = Form::answer;
  json::Value value = {};
  std::function<bool(const json::Value&)> reads = {};
};

std::vector<Sample> samples(const SpatialMap& map) {
  auto detection = letter_detection(map);
  detection.illegible = {{.page = 1, .box = {.x0 = 0.1, .y0 = 0.1, .x1 = 0.2, .y1 = 0.2}}};
  const auto stored = detection_to_json(detection, map);
  std::vector<Sample> out;
  for (const auto form : {Form::answer, Form::stored}) {
    out.push_back({Pass::detect, form, form == Form::stored ? stored : answer_of(stored),
                   [&map, form](const json::Value& value) {
                     return detection_from_json(value, form, map).has_value();
                   }});
    out.push_back({Pass::extract, form, extraction_to_json(full_extraction()),
                   [form](const json::Value& value) {
                     return extraction_from_json(value, form).has_value();
                   }});
    out.push_back(
        {Pass::narrate, form, narrative_to_json(full_narrative()),
         [](const json::Value& value) { return narrative_from_json(value).has_value(); }});
  }
  return out;
}

TEST(PassSchemas, AcceptWhatThePassesStore) {
  const auto map = letter();
  for (const auto& sample : samples(map)) {
    const auto violations = compiled(sample.pass, sample.form).validate(sample.value);
    EXPECT_TRUE(violations.empty()) << to_string(sample.pass) << ": " << violations[0].message;
    EXPECT_TRUE(sample.reads(sample.value)) << to_string(sample.pass);
  }
}

// Every place of a document in turn, changed in every way below.
void mutate(json::Value& root, json::Value& here, const std::function<void()>& judge) {
  const auto original = here;
  for (const json::Value& other :
       {json::Value(json::Object{}), json::Value(json::Array{json::Value(true)}),
        json::Value(true)}) {
    if (other.kind() == original.kind()) continue;
    here = other;
    judge();
  }
  if (original.is_string()) {
    here = 3;
    judge();
  } else if (original.is_number()) {
    here = "three";
    judge();
  }
  here = original;
  if (auto* object = here.if_object()) {
    (*object)["surplus"] = 1;
    judge();
    object->erase("surplus");
    for (auto& member : *object) mutate(root, member.value(), judge);
  } else if (auto* array = here.if_array()) {
    for (auto& element : *array) mutate(root, element, judge);
  }
}

TEST(PassSchemas, RefuseWhatTheReadersRefuse) {
  const auto map = letter();
  for (auto& sample : samples(map)) {
    const auto schema = compiled(sample.pass, sample.form);
    int tried = 0;
    int refused = 0;
    mutate(sample.value, sample.value, [&] {
      const bool valid = schema.validate(sample.value).empty();
      const bool read = sample.reads(sample.value);
      ASSERT_EQ(valid, read) << to_string(sample.pass) << " " << to_json(sample.value);
      ++tried;
      refused += valid ? 0 : 1;
    });
    EXPECT_GT(tried, 50);
    EXPECT_EQ(refused, tried);
  }
}

}  // namespace
}  // namespace millrace::layout::clinical
