// The three passes of a document through the real clients and the stand-in: what comes out passes
// all checks, and what is invented does not.
#include "base/random.h"
#include "layout/clinical/detection.h"
#include "layout/clinical/extraction.h"
#include "layout/clinical/grounding.h"
#include "layout/clinical/letter.h"
#include "layout/clinical/narrative.h"
#include "layout/clinical/pass_prompt.h"
#include "layout/clinical/pass_schema.h"
#include "layout/clinical/validation.h"
#include "layout/sources/vision.h"
#include "provider_world.h"

#include <boost/json/array.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace millrace::test {
namespace {

using namespace layout::clinical;
using layout::SpatialMap;
using testing::Contains;

enum class Through { openai, openai_words, anthropic, anthropic_words };

class Passes : public ProviderWorld, public testing::WithParamInterface<Through> {
 protected:
  std::unique_ptr<provider::ChatProvider> chat() {
    auto openai = openai_options();
    auto anthropic = anthropic_options();
    switch (GetParam()) {
      case Through::openai_words:
        openai.structured_output = provider::StructuredOutput::none;
        [[fallthrough]];
      case Through::openai:
        return std::make_unique<provider::OpenAiChat>(client, clock, openai);
      case Through::anthropic_words:
        anthropic.structured_output = provider::AnthropicOptions::StructuredOutput::instruction;
        [[fallthrough]];
      case Through::anthropic:
        return std::make_unique<provider::AnthropicChat>(client, clock, anthropic);
    }
    return nullptr;
  }

  json::Value ask_pass(const PassRequest& request) {
    const auto provider = chat();
    const auto answer = ask(*provider, {.model = "stand-in",
                                        .system = std::string(request.instructions),
                                        .user = request.input,
                                        .schema_name = std::string(schema_id(request.pass)),
                                        .schema = pass_schema(request.pass, Form::answer),
                                        .max_output_tokens = 8'000});
    if (!answer) {
      ADD_FAILURE() << answer.error().message;
      return nullptr;
    }
    return parse_answer(answer->text).value();
  }

  Grounded detect(const SpatialMap& map) {
    const auto requests = detect_requests(map).value();
    EXPECT_EQ(requests.size(), 1u);
    auto detection = detection_from_json(ask_pass(requests.front()), Form::answer, map);
    EXPECT_TRUE(detection.has_value()) << detection.error().message;
    return ground(*std::move(detection), map);
  }

  Extraction extract(const SpatialMap& map, const Detection& detection) {
    const auto requests = extract_requests(map, detection).value();
    EXPECT_EQ(requests.size(), 1u);
    auto extraction = extraction_from_json(ask_pass(requests.front()), Form::answer);
    EXPECT_TRUE(extraction.has_value()) << extraction.error().message;
    return *std::move(extraction);
  }

  Narrative narrate(const Extraction& extraction) {
    const auto requests = narrate_requests(extraction, {}, {}).value();
    EXPECT_EQ(requests.size(), 1u);
    auto narrative = narrative_from_json(ask_pass(requests.front()));
    EXPECT_TRUE(narrative.has_value()) << narrative.error().message;
    return *std::move(narrative);
  }

  static std::size_t rejected(const std::vector<Finding>& findings) {
    return static_cast<std::size_t>(std::ranges::count_if(
        findings, [](const Finding& finding) { return finding.severity == Severity::reject; }));
  }

  static const Fact* fact_named(const Extraction& extraction, std::string_view name) {
    const auto at = std::ranges::find_if(extraction.facts,
                                         [&](const Fact& fact) { return fact.name() == name; });
    return at == extraction.facts.end() ? nullptr : &*at;
  }
};

TEST_P(Passes, ALetterComesThroughWithoutAFinding) {
  const auto map = letter();
  const auto grounded = detect(map);
  EXPECT_EQ(grounded.findings.size(), 0u);
  EXPECT_EQ(grounded.detection.document_type.value, "discharge_summary");
  EXPECT_GE(grounded.detection.entities.size(), 12u);
  EXPECT_TRUE(validate_detection(grounded.detection, map).empty());

  const auto extraction = extract(map, grounded.detection);
  EXPECT_TRUE(validate_extraction(extraction, grounded.detection, map).empty());
  const auto* metformin = fact_named(extraction, "Metformin");
  ASSERT_NE(metformin, nullptr);
  EXPECT_EQ(metformin->value.at("dose").at("value").to_number<int>(), 500);
  EXPECT_EQ(metformin->value.at("frequency"), "twice daily");
  ASSERT_NE(fact_named(extraction, "diabetes"), nullptr);
  EXPECT_EQ(fact_named(extraction, "diabetes")->subject, Subject::family);
  ASSERT_NE(fact_named(extraction, "heart failure"), nullptr);
  EXPECT_EQ(fact_named(extraction, "heart failure")->assertion.polarity, Polarity::negated);

  const auto narrative = narrate(extraction);
  EXPECT_EQ(narrative.sentences.size(), extraction.facts.size());
  EXPECT_TRUE(validate_narrative(narrative, extraction).empty());
  EXPECT_THAT(
      narrative.sentences,
      Contains(testing::Field(&Sentence::text, "The medication is Metformin 500 mg twice daily.")));
}

TEST_P(Passes, WhatIsInventedIsFound) {
  const auto map = letter();
  const auto honest = detect(map);
  const auto facts = extract(map, honest.detection);
  stand_in.push(Action::invented);
  EXPECT_GE(rejected(detect(map).findings), 1u);
  stand_in.push(Action::invented);
  EXPECT_GE(rejected(validate_extraction(extract(map, honest.detection), honest.detection, map)),
            1u);
  stand_in.push(Action::invented);
  EXPECT_GE(rejected(validate_narrative(narrate(facts), facts)), 1u);
}

TEST_P(Passes, TheSameQuestionGetsTheSameAnswer) {
  const auto requests = detect_requests(letter()).value();
  EXPECT_EQ(ask_pass(requests.front()), ask_pass(requests.front()));
}

// Whatever a page says, the stand-in's answers have the form of the passes and rest on the page.
TEST_P(Passes, AnyPageComesThrough) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"Metformin",    "500",     "mg",       "twice",     "daily", "(12.0",     "-",
       "16.0)",        "g/dL",    "12",       "March",     "1970",  "Name:",     "Patient",
       "no",           "mother",  "Allergic", "to",        "rash.", "pneumonia", "denies",
       "heart",        "failure", "13.5",     "...",       "(",     "Zo\u00eb",  "500mg",
       "\u65e5\u672c", "5%",      "Name:",    "2024-05-05"});
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    layout::Sheet sheet;
    for (int line = 0; line < 20; ++line) {
      std::string text;
      const auto count = 1 + random.below(8);
      for (std::uint64_t i = 0; i < count; ++i) {
        if (!text.empty()) text += ' ';
        text += kWords[random.below(kWords.size())];
      }
      sheet.text(60, 60 + line * 30, text);
    }
    const auto map = layout::merge_pages({sheet.map(1)}).value();
    const auto grounded = detect(map);
    EXPECT_GT(grounded.detection.entities.size(), 3u);
    EXPECT_EQ(rejected(grounded.findings), 0u);
    EXPECT_EQ(rejected(validate_detection(grounded.detection, map)), 0u);
    const auto extraction = extract(map, grounded.detection);
    EXPECT_EQ(rejected(validate_extraction(extraction, grounded.detection, map)), 0u);
    if (extraction.facts.empty()) continue;
    EXPECT_EQ(rejected(validate_narrative(narrate(extraction), extraction)), 0u);
  }
}

std::string name_of(const testing::TestParamInfo<Through>& tested) {
  switch (tested.param) {
    case Through::openai:
      return "OpenAi";
    case Through::openai_words:
      return "OpenAiInWords";
    case Through::anthropic:
      return "Anthropic";
    case Through::anthropic_words:
      return "AnthropicInWords";
  }
  return {};
}

INSTANTIATE_TEST_SUITE_P(Providers, Passes,
                         testing::Values(Through::openai, Through::openai_words, Through::anthropic,
                                         Through::anthropic_words),
                         name_of);

using VisionPages = ProviderWorld;

TEST_F(VisionPages, AreReadAsPages) {
  const auto answer = ask_vision(
      {.images = {"picture" + std::string(kVisionMark) + "Metformin 500 mg\ntwice daily"}});
  ASSERT_TRUE(answer) << answer.error().message;
  const std::vector<layout::VisionImage> images = {
      {.page = 1, .width_px = 1275, .height_px = 1650, .dpi = 150}};
  const auto pages = layout::parse_vision(answer->images.front().value(), images);
  ASSERT_TRUE(pages.has_value()) << pages.error().message;
  ASSERT_TRUE(pages->front().content.has_value()) << pages->front().content.error().message;
  ASSERT_EQ(pages->front().content->words.size(), 5u);
  EXPECT_EQ(pages->front().content->words[0].text, "Metformin");
}

}  // namespace
}  // namespace millrace::test
