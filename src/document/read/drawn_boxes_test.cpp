// Boxes drawn with lines, ticked and empty, beside things that look like them.
#include "document/read/drawn_boxes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace millrace::document {
namespace {

constexpr int kWidth = 800;
constexpr int kHeight = 400;
constexpr int kWordHeight = 40;
constexpr int kSide = 30;

class Drawing {
 public:
  Drawing& rect(int x0, int y0, int x1, int y1, std::uint8_t value = 30) {
    for (int y = y0; y < y1; ++y) std::fill(image_.row(y) + x0, image_.row(y) + x1, value);
    return *this;
  }
  Drawing& frame(int x, int y, int side = kSide, int stroke = 3) {
    rect(x, y, x + side, y + stroke).rect(x, y + side - stroke, x + side, y + side);
    return rect(x, y, x + stroke, y + side).rect(x + side - stroke, y, x + side, y + side);
  }
  Drawing& cross(int x, int y, int side = kSide) {
    for (int i = 6; i < side - 6; ++i) {
      rect(x + i - 1, y + i - 1, x + i + 2, y + i + 2);
      rect(x + side - i - 2, y + i - 1, x + side - i + 1, y + i + 2);
    }
    return *this;
  }
  Drawing& ring(int x, int y, int side = kSide) {
    for (int degree = 0; degree < 720; ++degree) {
      const double at = degree * 3.14159265 / 360;
      const int cx = static_cast<int>(x + side / 2.0 + (side / 2.0 - 2) * std::cos(at));
      const int cy = static_cast<int>(y + side / 2.0 + (side / 2.0 - 2) * std::sin(at));
      rect(cx - 1, cy - 1, cx + 2, cy + 2);
    }
    return *this;
  }
  // A word of dark stripes behind the place of a box, at most so many letters.
  Drawing& word(int x, int y, std::string text) {
    const int width = 20 * static_cast<int>(text.size());
    for (int i = 0; i + 10 < width; i += 16) rect(x + i, y + 8, x + i + 8, y + 32);
    words_.push_back({.text = std::move(text),
                      .box = {.x0 = static_cast<double>(x) / kWidth,
                              .y0 = static_cast<double>(y) / kHeight,
                              .x1 = static_cast<double>(x + width) / kWidth,
                              .y1 = static_cast<double>(y + kWordHeight) / kHeight},
                      .conf = 0.9,
                      .line = static_cast<std::uint32_t>(words_.size()),
                      .block = 0});
    return *this;
  }
  Gray& image() { return image_; }

  std::vector<layout::DrawnBox> boxes(const Gray& image, const OcrPage& read) const {
    const layout::PageInfo info{.page = 1, .width_px = kWidth, .height_px = kHeight, .engine = "t"};
    const auto page = layout::assemble_page(info, words_, {layout::BlockKind::text});
    EXPECT_TRUE(page.has_value()) << (page.has_value() ? "" : page.error().message);
    return find_drawn_boxes(image, read, *page);
  }
  std::vector<layout::DrawnBox> boxes() const {
    return boxes(image_, {.level = {.width = kWidth, .height = kHeight}});
  }

 private:
  Gray image_{kWidth, kHeight, 240};
  std::vector<layout::Word> words_;
};

TEST(DrawnBoxes, AreFoundEmptyAndTicked) {
  Drawing page;
  page.frame(100, 55).word(145, 50, "Interpreter");
  page.frame(100, 155).cross(100, 155).word(145, 150, "Wheelchair");
  const auto found = page.boxes();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_FALSE(found[0].checked);
  EXPECT_TRUE(found[1].checked);
  EXPECT_NEAR(found[0].box.x0 * kWidth, 100, 1.5);
  EXPECT_NEAR(found[0].box.y0 * kHeight, 55, 1.5);
  EXPECT_NEAR(found[0].box.x1 * kWidth, 130, 1.5);
  EXPECT_NEAR(found[0].box.y1 * kHeight, 85, 1.5);
}

TEST(DrawnBoxes, AreNeitherRoundLettersNorBulletsNorDashes) {
  Drawing page;
  page.ring(100, 55).word(145, 50, "Ring");
  page.rect(100, 155, 130, 185).word(145, 150, "Bullet");
  page.rect(100, 270, 130, 274).word(145, 250, "Dash");
  // Three sides, as of an n or a bracket.
  page.frame(400, 55).rect(403, 82, 427, 90, 240).word(445, 50, "Open");
  EXPECT_TRUE(page.boxes().empty());
}

TEST(DrawnBoxes, AreNoPartsOfATableOrAFrameAroundText) {
  Drawing page;
  // Cells that share their lines, and a box as wide as a field.
  page.frame(60, 55).frame(87, 55).frame(114, 55).word(160, 50, "Cells");
  page.rect(40, 150, 400, 153)
      .rect(40, 187, 400, 190)
      .rect(40, 150, 43, 190)
      .rect(397, 150, 400, 190);
  page.word(60, 150, "Field");
  EXPECT_TRUE(page.boxes().empty());
}

// A box is easily read as a letter: then it stands where the word is, not in front of it.
TEST(DrawnBoxes, AreFoundWhereTheyWereReadAsAWord) {
  Drawing page;
  page.frame(105, 55);
  // No ink of its own: what was read is the box.
  page.word(700, 300, "x");
  auto image = page.image();
  Drawing words;
  words.word(100, 50, "O");
  const auto found = words.boxes(image, {.level = {.width = kWidth, .height = kHeight}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0].checked);
}

TEST(DrawnBoxes, AreFoundOnAPageThatLiesOnItsSide) {
  Drawing page;
  page.frame(100, 155).cross(100, 155).word(145, 150, "Wheelchair");
  // The picture came turned by a quarter: turning it back makes it upright.
  const auto came = turned(page.image(), 270);
  const auto found =
      page.boxes(came, {.turn_deg = 90, .level = {.width = kWidth, .height = kHeight}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].checked);
  EXPECT_NEAR(found[0].box.x0 * kWidth, 100, 1.5);
}

TEST(DrawnBoxes, AreNotSeenInBlankPaperOrGrain) {
  Drawing page;
  std::uint32_t state = 7;
  for (auto& pixel : page.image().pixels) {
    state = state * 1'664'525 + 1'013'904'223;
    pixel = static_cast<std::uint8_t>(200 + (state >> 27));
  }
  Drawing words;
  words.word(145, 50, "Nothing").word(145, 150, "here");
  EXPECT_TRUE(words.boxes(page.image(), {.level = {.width = kWidth, .height = kHeight}}).empty());
}

}  // namespace
}  // namespace millrace::document
