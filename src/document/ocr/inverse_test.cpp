#include "document/ocr/inverse.h"

#include "document/ocr/drawn_page.h"
#include "document/ocr/page_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

namespace millrace::document {
namespace {

constexpr std::uint8_t kPaper = 250;

// Letters as drawn::line() draws them, in any colours.
void write(Gray& page, int x, int foot, int count, std::uint8_t ink, int stroke = 4) {
  for (int i = 0; i < count; ++i) {
    const int height = i % 3 == 0 ? 28 : 20;
    drawn::letter(page, {.x = x, .y = foot - height, .width = 16, .height = height}, stroke, ink);
    x += 16 + (i % 5 == 4 ? 12 : 4);
  }
}

Gray page_of_text() {
  Gray page(1654, 2339, kPaper);
  for (int foot = 700; foot < 1400; foot += 60) drawn::line(page, 200, foot, 40);
  return page;
}

Gray with_plates(Gray page) {
  invert_plates(page);
  return page;
}

int darkest_in(const Gray& page, const drawn::Rect& rect) {
  int out = 255;
  for (int y = rect.y; y < rect.y + rect.height; ++y) {
    out = std::min<int>(out,
                        *std::min_element(page.row(y) + rect.x, page.row(y) + rect.x + rect.width));
  }
  return out;
}

TEST(Inverse, TheHeadOfATableBecomesPaperWithDarkLetters) {
  for (const int level : {20, 49, 72, 131}) {
    auto page = page_of_text();
    drawn::fill(page, {.x = 200, .y = 400, .width = 1200, .height = 60},
                static_cast<std::uint8_t>(level));
    write(page, 230, 440, 8, 255);
    write(page, 900, 440, 12, 255);
    // Lines between the cells.
    drawn::fill(page, {.x = 600, .y = 400, .width = 3, .height = 60}, 255);
    drawn::fill(page, {.x = 850, .y = 400, .width = 3, .height = 60}, 255);
    const auto plain = with_plates(page);
    EXPECT_GE(plain.at(700, 430), 240) << level;
    EXPECT_GE(plain.at(601, 430), 240) << level << ": the line between cells";
    EXPECT_GE(plain.at(203, 403), 240) << level;
    EXPECT_LE(plain.at(231, 420), 30) << level << ": a letter";
    EXPECT_EQ(plain.at(200, 399), page.at(200, 399));
    EXPECT_EQ(darkest_in(plain, {.x = 200, .y = 640, .width = 300, .height = 60}),
              darkest_in(page, {.x = 200, .y = 640, .width = 300, .height = 60}));
  }
}

TEST(Inverse, ABandAcrossTheWholePageIsAPlateToo) {
  auto page = page_of_text();
  drawn::fill(page, {.x = 0, .y = 0, .width = 1654, .height = 140}, 40);
  write(page, 200, 90, 20, 250);
  const auto plain = with_plates(page);
  EXPECT_GE(plain.at(1000, 20), 240);
  EXPECT_LE(plain.at(201, 80), 30);
}

TEST(Inverse, RoundCornersLeaveNothingBehind) {
  auto page = page_of_text();
  for (int y = 0; y < 60; ++y) {
    const double high = std::abs(y - 29.5) / 30;
    const int cut = static_cast<int>(30 * (1 - std::sqrt(1 - high * high)));
    drawn::fill(page, {.x = 200 + cut, .y = 400 + y, .width = 400 - 2 * cut, .height = 1}, 49);
  }
  write(page, 260, 440, 12, 255);
  const auto plain = with_plates(page);
  EXPECT_GE(darkest_in(plain, {.x = 195, .y = 395, .width = 60, .height = 70}), 200);
  EXPECT_GE(darkest_in(plain, {.x = 540, .y = 395, .width = 65, .height = 70}), 200);
  EXPECT_LE(plain.at(261, 420), 30);
}

// A line of text eight pixels below a plate, and all of it that is dark.
constexpr int kBelow = 8;
constexpr drawn::Rect kTextBelow = {.x = 190, .y = 460 + kBelow, .width = 1210, .height = 28};

void plate_with_text_below(Gray& page) {
  drawn::fill(page, {.x = 200, .y = 400, .width = 1200, .height = 60}, 49);
  write(page, 230, 440, 8, 255);
  write(page, 900, 440, 12, 255);
  write(page, 200, 460 + kBelow + 28, 50, 20, 2);
}

void expect_text_below(const Gray& page, const std::string& what) {
  auto image = page;
  invert_plates(image);
  EXPECT_LE(image.at(231, 420), 80) << what << ": the plate was not found";
  for (int y = kTextBelow.y; y < kTextBelow.y + kTextBelow.height; ++y) {
    const auto begin = [&](const Gray& of) { return of.row(y) + kTextBelow.x; };
    ASSERT_TRUE(std::equal(begin(page), begin(page) + kTextBelow.width, begin(image)))
        << what << ", row " << y;
  }
}

TEST(Inverse, TextBelowAPlateStaysOnAPhotographInUnevenLight) {
  auto page = page_of_text();
  plate_with_text_below(page);
  for (const int darker : {-1, 1}) {  // To the left, to the right.
    auto shaded = page;
    for (int y = 0; y < page.height; ++y) {
      for (int x = 0; x < page.width; ++x) {
        const double across = static_cast<double>(darker > 0 ? x : page.width - x) / page.width;
        const double light = (1 - 0.30 * y / page.height) * (1 - 0.35 * across);
        shaded.row(y)[x] = static_cast<std::uint8_t>(page.at(x, y) * light);
      }
    }
    expect_text_below(shaded, darker > 0 ? "darker to the right" : "darker to the left");
  }
}

TEST(Inverse, TextInAGreyRowBelowAPlateStays) {
  for (const int level : {191, 160}) {
    for (const int gap : {0, 4}) {
      auto page = page_of_text();
      drawn::fill(page, {.x = 200, .y = 460 + gap, .width = 1200, .height = 50},
                  static_cast<std::uint8_t>(level));
      plate_with_text_below(page);
      expect_text_below(page, fmt::format("row of {}, {} below", level, gap));
    }
  }
}

// Scanners and JPEGs leave a few pixels between dark and bright, around corners as well.
TEST(Inverse, SoftEdgesOfAPlateLeaveNothingBehind) {
  for (const int paper : {250, 190}) {
    Gray page(1654, 2339, static_cast<std::uint8_t>(paper));
    for (int foot = 700; foot < 1400; foot += 60) drawn::line(page, 200, foot, 40);
    for (int y = 0; y < 60; ++y) {
      const double high = std::abs(y - 29.5) / 30;
      const int cut = static_cast<int>(30 * (1 - std::sqrt(1 - high * high)));
      drawn::fill(page, {.x = 200 + cut, .y = 400 + y, .width = 400 - 2 * cut, .height = 1}, 49);
    }
    write(page, 260, 440, 12, 255);
    const auto plain = with_plates(smoothed(page, 2));
    EXPECT_GE(darkest_in(plain, {.x = 190, .y = 390, .width = 60, .height = 80}), 0.75 * paper);
    EXPECT_GE(darkest_in(plain, {.x = 190, .y = 390, .width = 420, .height = 20}), 0.75 * paper);
  }
}

// Paper as bright as that around it: else the plate would be seen in the evened page.
TEST(Inverse, APlateBecomesThePaperBesideIt) {
  auto page = page_of_text();
  drawn::fill(page, {.x = 150, .y = 350, .width = 1300, .height = 160}, 191);
  drawn::fill(page, {.x = 200, .y = 400, .width = 1200, .height = 60}, 49);
  write(page, 230, 440, 20, 255);
  const auto plain = with_plates(page);
  EXPECT_EQ(plain.at(1300, 430), 191);
  EXPECT_LE(plain.at(231, 420), 30);
}

TEST(Inverse, DarkThingsWithoutWritingStayAsTheyAre) {
  auto page = page_of_text();
  drawn::fill(page, {.x = 200, .y = 100, .width = 1200, .height = 14}, 0);   // A thick rule.
  drawn::fill(page, {.x = 200, .y = 200, .width = 300, .height = 200}, 90);  // A shadow
  drawn::fill(page, {.x = 190, .y = 190, .width = 300, .height = 200}, kPaper);
  drawn::fill(page, {.x = 600, .y = 200, .width = 300, .height = 200}, 60);  // A picture.
  drawn::fill(page, {.x = 650, .y = 250, .width = 120, .height = 80}, 200);
  for (int x = 1000; x < 1400; x += 12) {  // A bar code.
    drawn::fill(page, {.x = x, .y = 200, .width = x % 5 + 4, .height = 120}, 0);
  }
  drawn::fill(page, {.x = 0, .y = 0, .width = 60, .height = 2339}, 10);  // Beside the sheet.
  drawn::fill(page, {.x = 0, .y = 2300, .width = 1654, .height = 39}, 10);
  EXPECT_EQ(with_plates(page).pixels, page.pixels);
}

TEST(Inverse, AHeadingInHeavyLettersStaysAsItIs) {
  auto page = page_of_text();
  for (int i = 0; i < 12; ++i) {
    // An 8, so to say: two things enclosed, and strokes as wide as what they enclose.
    const int x = 200 + i * 90;
    drawn::fill(page, {.x = x, .y = 300, .width = 84, .height = 130}, 0);
    drawn::fill(page, {.x = x + 28, .y = 325, .width = 28, .height = 28}, kPaper);
    drawn::fill(page, {.x = x + 28, .y = 378, .width = 28, .height = 28}, kPaper);
  }
  EXPECT_EQ(with_plates(page).pixels, page.pixels);
}

TEST(Inverse, APhotographStaysAsItIs) {
  auto page = page_of_text();
  SeededRandom random(7);
  for (int y = 1500; y < 2100; ++y) {
    for (int x = 200; x < 1200; ++x) {
      const int shade = 20 + (x - 200) / 10 + static_cast<int>(random.between(0, 40));
      page.row(y)[x] = static_cast<std::uint8_t>(shade);
    }
  }
  write(page, 300, 1800, 8, 230);  // The name of a ship.
  EXPECT_EQ(with_plates(page).pixels, page.pixels);
}

TEST(Inverse, AWholePageIsTurnedRound) {
  Gray page(1654, 2339, 30);
  for (int foot = 300; foot < 1400; foot += 60) write(page, 200, foot, 40, 230);
  const auto plain = without_inversion(page);
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->at(50, 50), 225);
  EXPECT_EQ(plain->at(201, 290), 25);
  EXPECT_FALSE(without_inversion(*plain).has_value());
}

TEST(Inverse, SheetsOnSomethingDarkAndDarkPicturesAreNotTurnedRound) {
  Gray desk(1654, 2339, 40);
  drawn::fill(desk, {.x = 500, .y = 600, .width = 900, .height = 1100}, 240);
  for (int foot = 700; foot < 1600; foot += 60) drawn::line(desk, 560, foot, 30);
  EXPECT_FALSE(without_inversion(desk).has_value());
  EXPECT_FALSE(without_inversion(Gray(800, 800, 12)).has_value());
  EXPECT_FALSE(without_inversion(page_of_text()).has_value());
}

// The reader sees dark letters on bright paper only.
TEST(Inverse, ReadersAreShownInverseWritingAsAnyOther) {
  auto page = page_of_text();
  drawn::fill(page, {.x = 200, .y = 400, .width = 1200, .height = 60}, 49);
  write(page, 230, 440, 30, 255);
  int rows = 0;
  drawn::TestReader reader([&](const Gray& line) {
    const auto dark = std::ranges::count_if(line.pixels, [](auto value) { return value < 128; });
    EXPECT_LT(static_cast<double>(dark), 0.5 * static_cast<double>(line.pixels.size()));
    ++rows;
    return std::vector{LineWord{.text = "word",
                                .conf = 0.99,
                                .x0 = line.height / 2.0,
                                .x1 = line.width - line.height / 2.0}};
  });
  const std::array<LineReader*, 1> readers = {&reader};
  EXPECT_EQ(read_page(page, readers).words.size(), 13U);
  const int shown = std::exchange(rows, 0);
  for (auto& value : page.pixels) value = static_cast<std::uint8_t>(255 - value);
  EXPECT_EQ(read_page(page, readers).words.size(), 13U);
  EXPECT_EQ(rows, shown);
}

}  // namespace
}  // namespace millrace::document
