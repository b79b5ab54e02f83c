#include "document/ocr/marks.h"

#include "document/ocr/drawn_page.h"
#include "document/ocr/ink.h"
#include "document/ocr/noise.h"

#include <gtest/gtest.h>

namespace millrace::document {
namespace {

TEST(LetterHeight, IsThatOfFewLettersNotOfMuchDust) {
  Gray page(1600, 2200, 250);
  SeededRandom random(31);
  drawn::dust(page, random, 600);
  drawn::line(page, 200, 300, 12);
  const double height = letter_height(find_marks(page, 128).list, page.height);
  EXPECT_GE(height, 20);
  EXPECT_LE(height, 28);
}

TEST(LetterHeight, OfMarksThatAllStandAloneIsTheirs) {
  Gray page(800, 800, 250);
  drawn::letter(page, {.x = 100, .y = 100, .width = 20, .height = 30});
  drawn::letter(page, {.x = 500, .y = 600, .width = 20, .height = 30});
  EXPECT_EQ(letter_height(find_marks(page, 128).list, page.height), 30);
}

TEST(LetterHeight, IsTheSameOfAPageOnItsSide) {
  Gray page(900, 900, 250);
  for (int i = 0; i < 20; ++i) {  // Letters below each other, with the white of a sideways line.
    drawn::letter(page, {.x = 300, .y = 100 + 24 * i, .width = 24, .height = 20});
  }
  EXPECT_EQ(letter_height(find_marks(page, 128).list, page.height), 20);
}

TEST(LetterHeight, DarkBandsOnAPageThatSlantsAreNoLetters) {
  Gray page(1600, 2200, 250);
  for (int foot = 600; foot < 1000; foot += 50) drawn::line(page, 100, foot, 40);
  for (const int top : {100, 300, 1200, 1500}) {
    for (int x = 100; x < 1500; ++x) {  // A twentieth down.
      drawn::fill(page, {.x = x, .y = top + x / 20, .width = 1, .height = 60}, 20);
    }
  }
  EXPECT_LE(letter_height(find_marks(page, 128).list, page.height), 28);
}

TEST(LetterHeight, AHeadingInHugeLettersDoesNotOutweighAPageOfSmallOnes) {
  Gray page(1600, 2200, 250);
  for (int foot = 600; foot < 1000; foot += 50) drawn::line(page, 100, foot, 40);
  for (int i = 0; i < 12; ++i) {
    drawn::fill(page, {.x = 100 + i * 110, .y = 200, .width = 90, .height = 140}, 20);
  }
  EXPECT_LE(letter_height(find_marks(page, 128).list, page.height), 28);
}

TEST(InkLevels, InkIsAsDarkAsLettersThoughFaintGreyOutnumbersThem) {
  Gray page(1600, 2200, 254);
  SeededRandom random(32);
  drawn::specks(page, random, 9'000);
  drawn::line(page, 200, 300, 12);
  EXPECT_LT(ink_levels(without_specks(page)).ink, 80);
}

TEST(Noise, GrainIsNotTakenForSpecks) {
  Gray page(600, 600);
  SeededRandom random(33);
  for (auto& pixel : page.pixels) {
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += random.uniform();
    const double deviation = (sum - 2) * 1.732;
    pixel = static_cast<std::uint8_t>(std::clamp(200 + 40 * deviation, 0.0, 255.0));
  }
  const auto noise = measure_noise(page);
  EXPECT_GT(noise.specks, 0.002);
  EXPECT_FALSE(noise.has_specks());
}

TEST(Noise, SpecksOnCleanPaperAreSeenAndTakenAway) {
  Gray page(600, 600, 250);
  SeededRandom random(34);
  drawn::specks(page, random, 2'000);
  const auto noise = measure_noise(page);
  EXPECT_TRUE(noise.has_specks());
  const auto clean = without_specks(page);
  EXPECT_LT(std::ranges::count_if(clean.pixels, [](auto value) { return value < 128; }), 10);
}

}  // namespace
}  // namespace millrace::document
