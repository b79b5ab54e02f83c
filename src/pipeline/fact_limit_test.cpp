#include "pipeline/fact_limit.h"

#include <gtest/gtest.h>

namespace millrace::pipeline {
namespace {

TEST(FactLimit, WhatFitsIsToldAndNothingIsLeftOut) {
  FactLimit limit(10);
  EXPECT_TRUE(limit.take(4));
  EXPECT_TRUE(limit.take(6));
  EXPECT_TRUE(limit.take(0));
  EXPECT_FALSE(limit.full());
  EXPECT_EQ(limit.left_out(), 0U);
}

TEST(FactLimit, FromThePageThatDoesNotFitAllFactsAreCountedAsLeftOut) {
  FactLimit limit(10);
  EXPECT_TRUE(limit.take(8));
  EXPECT_FALSE(limit.take(3));
  EXPECT_FALSE(limit.take(1));  // It would fit, but a gap in the middle would not be seen.
  EXPECT_TRUE(limit.full());
  EXPECT_EQ(limit.left_out(), 4U);
}

TEST(FactLimit, OnePageIsAlwaysTold) {
  FactLimit limit(10);
  EXPECT_TRUE(limit.take(12));
  EXPECT_FALSE(limit.take(1));
  EXPECT_EQ(limit.left_out(), 1U);
}

}  // namespace
}  // namespace millrace::pipeline
