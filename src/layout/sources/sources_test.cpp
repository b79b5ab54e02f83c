// Word lists: Tesseract and text layers. What is turned must read like what is not.
#include "layout/reading_order.h"
#include "layout/sheet.h"
#include "layout/sources/pdf_text.h"
#include "layout/sources/tesseract.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::layout {
namespace {

Sheet letter() {
  Sheet page;
  page.lines(60, 100, {"Dear colleague", "thank you for seeing this patient"});
  page.lines(60, 160, {"With kind regards", "Dr Example"});
  return page;
}

// The word as an engine sees it when the page of 600 by 800 was not turned upright: the page has to
// be turned clockwise by `turn` yet.
Box unturned(const Box& box, int turn) {
  const Box fraction{
      .x0 = box.x0 / 600, .y0 = box.y0 / 800, .x1 = box.x1 / 600, .y1 = box.y1 / 800};
  const auto back = turned(fraction, (360 - turn) % 360);
  const double width = turn % 180 == 0 ? 600 : 800;
  const double height = turn % 180 == 0 ? 800 : 600;
  return {
      .x0 = back.x0 * width, .y0 = back.y0 * height, .x1 = back.x1 * width, .y1 = back.y1 * height};
}

TEST(Tesseract, EveryTurnOfTheImageGivesTheSamePage) {
  const auto sheet = letter();
  const PageInfo info{.page = 1, .width_px = 600, .height_px = 800, .engine = "tesseract@5.3"};
  std::optional<PageMap> upright;
  for (const int turn : {0, 90, 180, 270}) {
    std::vector<TesseractWord> words;
    for (const auto& word : sheet.words()) {
      const auto box = unturned(word.box, turn);
      words.push_back({.left = box.x0,
                       .top = box.y0,
                       .width = box.width(),
                       .height = box.height(),
                       .conf = 93,
                       .text = word.text});
    }
    const auto raw = from_tesseract(info, words, turn);
    ASSERT_TRUE(raw.has_value()) << raw.error().message;
    const auto map = arrange(*raw);
    ASSERT_TRUE(map.has_value());
    EXPECT_EQ(map->words[0].conf, 0.93);
    if (!upright) upright = *map;
    EXPECT_EQ(map->text, upright->text) << turn;
    for (std::size_t i = 0; i < map->words.size(); ++i) {
      EXPECT_NEAR(map->words[i].box.x0, upright->words[i].box.x0, 2e-5);
      EXPECT_NEAR(map->words[i].box.y1, upright->words[i].box.y1, 2e-5);
    }
  }
}

TEST(Tesseract, RowsWithoutConfidenceOrTextMakeNoTrouble) {
  const PageInfo info{.page = 1, .width_px = 600, .height_px = 800};
  const std::vector<TesseractWord> words = {
      {.left = 10, .top = 10, .width = 40, .height = 10, .conf = -1, .text = "a"},
      {.left = 60, .top = 10, .width = 40, .height = 10, .conf = 50, .text = " "}};
  const auto map = arrange(from_tesseract(info, words).value());
  ASSERT_TRUE(map.has_value());
  ASSERT_EQ(map->words.size(), 1U);
  EXPECT_EQ(map->words[0].conf, std::nullopt);
}

constexpr std::string_view kHeader =
    "level\tpage_num\tblock_num\tpar_num\tline_num\tword_"
    "num\tleft\ttop\twidth\theight\tconf\ttext\n";

TEST(TesseractTsv, WordsArePutOnTheirPages) {
  const auto pages = parse_tesseract_tsv(std::string(kHeader) +
                                         "1\t1\t0\t0\t0\t0\t0\t0\t600\t800\t-1\t\n"
                                         "4\t1\t1\t1\t1\t0\t60\t90\t100\t12\t-1\t\n"
                                         "5\t1\t1\t1\t1\t1\t60\t90\t50\t12\t96.063751\tHello\n"
                                         "5\t1\t1\t1\t1\t2\t115\t90\t45\t12\t91\tworld\r\n"
                                         "1\t2\t0\t0\t0\t0\t0\t0\t800\t600\t-1\n"
                                         "5\t2\t1\t1\t1\t1\t60\t90\t50\t12\t15\tBye\n");
  ASSERT_TRUE(pages.has_value()) << pages.error().message;
  ASSERT_EQ(pages->size(), 2U);
  EXPECT_EQ(arrange((*pages)[0])->text, "Hello world");
  EXPECT_EQ((*pages)[1].info.page, 2U);
  EXPECT_EQ((*pages)[1].info.width_px, 800U);
  EXPECT_NEAR(*(*pages)[0].words[0].conf, 0.96, 0.01);
}

TEST(TesseractTsv, ErrorsNameTheLine) {
  const auto refusal = [](std::string_view text) {
    const auto pages = parse_tesseract_tsv(text, {.bytes_max = 400});
    return pages ? std::string("accepted") : pages.error().message;
  };
  EXPECT_EQ(refusal("1\t1\t0\n"), "line 1: there must be 12 columns");
  EXPECT_EQ(refusal("1\t1\t0\t0\t0\t0\t0\t0\tx\t800\t-1\t\n"), "line 1: width must be a number");
  EXPECT_EQ(refusal("1\t1\t0\t0\t0\t0\t0\t0\tnan\t800\t-1\t\n"), "line 1: width must be a number");
  EXPECT_EQ(refusal("1\t1\t0\t0\t0\t0\t0\t0\t0\t800\t-1\t\n"),
            "line 1: width and height of a page must be greater than 0");
  EXPECT_EQ(refusal("5\t1\t1\t1\t1\t1\t60\t90\t50\t12\t96\tHello\n"),
            "line 1: a word must follow the row of its page");
  EXPECT_EQ(refusal("1\t1\t0\t0\t0\t0\t0\t0\t6\t8\t-1\t\n1\t1\t0\t0\t0\t0\t0\t0\t6\t8\t-1\t\n"),
            "line 2: page_num must rise from page to page");
  EXPECT_EQ(refusal(std::string(500, 'x')), "a TSV of 500 bytes is larger than the limit of 400");
  EXPECT_EQ(refusal(""), "accepted");
}

TEST(PdfText, CropBoxAndRotateAreHonoured) {
  const auto sheet = letter();
  const auto expected = sheet.map();
  for (const int rotate : {0, 90, 180, 270}) {
    // The visible page begins at (30, 40) of the sheet, and /Rotate turns it upright.
    const bool sideways = rotate % 180 != 0;
    PdfPage page{.page = 1,
                 .crop = {.x0 = 30,
                          .y0 = 40,
                          .x1 = 30.0 + (sideways ? 800 : 600),
                          .y1 = 40.0 + (sideways ? 600 : 800)},
                 .rotate = static_cast<double>(rotate - 360),
                 .dpi = 72};
    std::vector<PdfTextWord> words;
    for (const auto& word : sheet.words()) {
      const auto box = unturned(word.box, rotate);
      const auto height = sideways ? 600.0 : 800.0;
      words.push_back({.text = word.text,
                       .box = {.x0 = box.x0 + 30,
                               .y0 = height - box.y1 + 40,
                               .x1 = box.x1 + 30,
                               .y1 = height - box.y0 + 40}});
    }
    words.push_back({.text = "hidden", .box = {.x0 = 0, .y0 = 0, .x1 = 20, .y1 = 20}});
    const auto raw = from_pdf_text(page, words);
    ASSERT_TRUE(raw.has_value()) << raw.error().message;
    EXPECT_EQ(raw->info.width_px, 600U);
    EXPECT_EQ(raw->info.height_px, 800U);
    EXPECT_EQ(raw->info.rotation_deg, rotate);
    const auto map = arrange(*raw);
    ASSERT_TRUE(map.has_value());
    EXPECT_EQ(map->text, expected.text) << rotate;
    EXPECT_EQ(map->words[0].conf, 1.0);
  }
}

TEST(PdfText, APageWithoutSizeIsRefused) {
  EXPECT_FALSE(pdf_page_info({.crop = {.x1 = 0, .y1 = 10}}).has_value());
  EXPECT_EQ(pdf_page_info({.crop = {.x1 = 10, .y1 = 10}, .rotate = 30}).error().message,
            "rotate must be a multiple of 90");
  EXPECT_FALSE(pdf_page_info({.crop = {.x1 = 10, .y1 = 10}, .dpi = 0}).has_value());
  EXPECT_FALSE(pdf_page_info({.crop = {.x1 = 1e9, .y1 = 10}}).has_value());
}

}  // namespace
}  // namespace millrace::layout
