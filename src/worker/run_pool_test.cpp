#include "worker/run_pool.h"

#include "base/clock.h"

#include <gtest/gtest.h>

namespace millrace::worker {
namespace {

class RunPoolTest : public testing::Test {
 protected:
  std::vector<RunPool::Run> take(std::size_t count) {
    std::vector<RunPool::Run> runs;
    for (std::size_t i = 0; i < count; ++i) runs.push_back(pool.take());
    return runs;
  }
  void keep(std::vector<RunPool::Run> runs) {
    for (auto& run : runs) pool.keep(std::move(run));
  }

  ManualClock clock;
  int made = 0;
  RunPool pool{[this] {
    ++made;
    return std::make_shared<JobRun>(clock, LogCap{}, [](const std::weak_ptr<JobRun>&) {});
  }};
};

TEST_F(RunPoolTest, AnObjectServesAgain) {
  keep(take(1));
  keep(take(1));
  EXPECT_EQ(made, 1);
}

TEST_F(RunPoolTest, OneThatSomebodyElseKnowsDoesNotServeAgain) {
  auto run = pool.take();
  const auto known = run;
  pool.keep(std::move(run));
  EXPECT_EQ(pool.size(), 0U);
}

TEST_F(RunPoolTest, WhatOnlyABurstNeededIsFreedStepByStep) {
  keep(take(1000));
  EXPECT_EQ(pool.give_back(), 0U);  // The burst was since the last call.
  std::size_t freed = 0;
  for (int i = 0; i < 20; ++i) {
    keep(take(10));
    freed += pool.give_back();
  }
  EXPECT_EQ(freed, 990U);
  EXPECT_EQ(pool.size(), 10U);
  EXPECT_EQ(made, 1000);
}

TEST_F(RunPoolTest, AnIdleOneEndsWithNone) {
  keep(take(100));
  for (int i = 0; i < 20; ++i) pool.give_back();
  EXPECT_EQ(pool.size(), 0U);
}

TEST_F(RunPoolTest, LongTextsOfAJobGoWithIt) {
  auto run = pool.take();
  run->job.payload_json.assign(200'000, 'x');
  run->outcome.result_json.assign(200'000, 'y');
  run->job.carry_json = std::string(200'000, 'z');
  pool.keep(std::move(run));
  run = pool.take();
  EXPECT_LT(run->job.payload_json.capacity(), 100U);
  EXPECT_LT(run->outcome.result_json.capacity(), 100U);
  EXPECT_FALSE(run->job.carry_json.has_value());
}

}  // namespace
}  // namespace millrace::worker
