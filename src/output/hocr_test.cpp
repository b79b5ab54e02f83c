#include "output/hocr.h"

#include "output/samples.h"
#include "output/xml_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace millrace::output {
namespace {

using layout::clinical::letter;
using testing::HasSubstr;
using testing::Not;

layout::PageMap small_page() {
  layout::PageInfo info{.page = 3, .width_px = 1000, .height_px = 2000, .dpi = 200, .engine = "t"};
  return layout::assemble_page(
             info,
             {{.text = "Take", .box = {.x0 = 0.1, .y0 = 0.1, .x1 = 0.15, .y1 = 0.11}, .conf = 0.93},
              {.text = "it", .box = {.x0 = 0.16, .y0 = 0.1, .x1 = 0.18, .y1 = 0.11}}},
             {layout::BlockKind::heading})
      .value();
}

TEST(Hocr, WritesASmallPageExactly) {
  EXPECT_EQ(
      hocr_page(small_page(), letter_info()),
      R"x( <div class="ocr_page" id="page_3" title="image &quot;letter.pdf&quot;; bbox 0 0 1000 2000; ppageno 2; scan_res 200 200">
  <div class="ocr_carea" id="block_3_1" title="bbox 100 200 180 220; x_kind heading">
   <p class="ocr_par" id="par_3_1" title="bbox 100 200 180 220">
    <span class="ocr_line" id="line_3_1" title="bbox 100 200 180 220; baseline 0 0"><span class="ocrx_word" id="word_3_1" title="bbox 100 200 150 220; x_wconf 93">Take</span> <span class="ocrx_word" id="word_3_2" title="bbox 160 200 180 220">it</span></span>
   </p>
  </div>
 </div>
)x");
}

TEST(Hocr, SaysWhoMadeItAndWhatItHas) {
  const auto root = parse_xml(hocr_begin(letter_info()) + hocr_end());
  ASSERT_EQ(root.name, "html") << root.text;
  EXPECT_EQ(root.at("xml:lang"), "en");
  std::map<std::string, std::string> meta;
  for (const auto* node : all(root, "meta")) meta[node->at("name")] = node->at("content");
  EXPECT_EQ(meta["ocr-system"], "millrace@1.2.3 test");
  EXPECT_THAT(meta["ocr-capabilities"], HasSubstr("ocrx_word"));
  EXPECT_EQ(meta["ocr-number-of-pages"], "2");
  EXPECT_EQ(meta["ocr-langs"], "en");
}

TEST(Hocr, OfADocumentIsThatOfItsPages) {
  const auto map = letter();
  const auto info = letter_info();
  EXPECT_EQ(hocr(map, info), hocr_begin(info) + hocr_page(map.pages[0], info) +
                                 hocr_page(map.pages[1], info) + hocr_end());
  EXPECT_EQ(hocr(map, info), hocr(letter(), letter_info()));
}

TEST(Hocr, HasEveryLineOfTheTextAndIdsOnce) {
  const auto map = letter();
  const auto root = parse_xml(hocr(map, letter_info()));
  const auto pages = all(root, "ocr_page");
  ASSERT_EQ(pages.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto lines = all(*pages[i], "ocr_line");
    ASSERT_EQ(lines.size(), map.pages[i].lines.size());
    for (std::size_t line = 0; line < lines.size(); ++line) {
      EXPECT_EQ(lines[line]->text, map.pages[i].text_of(map.pages[i].lines[line].words));
    }
    EXPECT_EQ(all(*pages[i], "ocrx_word").size(), map.pages[i].words.size());
  }
  std::set<std::string> ids;
  visit(root, [&](const XmlNode& node) {
    if (!node.at("id").empty()) EXPECT_TRUE(ids.insert(node.at("id")).second) << node.at("id");
  });
  EXPECT_GT(ids.size(), map.pages[0].words.size());
}

TEST(Hocr, KeepsHostileTextAsText) {
  const auto page = hostile_page();
  auto info = letter_info();
  info.source.file_name = "a\"; bbox 0 0 1 1; x <b>.pdf";
  info.title = "</title><script>";
  info.language = "\"><script>";
  const auto text = hocr_begin(info) + hocr_page(page, info) + hocr_end();
  EXPECT_THAT(text, Not(HasSubstr("<script")));
  const auto root = parse_xml(text);
  ASSERT_EQ(root.name, "html") << root.text;
  const auto words = all(root, "ocrx_word");
  ASSERT_EQ(words.size(), page.words.size());
  for (std::size_t i = 0; i < words.size(); ++i) EXPECT_EQ(words[i]->text, page.words[i].text);
  EXPECT_THAT(all(root, "ocr_page")[0]->at("title"),
              testing::StartsWith("image \"a%22%3B bbox 0 0 1 1%3B x <b>.pdf\"; bbox 0 0 1000"));
}

TEST(Hocr, IsWellFormedForTextThatIsNone) {
  const auto info = letter_info();
  const auto root = parse_xml(hocr_begin(info) + hocr_page(broken_page(), info) + hocr_end());
  EXPECT_EQ(root.name, "html") << root.text;
}

TEST(Hocr, SaysHowTurnedTextRuns) {
  // A quad of text from bottom to top begins at its lower left.
  const layout::Quad up = {{{0.1, 0.5}, {0.1, 0.3}, {0.12, 0.3}, {0.12, 0.5}}};
  const auto page =
      layout::assemble_page(
          {.page = 1, .width_px = 1000, .height_px = 1000, .engine = "t"},
          {{.text = "Margin", .box = {.x0 = 0.1, .y0 = 0.3, .x1 = 0.12, .y1 = 0.5}, .poly = up}},
          {layout::BlockKind::margin})
          .value();
  const auto text = hocr_page(page, letter_info());
  EXPECT_THAT(text, HasSubstr("bbox 100 300 120 500; textangle 90\""));
  EXPECT_THAT(text, HasSubstr("; poly 100 500 100 300 120 300 120 500\""));
  EXPECT_THAT(text, Not(HasSubstr("baseline")));
}

TEST(Hocr, GivesTheSlopeOfASlantedLine) {
  std::vector<layout::Word> words;
  for (int i = 0; i < 6; ++i) {
    const auto y = 0.5 + 0.002 * i;
    words.push_back(
        {.text = "word", .box = {.x0 = 0.1 * i, .y0 = y, .x1 = 0.1 * i + 0.08, .y1 = y + 0.01}});
  }
  const auto page = layout::assemble_page({.page = 1, .width_px = 1000, .height_px = 1000}, words,
                                          {layout::BlockKind::text})
                        .value();
  EXPECT_THAT(hocr_page(page, letter_info()), HasSubstr("baseline 0.02 -11\""));
}

TEST(Hocr, HasEveryLineOfAnyPage) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    const auto page = random_page(random);
    const auto root = parse_xml(hocr_page(page, letter_info()));
    ASSERT_EQ(root.name, "div") << root.text;
    const auto lines = all(root, "ocr_line");
    ASSERT_EQ(lines.size(), page.lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      ASSERT_EQ(lines[i]->text, page.text_of(page.lines[i].words));
    }
  }
}

TEST(Hocr, SaysThatBoxesAreEstimated) {
  auto page = small_page();
  page.info.estimated = true;
  EXPECT_THAT(hocr_page(page, letter_info()), HasSubstr("; x_boxes estimated\""));
}

TEST(Hocr, KeepsIdeographsTogether) {
  const auto page =
      layout::assemble_page({.page = 1, .width_px = 100, .height_px = 100},
                            {{.text = "漢", .box = {.x0 = 0.1, .y0 = 0.1, .x1 = 0.2, .y1 = 0.2}},
                             {.text = "字", .box = {.x0 = 0.2, .y0 = 0.1, .x1 = 0.3, .y1 = 0.2}}},
                            {layout::BlockKind::text})
          .value();
  const auto root = parse_xml(hocr_page(page, letter_info()));
  EXPECT_EQ(all(root, "ocr_line")[0]->text, "漢字");
}

}  // namespace
}  // namespace millrace::output
