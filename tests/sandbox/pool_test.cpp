// The warm pool (ADR 9): a new process per task, many at once, and nobody left behind whoever dies.
#include "base/both.h"
#include "base/event.h"
#include "sandbox/probe_pool.h"

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <sys/wait.h>

namespace millrace::test {
namespace {

using namespace std::chrono_literals;

TEST(TaskPool, EachTaskIsANewProcessThatRemembersNothing) {
  ProbePool pool;
  std::set<pid_t> children;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(pool.result("remember").result, "1");
    children.insert(pool.seen().child);
  }
  EXPECT_EQ(children.size(), 5U);
  EXPECT_EQ(pool.pool().state().starts, 1U);
}

TEST(TaskPool, RequestOutputProgressAndResultArriveWhole) {
  ProbePool pool;
  const std::string text(1024 * 1024 - 5, 'e');
  EXPECT_EQ(pool.result("echo " + text).result, text);
  EXPECT_EQ(pool.result("output 300000").result, "sent");
  EXPECT_EQ(pool.seen().output, std::string(300'000, 'o'));
  EXPECT_EQ(pool.result("output_by_the_byte 300000").result, "sent");
  EXPECT_EQ(pool.seen().output, std::string(300'000, 'b'));
  EXPECT_EQ(pool.result("progress").result, "done");
  EXPECT_EQ(pool.seen().progress, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(TaskPool, RefusesASpecThatCannotBeRun) {
  ProbePool pool;
  const auto expect_invalid = [&](Result<TaskResult> result, std::string_view word) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, ErrorKind::invalid_argument);
    EXPECT_TRUE(result.error().message.contains(word)) << result.error().message;
  };
  expect_invalid(pool.run(std::string(1024 * 1024 + 1, 'x')), "request");
  auto limits = small_limits();
  limits.wall = 0ms;
  expect_invalid(pool.run("echo", limits), "limits.wall");
  limits = small_limits();
  limits.cpu = -1ms;
  expect_invalid(pool.run("echo", limits), "limits.cpu");
  limits = small_limits();
  limits.memory_bytes = 0;
  expect_invalid(pool.run("echo", limits), "limits.memory_bytes");
  OpenFolder folder;
  const auto path = folder.write("document", "x");
  std::vector<UniqueFd> writable;
  writable.emplace_back(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  expect_invalid(pool.run("echo", small_limits(), std::move(writable)), "files[0]");
  std::vector<UniqueFd> closed(1);
  expect_invalid(pool.run("echo", small_limits(), std::move(closed)), "files[0]");
  std::vector<UniqueFd> many;
  for (int i = 0; i < 17; ++i) many.push_back(open_file(path));
  expect_invalid(pool.run("echo", small_limits(), std::move(many)), "files");
}

TEST(TaskPool, RefusesAProgramThatIsNotThere) {
  boost::asio::io_context io(1);
  auto spec = probe_spec();
  spec.program = "/nowhere/millrace-document";
  const auto started = TaskPool::start(io.get_executor(), spec);
  ASSERT_FALSE(started.has_value());
  EXPECT_EQ(started.error().kind, ErrorKind::not_found);
  EXPECT_TRUE(started.error().message.contains(spec.program)) << started.error().message;
}

// Waves of tasks of all kinds, more than there are places.
TEST(TaskPool, TwoHundredTasksAtOnceEndEachInItsOwnWay) {
  auto spec = probe_spec();
  spec.size = 16;
  ProbePool pool(spec);
  struct One {
    std::string request;
    End expected;
    Seen seen = {};
    std::optional<Result<TaskResult>> result = {};
  };
  std::vector<One> tasks;
  for (int i = 0; i < 40; ++i) {
    tasks.push_back({"echo " + std::to_string(i), End::ok});
    tasks.push_back({"output 100000", End::ok});
    tasks.push_back({"segfault", End::crashed});
    tasks.push_back({"socket_inet", End::crashed});
    tasks.push_back({"memory_bomb", End::out_of_memory});
  }
  std::size_t most = 0;
  std::size_t left = tasks.size();
  for (auto& task : tasks) {
    boost::asio::co_spawn(
        pool.io(),
        [&pool, &task, &most]() -> awaitable<void> {
          auto spec = probe_task(task.request, small_limits(), task.seen);
          task.result = co_await pool.pool().run(std::move(spec), {});
          most = std::max(most, pool.pool().state().running);
        },
        [&left](const std::exception_ptr& thrown) {
          EXPECT_FALSE(thrown);
          --left;
        });
  }
  while (left > 0 && pool.io().run_one() > 0) {
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto& task = tasks[i];
    ASSERT_TRUE(task.result->has_value()) << task.result->error().message;
    EXPECT_EQ((*task.result)->end, task.expected) << task.request << describe(**task.result);
    if (i % 5 == 0) EXPECT_EQ((*task.result)->result, std::to_string(i / 5));
    if (i % 5 == 1) EXPECT_EQ(task.seen.output.size(), 100'000U);
    EXPECT_TRUE(is_gone(task.seen.child));
  }
  EXPECT_LE(most, 16U);
  EXPECT_GT(most, 1U);
  EXPECT_EQ(pool.pool().state().running, 0U);
  EXPECT_EQ(pool.pool().state().starts, 1U);
}

TEST(TaskPool, CancelEndsATaskThatRuns) {
  ProbePool pool;
  CancelSource source;
  Seen seen;
  auto task = probe_task("sleep", small_limits(), seen);
  task.on_progress = [&](int child, int) {
    seen.child = child;
    source.cancel("the lease is lost");
  };
  const auto result = run_blocking(pool.io(), pool.pool().run(std::move(task), source.token()));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->end, End::cancelled);
  EXPECT_EQ(result->message, "the lease is lost");
  EXPECT_TRUE(is_gone(seen.child));
}

TEST(TaskPool, CancelEndsATaskThatWaitsForAPlace) {
  auto spec = probe_spec();
  spec.size = 1;
  ProbePool pool(spec);
  CancelSource first;
  CancelSource second;
  Seen seen;
  const auto run_first = [&]() -> awaitable<void> {
    auto task = probe_task("sleep", small_limits(), seen);
    task.on_progress = [&](int, int) { second.cancel("not needed"); };
    const auto result = co_await pool.pool().run(std::move(task), first.token());
    EXPECT_TRUE(result.has_value() && result->end == End::cancelled);
  };
  const auto run_second = [&]() -> awaitable<void> {
    Seen nothing;
    const auto result =
        co_await pool.pool().run(probe_task("echo", small_limits(), nothing), second.token());
    EXPECT_TRUE(result.has_value() && result->end == End::cancelled);
    EXPECT_EQ(nothing.child, -1);
    first.cancel("done");
  };
  run_blocking(pool.io(), both(run_first(), run_second()));
  EXPECT_EQ(pool.pool().state().running, 0U);
}

TEST(TaskPool, SaysWhoWaitsForAPlaceAndForHowLong) {
  auto spec = probe_spec();
  spec.size = 1;
  ProbePool pool(spec);
  std::vector<std::string> told;
  const auto run = [&](std::string name) -> awaitable<void> {
    Seen seen;
    auto task = probe_task("echo fine", small_limits(), seen);
    task.on_wait = [&, name](bool waiting) {
      told.push_back(name + (waiting ? " waits" : " has a place"));
    };
    const auto result = co_await pool.pool().run(std::move(task), {});
    EXPECT_TRUE(result.has_value() && result->end == End::ok);
    told.push_back(name + " is done");
  };
  run_blocking(pool.io(), both(run("first"), run("second")));
  EXPECT_EQ(std::ranges::count(told, "first waits"), 0);
  const auto at = [&](std::string_view what) { return std::ranges::find(told, what); };
  ASSERT_NE(at("second waits"), told.end());
  EXPECT_LT(at("second waits"), at("second has a place"));
  EXPECT_LT(at("second has a place"), at("second is done"));
}

// T18: a place goes to whoever has waited longest, whatever the others do with theirs. So one waits
// for those before it in the line, never for those that came later.
TEST(TaskPool, t18_PlacesAreGivenInTheOrderOfTheLine) {
  constexpr std::size_t kTasks = 16;
  auto spec = probe_spec();
  spec.size = 2;
  ProbePool pool(spec);
  ASSERT_TRUE(run_blocking(pool.io(), pool.pool().ready()).has_value());
  std::array<pid_t, kTasks> children{};
  std::array<CancelSource, kTasks> sources;
  const auto run = [&](std::size_t i) -> awaitable<void> {
    const bool greedy = i % 2 == 0;  // Goes on until it is stopped.
    Seen seen;
    auto task = probe_task(greedy ? "burn" : "echo fine", small_limits(), seen);
    task.on_progress = [&, i, greedy](int pid, int) {
      children[i] = pid;
      if (greedy) sources[i].cancel("enough");
    };
    const auto result = co_await pool.pool().run(std::move(task), sources[i].token());
    EXPECT_TRUE(result.has_value());
    if (result.has_value()) EXPECT_EQ(result->end, greedy ? End::cancelled : End::ok) << i;
  };
  const auto line_up = [&]() -> awaitable<void> {
    awaitable<void> all = run(0);
    for (std::size_t i = 1; i < kTasks; ++i) all = both(std::move(all), run(i));
    co_await std::move(all);
  };
  run_blocking(pool.io(), line_up());
  // Numbers of processes grow in the order in which they were started, and may begin anew once.
  std::size_t backwards = 0;
  for (std::size_t i = 1; i < kTasks; ++i) backwards += children[i] < children[i - 1] ? 1 : 0;
  EXPECT_LE(backwards, 1U) << ::testing::PrintToString(children);
}

std::uint64_t resident_peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}

// J02: bytes go from the pipe to the sink, whoever sends them and however many there are.
TEST(TaskPool, j02_WhatPassesThroughIsNotKept) {
  constexpr std::uint64_t kMega = 1024 * 1024;
  constexpr std::uint64_t kSent = 200 * kMega;
  ProbePool pool;
  auto limits = small_limits();
  limits.memory_bytes = 512 * kMega;
  limits.output_max_bytes = kSent;
  Seen seen;
  std::uint64_t received = 0;
  auto task = probe_task("output " + std::to_string(kSent), limits, seen);
  task.on_output = [&](std::span<const std::byte> bytes) -> Task<void> {
    received += bytes.size();
    co_return ok();
  };
  ASSERT_TRUE(run_blocking(pool.io(), pool.pool().ready()).has_value());
  const auto before = resident_peak_bytes();
  const auto result = run_blocking(pool.io(), pool.pool().run(std::move(task), {}));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->end, End::ok) << describe(*result);
  EXPECT_EQ(received, kSent);
  EXPECT_LE(resident_peak_bytes() - before, 32 * kMega);
}

TEST(TaskPool, ACancelledTokenStartsNothing) {
  ProbePool pool;
  CancelSource source;
  source.cancel("too late");
  const auto result = pool.run("echo", small_limits(), {}, source.token());
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->end, End::cancelled);
  EXPECT_EQ(pool.seen().child, -1);
}

TEST(TaskPool, AnErrorOfTheSinkEndsTheTask) {
  ProbePool pool;
  Seen seen;
  auto task = probe_task("endless_output", small_limits(), seen);
  task.on_output = [](std::span<const std::byte>) -> Task<void> {
    co_return fail(ErrorKind::unavailable, "the store is away");
  };
  const auto result = run_blocking(pool.io(), pool.pool().run(std::move(task), {}));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, "the store is away");
  EXPECT_TRUE(is_gone(seen.child));
}

// The program is ours: its death is no fault of a document, and is mended at once.
TEST(TaskPool, ADeadProgramLosesItsTasksWithoutBlameAndIsStartedAgain) {
  ProbePool pool;
  Seen seen;
  auto task = probe_task("sleep", small_limits(), seen);
  std::optional<Watch> child;
  pid_t zygote = -1;
  task.on_progress = [&](int pid, int) {
    child.emplace(pid);
    zygote = pool.pool().state().program_pid;
    ::kill(zygote, SIGKILL);
  };
  const auto result = run_blocking(pool.io(), pool.pool().run(std::move(task), {}));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, ErrorKind::unavailable);
  EXPECT_TRUE(result.error().message.contains("lost")) << result.error().message;
  ASSERT_TRUE(child.has_value());
  EXPECT_TRUE(child->ended());
  EXPECT_TRUE(is_gone(zygote));
  EXPECT_EQ(pool.result("echo again").result, "again");
  EXPECT_EQ(pool.pool().state().starts, 2U);
}

TEST(TaskPool, AProgramThatCannotWarmUpSaysWhy) {
  ProbePool pool(probe_spec({"--fail-warm-up"}));
  const auto ready = run_blocking(pool.io(), pool.pool().ready());
  ASSERT_FALSE(ready.has_value());
  EXPECT_EQ(ready.error().kind, ErrorKind::unavailable);
  EXPECT_TRUE(ready.error().message.contains("no language data")) << ready.error().message;
  const auto result = pool.run("echo");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, ErrorKind::unavailable);
}

TEST(TaskPool, AWarmUpThatHangsIsEnded) {
  auto spec = probe_spec({"--hang-warm-up"});
  spec.warm_up_timeout = 100ms;
  ProbePool pool(spec);
  const auto ready = run_blocking(pool.io(), pool.pool().ready());
  ASSERT_FALSE(ready.has_value());
  EXPECT_TRUE(ready.error().message.contains("not ready after 100 ms")) << ready.error().message;
}

// A fork copies one thread, and the locks of all.
TEST(TaskPool, AWarmUpThatLeavesAThreadIsRefused) {
  ProbePool pool(probe_spec({"--leave-thread"}));
  const auto ready = run_blocking(pool.io(), pool.pool().ready());
  ASSERT_FALSE(ready.has_value());
  EXPECT_TRUE(ready.error().message.contains("left threads behind")) << ready.error().message;
}

TEST(TaskPool, AProgramThatIsNoTaskServerIsNotReady) {
  auto spec = probe_spec();
  spec.program = "/bin/true";
  ProbePool pool(spec);
  const auto ready = run_blocking(pool.io(), pool.pool().ready());
  ASSERT_FALSE(ready.has_value());
  EXPECT_TRUE(ready.error().message.contains("exited with code 0")) << ready.error().message;
}

TEST(TaskPool, StopEndsTasksAndTheProgram) {
  ProbePool pool;
  Seen seen;
  auto task = probe_task("sleep", small_limits(), seen);
  Event running;
  task.on_progress = [&](int pid, int) {
    seen.child = pid;
    running.set();
  };
  pid_t zygote = -1;
  const auto stop = [&]() -> awaitable<void> {
    co_await running.wait();
    zygote = pool.pool().state().program_pid;
    co_await pool.pool().stop();
    co_await pool.pool().stop();
  };
  const auto run = [&]() -> awaitable<void> {
    const auto result = co_await pool.pool().run(std::move(task), {});
    EXPECT_TRUE(result.has_value() && result->end == End::cancelled);
  };
  run_blocking(pool.io(), both(run(), stop()));
  EXPECT_TRUE(is_gone(seen.child));
  EXPECT_TRUE(is_gone(zygote));
  const auto late = pool.run("echo");
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().kind, ErrorKind::unavailable);
}

TEST(TaskPool, APoolThatIsDroppedLeavesNoProcess) {
  boost::asio::io_context io(1);
  auto started = TaskPool::start(io.get_executor(), probe_spec());
  ASSERT_TRUE(started.has_value());
  ASSERT_TRUE(run_blocking(io, (*started)->ready()).has_value());
  const pid_t zygote = (*started)->state().program_pid;
  started->reset();
  io.run();
  EXPECT_TRUE(is_gone(zygote));
}

// kill -9 of the worker: nobody tells anybody, the kernel does.
TEST(TaskPool, AKilledWorkerLeavesNoProcess) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t worker = ::fork();
  if (worker == 0) {
    ::dup2(theirs.get(), 1);
    ::execl(MILLRACE_POOL_WORKER, MILLRACE_POOL_WORKER, MILLRACE_JAIL_PROBE, nullptr);
    ::_exit(127);
  }
  ASSERT_GT(worker, 0);
  theirs.reset();
  std::string line;
  for (char c = 0; ::read(ours.get(), &c, 1) == 1 && c != '\n';) line += c;
  const auto space = line.find(' ');
  ASSERT_NE(space, std::string::npos) << line;
  const Watch zygote(std::stoi(line.substr(0, space)));
  const Watch child(std::stoi(line.substr(space + 1)));
  ::kill(worker, SIGKILL);
  EXPECT_EQ(::waitpid(worker, nullptr, 0), worker);
  EXPECT_TRUE(zygote.ended());
  EXPECT_TRUE(child.ended());
}

}  // namespace
}  // namespace millrace::test
