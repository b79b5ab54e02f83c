#include "layout/page.h"

#include "layout/raw_page.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::layout {
namespace {

PageInfo info() { return {.page = 1, .width_px = 600, .height_px = 800, .engine = "test"}; }

Word word(std::string text, std::uint32_t line, std::uint32_t block) {
  return {.text = std::move(text),
          .box = {.x0 = 0.1, .y0 = 0.1, .x1 = 0.2, .y1 = 0.2},
          .line = line,
          .block = block};
}

std::vector<BlockKind> kinds(std::size_t count) { return {count, BlockKind::text}; }

TEST(Page, TextFollowsFromWordsLinesAndBlocks) {
  const auto page = assemble_page(
      info(), {word("Dear", 0, 0), word("Sir", 0, 0), word("thank", 1, 0), word("Ende", 2, 1)},
      kinds(2));
  ASSERT_TRUE(page.has_value()) << page.error().message;
  EXPECT_EQ(page->text, "Dear Sir\nthank\n\nEnde");
  EXPECT_EQ(page->lines.size(), 3U);
  EXPECT_EQ(page->blocks.size(), 2U);
  EXPECT_EQ(page->blocks[0].last_line, 1U);
  EXPECT_EQ(page->lines[0].words, (WordRange{.first = 0, .last = 1}));
  EXPECT_EQ(page->text_of(WordRange{.first = 1, .last = 2}), "Sir\nthank");
  for (const auto& each : page->words) EXPECT_EQ(page->text_of(each.bytes), each.text);
}

TEST(Page, IdeographsStandWithoutSpaces) {
  const auto page =
      assemble_page(info(), {word("患者", 0, 0), word("姓名", 0, 0), word("Wang", 0, 0)}, kinds(1));
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(page->text, "患者姓名 Wang");
}

TEST(Page, RefusesWordsOutOfPlaceAndSaysWhich) {
  const auto message = [](std::vector<Word> words, std::size_t blocks) {
    const auto page = assemble_page(info(), std::move(words), kinds(blocks));
    return page ? std::string("accepted") : page.error().message;
  };
  EXPECT_EQ(message({word("a", 1, 0)}, 1),
            "words[0].line must be that of the word before or the next one");
  EXPECT_EQ(message({word("a", 0, 0), word("b", 0, 1)}, 2),
            "words[1].block cannot change within a line");
  EXPECT_EQ(message({word("a", 0, 0)}, 0), "words[0].block has no entry in blocks");
  EXPECT_EQ(message({word("a", 0, 0)}, 2), "blocks: there are more of them than words say");
  EXPECT_EQ(message({word("a b", 0, 0)}, 1),
            "words[0].text must be one word: UTF-8, no white space, no controls");
  auto outside = word("a", 0, 0);
  outside.box.x1 = 1.5;
  EXPECT_EQ(message({outside}, 1),
            "words[0].bbox must be [x0,y0,x1,y1] within 0 and 1, x0 <= x1, y0 <= y1");
  auto unsure = word("a", 0, 0);
  unsure.conf = 3;
  EXPECT_EQ(message({unsure}, 1), "words[0].conf must be between 0 and 1");
}

TEST(Page, LimitsHold) {
  PageLimits limits{.words_max = 2, .word_bytes_max = 4, .text_bytes_max = 6};
  EXPECT_FALSE(assemble_page(info(), {word("abcde", 0, 0)}, kinds(1), limits).has_value());
  EXPECT_FALSE(assemble_page(info(), {word("abcd", 0, 0), word("efgh", 0, 0)}, kinds(1), limits)
                   .has_value());
  EXPECT_FALSE(
      assemble_page(info(), {word("a", 0, 0), word("b", 0, 0), word("c", 0, 0)}, kinds(1), limits)
          .has_value());
  EXPECT_TRUE(
      assemble_page(info(), {word("ab", 0, 0), word("cd", 0, 0)}, kinds(1), limits).has_value());
}

TEST(Page, APageWithoutSizeOrNumberIsRefused) {
  auto none = info();
  none.width_px = 0;
  EXPECT_EQ(check_info(none).error().message, "width_px must be between 1 and 1000000");
  none = info();
  none.page = 0;
  EXPECT_EQ(check_info(none).error().message, "page must be between 1 and 5000");
  none = info();
  none.rotation_deg = 45;
  EXPECT_EQ(check_info(none).error().message, "rotation_deg must be 0, 90, 180 or 270");
}

TEST(Page, StructuresThatPointOutsideTheWordsAreRefused) {
  auto page = assemble_page(info(), {word("a", 0, 0), word("b", 0, 0), word("c", 1, 1)}, kinds(2));
  ASSERT_TRUE(page.has_value());
  page->tables = {{.block = 0, .rows = 1, .columns = 2}};
  page->tables[0].cells = {{.row = 0, .column = 0, .words = {.first = 0, .last = 0}},
                           {.row = 0, .column = 1, .words = {.first = 1, .last = 1}}};
  EXPECT_TRUE(check_structures(*page).has_value());
  page->tables[0].cells[1].words = {.first = 2, .last = 2};
  EXPECT_EQ(check_structures(*page).error().message,
            "tables[0].cells have words outside its block");
  page->tables[0].cells[1].words = {.first = 0, .last = 1};
  EXPECT_EQ(check_structures(*page).error().message,
            "tables[0].cells must be in order and share no words");
  page->tables.clear();
  page->pairs = {{.key = {.first = 0, .last = 1}, .value = {.first = 1, .last = 2}}};
  EXPECT_EQ(check_structures(*page).error().message, "pairs[0].key and .value share words");
}

TEST(RawPage, TextIsCutIntoWordsThatShareTheBox) {
  RawPage raw{.info = info()};
  raw.words.push_back(
      {.text = "\x01 500  mg\n", .box = {.x0 = 0.1, .y0 = 0.3, .x1 = 0.9, .y1 = 0.2}});
  raw.words.push_back({.text = " \t"});
  raw.words.push_back({.text = "a\xff", .conf = 7});
  const auto page = clean(raw);
  ASSERT_TRUE(page.has_value());
  ASSERT_EQ(page->words.size(), 3U);
  EXPECT_EQ(page->words[0].text, "500");
  EXPECT_EQ(page->words[1].text, "mg");
  EXPECT_EQ(page->words[2].text, "a\xef\xbf\xbd");
  EXPECT_EQ(page->words[2].conf, 1.0);
  // Swapped corners are put right, and "mg" stands to the right of "500".
  EXPECT_LT(page->words[0].box.y0, page->words[0].box.y1);
  EXPECT_LT(page->words[0].box.x1, page->words[1].box.x0);
}

TEST(RawPage, MoreWordsThanAllowedAreRefused) {
  RawPage raw{.info = info()};
  raw.words.push_back({.text = "a b c d"});
  EXPECT_EQ(clean(raw, {.words_max = 3}).error().message,
            "page 1 has more words than the limit of 3");
  EXPECT_EQ(
      clean({.info = info(), .words = {{.text = "abcdef"}}}, {.word_bytes_max = 5}).error().message,
      "page 1: words[0] is longer than the limit of 5 bytes");
}

}  // namespace
}  // namespace millrace::layout
