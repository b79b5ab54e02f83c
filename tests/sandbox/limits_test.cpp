// Limits and lies (T19, F15–F17, J01, J03): too much, too long, and frames that are none. Each ends
// the task with the reason, and the child is gone.
#include "sandbox/probe_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <sys/resource.h>

namespace millrace::test {
namespace {

using namespace std::chrono_literals;

struct Case {
  std::string request;
  End end;
  std::string code;
  std::optional<int> signal = {};
};

class Limits : public ::testing::Test {
 protected:
  void expect(const std::vector<Case>& cases, TaskLimits limits = small_limits()) {
    for (const auto& item : cases) {
      const auto result = pool_.result(item.request, limits);
      const std::string what = item.request + ": " + describe(result);
      EXPECT_EQ(result.end, item.end) << what;
      EXPECT_EQ(result.code, item.code) << what;
      if (item.signal) EXPECT_EQ(result.signal, item.signal) << what;
      EXPECT_TRUE(is_gone(pool_.seen().child)) << what;
    }
    EXPECT_EQ(pool_.pool().state().starts, 1U);
  }

  ProbePool pool_;
};

TEST_F(Limits, CrashesAreReportedAndHarmNobodyElse) {
  expect({{"abort", End::crashed, "signal", SIGABRT},
          {"segfault", End::crashed, "signal", SIGSEGV},
          {"throw", End::crashed, "signal", SIGABRT},
          {"stack_overflow", End::crashed, "signal", SIGSEGV},
          {"exit_without_result", End::crashed, "no_result"},
          {"exit_with_code", End::crashed, "no_result"},
          {"half_a_frame_and_crash", End::crashed, "signal", SIGABRT},
          {"echo fine", End::ok, ""}});
}

TEST_F(Limits, LiesInThePipeAreNoResults) {
  expect({{"unknown_frame", End::protocol, "malformed_frame"},
          {"confined_twice", End::protocol, "malformed_frame"},
          {"confined_with_body", End::protocol, "malformed_frame"},
          {"late_cannot_confine", End::protocol, "malformed_frame"},
          {"wrong_progress", End::protocol, "malformed_frame"},
          {"short_progress", End::protocol, "malformed_frame"},
          {"refusal_without_code", End::protocol, "malformed_frame"},
          {"large_output_frame", End::protocol, "malformed_frame"},
          {"noise", End::protocol, "malformed_frame"},
          {"flood_of_small_frames", End::protocol, "malformed_frame"},
          {"two_results", End::protocol, "malformed_frame"},
          {"result_then_output", End::protocol, "malformed_frame"},
          {"half_a_frame", End::protocol, "malformed_frame"},
          {"claims_four_gigabytes", End::overflow, "result_too_large"},
          {"close_pipe", End::protocol, "closed_pipe"},
          {"answer_and_stay", End::ok, ""}});
}

TEST_F(Limits, TooMuchIsCutOff) {
  expect({{"endless_output", End::overflow, "output_too_large"},
          {"result 1048577", End::overflow, "result_too_large"},
          {"result 1048576", End::ok, ""}});
  auto limits = small_limits();
  limits.output_max_bytes = 200'000;
  expect({{"output 200001", End::overflow, "output_too_large"}, {"output 200000", End::ok, ""}},
         limits);
  EXPECT_EQ(pool_.seen().output, std::string(200'000, 'o'));
}

TEST_F(Limits, MemoryIsLimitedAndNamed) {
  expect({{"memory_bomb", End::out_of_memory, "memory_limit"},
          {"one_huge_block", End::out_of_memory, "memory_limit"},
          {"careless_bomb", End::out_of_memory, "memory_limit"}});
  EXPECT_EQ(pool_.result("map_bomb").result, "ENOMEM");
  // Who can do without gets no bad name.
  EXPECT_EQ(pool_.result("caught_memory_bomb").result, "made do with less");
  // Counted on top of what the warm program has mapped.
  EXPECT_EQ(pool_.result("use_memory 50000000").result, "50000000");
  EXPECT_EQ(pool_.result("use_memory 70000000").end, End::out_of_memory);
}

TEST_F(Limits, CpuTimeIsLimited) {
  auto limits = small_limits();
  limits.cpu = 1s;
  expect({{"burn", End::cpu_time, "cpu_limit", SIGXCPU},
          {"burn_and_catch", End::cpu_time, "cpu_limit", SIGKILL}},
         limits);
}

// T19: gone within a second after the limit; what run() returns after has been reaped.
TEST_F(Limits, TimeIsLimitedAndTheChildIsGoneWithinASecond) {
  auto limits = small_limits();
  limits.wall = 200ms;
  for (const char* request : {"sleep", "burn", "stop_itself", "says_forbidden"}) {
    auto before = std::chrono::steady_clock::now();
    auto result = pool_.result(request, limits);
    // On a busy machine its time may be up before it has said who it is.
    for (int again = 0; again < 20 && pool_.seen().child <= 0; ++again) {
      before = std::chrono::steady_clock::now();
      result = pool_.result(request, limits);
    }
    ASSERT_GT(pool_.seen().child, 0) << request;
    EXPECT_LT(std::chrono::steady_clock::now() - before, limits.wall + 1s) << request;
    EXPECT_EQ(result.end, End::timed_out) << request << ": " << describe(result);
    EXPECT_EQ(result.code, "wall_limit") << request;
    EXPECT_TRUE(is_gone(pool_.seen().child)) << request;
  }
}

TEST_F(Limits, ARefusalCarriesItsReasonWithoutControlCharacters) {
  auto result = pool_.result("refuse page 3 has\x1b[31m no\ntext\xff");
  EXPECT_EQ(result.end, End::refused);
  EXPECT_EQ(result.code, "invalid_argument");
  EXPECT_EQ(result.message, "page 3 has [31m no text");
  result = pool_.result("refuse " + std::string(5000, 'x'));
  EXPECT_EQ(result.message, std::string(1024, 'x'));
  EXPECT_FALSE(sandbox::blames_the_input(result.end));
}

std::string proc_file(pid_t pid, const char* name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

int nice_of(pid_t pid) {
  errno = 0;
  const int nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(pid));
  EXPECT_EQ(errno, 0);
  return nice;
}

// T18: others come first, for the processor and when memory runs out. The warm program, which is
// ours and answers at once, stays as it is.
TEST_F(Limits, ATaskGivesWayToEverybodyElse) {
  std::string oom_score;
  int nice = 0;
  Seen seen;
  CancelSource source;
  auto task = probe_task("sleep", small_limits(), seen);
  task.on_progress = [&](int pid, int) {
    oom_score = proc_file(pid, "oom_score_adj");
    nice = nice_of(pid);
    source.cancel("seen");
  };
  const auto result = run_blocking(pool_.io(), pool_.pool().run(std::move(task), source.token()));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->end, End::cancelled);
  EXPECT_EQ(oom_score, "1000\n");
  EXPECT_EQ(nice, std::max(sandbox::kTaskNice, nice_of(::getpid())));
  EXPECT_EQ(nice_of(pool_.pool().state().program_pid), nice_of(::getpid()));
}

// D06: the machine did it, not the document.
TEST_F(Limits, d06_AKillFromOutsideIsNamedAsSuch) {
  Seen seen;
  auto task = probe_task("sleep", small_limits(), seen);
  task.on_progress = [&](int pid, int) { ::kill(pid, SIGKILL); };
  const auto result = run_blocking(pool_.io(), pool_.pool().run(std::move(task), {}));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->end, End::crashed) << describe(*result);
  EXPECT_EQ(result->code, "killed");
  EXPECT_EQ(result->signal, SIGKILL);
  EXPECT_EQ(pool_.result("echo fine").end, End::ok);
  EXPECT_EQ(pool_.pool().state().starts, 1U);
}

TEST_F(Limits, SaysWhatTheTaskUsed) {
  const auto result = pool_.result("use_memory 50000000");
  EXPECT_GT(result.peak_rss_bytes, 50'000'000U);
  EXPECT_GT(result.cpu_time.count(), 0);
}

}  // namespace
}  // namespace millrace::test
