#include "app/bench/sample.h"

#include <boost/json/object.hpp>
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

TEST(SampleTest, CostsAreReportedPerJob) {
  Measured measured{.name = "x", .samples = {1}};
  measured.cost += {.jobs = 100, .wal_bytes = 20'000, .commits = 1, .rows_written = 200};
  measured.cost += {.jobs = 100, .wal_bytes = 40'000, .commits = 3, .rows_dead = 200};
  const auto object = to_object(measured);
  const auto& per_job = object.at("per_job").as_object();
  EXPECT_DOUBLE_EQ(per_job.at("wal_bytes").as_double(), 300);
  EXPECT_DOUBLE_EQ(per_job.at("commits").as_double(), 0.02);
  EXPECT_DOUBLE_EQ(per_job.at("rows_written").as_double(), 1);
  EXPECT_DOUBLE_EQ(per_job.at("rows_dead").as_double(), 1);
}

TEST(SampleTest, WithoutCostsAndTimesNothingIsInvented) {
  const auto object = to_object(Measured{.name = "x", .samples = {1}});
  EXPECT_FALSE(object.contains("per_job"));
  EXPECT_FALSE(object.contains("ms"));
}

TEST(SampleTest, ExactLineHasItsSlopeAndNoDoubt) {
  const auto fit = fit_slope({0, 1, 2, 3, 4}, {5, 7, 9, 11, 13});
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->slope, 2, 1e-9);
  EXPECT_NEAR(fit->low, 2, 1e-6);
  EXPECT_NEAR(fit->high, 2, 1e-6);
  EXPECT_NEAR(fit->mean, 9, 1e-9);
  EXPECT_FALSE(fit->within_noise());
}

TEST(SampleTest, NoiseAroundALevelIsWithinNoise) {
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 40; ++i) {
    x.push_back(i);
    y.push_back(i % 2 == 0 ? 100 : 101);
  }
  const auto fit = fit_slope(x, y);
  ASSERT_TRUE(fit.has_value());
  EXPECT_TRUE(fit->within_noise());
}

// Worked by hand: slope 0.6, its standard error sqrt(2.4 / 3 / 10), t(3) = 3.182.
TEST(SampleTest, IntervalOfAKnownExample) {
  const auto fit = fit_slope({1, 2, 3, 4, 5}, {2, 4, 5, 4, 5});
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->slope, 0.6, 1e-9);
  EXPECT_NEAR(fit->high - fit->slope, 3.182 * 0.28284, 1e-3);
}

// Partitions that fill and are dropped: a saw whose teeth are longer than the gap between samples.
TEST(SampleTest, SawAroundALevelIsWithinNoiseAndARisingOneIsNot) {
  std::vector<double> x;
  std::vector<double> level;
  std::vector<double> rising;
  for (int i = 0; i < 100; ++i) {
    x.push_back(i);
    level.push_back(1000 + 10 * ((i + 5) % 12));
    rising.push_back(level.back() + 5.0 * i);
  }
  const auto flat = fit_slope(x, level);
  ASSERT_TRUE(flat.has_value());
  EXPECT_TRUE(flat->within_noise());
  const auto grown = fit_slope(x, rising);
  ASSERT_TRUE(grown.has_value());
  EXPECT_FALSE(grown->within_noise());
}

// Two levels, each told many times, are two samples and not a hundred.
TEST(SampleTest, SamplesThatRepeatTheirNeighboursWidenTheInterval) {
  std::vector<double> x;
  std::vector<double> blocks;
  std::vector<double> mixed;
  for (int i = 0; i < 96; ++i) {
    x.push_back(i);
    blocks.push_back(i / 12 % 2 == 0 ? 100 : 101);
    mixed.push_back(i % 2 == 0 ? 100 : 101);
  }
  const auto correlated = fit_slope(x, blocks);
  const auto independent = fit_slope(x, mixed);
  ASSERT_TRUE(correlated.has_value() && independent.has_value());
  EXPECT_GT(correlated->high - correlated->low, 3 * (independent->high - independent->low));
}

TEST(SampleTest, TwoPointsHaveNoInterval) {
  EXPECT_FALSE(fit_slope({1, 2}, {1, 2}).has_value());
  EXPECT_FALSE(fit_slope({1, 1, 1}, {1, 2, 3}).has_value());
}

TEST(SampleTest, RateBetweenUsesTheTimesOfItsSamples) {
  const std::vector<Progress> series{{0, 0}, {1.1, 110}, {2, 200}, {3, 230}};
  EXPECT_DOUBLE_EQ(rate_between(series, 0, 1), 100);
  EXPECT_DOUBLE_EQ(rate_between(series, 2, 3), 30);
  EXPECT_DOUBLE_EQ(rate_between(series, 0, 100), 230.0 / 3);
  EXPECT_DOUBLE_EQ(rate_between({}, 0, 1), 0);
}

}  // namespace
}  // namespace millrace::app
