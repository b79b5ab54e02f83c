#include "pipeline/task_outcome.h"

#include <gtest/gtest.h>

#include <csignal>

namespace millrace::pipeline {
namespace {

using sandbox::TaskResult;
using Kind = Outcome::Kind;

Outcome of(TaskResult::End end, std::string code = {}, std::optional<int> signal = {}) {
  return failed_task(
             TaskResult{.end = end, .code = std::move(code), .message = "why", .signal = signal},
             "page 3")
      .value();
}

TEST(TaskOutcome, ATaskWithAResultHasNotFailed) {
  EXPECT_FALSE(failed_task(TaskResult{.end = TaskResult::End::ok, .result = "{}"}, "scan"));
}

// D06: what the document did to its reader counts towards poison; what others did does not.
TEST(TaskOutcome, d06_crashes_and_limits_count_towards_poison) {
  for (const auto end :
       {TaskResult::End::crashed, TaskResult::End::out_of_memory, TaskResult::End::cpu_time,
        TaskResult::End::timed_out, TaskResult::End::overflow, TaskResult::End::protocol}) {
    const auto outcome = of(end, {}, SIGSEGV);
    EXPECT_EQ(outcome.kind, Kind::retry) << to_string(end);
    EXPECT_TRUE(outcome.crash) << to_string(end);
  }
}

TEST(TaskOutcome, TheTableSaysOfEveryEndWhatTheSandboxSays) {
  for (const auto end :
       {TaskResult::End::refused, TaskResult::End::crashed, TaskResult::End::out_of_memory,
        TaskResult::End::cpu_time, TaskResult::End::timed_out, TaskResult::End::overflow,
        TaskResult::End::protocol, TaskResult::End::cancelled, TaskResult::End::cannot_confine}) {
    EXPECT_EQ(of(end).crash, sandbox::blames_the_input(end)) << to_string(end);
  }
}

TEST(TaskOutcome, d06_a_child_that_somebody_killed_says_nothing_about_the_document) {
  const auto outcome = of(TaskResult::End::crashed, "signal", SIGKILL);
  EXPECT_EQ(outcome.kind, Kind::retry);
  EXPECT_FALSE(outcome.crash);
  EXPECT_NE(outcome.error_json.find("reader_killed"), std::string::npos);
}

TEST(TaskOutcome, ADocumentAtFaultIsNotTriedAgainAndAReaderAtFaultIs) {
  EXPECT_EQ(of(TaskResult::End::refused, "invalid_argument").kind, Kind::permanent);
  for (const auto* code : {"internal", "unavailable", "", "odd"}) {
    EXPECT_EQ(of(TaskResult::End::refused, code).kind, Kind::retry) << code;
    EXPECT_FALSE(of(TaskResult::End::refused, code).crash) << code;
  }
}

TEST(TaskOutcome, AMachineThatCannotConfineCostsNoAttempt) {
  EXPECT_EQ(of(TaskResult::End::cannot_confine).kind, Kind::throttled);
}

TEST(TaskOutcome, MessagesSayWhatWasTried) {
  EXPECT_NE(of(TaskResult::End::timed_out).error_json.find("page 3: why"), std::string::npos);
}

TEST(TaskOutcome, ErrorsOfOurOwnServicesCostNoAttemptWhereWaitingHelps) {
  const auto kind = [](ErrorKind kind) {
    return outcome_of(Error{.kind = kind, .message = "m"}, "fetching").kind;
  };
  EXPECT_EQ(kind(ErrorKind::unavailable), Kind::throttled);
  EXPECT_EQ(kind(ErrorKind::in_doubt), Kind::throttled);
  EXPECT_EQ(kind(ErrorKind::throttled), Kind::throttled);
  EXPECT_EQ(kind(ErrorKind::cancelled), Kind::cancelled);
  EXPECT_EQ(kind(ErrorKind::lease_lost), Kind::cancelled);
  EXPECT_EQ(kind(ErrorKind::not_found), Kind::permanent);
  EXPECT_EQ(kind(ErrorKind::invalid_argument), Kind::permanent);
  EXPECT_EQ(kind(ErrorKind::conflict), Kind::permanent);
  EXPECT_EQ(kind(ErrorKind::internal), Kind::retry);
  EXPECT_EQ(failed_task(fail(ErrorKind::unavailable, "no pool"), "scan")->kind, Kind::throttled);
}

}  // namespace
}  // namespace millrace::pipeline
