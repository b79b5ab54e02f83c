// Child: its process group, what the program gets from us and what it does not, and what cannot be
// run.
#include "sandbox/child_testing.h"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace millrace::sandbox {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// ---- the process group

TEST(Child, TerminationReachesTheWholeGroup) {
  CancelSource source;
  std::vector<Watched> grandchildren;
  auto spec = shell("sleep 1000 & echo $! >&3; sleep 1000 & echo $! >&3; wait");
  spec.kill_grace = 5min;
  const auto outcome = run(std::move(spec), source.token(), [&](std::string_view line) {
    grandchildren.emplace_back(to_pid(line));
    if (grandchildren.size() == 2) source.cancel("stop");
  });
  ASSERT_THAT(grandchildren, SizeIs(2));
  for (const auto& grandchild : grandchildren) EXPECT_TRUE(grandchild.ended());
}

TEST(Child, WhatTheProgramLeavesBehindIsKilled) {
  std::vector<Watched> grandchildren;
  const auto outcome =
      run(shell("trap '' TERM HUP; sleep 1000 & echo $! >&3; echo done; exit 0"), {},
          [&](std::string_view line) { grandchildren.emplace_back(to_pid(line)); });
  ASSERT_TRUE(outcome.result.has_value());
  EXPECT_EQ(outcome.result->exit_code, 0);
  EXPECT_EQ(outcome.result->stdout_text, "done\n");
  ASSERT_THAT(grandchildren, SizeIs(1));
  EXPECT_TRUE(grandchildren.front().ended());
}

TEST(Child, ProcessThatLeftTheGroupCannotDelayTheResult) {
  // The substitution returns only when the sleeper exists in a session of its own, holding our
  // pipes.
  std::vector<Watched> escaped;
  const auto outcome = run(
      shell("exec 5>&1; pid=$(setsid sh -c 'sleep 1000 >&5 & echo $!'); echo $pid >&3; echo done"),
      {}, [&](std::string_view line) { escaped.emplace_back(to_pid(line)); });
  ASSERT_TRUE(outcome.result.has_value());
  EXPECT_EQ(outcome.result->exit_code, 0);
  EXPECT_EQ(outcome.result->stdout_text, "done\n");
  ASSERT_THAT(escaped, SizeIs(1));
  escaped.front().kill();
  EXPECT_TRUE(escaped.front().ended());
}

TEST(Child, ProcessThatLeftTheGroupAndKeepsWritingCannotDelayTheResult) {
  std::vector<Watched> escaped;
  auto spec = shell("exec 5>&1; pid=$(setsid sh -c 'yes >&5 & echo $!'); echo $pid >&3");
  spec.stdout_max_bytes = 1024 * 1024 * 1024;
  const auto outcome =
      run(std::move(spec), {}, [&](std::string_view line) { escaped.emplace_back(to_pid(line)); });
  ASSERT_TRUE(outcome.result.has_value());
  EXPECT_EQ(outcome.result->exit_code, 0);
  ASSERT_THAT(escaped, SizeIs(1));
  escaped.front().kill();
  EXPECT_TRUE(escaped.front().ended());
}

TEST(Child, LeaderThatLeftItsGroupIsStillStopped) {
  // bash with job control moves itself nowhere, so python does it: into the group of its own child.
  CancelSource source;
  auto spec = ChildSpec{.argv = {"/usr/bin/python3", "-c",
                                 "import os, time\n"
                                 "child = os.fork()\n"
                                 "if child == 0:\n"
                                 "    os.setpgid(0, 0)\n"
                                 "    time.sleep(1000)\n"
                                 "while True:\n"
                                 "    try:\n"
                                 "        os.setpgid(0, child)\n"
                                 "        break\n"
                                 "    except PermissionError:\n"
                                 "        pass\n"
                                 "os.write(3, b'%d\\n' % child)\n"
                                 "time.sleep(1000)\n"},
                        .timeout = 5min,
                        .kill_grace = 5min};
  std::vector<Watched> escaped;
  const auto outcome = run(std::move(spec), source.token(), [&](std::string_view line) {
    escaped.emplace_back(to_pid(line));
    source.cancel("stop");
  });
  ASSERT_TRUE(outcome.result.has_value()) << outcome.result.error().message;
  EXPECT_EQ(outcome.result->signal, SIGTERM);
  ASSERT_THAT(escaped, SizeIs(1));
  escaped.front().kill();
}

TEST(Child, DiesWithItsParent) {
  int fds[2] = {-1, -1};
  ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    asio::io_context io(1);
    const auto say_pid = [&](std::string_view line) {
      [[maybe_unused]] const auto n = ::write(fds[1], line.data(), line.size());
    };
    static_cast<void>(run_blocking(
        io, Child::run(io.get_executor(), shell("trap '' TERM HUP; echo $$ >&3; exec sleep 1000"),
                       {}, say_pid, {})));
    ::_exit(0);
  }
  char text[32] = {};
  ASSERT_GT(::read(fds[0], text, sizeof text - 1), 0);
  const Watched child(to_pid(text));
  ASSERT_EQ(::kill(parent, SIGKILL), 0);
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  EXPECT_TRUE(child.ended());
  ::close(fds[0]);
  ::close(fds[1]);
}

// ---- what the program gets

TEST(Child, SeesExactlyTheGivenEnvironmentAndArguments) {
  ChildSpec spec{.argv = {"/usr/bin/env"}, .env = {{"A", "1"}, {"B", "x=y z"}}, .timeout = 5min};
  EXPECT_EQ(run_ok(std::move(spec)).stdout_text, "A=1\nB=x=y z\n");

  ChildSpec arguments{.argv = {"printf", "<%s>", "", "a b", "*", "$HOME"}, .timeout = 5min};
  EXPECT_EQ(run_ok(std::move(arguments)).stdout_text, "<><a b><*><$HOME>");
}

TEST(Child, RunsInTheGivenDirectory) {
  const Folder folder;
  folder.write("tool", "#!/bin/sh\npwd\n", 0755);
  ChildSpec spec{.argv = {"./tool"}, .cwd = folder.path().string(), .timeout = 5min};
  const auto text = run_ok(std::move(spec)).stdout_text;
  EXPECT_EQ(std::filesystem::canonical(text.substr(0, text.size() - 1)),
            std::filesystem::canonical(folder.path()));
}

TEST(Child, RelativeDirectoryAndProgramBelongTogether) {
  const Folder folder;
  folder.write("tool", "#!/bin/sh\necho here\n", 0755);
  ChildSpec spec{.argv = {"./tool"},
                 .cwd = std::filesystem::relative(folder.path()).string(),
                 .timeout = 5min};
  EXPECT_EQ(run_ok(std::move(spec)).stdout_text, "here\n");
}

TEST(Child, InheritsNoOtherDescriptor) {
  const UniqueFd open(
      ::fcntl(STDERR_FILENO, F_DUPFD, 50));  // Without O_CLOEXEC, as a library might.
  ASSERT_TRUE(open.valid());
  ChildSpec spec{
      .argv = {"/usr/bin/python3", "-c",
               "import os\n"
               "print([fd for fd in range(4096) if os.path.exists(f'/proc/self/fd/{fd}')])"},
      .timeout = 5min};
  EXPECT_EQ(run_ok(std::move(spec)).stdout_text, "[0, 1, 2, 3]\n");
}

TEST(Child, WorksWhenTheParentHasNoStandardDescriptors) {
  // In a process of its own: the pipes then get the numbers 0 to 4 themselves.
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    ::close(0);
    ::close(1);
    ::close(2);
    auto spec = shell("cat; echo err >&2; echo ctl >&3");
    spec.stdin_data = "in";
    const auto outcome = run(std::move(spec));
    const bool good = outcome.result.has_value() && outcome.result->stdout_text == "in" &&
                      outcome.stderr_lines == std::vector<std::string>{"err"} &&
                      outcome.control_lines == std::vector<std::string>{"ctl"};
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

TEST(Child, StartsWithCleanSignals) {
  const auto old = ::signal(SIGPIPE, SIG_IGN);
  // One of the two signals that the C library keeps to itself: a parent may have left it ignored.
  constexpr int kHidden = 32;
  struct {
    std::uintptr_t handler = reinterpret_cast<std::uintptr_t>(SIG_IGN);
    std::uintptr_t rest[7] = {};
  } ignore, hidden;
  ASSERT_EQ(::syscall(SYS_rt_sigaction, kHidden, &ignore, &hidden, 8), 0);
  sigset_t blocked;
  sigset_t before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const ChildSpec spec{.argv = {"/usr/bin/grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"},
                       .timeout = 5min};
  const auto text = run_ok(spec).stdout_text;
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, &before, &after);
  ::syscall(SYS_rt_sigaction, kHidden, &hidden, nullptr, 8);
  ::signal(SIGPIPE, old);
  EXPECT_EQ(text, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  EXPECT_EQ(::sigismember(&after, SIGUSR1), 1);  // Our own mask is as it was.
  EXPECT_EQ(::sigismember(&after, SIGTERM), 0);
}

TEST(Child, EndsWithAnErrorWhereTheHostReapsItsChildren) {
  const auto old = ::signal(SIGCHLD, SIG_IGN);
  const auto result = run(shell("exit 0")).result;
  ::signal(SIGCHLD, old);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, testing::HasSubstr("cannot learn how"));
}

TEST(Child, IsLeaderOfItsOwnGroup) {
  const auto text = run_ok(shell("ps -o pid=,pgid= -p $$ 2>/dev/null || "
                                 "awk '{print $1, $5}' /proc/$$/stat"))
                        .stdout_text;
  pid_t pid = 0;
  pid_t group = -1;
  ASSERT_EQ(std::sscanf(text.c_str(), "%d %d", &pid, &group), 2) << text;
  EXPECT_EQ(pid, group);
  EXPECT_NE(group, ::getpgrp());
}

TEST(Child, SetsTheLimits) {
  ChildSpec spec{.argv = {"/usr/bin/python3", "-c",
                          "import resource as r\n"
                          "for name in 'AS CPU FSIZE NOFILE NPROC CORE'.split():\n"
                          "    print(name, *r.getrlimit(getattr(r, 'RLIMIT_' + name)))"},
                 .timeout = 5min,
                 .limits = {.memory_bytes = 1ULL << 30,
                            .cpu_seconds = 30,
                            .file_bytes = 4096,
                            .open_files = 32,
                            .processes = 20}};
  EXPECT_EQ(run_ok(std::move(spec)).stdout_text,
            "AS 1073741824 1073741824\nCPU 30 35\nFSIZE 4096 4096\nNOFILE 32 32\nNPROC 20 20\n"
            "CORE 0 0\n");
}

TEST(Child, LimitAboveTheParentsBecomesTheParents) {
  auto spec = shell("ulimit -n; ulimit -t");
  spec.limits.open_files = ~0ULL;
  spec.limits.cpu_seconds = ~0ULL;
  rlimit now{};
  ::getrlimit(RLIMIT_NOFILE, &now);
  const auto text = run_ok(std::move(spec)).stdout_text;
  EXPECT_EQ(text, std::to_string(now.rlim_max) + "\nunlimited\n");
}

TEST(Child, LimitsHaveEffect) {
  const Folder folder;
  auto writing = shell("exec head -c 100000 /dev/zero > big");
  writing.cwd = folder.path().string();
  writing.limits.file_bytes = 4096;
  EXPECT_EQ(run_ok(std::move(writing)).signal, SIGXFSZ);
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "big"), 4096U);

  ChildSpec allocating{.argv = {"/usr/bin/python3", "-c", "x = bytearray(400 * 1024 * 1024)"},
                       .timeout = 5min,
                       .limits = {.memory_bytes = 300ULL << 20}};
  const auto outcome = run(std::move(allocating));
  ASSERT_TRUE(outcome.result.has_value());
  EXPECT_EQ(outcome.result->exit_code, 1);
  EXPECT_THAT(outcome.stderr_lines, testing::Contains("MemoryError"));

  auto spinning = shell("while :; do :; done");
  spinning.limits.cpu_seconds = 1;
  EXPECT_EQ(run_ok(std::move(spinning)).signal, SIGXCPU);
}

// ---- what cannot be run

struct BadCase {
  ChildSpec spec;
  ErrorKind kind;
  std::string message;
};

void expect_refused(const BadCase& bad) {
  const auto outcome = run(bad.spec);
  ASSERT_FALSE(outcome.result.has_value()) << bad.message;
  EXPECT_EQ(outcome.result.error().kind, bad.kind) << outcome.result.error().message;
  EXPECT_THAT(outcome.result.error().message, HasSubstr(bad.message));
  EXPECT_THAT(outcome.stderr_lines, IsEmpty());
}

TEST(ChildRefuses, ProgramsThatCannotRunNamingThem) {
  const Folder folder;
  const auto plain = folder.write("plain", "echo\n", 0644);
  const auto no_first_line = folder.write("no_first_line", "echo\n", 0755);
  const auto no_interpreter = folder.write("no_interpreter", "#!/nowhere/sh\n", 0755);
  const auto missing = (folder.path() / "missing").string();
  const auto of = [](std::string program) {
    return ChildSpec{.argv = {std::move(program)}, .timeout = 5min};
  };
  expect_refused({of(missing), ErrorKind::not_found, "'" + missing + "' does not exist"});
  expect_refused({of("no-such-program-anywhere"), ErrorKind::not_found,
                  "'no-such-program-anywhere' is not in PATH (/usr/local/bin:/usr/bin:/bin)"});
  expect_refused({of(plain), ErrorKind::invalid_argument, "'" + plain + "' is not executable"});
  expect_refused({of(folder.path().string()), ErrorKind::invalid_argument,
                  "'" + folder.path().string() + "' is a directory"});
  expect_refused({of(no_first_line), ErrorKind::invalid_argument,
                  "cannot run '" + no_first_line + "': not a program for this machine"});
  expect_refused({of(no_interpreter), ErrorKind::not_found,
                  "cannot run '" + no_interpreter + "': the program, or the interpreter"});
}

TEST(ChildRefuses, ArgumentsThatAreTooLong) {
  auto spec = shell("true");
  spec.argv.emplace_back(4 * 1024 * 1024, 'x');
  expect_refused({spec, ErrorKind::invalid_argument,
                  "cannot run '/bin/sh': its arguments and environment are too long"});
}

TEST(ChildRefuses, DirectoriesThatCannotBeUsed) {
  const Folder folder;
  auto spec = shell("true");
  spec.cwd = (folder.path() / "missing").string();
  expect_refused({spec, ErrorKind::invalid_argument, "working directory '" + spec.cwd + "'"});
  spec.cwd = folder.write("file", "", 0644);
  expect_refused({spec, ErrorKind::invalid_argument, "'" + spec.cwd + "' is not a directory"});
}

TEST(ChildRefuses, SpecsThatMakeNoSense) {
  const std::string zero("a\0b", 3);
  ChildSpec empty = shell("true");
  empty.argv.clear();
  expect_refused({empty, ErrorKind::invalid_argument, "argv is empty"});
  ChildSpec argument = shell(zero);
  expect_refused({argument, ErrorKind::invalid_argument, "argv contains a zero byte"});
  ChildSpec timeout = shell("true");
  timeout.timeout = 0ms;
  expect_refused({timeout, ErrorKind::invalid_argument, "timeout must be above zero"});
  ChildSpec grace = shell("true");
  grace.kill_grace = -1ms;
  expect_refused({grace, ErrorKind::invalid_argument, "kill_grace must not be negative"});
  ChildSpec name = shell("true");
  name.env["A=B"] = "1";
  expect_refused({name, ErrorKind::invalid_argument, "variable name 'A=B' is not valid"});
  ChildSpec value = shell("true");
  value.env["A"] = zero;
  expect_refused({value, ErrorKind::invalid_argument, "variable A contains a zero byte"});
  ChildSpec directory = shell("true");
  directory.cwd = zero;
  expect_refused({directory, ErrorKind::invalid_argument, "cwd contains a zero byte"});
}

TEST(ChildRefuses, ToStartWithoutDescriptors) {
  const pid_t pid = ::fork();  // In a process of its own, whose limit can be spoilt.
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    asio::io_context io(1);
    const rlimit none{.rlim_cur = 12, .rlim_max = 12};
    ::setrlimit(RLIMIT_NOFILE, &none);
    const auto result = run_blocking(io, Child::run(io.get_executor(), shell("true"), {}, {}, {}));
    ::_exit(!result.has_value() && result.error().kind == ErrorKind::unavailable ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace millrace::sandbox
