#include "document/ocr/page_reader.h"

#include "document/ocr/drawn_page.h"
#include "document/ocr/level_page.h"
#include "document/ocr/row_words.h"

#include <gtest/gtest.h>

#include <array>

namespace millrace::document {
namespace {

LineWord whole_line(const Gray& line, std::string text, double conf) {
  return {.text = std::move(text),
          .conf = conf,
          .x0 = line.height / 2.0,
          .x1 = line.width - line.height / 2.0};
}

// Reads every line it is shown, whatever is on it.
drawn::TestReader reads_anything() {
  return drawn::TestReader(
      [](const Gray& line) { return std::vector{whole_line(line, "word", 0.99)}; });
}

std::vector<OcrWord> words_of(const Gray& page, LineReader& reader) {
  const std::array<LineReader*, 1> readers = {&reader};
  return read_page(page, readers).words;
}

TEST(PageReader, DustAndSpecksOfAPageWithLittleTextAreNoWords) {
  Gray page(1654, 2339, 254);
  SeededRandom random(41);
  drawn::specks(page, random, 40'000);
  drawn::dust(page, random, 300);
  drawn::line(page, 200, 300, 30);
  drawn::line(page, 200, 350, 30);
  drawn::line(page, 200, 400, 30);
  auto reader = reads_anything();
  const auto words = words_of(page, reader);
  EXPECT_GE(words.size(), 3U);
  EXPECT_LE(words.size(), 6U);
}

TEST(PageReader, RowsAreShownToTheReaderWithoutSpecksAndOtherwiseAsTheyAre) {
  Gray page(1654, 1200, 254);
  for (const int foot : {300, 400, 500, 600}) drawn::line(page, 200, foot, 50);
  Gray specked = page;
  SeededRandom random(42);
  drawn::specks(specked, random, 20'000);
  for (int i = 0; i < 60'000; ++i) {  // White ones, which show on letters only.
    specked.pixels[random.below(specked.pixels.size())] = 255;
  }
  const auto ink_shown = [](const Gray& image) {
    double ink = 0;
    drawn::TestReader reader([&](const Gray& line) {
      for (const auto value : line.pixels) ink += value < 128 ? 1 : 0;
      return std::vector{whole_line(line, "word", 0.99)};
    });
    words_of(image, reader);
    return ink / reader.reads;
  };
  const double clean = ink_shown(page);
  EXPECT_NEAR(ink_shown(specked), clean, 0.02 * clean);
}

TEST(PageReader, ADoubtfulRowIsReadAgainAndTheSurerReadingStays) {
  Gray page(1200, 400, 255);
  drawn::line(page, 100, 200, 30);
  std::size_t thin_ink = 0;
  drawn::TestReader reader([&](const Gray& line) {
    const auto ink = static_cast<std::size_t>(
        std::ranges::count_if(line.pixels, [](auto value) { return value < 128; }));
    if (thin_ink == 0) thin_ink = ink;
    const bool thicker = ink > thin_ink + thin_ink / 4;
    return std::vector{whole_line(line, thicker ? "right" : "wrong", thicker ? 0.97 : 0.8)};
  });
  const auto words = words_of(page, reader);
  ASSERT_FALSE(words.empty());
  for (const auto& word : words) EXPECT_EQ(word.text, "right");
}

TEST(PageReader, ASureRowIsReadOnce) {
  Gray page(1200, 600, 255);
  // Ascenders and no descenders on lines enough: which way is up needs no reading.
  for (const int foot : {150, 250, 350, 450}) drawn::line(page, 100, foot, 30);
  auto reader = reads_anything();
  words_of(page, reader);
  EXPECT_EQ(reader.reads, 4);
}

TEST(LevelPage, TornLettersHoldTogetherAgain) {
  // Uprights and feet of letters with a pixel missing between them.
  Gray page(1600, 600, 255);
  int letters = 0;
  for (const int foot : {150, 250, 350, 450}) {
    for (int x = 100; x < 1400; x += 34, ++letters) {
      drawn::fill(page, {.x = x, .y = foot - 24, .width = 3, .height = 22}, 0);
      drawn::fill(page, {.x = x + 4, .y = foot - 24, .width = 12, .height = 3}, 0);
      drawn::fill(page, {.x = x + 4, .y = foot - 13, .width = 12, .height = 3}, 0);
      drawn::fill(page, {.x = x + 17, .y = foot - 24, .width = 3, .height = 22}, 0);
    }
  }
  const auto level = make_level(page, look_at(page), measure_noise(page));
  EXPECT_EQ(level.marks.size(), static_cast<std::size_t>(letters));
  EXPECT_EQ(level.lines.size(), 4U);
}

TEST(LevelPage, BetweenThePiecesOfARowIsThePaperTheyStandOn) {
  Gray page(1600, 800, 255);
  drawn::fill(page, {.x = 0, .y = 300, .width = 1600, .height = 60}, 242);
  drawn::line(page, 100, 340, 6);
  drawn::line(page, 900, 340, 6);
  for (const int foot : {100, 150, 500, 550, 600, 650}) drawn::line(page, 100, foot, 40);
  const auto level = make_level(page, look_at(page), measure_noise(page));
  for (const auto& row : group_rows(level)) {
    if (row.size() < 2) continue;
    const auto image = cut_row(level, row);
    ASSERT_EQ(image.pieces.size(), 2U);
    const auto between = static_cast<int>((image.pieces[0].x1 + image.pieces[1].x0) / 2);
    const auto beside = static_cast<int>(image.pieces[1].x0) + 2;
    for (int y = 0; y < image.image.height; ++y) {
      EXPECT_EQ(image.image.at(between, y), image.image.at(beside, y)) << y;
    }
    return;
  }
  FAIL() << "no row of two pieces";
}

// A line of `text`, one block per character in cells of `pitch`, and what an engine that sees no
// space in it would say.
struct TypedLine {
  LevelPage page;
  RowImage row;
  LineWord word;
};

TypedLine typed(const std::string& text, double pitch) {
  TypedLine out;
  out.page.letter_px = 20;
  TextLine line{.foot = 100, .small = 20, .top = -28, .bottom = 0};
  double x = 50;
  for (const char character : text) {
    const bool narrow = character == '.' || character == ':';
    const double width = narrow ? 4 : 16;
    const double left = x + (pitch - width) / 2;
    if (character != ' ') {
      line.marks.push_back(out.page.marks.size());
      out.page.marks.push_back({.x0 = static_cast<int>(left),
                                .y0 = narrow ? 96 : 80,
                                .x1 = static_cast<int>(left + width),
                                .y1 = 100,
                                .ink = 50});
      out.word.text += character;
      out.word.centres.push_back(x + pitch / 2);
    }
    x += pitch;
  }
  line.x0 = out.page.marks.front().x0;
  line.x1 = out.page.marks.back().x1;
  out.word.conf = 0.99;
  out.word.x0 = out.word.centres.front();
  out.word.x1 = out.word.centres.back();
  out.page.lines.push_back(std::move(line));
  out.row.pieces.push_back({.line = 0, .x0 = 0, .x1 = x, .shift = 0});
  return out;
}

std::vector<std::string> texts_of(const TypedLine& line, const std::vector<LineWord>& words) {
  std::vector<std::string> out;
  for (auto& word : row_words(line.page, line.row, words, {})) out.push_back(word.text);
  return out;
}

TEST(RowWords, LettersOfEqualWidthAreNotTornApartAtPunctuation) {
  const auto line = typed("main:leak.tree.c:39", 24);
  EXPECT_EQ(texts_of(line, {line.word}), (std::vector<std::string>{"main:leak.tree.c:39"}));
}

TEST(RowWords, AnEmptyCellAmongLettersOfEqualWidthIsASpace) {
  const auto line = typed("main.c leak.c:39", 24);
  EXPECT_EQ(texts_of(line, {line.word}), (std::vector<std::string>{"main.c", "leak.c:39"}));
}

TEST(RowWords, WordsSeenWhereNothingIsAreLeftOut) {
  const auto line = typed("leaktree", 24);
  LineWord ghost{.text = "=4", .conf = 0.9, .x0 = line.word.x1 + 90, .x1 = line.word.x1 + 110};
  EXPECT_EQ(texts_of(line, {line.word, ghost}), (std::vector<std::string>{"leaktree"}));
}

}  // namespace
}  // namespace millrace::document
