// Random and hostile pages: whatever the boxes, every word is read once, offsets give the words
// back, and the cost stays that of the number of words. The seed is printed; a failing one becomes
// a test of its own.
#include "base/random.h"

#include "layout/evidence.h"
#include "layout/page_json.h"
#include "layout/reading_order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace millrace::layout {
namespace {

constexpr std::uint64_t kSeed = 20'251'116;

RawPage blank() {
  return {.info = {.page = 1, .width_px = 1240, .height_px = 1754, .engine = "random"}};
}

Box random_box(Random& random) {
  const auto x = random.uniform();
  const auto y = random.uniform();
  switch (random.below(8)) {
    case 0:  // A point.
      return {.x0 = x, .y0 = y, .x1 = x, .y1 = y};
    case 1:  // The page.
      return {.x0 = 0, .y0 = 0, .x1 = 1, .y1 = 1};
    case 2:  // Swapped, and beyond the page.
      return {.x0 = x + 1, .y0 = y, .x1 = x - 1, .y1 = y - 1};
    case 3:  // Tall.
      return {.x0 = x, .y0 = 0, .x1 = x + 0.01, .y1 = 1};
    default: {  // On a grid, as lines are.
      const auto row = std::floor(y * 40) / 40;
      return {.x0 = x, .y0 = row, .x1 = x + 0.02 + random.uniform() * 0.1, .y1 = row + 0.015};
    }
  }
}

std::string random_word(Random& random) {
  static const std::vector<std::string> kParts = {"a",  "Dose:", "500", "mg", "☑",  "[",   "]",
                                                  "שם", "患",    "é",   "-",  "1.", "(x)", "Z"};
  std::string text;
  for (auto n = 1 + random.below(3); n > 0; --n) text += kParts[random.below(kParts.size())];
  return text;
}

RawPage random_page(Random& random) {
  auto page = blank();
  for (auto n = random.below(120); n > 0; --n) {
    RawWord word{.text = random_word(random), .box = random_box(random)};
    if (random.below(3) == 0) word.conf = random.uniform() * 1.2;
    if (random.below(5) == 0) {
      Quad quad;
      for (auto& point : quad) point = {.x = random.uniform(), .y = random.uniform()};
      word.poly = quad;
    }
    page.words.push_back(std::move(word));
  }
  return page;
}

void expect_consistent(const PageMap& map) {
  for (const auto& word : map.words) ASSERT_EQ(map.text_of(word.bytes), word.text);
  std::uint32_t next = 0;
  for (const auto& line : map.lines) {
    ASSERT_EQ(line.words.first, next);
    next = line.words.last + 1;
  }
  ASSERT_EQ(next, map.words.size());
  ASSERT_TRUE(check_structures(map).has_value());
}

TEST(RandomPages, OrderIsAPermutationAndOffsetsRoundTrip) {
  RecordProperty("seed", std::to_string(kSeed));
  SeededRandom random(kSeed);
  for (int round = 0; round < 1500; ++round) {
    const auto raw = random_page(random);
    const auto map = arrange(raw);
    ASSERT_TRUE(map.has_value()) << map.error().message << " in round " << round;
    std::vector<std::string> given;
    std::vector<std::string> read;
    for (const auto& word : raw.words) given.push_back(word.text);
    for (const auto& word : map->words) read.push_back(word.text);
    std::ranges::sort(given);
    std::ranges::sort(read);
    ASSERT_EQ(given, read) << "in round " << round;
    expect_consistent(*map);
    ASSERT_EQ(arrange(raw).value(), *map) << "in round " << round;
  }
}

TEST(RandomPages, JsonRoundTrips) {
  SeededRandom random(kSeed + 1);
  for (int round = 0; round < 300; ++round) {
    const auto map = arrange(random_page(random)).value();
    const auto again = parse_page_json(page_json(map));
    ASSERT_TRUE(again.has_value()) << again.error().message << " in round " << round;
    ASSERT_EQ(*again, map) << "in round " << round;
  }
}

TEST(RandomPages, EveryStretchOfTextHasItsWords) {
  SeededRandom random(kSeed + 2);
  for (int round = 0; round < 200; ++round) {
    const auto map = arrange(random_page(random)).value();
    for (int i = 0; i < 50; ++i) {
      const auto size = static_cast<std::uint32_t>(map.text.size()) + 2;
      const ByteRange bytes{.begin = static_cast<std::uint32_t>(random.below(size)),
                            .end = static_cast<std::uint32_t>(random.below(size))};
      const auto words = words_covering(map, bytes);
      if (!words) continue;
      ASSERT_LT(map.words[words->first].bytes.begin, bytes.end);
      ASSERT_GT(map.words[words->first].bytes.end, bytes.begin);
      ASSERT_LT(map.words[words->last].bytes.begin, bytes.end);
      if (words->first > 0) {
        ASSERT_LE(map.words[words->first - 1].bytes.end, bytes.begin);
      }
      if (words->last + 1 < map.words.size()) {
        ASSERT_GE(map.words[words->last + 1].bytes.begin, bytes.end);
      }
    }
  }
}

// Each of these would cost the square of the number of words if any step compared all with all.
TEST(HostilePages, ManyWordsInOnePlaceAreReadAllTheSame) {
  constexpr std::size_t kCount = 20'000;
  SeededRandom random(kSeed + 3);
  for (int kind = 0; kind < 4; ++kind) {
    auto page = blank();
    for (std::size_t i = 0; i < kCount; ++i) {
      Box box{.x0 = 0.5, .y0 = 0.5, .x1 = 0.51, .y1 = 0.51};
      if (kind == 1) box = {.x0 = random.uniform(), .y0 = 0, .x1 = 1, .y1 = i % 2 == 0 ? 1 : 1e-3};
      if (kind == 2) box = {.x0 = 0, .y0 = random.uniform(), .x1 = 1, .y1 = random.uniform()};
      if (kind == 3) box = {};
      page.words.push_back({.text = "w", .box = box});
    }
    const auto map = arrange(std::move(page));
    ASSERT_TRUE(map.has_value());
    ASSERT_EQ(map->words.size(), kCount) << kind;
    expect_consistent(*map);
  }
}

TEST(HostilePages, BoxesThatAreNoNumbersDoNoHarm) {
  auto page = blank();
  const auto nan = std::nan("");
  const auto infinite = std::numeric_limits<double>::infinity();
  page.words.push_back({.text = "a", .box = {.x0 = nan, .y0 = nan, .x1 = nan, .y1 = nan}});
  page.words.push_back({.text = "b", .box = {.x0 = -infinite, .y0 = 0, .x1 = infinite, .y1 = 1}});
  page.words.push_back(
      {.text = "c", .box = {.x0 = 1e300, .y0 = -1e300, .x1 = 2, .y1 = 3}, .conf = nan});
  page.words.push_back({.text = "d", .poly = Quad{{{nan, 0}, {infinite, 1}, {0, 0}, {1, 1}}}});
  const auto map = arrange(std::move(page));
  ASSERT_TRUE(map.has_value()) << map.error().message;
  EXPECT_EQ(map->words.size(), 4U);
  expect_consistent(*map);
}

TEST(HostilePages, ExtremePageShapesAreRead) {
  for (const auto [width, height] : {std::pair(1U, 1'000'000U), std::pair(1'000'000U, 1U)}) {
    SeededRandom random(kSeed + 4);
    auto page = random_page(random);
    page.info.width_px = width;
    page.info.height_px = height;
    const auto count = page.words.size();
    const auto map = arrange(std::move(page));
    ASSERT_TRUE(map.has_value()) << map.error().message;
    EXPECT_EQ(map->words.size(), count);
    expect_consistent(*map);
  }
}

}  // namespace
}  // namespace millrace::layout
