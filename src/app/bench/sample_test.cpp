#include "app/bench/sample.h"

#include <gtest/gtest.h>

namespace millrace::app {
namespace {

TEST(SampleTest, MedianAndSpread) {
  const Measured odd{.name = "x", .samples = {3, 1, 2}};
  EXPECT_EQ(odd.median(), 2);
  EXPECT_EQ(odd.lowest(), 1);
  EXPECT_EQ(odd.highest(), 3);
  const Measured even{.name = "x", .samples = {4, 1, 2, 3}};
  EXPECT_EQ(even.median(), 2.5);
  EXPECT_EQ(Measured{.name = "x"}.median(), 0);
}

TEST(SampleTest, PercentileByNearestRank) {
  std::vector<double> values;
  for (int i = 1; i <= 100; ++i) values.push_back(i);
  EXPECT_EQ(percentile(values, 0.5), 50);
  EXPECT_EQ(percentile(values, 0.95), 95);
  EXPECT_EQ(percentile(values, 0.99), 99);
  EXPECT_EQ(percentile(values, 1), 100);
  EXPECT_EQ(percentile({7}, 0.5), 7);
  EXPECT_EQ(percentile({}, 0.5), 0);
}

}  // namespace
}  // namespace millrace::app
