#include "document/ocr/text_lines.h"

#include "document/ocr/drawn_page.h"

#include <gtest/gtest.h>

namespace millrace::document {
namespace {

std::vector<TextLine> lines_of(const Gray& page) {
  const auto marks = find_marks(page, 128).list;
  return find_text_lines(marks, letter_height(marks, page.height));
}

TEST(TextLines, WordsFarApartAreTwoLines) {
  Gray page(1200, 300, 250);
  drawn::line(page, 100, 150, 10);
  drawn::line(page, 600, 150, 10);
  EXPECT_EQ(lines_of(page).size(), 2U);
}

TEST(TextLines, DotsBetweenWordsMakeThemOneLine) {
  Gray page(1200, 300, 250);
  drawn::line(page, 100, 150, 10);
  drawn::line(page, 600, 150, 10);
  for (int x = 320; x < 590; x += 20) {
    drawn::fill(page, {.x = x, .y = 146, .width = 4, .height = 4}, 20);
  }
  const auto lines = lines_of(page);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].marks.size(), 10U + 10U + 14U);
}

TEST(TextLines, DotsBeforeAndBehindALineAreItsOwn) {
  Gray page(1200, 300, 250);
  drawn::line(page, 400, 150, 10);
  for (const int x : {620, 640, 660, 680, 340, 360, 380}) {
    drawn::fill(page, {.x = x, .y = 146, .width = 4, .height = 4}, 20);
  }
  const auto lines = lines_of(page);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].marks.size(), 17U);
  EXPECT_EQ(lines[0].x0, 340);
  EXPECT_EQ(lines[0].x1, 684);
}

TEST(TextLines, TheBaseLineStaysWhereItIsWhenDotsMakeALineLonger) {
  Gray page(1600, 400, 250);
  const auto foot = [](int x) { return 150 + x / 50; };
  for (int i = 0; i < 30; ++i) {
    const int x = 100 + 20 * i;
    drawn::letter(page, {.x = x, .y = foot(x) - 20, .width = 16, .height = 20});
  }
  for (int x = 712; x < 1100; x += 20) {
    drawn::fill(page, {.x = x, .y = foot(x) - 4, .width = 4, .height = 4}, 20);
  }
  const auto lines = lines_of(page);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_GT(lines[0].x1, 1080);
  EXPECT_NEAR(lines[0].foot_at(200), foot(200), 1.5);
  EXPECT_NEAR(lines[0].foot_at(600), foot(600), 1.5);
}

}  // namespace
}  // namespace millrace::document
