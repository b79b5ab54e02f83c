#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

namespace millrace {
namespace {

using namespace std::chrono_literals;

TEST(SeededRandom, RepeatsItselfForTheSameSeedOnly) {
  SeededRandom a(1);
  SeededRandom b(1);
  SeededRandom c(2);
  const auto first = a.next();
  EXPECT_EQ(first, b.next());
  EXPECT_NE(first, c.next());
  EXPECT_EQ(SeededRandom(0).next(), 0xe220a8397b1dcdafULL);  // splitmix64's published first value.
}

TEST(Random, KeepsWithinItsBoundsAndReachesThem) {
  SeededRandom random(3);
  std::array<int, 3> seen{};
  for (int i = 0; i < 300; ++i) ++seen.at(random.below(3));
  for (const int count : seen) EXPECT_GT(count, 50);
  for (int i = 0; i < 100; ++i) {
    const auto value = random.between(-2, 2);
    EXPECT_GE(value, -2);
    EXPECT_LE(value, 2);
    const auto share = random.uniform();
    EXPECT_GE(share, 0.0);
    EXPECT_LT(share, 1.0);
  }
  EXPECT_EQ(random.between(7, 7), 7);
  random.between(std::numeric_limits<std::int64_t>::min(),
                 std::numeric_limits<std::int64_t>::max());
}

TEST(Random, SpreadsADurationByAShareOfItself) {
  SeededRandom random(4);
  auto low = 10'000ms;
  auto high = 0ms;
  for (int i = 0; i < 1000; ++i) {
    const auto value = random.jitter(1'000ms, 0.2);
    low = std::min(low, value);
    high = std::max(high, value);
  }
  EXPECT_GE(low, 800ms);
  EXPECT_LE(high, 1'200ms);
  EXPECT_LT(low, 820ms);
  EXPECT_GT(high, 1'180ms);
}

TEST(Random, MakesUuidsOfVersionFour) {
  SystemRandom random;
  const auto a = random.uuid();
  EXPECT_NE(a, random.uuid());
  EXPECT_EQ(a.to_string()[14], '4');
  EXPECT_NE(std::string("89ab").find(a.to_string()[19]), std::string::npos);
}

}  // namespace
}  // namespace millrace
