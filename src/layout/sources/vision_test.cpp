#include "layout/sources/vision.h"

#include "base/random.h"
#include "layout/reading_order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::layout {
namespace {

const std::vector<VisionImage> kOne = {{.page = 1, .width_px = 600, .height_px = 800}};

// A word of the service: its symbols and its polygon; coordinates that are zero are left out.
std::string word(std::string_view text, const Quad& quad, std::string_view last_break = "SPACE") {
  std::string symbols;
  for (std::size_t i = 0; i < text.size(); ++i) {
    symbols += fmt::format(
        R"({}{{"text":"{}"{}}})", i == 0 ? "" : ",", text[i],
        i + 1 < text.size()
            ? ""
            : fmt::format(R"(,"property":{{"detectedBreak":{{"type":"{}"}}}})", last_break));
  }
  std::string vertices;
  for (const auto& point : quad) {
    std::string inner;
    if (point.x != 0) inner += fmt::format(R"("x":{})", point.x);
    if (point.y != 0) inner += fmt::format(R"({}"y":{})", inner.empty() ? "" : ",", point.y);
    vertices += fmt::format("{}{{{}}}", vertices.empty() ? "" : ",", inner);
  }
  return fmt::format(R"({{"confidence":0.98,"boundingBox":{{"vertices":[{}]}},"symbols":[{}]}})",
                     vertices, symbols);
}

std::string response(std::string_view words,
                     std::string_view size = R"("width":600,"height":800)") {
  return fmt::format(
      R"({{"fullTextAnnotation":{{"text":"ignored","pages":[{{{},"blocks":[{{"blockType":"TEXT",)"
      R"("paragraphs":[{{"words":[{}]}}]}}]}}]}}}})",
      size, words);
}

std::string answer(std::string_view responses) {
  return fmt::format(R"({{"responses":[{}]}})", responses);
}

Quad quad(double x0, double y0, double x1, double y1) {
  return {{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}};
}

TEST(Vision, SymbolsBecomeWordsAndLeftOutCoordinatesAreZero) {
  const auto pages = parse_vision(
      answer(response(word("Dear", quad(0, 0, 40, 12)) + "," + word("Sir", quad(45, 0, 75, 12)))),
      kOne);
  ASSERT_TRUE(pages.has_value()) << pages.error().message;
  ASSERT_TRUE((*pages)[0].content.has_value()) << (*pages)[0].content.error().message;
  const auto map = arrange(*(*pages)[0].content);
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(map->text, "Dear Sir");
  EXPECT_EQ(map->words[0].box.x0, 0);
  EXPECT_EQ(map->words[0].conf, 0.98);
  EXPECT_TRUE(map->words[0].poly.has_value());
  EXPECT_EQ(map->info.engine, "google-vision");
}

TEST(Vision, AHyphenAtTheEndOfALineIsPutBack) {
  const auto pages =
      parse_vision(answer(response(word("hyper", quad(10, 10, 60, 22), "HYPHEN"))), kOne);
  ASSERT_TRUE(pages.has_value());
  EXPECT_EQ((*pages)[0].content->words[0].text, "hyper-");
}

TEST(Vision, NormalisedVerticesAreFractions) {
  auto text = word("Dear", quad(0.1, 0.2, 0.3, 0.25));
  text.replace(text.find("vertices"), 8, "normalizedVertices");
  const auto pages = parse_vision(answer(response(text)), kOne);
  ASSERT_TRUE(pages.has_value());
  ASSERT_TRUE((*pages)[0].content.has_value());
  const auto& box = (*pages)[0].content->words[0].box;
  EXPECT_NEAR(box.x0, 0.1, 1e-5);
  EXPECT_NEAR(box.y1, 0.25, 1e-5);
}

// The service reports a page that lies on its side as it lies, with polygons that say so.
TEST(Vision, APageOnItsSideIsTurnedUpright) {
  const std::vector<std::pair<std::string, Box>> upright = {
      {"Dear", {.x0 = 60, .y0 = 100, .x1 = 100, .y1 = 112}},
      {"Sir", {.x0 = 105, .y0 = 100, .x1 = 135, .y1 = 112}},
      {"Regards", {.x0 = 60, .y0 = 160, .x1 = 130, .y1 = 172}}};
  for (const int turn : {0, 90, 180, 270}) {
    std::string words;
    for (const auto& [text, box] : upright) {
      const auto page = quad(box.x0 / 600, box.y0 / 800, box.x1 / 600, box.y1 / 800);
      auto lying = turned(page, (360 - turn) % 360);
      for (auto& point : lying) {
        point.x *= turn % 180 == 0 ? 600 : 800;
        point.y *= turn % 180 == 0 ? 800 : 600;
      }
      words += (words.empty() ? "" : ",") + word(text, lying);
    }
    const bool sideways = turn % 180 != 0;
    const std::vector<VisionImage> image = {
        {.page = 1, .width_px = sideways ? 800U : 600U, .height_px = sideways ? 600U : 800U}};
    const auto pages =
        parse_vision(answer(response(words, sideways ? R"("width":800,"height":600)"
                                                     : R"("width":600,"height":800)")),
                     image);
    ASSERT_TRUE(pages.has_value());
    ASSERT_TRUE((*pages)[0].content.has_value()) << (*pages)[0].content.error().message;
    const auto map = arrange(*(*pages)[0].content);
    ASSERT_TRUE(map.has_value());
    EXPECT_EQ(map->text, "Dear Sir\n\nRegards") << turn;
    EXPECT_EQ(map->info.width_px, 600U);
    EXPECT_EQ(map->info.rotation_deg, turn);
    EXPECT_NEAR(map->words[0].box.x0, 0.1, 1e-4);
    EXPECT_NEAR(map->words[0].box.y0, 0.125, 1e-4);
  }
}

TEST(Vision, PagesFailOneByOne) {
  const std::vector<VisionImage> three = {{.page = 4, .width_px = 600, .height_px = 800},
                                          {.page = 5, .width_px = 600, .height_px = 800},
                                          {.page = 6, .width_px = 600, .height_px = 800}};
  const auto pages = parse_vision(answer(response(word("Dear", quad(10, 10, 60, 22))) +
                                         R"(,{"error":{"code":8,"message":"quota"}},{})"),
                                  three);
  ASSERT_TRUE(pages.has_value());
  EXPECT_TRUE((*pages)[0].content.has_value());
  EXPECT_EQ((*pages)[1].page, 5U);
  EXPECT_EQ((*pages)[1].content.error().kind, ErrorKind::throttled);
  ASSERT_TRUE((*pages)[2].content.has_value());  // A page without text.
  EXPECT_TRUE((*pages)[2].content->words.empty());
}

TEST(Vision, ErrorsOfTheServiceAskForTheRightReaction) {
  const auto kind = [](std::string_view text) { return parse_vision(text, kOne).error().kind; };
  EXPECT_EQ(kind(R"({"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m"}})"),
            ErrorKind::throttled);
  EXPECT_EQ(kind(R"({"error":{"code":503}})"), ErrorKind::unavailable);
  EXPECT_EQ(kind(R"({"error":{"code":400}})"), ErrorKind::invalid_argument);
  EXPECT_EQ(kind(R"({"error":"?"})"), ErrorKind::internal);
}

TEST(Vision, WhatIsNoAnswerIsRefusedWithPlaceAndRule) {
  const auto refusal = [](std::string_view text) {
    const auto pages = parse_vision(text, kOne);
    if (!pages) return pages.error().message;
    return (*pages)[0].content ? std::string("accepted") : (*pages)[0].content.error().message;
  };
  EXPECT_EQ(refusal("{}"), "responses is missing");
  EXPECT_EQ(refusal(answer("")), "responses must have one entry for each of 1 images");
  EXPECT_EQ(refusal(answer("{},{}")), "responses has 2 elements, more than the limit of 1");
  EXPECT_EQ(refusal(answer("3")), "responses[0] must be an object");
  EXPECT_EQ(refusal(answer(response(R"({"symbols":[{"text":"a"}]})"))),
            "responses[0].fullTextAnnotation.pages[0].blocks[0].paragraphs[0].words[0]"
            ".boundingBox is missing");
  EXPECT_EQ(refusal(answer(
                response(R"({"symbols":[{"text":"a"}],"boundingBox":{"vertices":[{"x":1}]}})"))),
            "responses[0].fullTextAnnotation.pages[0].blocks[0].paragraphs[0].words[0]"
            ".boundingBox.vertices must have 4 points");
  EXPECT_EQ(refusal(answer(response(word("a", quad(0, 0, 1, 1)), R"("width":0,"height":0)"))),
            "page size must be finite and greater than 0: a box without it means nothing");
}

TEST(Vision, DamagedAnswersNeverDoMoreThanFail) {
  const auto original =
      answer(response(word("Dear", quad(0, 0, 40, 12)) + "," + word("Sir", quad(45, 0, 75, 12))));
  SeededRandom random(4);
  for (int round = 0; round < 3000; ++round) {
    auto text = original;
    for (auto n = 1 + random.below(3); n > 0; --n) {
      const auto at = random.below(text.size());
      if (random.below(2) == 0) {
        text[at] = "0123456789-.eE\"[]{},:ntf"[random.below(24)];
      } else {
        text.erase(at, 1 + random.below(8));
      }
    }
    const auto pages = parse_vision(text, kOne);
    if (!pages || !(*pages)[0].content) continue;
    ASSERT_TRUE(arrange(*(*pages)[0].content).has_value());
  }
}

}  // namespace
}  // namespace millrace::layout
