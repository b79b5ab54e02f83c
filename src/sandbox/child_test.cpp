#include "sandbox/child.h"

#include "sandbox/child_testing.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace millrace::sandbox {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// ---- what goes in and comes out

TEST(Child, KeepsTheThreeOutputsApart) {
  const auto outcome =
      run(shell("echo result; echo first >&2; echo '{\"progress\":1}' >&3; echo second >&2"));
  ASSERT_TRUE(outcome.result.has_value());
  EXPECT_EQ(outcome.result->exit_code, 0);
  EXPECT_EQ(outcome.result->signal, std::nullopt);
  EXPECT_EQ(outcome.result->stdout_text, "result\n");
  EXPECT_THAT(outcome.stderr_lines, ElementsAre("first", "second"));
  EXPECT_THAT(outcome.control_lines, ElementsAre("{\"progress\":1}"));
  EXPECT_FALSE(outcome.result->timed_out);
  EXPECT_FALSE(outcome.result->cancelled);
  EXPECT_FALSE(outcome.result->output_overflow);
  EXPECT_FALSE(outcome.result->stderr_truncated);
  EXPECT_FALSE(outcome.result->control_truncated);
}

TEST(Child, HandsOverLargeInputWhileOutputIsRead) {
  auto spec = shell("cat; cat /dev/null");
  for (int i = 0; spec.stdin_data.size() < 8 * 1024 * 1024; ++i) {
    spec.stdin_data += std::to_string(i);
    spec.stdin_data += '\0';
  }
  spec.stdout_max_bytes = 16 * 1024 * 1024;
  const auto expected = spec.stdin_data;
  EXPECT_TRUE(run_ok(std::move(spec)).stdout_text == expected);
}

TEST(Child, InputMayBeIgnoredReopenedOrEmpty) {
  auto ignoring = shell("exit 0");
  ignoring.stdin_data = std::string(1024 * 1024, 'x');
  EXPECT_EQ(run_ok(std::move(ignoring)).exit_code, 0);

  auto reopening = shell("cat /dev/stdin");
  reopening.stdin_data = "again";
  EXPECT_EQ(run_ok(std::move(reopening)).stdout_text, "again");

  EXPECT_EQ(run_ok(shell("cat; echo end")).stdout_text, "end\n");
}

TEST(Child, InputCannotBeChangedByTheProgram) {
  auto spec = shell("echo changed 1<>/dev/stdin || cat");
  spec.stdin_data = "original";
  EXPECT_EQ(run_ok(std::move(spec)).stdout_text, "original");
}

TEST(Child, DeliversALastLineWithoutLineEnd) {
  const auto outcome = run(shell("printf end >&2; printf '{}' >&3"));
  EXPECT_THAT(outcome.stderr_lines, ElementsAre("end"));
  EXPECT_THAT(outcome.control_lines, ElementsAre("{}"));
}

TEST(Child, ReadsEverythingWrittenBeforeTheExit) {
  // More than a pipe holds on each of the three, written just before the end.
  auto spec = shell(
      "i=0; while [ $i -lt 3000 ]; do echo out $i; echo err $i >&2; echo ctl $i >&3;"
      " i=$((i+1)); done");
  spec.stderr_max_bytes = 1024 * 1024;
  const auto outcome = run(std::move(spec));
  ASSERT_TRUE(outcome.result.has_value());
  EXPECT_THAT(outcome.result->stdout_text, HasSubstr("out 2999\n"));
  ASSERT_THAT(outcome.stderr_lines, SizeIs(3000));
  EXPECT_EQ(outcome.stderr_lines.back(), "err 2999");
  ASSERT_THAT(outcome.control_lines, SizeIs(3000));
  EXPECT_EQ(outcome.control_lines.back(), "ctl 2999");
}

TEST(Child, ClosedOutputsAreNotTheEnd) {
  EXPECT_EQ(run_ok(shell("exec >&- 2>&- 3>&-; sleep 0.01; exit 7")).exit_code, 7);
}

TEST(Child, WorksWithoutCallbacks) {
  const auto result = run_blocking([]() -> Task<ChildResult> {
    auto executor = co_await asio::this_coro::executor;
    co_return co_await Child::run(executor, shell("echo a >&2; echo b >&3; echo c"), {}, {}, {});
  }());
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->stdout_text, "c\n");
}

// ---- how it ended

TEST(Child, ReportsExitCodes) {
  for (const int code : {0, 1, 65, 69, 75, 126, 127, 255}) {
    const auto result = run_ok(shell("exit " + std::to_string(code)));
    EXPECT_EQ(result.exit_code, code);
    EXPECT_EQ(result.signal, std::nullopt);
  }
}

TEST(Child, ReportsTheSignalThatEndedIt) {
  for (const int signal : {SIGKILL, SIGSEGV, SIGTERM}) {
    const auto result = run_ok(shell("kill -" + std::to_string(signal) + " $$"));
    EXPECT_EQ(result.signal, signal);
    EXPECT_EQ(result.exit_code, std::nullopt);
    EXPECT_FALSE(result.timed_out);
  }
}

TEST(Child, TimeoutEndsItWithSigterm) {
  auto spec = shell("echo begun; exec sleep 1000");
  spec.timeout = 50ms;
  spec.kill_grace = 5min;
  const auto result = run_ok(std::move(spec));
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(result.cancelled);
  EXPECT_EQ(result.signal, SIGTERM);
}

TEST(Child, ProgramThatEndsItselfOnSigtermKeepsItsExitCode) {
  CancelSource source;
  auto spec =
      shell("trap 'echo cleaned up; exit 75' TERM; echo ready >&3; while :; do sleep 0.01; done");
  spec.kill_grace = 5min;
  const auto outcome =
      run(std::move(spec), source.token(), [&](std::string_view) { source.cancel("stop"); });
  ASSERT_TRUE(outcome.result.has_value());
  EXPECT_TRUE(outcome.result->cancelled);
  EXPECT_EQ(outcome.result->exit_code, 75);
  EXPECT_EQ(outcome.result->stdout_text, "cleaned up\n");
}

TEST(Child, ProgramThatIgnoresSigtermIsKilledAfterTheGrace) {
  CancelSource source;
  auto spec = shell("trap '' TERM; echo ready >&3; while :; do sleep 1000; done");
  spec.kill_grace = 20ms;
  const auto outcome =
      run(std::move(spec), source.token(), [&](std::string_view) { source.cancel("stop"); });
  ASSERT_TRUE(outcome.result.has_value());
  EXPECT_TRUE(outcome.result->cancelled);
  EXPECT_FALSE(outcome.result->timed_out);
  EXPECT_EQ(outcome.result->signal, SIGKILL);
}

TEST(Child, TheFirstCauseToStopIsTheOneReported) {
  CancelSource source;
  auto spec = shell("trap 'echo told >&3' TERM; while :; do sleep 0.01; done");
  spec.timeout = 50ms;
  spec.kill_grace = 500ms;
  const auto outcome =
      run(std::move(spec), source.token(), [&](std::string_view) { source.cancel("too late"); });
  ASSERT_TRUE(outcome.result.has_value());
  ASSERT_THAT(outcome.control_lines, testing::Not(testing::IsEmpty()));
  EXPECT_TRUE(outcome.result->timed_out);
  EXPECT_FALSE(outcome.result->cancelled);
}

TEST(Child, StoppedProgramIsTerminatedToo) {
  auto spec = shell("kill -STOP $$");
  spec.timeout = 50ms;
  spec.kill_grace = 5min;
  const auto result = run_ok(std::move(spec));
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGTERM);
}

TEST(Child, CancelledBeforeTheStartNeverStarts) {
  const Folder folder;
  CancelSource source;
  source.cancel("early");
  const auto outcome = run(shell("touch " + (folder.path() / "started").string()), source.token());
  ASSERT_TRUE(outcome.result.has_value());
  EXPECT_TRUE(outcome.result->cancelled);
  EXPECT_EQ(outcome.result->exit_code, std::nullopt);
  EXPECT_EQ(outcome.result->signal, std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "started"));
}

TEST(Child, CancelFromAnotherThread) {
  CancelSource source;
  std::jthread canceller;
  const auto outcome = run(
      shell("echo ready >&3; exec sleep 1000"), source.token(),
      [&](std::string_view) { canceller = std::jthread([&] { source.cancel("from outside"); }); });
  ASSERT_TRUE(outcome.result.has_value());
  EXPECT_TRUE(outcome.result->cancelled);
  EXPECT_EQ(outcome.result->signal, SIGTERM);
}

TEST(Child, CancelAfterTheEndChangesNothing) {
  CancelSource source;
  const auto outcome = run(shell("exit 3"), source.token());
  source.cancel("late");
  EXPECT_EQ(outcome.result->exit_code, 3);
  EXPECT_FALSE(outcome.result->cancelled);
}

// ---- caps

TEST(Child, OutputOfExactlyTheMaximumIsFine) {
  auto spec = shell("printf 12345678");
  spec.stdout_max_bytes = 8;
  const auto result = run_ok(std::move(spec));
  EXPECT_FALSE(result.output_overflow);
  EXPECT_EQ(result.stdout_text, "12345678");
}

TEST(Child, TooMuchOutputStopsTheProgram) {
  auto spec = shell("exec yes");
  spec.stdout_max_bytes = 1000;
  spec.kill_grace = 5min;
  const auto result = run_ok(std::move(spec));
  EXPECT_TRUE(result.output_overflow);
  EXPECT_FALSE(result.timed_out);
  EXPECT_FALSE(result.cancelled);
  EXPECT_THAT(result.stdout_text, SizeIs(1000));
  EXPECT_EQ(result.signal, SIGTERM);
}

TEST(Child, TooMuchOutputJustBeforeTheEndIsReportedToo) {
  auto spec = shell("printf 123456789");
  spec.stdout_max_bytes = 8;
  const auto result = run_ok(std::move(spec));
  EXPECT_TRUE(result.output_overflow);
  EXPECT_EQ(result.stdout_text, "12345678");
}

TEST(Child, TooManyLogLinesAreDroppedAndSaidSoOnce) {
  auto spec = shell("i=0; while [ $i -lt 20000 ]; do echo line >&2; i=$((i+1)); done; echo done");
  spec.stderr_max_bytes = 50;
  const auto outcome = run(std::move(spec));
  ASSERT_TRUE(outcome.result.has_value());
  EXPECT_EQ(outcome.result->exit_code, 0);
  EXPECT_EQ(outcome.result->stdout_text, "done\n");
  EXPECT_TRUE(outcome.result->stderr_truncated);
  ASSERT_THAT(outcome.stderr_lines, SizeIs(11));
  EXPECT_EQ(outcome.stderr_lines.back(), "output truncated after 50 bytes");
}

TEST(Child, LongLogLinesAreCut) {
  auto spec = shell("head -c 1000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo next >&2");
  spec.stderr_line_max_bytes = 10;
  const auto outcome = run(std::move(spec));
  EXPECT_THAT(outcome.stderr_lines, ElementsAre("xxxxxxxxxx [line cut]", "next"));
}

TEST(Child, TooManyControlLinesAreDropped) {
  auto spec = shell("i=0; while [ $i -lt 20000 ]; do echo '{}' >&3; i=$((i+1)); done");
  spec.control_max_bytes = 30;
  const auto outcome = run(std::move(spec));
  ASSERT_TRUE(outcome.result.has_value());
  EXPECT_EQ(outcome.result->exit_code, 0);
  EXPECT_TRUE(outcome.result->control_truncated);
  EXPECT_THAT(outcome.control_lines, AllOf(SizeIs(10), Each("{}")));
}

// ---- many at once

Task<void> run_many(int count, std::atomic<int>* good) {
  const auto executor = co_await asio::this_coro::executor;
  for (int i = 0; i < count; ++i) {
    auto spec = shell("cat; echo log >&2; echo '{}' >&3; exit 3");
    spec.stdin_data = std::to_string(i);
    int lines = 0;
    const auto count_line = [&](std::string_view) { ++lines; };
    const auto result =
        co_await Child::run(executor, std::move(spec), count_line, count_line, CancelToken());
    if (!result.has_value()) co_return fail(result.error());
    if (result->stdout_text == std::to_string(i) && result->exit_code == 3 && lines == 2) ++*good;
  }
  co_return ok();
}

TEST(Child, ManyAtOnceOnSeveralThreads) {
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto open_before = open_files();
  std::atomic<int> good = 0;
  std::atomic<int> errors = 0;
  {
    asio::thread_pool pool(4);
    for (int i = 0; i < 8; ++i) {
      asio::co_spawn(pool, run_many(10, &good),
                     [&](std::exception_ptr thrown, Result<void> result) {
                       if (thrown || !result.has_value()) ++errors;
                     });
    }
    pool.join();
  }
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(good, 80);
  EXPECT_EQ(open_files(), open_before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // No zombie is left.
  EXPECT_EQ(errno, ECHILD);
}

TEST(Child, AbandonedRunKillsTheProgram) {
  std::vector<Watched> programs;
  {
    asio::io_context io(1);
    bool ended = false;
    asio::co_spawn(
        io,
        Child::run(io.get_executor(), shell("echo $$ >&3; exec sleep 1000"), {},
                   [&](std::string_view line) { programs.emplace_back(to_pid(line)); }, {}),
        [&](std::exception_ptr, Result<ChildResult>) { ended = true; });
    while (programs.empty()) io.run_one();
    EXPECT_FALSE(ended);
  }
  ASSERT_THAT(programs, SizeIs(1));
  EXPECT_TRUE(programs.front().ended());
}

}  // namespace
}  // namespace millrace::sandbox
