#include "layout/page_json.h"

#include "base/random.h"
#include "layout/sheet.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::layout {
namespace {

PageMap sample() {
  Sheet page;
  page.text(60, 60, "DISCHARGE SUMMARY").text(60, 90, "Name: Zoë Müller").text(60, 120, "☑ smoker");
  page.text(60, 200, "Drug").text(250, 200, "Dose").text(400, 200, "Note");
  page.text(60, 218, "Ramipril").text(250, 218, "5 mg").text(400, 218, "morning");
  page.words()[0].poly = Quad{{{60, 60}, {105, 60}, {105, 67}, {60, 67}}};
  page.words()[1].conf.reset();
  return page.map();
}

std::string refusal(std::string_view text) {
  const auto page = parse_page_json(text);
  return page ? "accepted" : page.error().message;
}

TEST(SpatialJson, APageReadsBackAsItself) {
  const auto page = sample();
  ASSERT_FALSE(page.tables.empty());
  ASSERT_FALSE(page.pairs.empty());
  ASSERT_FALSE(page.checkboxes.empty());
  const auto text = page_json(page);
  const auto again = parse_page_json(text);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(*again, page);
  EXPECT_EQ(page_json(*again), text);
}

// Words are written by themselves, for speed: no byte is another.
TEST(SpatialJson, IsTheCanonicalFormOfThePage) {
  auto page = sample();
  EXPECT_EQ(page_json(page), canonical_json(page_to_json(page)));
  page.words[2].text = "\"q\\\t\x01\xe2\x82\xac";
  page.words[3].conf = 1;
  page.words[4].box = {.x0 = 0, .y0 = 1, .x1 = 1e-5, .y1 = 1};
  EXPECT_EQ(page_json(page), canonical_json(page_to_json(page)));
  const PageMap empty{.info = {.width_px = 10, .height_px = 10, .engine = "x"}};
  EXPECT_EQ(page_json(empty), canonical_json(page_to_json(empty)));
}

TEST(SpatialJson, ABoxThatIsOnlyDrawnHasAPlaceAndNoMark) {
  auto page = sample();
  const Checkbox drawn{.checked = true,
                       .label = WordRange{.first = 0, .last = 1},
                       .box = Box{.x0 = 0.1, .y0 = 0.2, .x1 = 0.12, .y1 = 0.22}};
  page.checkboxes.push_back(drawn);
  const auto text = page_json(page);
  EXPECT_NE(text.find(R"({"bbox":[0.1,0.2,0.12,0.22],"checked":true,"label":[0,1],"mark":null})"),
            text.npos)
      << text;
  const auto again = parse_page_json(text);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(*again, page);
  page.checkboxes.back().box.reset();
  EXPECT_EQ(refusal(page_json(page)), "checkboxes[1] has neither mark nor bbox");
  page.checkboxes.back().box = Box{.x0 = 0.1, .y0 = 0.2, .x1 = 1.5, .y1 = 0.3};
  EXPECT_EQ(refusal(page_json(page)), "checkboxes[1].bbox lies outside the page");
}

// So large that its words are read a few at a time.
PageMap dense() {
  auto page = sample();
  const auto one = page.words;
  std::vector<Word> words;
  for (std::uint32_t i = 0; i < 3'000; ++i) {
    auto word = one[i % one.size()];
    word.line = i / 10;
    word.block = 0;
    words.push_back(std::move(word));
  }
  return assemble_page(page.info, std::move(words), {BlockKind::text}).value();
}

TEST(SpatialJson, ADensePageIsReadInPartsAndIsTheSame) {
  const auto page = dense();
  const auto text = page_json(page);
  ASSERT_GT(text.size(), std::size_t{300} * 1024);
  const auto again = parse_page_json(text);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(*again, page);
  // Wherever the words stand in the object, and however it is spaced.
  const auto spaced =
      parse_page_json(to_pretty_json(parse_json(text, {.max_bytes = 1 << 24}).value()));
  ASSERT_TRUE(spaced.has_value()) << spaced.error().message;
  EXPECT_EQ(*spaced, page);
}

TEST(SpatialJson, WhatIsWrongInADensePageIsFoundWhereverItStands) {
  const auto good = page_json(dense());
  const auto with = [&](std::string_view from, std::string_view to) {
    auto text = good;
    const auto at = text.rfind(from);
    EXPECT_NE(at, text.npos) << from;
    return refusal(text.replace(at, from.size(), to));
  };
  EXPECT_EQ(with(R"("i":2900)", R"("i":2901)"), "words[2900].i must be the word's position");
  EXPECT_EQ(with(R"("line":299,)", ""), "words[2999].line is missing");
  EXPECT_EQ(with(R"("conf":)", R"("conf":7,"c":)"),
            "words[2999].conf must be a number between 0 and 1");
  EXPECT_NE(with(R"(}]})", R"(},]})"), "accepted");
  EXPECT_NE(with(R"(}]})", R"(}])"), "accepted");
  EXPECT_NE(with(R"(}]})", R"(}],"words":[]})"), "accepted");
  EXPECT_NE(with(R"("char":[)", R"("char":[9)"), "accepted");
  SpatialJsonLimits few;
  few.page.words_max = 2'999;
  EXPECT_FALSE(parse_page_json(good, few));
  few.page.words_max = 3'000;
  EXPECT_TRUE(parse_page_json(good, few));
}

TEST(SpatialJson, OffsetsCountCodePoints) {
  const auto page = sample();
  const auto value = page_to_json(page);
  const auto& words = value.at("words").as_array();
  // "DISCHARGE SUMMARY\n\nName: Zoë Müller": ë and ü are two bytes and one code point each.
  const auto& muller = words[4].as_object();
  EXPECT_EQ(muller.at("text").as_string(), "Müller");
  EXPECT_EQ(muller.at("char").as_array()[0].to_number<int>(), 29);
  EXPECT_EQ(muller.at("char").as_array()[1].to_number<int>(), 35);
  EXPECT_EQ(page.words[4].bytes.begin, 30U);
  EXPECT_EQ(page.words[4].bytes.end, 37U);
}

TEST(SpatialJson, TheCanonicalExampleIsRead) {
  const auto page = parse_page_json(
      R"({"page":1,"width_px":1275,"height_px":1650,"dpi":150,"rotation_deg":0,
          "engine":"tesseract@5.3","words":[
          {"i":0,"text":"Metformin","bbox":[0.1043,0.2210,0.1881,0.2327],"poly":null,"conf":0.93,
           "line":0,"block":0,"char":[0,9]}]})");
  ASSERT_TRUE(page.has_value()) << page.error().message;
  EXPECT_EQ(page->text, "Metformin");
  EXPECT_EQ(page->words[0].box.x1, 0.1881);
  EXPECT_EQ(page->info.dpi, 150);
}

constexpr std::string_view kHead =
    R"("page":1,"width_px":10,"height_px":10,"rotation_deg":0,"engine":"x")";

std::string page_with(std::string_view words, std::string_view more = "") {
  return "{" + std::string(kHead) + R"(,"words":[)" + std::string(words) + "]" + std::string(more) +
         "}";
}

TEST(SpatialJson, ErrorsNameThePlaceAndTheRule) {
  EXPECT_EQ(refusal("[]"), "the value must be an object");
  EXPECT_EQ(refusal("{}"), "page is missing");
  EXPECT_EQ(refusal(R"({"schema":"spatial/2"})"), "schema must be spatial/1");
  EXPECT_EQ(refusal(page_with("3")), "words[0] must be an object");
  EXPECT_EQ(refusal(page_with(R"({"text":"a"})")), "words[0].bbox is missing");
  EXPECT_EQ(refusal(page_with(R"({"text":"a","bbox":[0,0,1]})")),
            "words[0].bbox must be an array of 4 numbers");
  EXPECT_EQ(refusal(page_with(R"({"text":"a","bbox":[0,0,1,2],"line":0,"block":0,"char":[0,1]})")),
            "words[0].bbox must be [x0,y0,x1,y1] within 0 and 1, x0 <= x1, y0 <= y1");
  EXPECT_EQ(refusal(page_with(R"({"text":"a","bbox":[0,0,1,1],"line":0,"block":0,"char":[0,2]})")),
            "words[0].char must be the word's place in the text of the page");
  EXPECT_EQ(
      refusal(page_with(R"({"i":4,"text":"a","bbox":[0,0,1,1],"line":0,"block":0,"char":[0,1]})")),
      "words[0].i must be the word's position");
  EXPECT_EQ(refusal(page_with(
                R"({"text":"a","bbox":[0,0,1,1],"conf":1.5,"line":0,"block":0,"char":[0,1]})")),
            "words[0].conf must be a number between 0 and 1");
  EXPECT_EQ(refusal(page_with(R"({"text":"a","bbox":[0,0,1,1],"line":0,"block":0,"char":[0,1]})",
                              R"(,"blocks":[{"kind":"poem"}])")),
            "blocks[0].kind is none of the kinds of blocks");
  EXPECT_EQ(refusal(page_with(R"({"text":"a","bbox":[0,0,1,1],"line":0,"block":0,"char":[0,1]})",
                              R"(,"pairs":[{"key":[0,0],"value":[1,1]}])")),
            "pairs[0] points outside the words");
}

TEST(SpatialJson, ValuesAreNotRepeatedInErrors) {
  const auto secret = "Jane-Doe-HIV-positive";
  for (const auto& text : {page_with(std::string(R"({"text":")") + secret + R"( x"})"),
                           page_with(std::string(R"({"text":")") + secret +
                                     R"(","bbox":[0,0,1,1],"line":5,"block":0,"char":[0,1]})")}) {
    EXPECT_EQ(refusal(text).find("Jane"), std::string::npos) << refusal(text);
  }
}

TEST(SpatialJson, ADocumentReadsBackAsItself) {
  auto second = sample();
  second.info.page = 2;
  const auto map = merge_pages({sample(), second});
  ASSERT_TRUE(map.has_value());
  const auto again = parse_spatial_json(spatial_json(*map));
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(*again, *map);
}

TEST(SpatialJson, LimitsHold) {
  const auto text = page_json(sample());
  EXPECT_FALSE(parse_page_json(text, {.page_bytes_max = 100}).has_value());
  EXPECT_EQ(parse_page_json(text, {.page = {.words_max = 3}}).error().message,
            "words has 14 elements, more than the limit of 3");
  std::string deep(1000, '[');
  EXPECT_FALSE(parse_page_json(deep).has_value());
}

// Whatever happens to the JSON on its way: an answer or an error, never anything else.
TEST(SpatialJson, DamagedJsonIsRefusedOrStillConsistent) {
  const auto original = page_json(sample());
  SeededRandom random(77);
  for (int round = 0; round < 3000; ++round) {
    auto text = original;
    for (auto n = 1 + random.below(4); n > 0; --n) {
      const auto at = random.below(text.size());
      switch (random.below(4)) {
        case 0:
          text[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          text.erase(at, 1 + random.below(5));
          break;
        case 2:
          text.insert(at, std::string(1, "0123456789-.eE\"[]{},:ntf"[random.below(24)]));
          break;
        default:
          text.resize(at + 1);
          break;
      }
    }
    const auto page = parse_page_json(text);
    if (!page) {
      ASSERT_EQ(page.error().kind, ErrorKind::invalid_argument);
      ASSERT_FALSE(page.error().message.empty());
      continue;
    }
    for (const auto& word : page->words) ASSERT_EQ(page->text_of(word.bytes), word.text);
    ASSERT_TRUE(check_structures(*page).has_value());
    ASSERT_TRUE(parse_page_json(page_json(*page)).has_value());
  }
}

}  // namespace
}  // namespace millrace::layout
