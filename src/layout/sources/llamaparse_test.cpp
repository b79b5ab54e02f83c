#include "layout/sources/llamaparse.h"

#include "base/random.h"
#include "layout/page_json.h"
#include "layout/sources/estimated_words.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::layout {
namespace {

// The current form: pages of items, with boxes in points.
constexpr std::string_view kCurrent = R"({
 "job":{"id":"p1","status":"COMPLETED"},
 "metadata":{"pages":[{"page_number":1,"confidence":0.91,"original_orientation_angle":90}]},
 "items":{"pages":[
  {"page_number":1,"success":true,"page_width":600,"page_height":800,"items":[
   {"type":"header","md":"","items":[{"type":"text","value":"St Elsewhere","md":"",
     "bbox":[{"x":60,"y":20,"w":100,"h":10}]}]},
   {"type":"heading","level":1,"value":"Discharge summary","md":"# Discharge summary",
     "bbox":[{"x":60,"y":60,"w":200,"h":20,"confidence":0.99}]},
   {"type":"text","value":"Name: Jane Doe","md":"","bbox":[{"x":60,"y":100,"w":120,"h":10}]},
   {"type":"list","ordered":false,"md":"","items":[
     {"type":"text","value":"Ramipril 5 mg","md":"","bbox":[{"x":60,"y":120,"w":90,"h":10}]},
     {"type":"text","value":"Aspirin 75 mg","md":"","bbox":[{"x":60,"y":135,"w":90,"h":10}]}]},
   {"type":"table","csv":"","html":"","md":"","rows":[["Test","Result"],["Sodium",139],["",null]],
     "bbox":[{"x":60,"y":160,"w":300,"h":60}]},
   {"type":"image","caption":"","url":"x","md":"","bbox":[{"x":0,"y":300,"w":50,"h":50}]}]},
  {"page_number":2,"success":false,"error":"the model timed out"}]}})";

TEST(LlamaParse, ItemsBecomeBlocksInTheirOrder) {
  const auto pages = parse_llamaparse(kCurrent);
  ASSERT_TRUE(pages.has_value()) << pages.error().message;
  ASSERT_EQ(pages->size(), 2U);
  ASSERT_TRUE((*pages)[0].content.has_value()) << (*pages)[0].content.error().message;
  const auto& map = *(*pages)[0].content;
  EXPECT_EQ(map.text,
            "St Elsewhere\n\nDischarge summary\n\nName: Jane Doe\n\nRamipril 5 mg\n\nAspirin 75 mg"
            "\n\nTest Result\nSodium 139");
  EXPECT_EQ(map.blocks[0].kind, BlockKind::header);
  EXPECT_EQ(map.blocks[1].kind, BlockKind::heading);
  EXPECT_EQ(map.blocks[3].kind, BlockKind::list);
  EXPECT_EQ(map.blocks[5].kind, BlockKind::table);
  ASSERT_EQ(map.tables.size(), 1U);
  EXPECT_EQ(map.tables[0].rows, 2U);
  EXPECT_EQ(map.text_of(map.tables[0].cells[3].words), "139");
  ASSERT_EQ(map.pairs.size(), 3U);
  EXPECT_EQ(map.text_of(map.pairs[0].value), "Jane Doe");
}

TEST(LlamaParse, WordsAreEstimatedAndSaySo) {
  const auto map = *(*parse_llamaparse(kCurrent))[0].content;
  EXPECT_TRUE(map.info.estimated);
  EXPECT_EQ(map.info.rotation_deg, 90);
  EXPECT_EQ(map.info.width_px, 1250U);
  const auto& summary = map.words[3];
  EXPECT_EQ(summary.text, "summary");
  EXPECT_EQ(summary.conf, 0.99);
  EXPECT_EQ(map.words[4].conf, 0.91);  // Of the page, when the item does not say.
  EXPECT_GT(summary.box.x0, 0.1);
  EXPECT_LE(summary.box.x1, 260.0 / 600 + 1e-5);
  EXPECT_TRUE(parse_page_json(page_json(map)).has_value());
}

TEST(LlamaParse, APageThatTheServiceCouldNotReadFailsAlone) {
  const auto pages = parse_llamaparse(kCurrent);
  ASSERT_FALSE((*pages)[1].content.has_value());
  EXPECT_EQ((*pages)[1].content.error().kind, ErrorKind::unavailable);
  EXPECT_EQ((*pages)[1].content.error().message, "llamaparse could not read page 2");
}

TEST(LlamaParse, TheOlderFormWithLayoutIsReadToo) {
  const auto pages = parse_llamaparse(R"({"pages":[{"page":3,"width":600,"height":800,"text":"x",
    "items":[{"type":"text","value":"Dear Sir","md":"x","bBox":{"x":60,"y":80,"w":120,"h":16}},
             {"type":"text","value":"noise","bBox":[300,400,360,416]}],
    "layout":[{"bbox":{"x":0.1,"y":0.1,"w":0.2,"h":0.02},"confidence":0.77,"label":"text",
               "isLikelyNoise":false},
              {"bbox":{"x":0.5,"y":0.5,"w":0.1,"h":0.02},"confidence":0.5,"label":"text",
               "isLikelyNoise":true}]}],"job_metadata":{}})");
  ASSERT_TRUE(pages.has_value()) << pages.error().message;
  ASSERT_TRUE((*pages)[0].content.has_value()) << (*pages)[0].content.error().message;
  const auto& map = *(*pages)[0].content;
  EXPECT_EQ(map.info.page, 3U);
  EXPECT_EQ(map.text, "Dear Sir\n\nnoise");
  EXPECT_EQ(map.words[0].conf, 0.77);
  EXPECT_EQ(map.words[2].conf, std::nullopt);
  EXPECT_NEAR(map.words[2].box.x0, 0.5, 1e-5);
}

TEST(LlamaParse, AnItemOfSeveralBoxesIsDividedWhereTheyBegin) {
  const auto pages = parse_llamaparse(R"({"items":{"pages":[{"page_number":1,"page_width":600,
    "page_height":800,"items":[{"type":"text","value":"left column right column","bbox":[
      {"x":60,"y":700,"w":120,"h":10,"start_index":0,"end_index":11},
      {"x":320,"y":60,"w":120,"h":10,"start_index":12,"end_index":24}]}]}]}})");
  ASSERT_TRUE(pages.has_value());
  const auto& map = *(*pages)[0].content;
  EXPECT_EQ(map.text, "left column\nright column");
  EXPECT_LT(map.words[1].box.x1, 0.31);
  EXPECT_GT(map.words[2].box.x0, 0.5);
}

TEST(LlamaParse, WhatIsNoAnswerIsRefusedWithPlaceAndRule) {
  const auto refusal = [](std::string_view text) {
    const auto pages = parse_llamaparse(text);
    if (!pages) return pages.error().message;
    return (*pages)[0].content ? std::string("accepted") : (*pages)[0].content.error().message;
  };
  EXPECT_EQ(refusal(R"({"job":{"id":"x"}})"),
            "items is missing: the result must be fetched with expand=items");
  EXPECT_EQ(refusal(R"({})"), "pages is missing");
  EXPECT_EQ(refusal(R"({"pages":[{}]})"), "pages[0].page is missing");
  EXPECT_EQ(refusal(R"({"pages":[{"page":0}]})"),
            "pages[0].page_number must be greater than 0 and occur once");
  EXPECT_EQ(refusal(R"({"pages":[{"page":1}]})"), "pages[0].page_width is missing");
  EXPECT_EQ(refusal(R"({"pages":[{"page":1,"width":600,"height":800,"items":[{"type":"table",
                        "rows":[3]}]}]})"),
            "pages[0].items[0].rows must be arrays of cells");
  EXPECT_EQ(refusal(R"({"pages":[{"page":1,"width":600,"height":800,"items":[{"value":"a",
                        "bbox":{"x":1}}]}]})"),
            "pages[0].items[0].bbox.y is missing");
  std::string nested = R"({"type":"text","value":"a"})";
  for (int i = 0; i < 12; ++i) nested = fmt::format(R"({{"type":"list","items":[{}]}})", nested);
  EXPECT_NE(refusal(fmt::format(R"({{"pages":[{{"page":1,"width":6,"height":8,"items":[{}]}}]}})",
                                nested))
                .find("is nested deeper than 8"),
            std::string::npos);
}

TEST(LlamaParse, MoreWordsThanAllowedAreRefused) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "a ";
  const auto pages = parse_llamaparse(
      fmt::format(R"({{"pages":[{{"page":1,"width":6,"height":8,"items":[{{"value":"{}"}}]}}]}})",
                  text),
      {.limits = {.words_max = 50}});
  ASSERT_TRUE(pages.has_value());
  EXPECT_EQ((*pages)[0].content.error().message,
            "pages[0].items[0].value makes more than 50 words on the page");
}

TEST(LlamaParse, DamagedAnswersNeverDoMoreThanFail) {
  SeededRandom random(8);
  for (int round = 0; round < 3000; ++round) {
    std::string text(kCurrent);
    for (auto n = 1 + random.below(3); n > 0; --n) {
      const auto at = random.below(text.size());
      if (random.below(2) == 0) {
        text[at] = "0123456789-.eE\"[]{},:ntf"[random.below(24)];
      } else {
        text.erase(at, 1 + random.below(8));
      }
    }
    const auto pages = parse_llamaparse(text);
    if (!pages) continue;
    for (const auto& page : *pages) {
      if (!page.content) continue;
      ASSERT_TRUE(parse_page_json(page_json(*page.content)).has_value());
    }
  }
}

TEST(EstimatedWords, LongTextsAreWrappedIntoTheirBox) {
  const Box box{.x0 = 0.1, .y0 = 0.1, .x1 = 0.5, .y1 = 0.2};
  std::string text;
  for (int i = 0; i < 60; ++i) text += "word ";
  const auto words = estimate_words(text, box, 1.4);
  ASSERT_EQ(words.size(), 60U);
  EXPECT_GT(words.back().line, 1U);
  for (const auto& word : words) {
    EXPECT_GE(word.box.x0, box.x0 - 1e-4);
    EXPECT_LE(word.box.x1, box.x1 + 1e-4);
    EXPECT_LE(word.box.y1, box.y1 + 1e-4);
  }
  EXPECT_TRUE(estimate_words("", box, 1).empty());
  EXPECT_EQ(estimate_words("a\nb", box, 1)[1].line, 1U);
  EXPECT_EQ(estimate_words("one", {}, 1).size(), 1U);
}

}  // namespace
}  // namespace millrace::layout
