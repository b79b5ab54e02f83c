#include "worker/job_output.h"

#include <gtest/gtest.h>

#include <thread>

namespace millrace::worker {
namespace {

using namespace std::chrono_literals;

class JobOutputTest : public ::testing::Test {
 protected:
  ManualClock clock;
  int changes = 0;
  JobOutput output{
      clock, {.lines_max = 3, .bytes_max = 20, .line_bytes_max = 10}, [this] { ++changes; }};
};

TEST_F(JobOutputTest, TellsOfTheFirstNewsOnlyUntilItIsTaken) {
  output.add_log(LogLevel::info, "a");
  output.set_progress({.percent = 1});
  EXPECT_EQ(changes, 1);
  const auto report = output.take_report();
  EXPECT_EQ(report.logs.size(), 1U);
  EXPECT_TRUE(report.progress.has_value());
  output.add_log(LogLevel::info, "b");
  EXPECT_EQ(changes, 2);
}

TEST_F(JobOutputTest, ProgressIsClampedAndTheSameAgainIsNoNews) {
  output.set_progress({.percent = 250, .message = "x"});
  EXPECT_EQ(output.take_report().progress->percent, 100);
  output.set_progress({.percent = 100, .message = "x"});
  EXPECT_EQ(output.take_report().progress, std::nullopt);
  EXPECT_EQ(changes, 1);
}

TEST_F(JobOutputTest, EachStepIsKeptInItsOrderAndTakesThePlaceOfProgressBeforeIt) {
  int steps = 0;
  JobOutput stepping(clock, {}, nullptr, [&] { ++steps; });
  stepping.set_progress({.percent = 10});
  EXPECT_EQ(steps, 0);
  stepping.add_step({.percent = 25});
  stepping.add_step({.percent = 25});  // Nothing new.
  stepping.add_step({.percent = 150});
  stepping.set_progress({.percent = 100});  // Likewise.
  EXPECT_EQ(steps, 1);
  auto report = stepping.take_report();
  ASSERT_EQ(report.steps.size(), 2U);
  EXPECT_EQ(report.steps[0].percent, 25);
  EXPECT_EQ(report.steps[1].percent, 100);
  EXPECT_EQ(report.progress, std::nullopt);
  stepping.add_step({.percent = 100});
  EXPECT_FALSE(stepping.has_steps());
  EXPECT_EQ(steps, 1);
}

TEST_F(JobOutputTest, MoreStepsThanAnybodyFollowsAreProgress) {
  for (int i = 1; i <= 50; ++i) output.add_step({.percent = i});
  const auto report = output.take_report();
  EXPECT_EQ(report.steps.size(), std::size_t{JobOutput::kStepsMax});
  EXPECT_EQ(report.progress->percent, 50);
}

TEST_F(JobOutputTest, KeepsLinesUpToTheCapWhetherTakenOrNot) {
  output.add_log(LogLevel::info, "1");
  (void)output.take_report();
  output.add_log(LogLevel::info, "2");
  output.add_log(LogLevel::info, "3");
  output.add_log(LogLevel::info, "4");
  output.add_log(LogLevel::info, "5");
  const auto last = output.take_last_logs();
  ASSERT_EQ(last.size(), 3U);
  EXPECT_EQ(last[0].message, "2");
  EXPECT_EQ(last[1].message, "3");
  EXPECT_TRUE(last[2].message.starts_with("2 more log lines dropped"));
}

TEST_F(JobOutputTest, KeepsBytesUpToTheCap) {
  output.add_log(LogLevel::info, "0123456789");
  output.add_log(LogLevel::info, "0123456789");
  output.add_log(LogLevel::info, "x");
  const auto last = output.take_last_logs();
  ASSERT_EQ(last.size(), 3U);
  EXPECT_TRUE(last[2].message.starts_with("1 more"));
}

TEST_F(JobOutputTest, LinesThatAreJsonLoseWhatDocumentsSay) {  // T-09
  JobOutput roomy(clock, {}, nullptr);
  roomy.add_log(LogLevel::info, R"({"page":2,"chunk":{"text":"Jane Doe"}})");
  const auto logs = roomy.take_report().logs;
  ASSERT_EQ(logs.size(), 1U);
  EXPECT_EQ(logs[0].message, R"({"page":2,"chunk":{"text":"[REDACTED - 8 chars]"}})");
}

TEST_F(JobOutputTest, LongLinesAreCut) {
  output.add_log(LogLevel::info, "0123456789abc");
  EXPECT_EQ(output.take_report().logs[0].message, "0123456789…");
}

TEST_F(JobOutputTest, LinesPutBackComeFirst) {
  output.add_log(LogLevel::info, "1");
  auto report = output.take_report();
  output.add_log(LogLevel::info, "2");
  output.put_back(std::move(report.logs));
  const auto logs = output.take_report().logs;
  ASSERT_EQ(logs.size(), 2U);
  EXPECT_EQ(logs[0].message, "1");
  EXPECT_EQ(logs[1].message, "2");
}

TEST_F(JobOutputTest, EffectsAreOneObject) {
  EXPECT_EQ(output.effects_json(), "");
  output.add_job({{"job_type", "next"}});
  output.add_event("kind", 3);
  EXPECT_EQ(output.effects_json(),
            R"({"jobs":[{"job_type":"next"}],"events":[{"kind":"kind","data":3}]})");
}

TEST(JobOutputThreads, ManyThreadsMaySpeakAtOnce) {
  SystemClock clock;
  std::atomic<int> changes = 0;
  JobOutput output(clock, {.lines_max = 1000, .bytes_max = 100'000, .line_bytes_max = 100},
                   [&] { ++changes; });
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        output.add_log(LogLevel::info, "line");
        output.set_progress({.percent = i});
      }
    });
  }
  threads.clear();
  EXPECT_EQ(output.take_last_logs().size(), 400U);
  EXPECT_EQ(changes, 1);
}

}  // namespace
}  // namespace millrace::worker
