#include "sandbox/task_verdict.h"

#include "sandbox/task_child.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/syscall.h>

namespace millrace::sandbox {
namespace {

using End = TaskResult::End;
using namespace std::chrono_literals;

constexpr int exited(int code) { return code << 8; }
constexpr int signalled(int signal) { return signal; }

TaskFacts facts(int wait_status) {
  return {.limits = {.memory_bytes = 100'000'000, .cpu = 1500ms},
          .said = {.confined = true},
          .warm_rss_bytes = 50'000'000,
          .wait_status = wait_status};
}

TEST(Verdict, AResultCountsOnlyWithACleanExit) {
  auto good = facts(exited(0));
  good.said.result = "{}";
  EXPECT_EQ(judge(good).end, End::ok);
  EXPECT_EQ(judge(good).result, "{}");
  good.wait_status = exited(1);
  EXPECT_EQ(judge(good).end, End::crashed);
  good.wait_status = signalled(SIGSEGV);
  EXPECT_EQ(judge(good).end, End::crashed);
  EXPECT_TRUE(judge(good).result.empty());
}

TEST(Verdict, OurReasonsComeFirst) {
  auto stopped = facts(signalled(SIGKILL));
  stopped.said.result = "{}";
  stopped.stop = TaskStop{End::timed_out, "wall_limit", "more than 5 ms of time"};
  const auto result = judge(stopped);
  EXPECT_EQ(result.end, End::timed_out);
  EXPECT_EQ(result.code, "wall_limit");
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_TRUE(result.result.empty());
}

TEST(Verdict, AForbiddenCallIsNamed) {
  auto caught = facts(exited(kForbiddenExit));
  EXPECT_EQ(judge(caught).code, "forbidden_call");
  caught.said.forbidden_call = SYS_ptrace;
  const auto result = judge(caught);
  EXPECT_EQ(result.end, End::crashed);
  EXPECT_EQ(result.code, "forbidden_call");
  EXPECT_EQ(result.signal, SIGSYS);
  EXPECT_TRUE(result.message.contains("ptrace")) << result.message;
  EXPECT_EQ(judge(facts(signalled(SIGSYS))).code, "forbidden_call");
}

// D06: who sees a crash by SIGKILL blames nobody (pipeline/task_outcome).
TEST(Verdict, d06_a_kill_from_outside_is_told_from_a_limit) {
  auto killed = facts(signalled(SIGKILL));
  EXPECT_EQ(judge(killed).end, End::crashed);
  EXPECT_EQ(judge(killed).code, "killed");
  EXPECT_EQ(judge(killed).signal, SIGKILL);
  auto full = killed;
  full.ran_out = true;
  EXPECT_EQ(judge(full).end, End::out_of_memory);
  EXPECT_EQ(judge(full).code, "memory_limit");
  killed.cpu_time = 2s;  // 1.5 s are rounded up.
  EXPECT_EQ(judge(killed).end, End::cpu_time);
  EXPECT_EQ(judge(facts(signalled(SIGXCPU))).end, End::cpu_time);
}

TEST(Verdict, ACrashWithFullMemoryIsWantOfMemory) {
  auto crashed = facts(signalled(SIGSEGV));
  crashed.peak_rss_bytes = 139'000'000;  // 50 of them were there before it began.
  EXPECT_EQ(judge(crashed).end, End::crashed);
  crashed.peak_rss_bytes = 140'000'000;
  EXPECT_EQ(judge(crashed).end, End::out_of_memory);
  crashed.peak_rss_bytes = 0;
  crashed.said.memory_short = true;
  EXPECT_EQ(judge(crashed).end, End::out_of_memory);
  EXPECT_EQ(judge(crashed).code, "memory_limit");
}

TEST(Verdict, ARefusalIsNoCrash) {
  auto refused = facts(exited(0));
  refused.said.refused_code = "invalid_argument";
  refused.said.refused_message = "no pages";
  EXPECT_EQ(judge(refused).end, End::refused);
  EXPECT_EQ(judge(refused).code, "invalid_argument");
  EXPECT_EQ(judge(refused).message, "no pages");
}

TEST(Verdict, NoAnswerIsACrash) {
  EXPECT_EQ(judge(facts(exited(0))).code, "no_result");
  EXPECT_EQ(judge(facts(exited(3))).end, End::crashed);
}

// F15: these count towards poison, the others do not.
TEST(Verdict, BlamesTheInputForWhatItDid) {
  for (const End end : {End::crashed, End::out_of_memory, End::cpu_time, End::timed_out,
                        End::overflow, End::protocol}) {
    EXPECT_TRUE(blames_the_input(end)) << to_string(end);
  }
  for (const End end : {End::ok, End::refused, End::cancelled, End::cannot_confine}) {
    EXPECT_FALSE(blames_the_input(end)) << to_string(end);
  }
}

}  // namespace
}  // namespace millrace::sandbox
