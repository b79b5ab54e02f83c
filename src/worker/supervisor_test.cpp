// The supervisor with real processes: small shell programs in place of workers.
#include "worker/supervisor.h"

#include "base/run.h"
#include "worker/fake_job_store.h"
#include "worker/supervisor_link.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <csignal>

namespace millrace::worker::test {
namespace {

using namespace std::chrono_literals;

class SupervisorTest : public ::testing::Test {
 protected:
  // The shell program gets "--supervisor-id ID --child FD:PID" as $1 to $4.
  void start(std::string program, int processes = 1) {
    options.argv = {"/bin/sh", "-c", std::move(program), "sh"};
    options.env = {{"PATH", "/usr/bin:/bin"}};
    options.processes = processes;
    options.supervisor_id = "boss";
    supervisor = std::make_unique<Supervisor>(
        io.get_executor(),
        Supervisor::Services{.store = store, .clock = clock, .random = random, .log = log},
        options);
    spawn(io.get_executor(), run(), log, "supervisor");
  }
  awaitable<void> run() {
    co_await supervisor->run();
    finished = true;
  }
  template <class Condition>
  void run_until(Condition condition) {
    const auto deadline = clock.now() + 15s;  // For a test that would hang.
    while (!condition() && !::testing::Test::HasFatalFailure()) {
      if (clock.now() > deadline) FAIL() << "waited in vain";
      io.run_one_for(100ms);
    }
  }
  bool logged(std::string_view text) const {
    return std::ranges::any_of(lines, [&](const std::string& line) { return line.contains(text); });
  }
  SupervisorTest() {
    options.restart_min = 1ms;
    options.restart_max = 20ms;
  }
  void TearDown() override {
    if (!supervisor) return;
    supervisor->kill();
    run_until([&] { return finished; });
  }

  boost::asio::io_context io{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  SystemClock clock;
  SeededRandom random{1};
  std::vector<std::string> lines;
  Logger log{clock, [this](std::string_view line) { lines.emplace_back(line); },
             Logger::Format::json, LogLevel::debug};
  FakeJobStore store;
  SupervisorOptions options;
  std::unique_ptr<Supervisor> supervisor;
  bool finished = false;
};

constexpr const char* kWorker =
    "trap 'exit 0' TERM; echo registered w-$$ >&3; "
    "while :; do sleep 0.05; done";

TEST_F(SupervisorTest, SaysReadyWhenAllChildrenHaveRegistered) {
  int ready = 0;
  options.on_ready = [&] { ++ready; };
  start(kWorker, 3);
  run_until([&] { return ready > 0; });
  EXPECT_EQ(supervisor->pids().size(), 3U);
  EXPECT_EQ(ready, 1);
}

TEST_F(SupervisorTest, HandsBackTheLeasesOfAChildThatWasKilledAndStartsAnother) {
  int ready = 0;
  options.on_ready = [&] { ++ready; };
  start(kWorker, 2);
  run_until([&] { return ready > 0; });
  const int victim = supervisor->pids().front();
  ::kill(victim, SIGKILL);
  run_until([&] { return !store.handed_back.empty(); });
  ASSERT_EQ(store.handed_back.size(), 1U);
  EXPECT_EQ(store.handed_back[0].first, "boss");
  EXPECT_EQ(store.handed_back[0].second, "w-" + std::to_string(victim));
  EXPECT_TRUE(logged("killed by SIGKILL"));
  run_until([&] { return supervisor->pids().size() == 2; });
  EXPECT_EQ(supervisor->restarts(), 1U);
}

TEST_F(SupervisorTest, HandingBackIsRepeatedWhenTheDatabaseIsAway) {
  store.trouble["hand_back_process"] = {.calls = 2};
  options.restart_min = options.restart_max = 1h;  // No other child hands back in its place.
  start("echo registered w-1 >&3; kill -SEGV $$");
  run_until([&] { return !store.handed_back.empty(); });
  EXPECT_TRUE(logged("killed by SIGSEGV"));
}

TEST_F(SupervisorTest, WhatAChildSaidLastIsNotLost) {
  start("echo registered w-1 >&3; echo registered w-2 >&3; exit 9");
  run_until([&] { return store.handed_back.size() >= 2; });
  EXPECT_EQ(store.handed_back[0].second, "w-1");
  EXPECT_EQ(store.handed_back[1].second, "w-2");
  EXPECT_TRUE(logged("exit code 9"));
}

TEST_F(SupervisorTest, RestartsAreSpaced) {
  start("exit 1");
  const auto begin = clock.now();
  run_until([&] { return supervisor->restarts() >= 8; });
  EXPECT_GE(clock.now() - begin, 20ms);  // At least the sum of the shortest pauses.
}

TEST_F(SupervisorTest, StopPassesOnSigtermAndAskingNothingOfAChildThatDrained) {
  int ready = 0;
  options.on_ready = [&] { ++ready; };
  start(kWorker, 2);
  run_until([&] { return ready > 0; });
  supervisor->stop();
  run_until([&] { return finished; });
  EXPECT_TRUE(store.handed_back.empty());
  EXPECT_TRUE(supervisor->pids().empty());
}

TEST_F(SupervisorTest, AChildThatDoesNotLeaveIsKilled) {
  int ready = 0;
  options.on_ready = [&] { ++ready; };
  options.stop_timeout = 100ms;
  start("trap '' TERM; echo registered w-1 >&3; while :; do sleep 0.05; done");
  run_until([&] { return ready > 0; });
  supervisor->stop();
  run_until([&] { return finished; });
  EXPECT_EQ(store.handed_back.size(), 1U);
  EXPECT_TRUE(logged("worker_process_killed"));
}

TEST_F(SupervisorTest, AProgramThatIsNotThereIsTriedAgain) {
  options.argv = {"/no/such/program"};
  options.restart_min = 1ms;
  options.restart_max = 2ms;
  supervisor = std::make_unique<Supervisor>(
      io.get_executor(),
      Supervisor::Services{.store = store, .clock = clock, .random = random, .log = log}, options);
  spawn(io.get_executor(), run(), log, "supervisor");
  run_until([&] { return supervisor->restarts() >= 3; });
  EXPECT_TRUE(logged("cannot start /no/such/program"));
}

TEST_F(SupervisorTest, TheChildLearnsItsSupervisorAndItsLine) {
  start(
      "[ \"$1 $2 $3 $4\" = \"--supervisor-id boss --child 3:$PPID\" ] && "
      "echo registered as-told >&3; exit 3");
  run_until([&] { return !store.handed_back.empty(); });
  EXPECT_EQ(store.handed_back[0].second, "as-told");
}

TEST(SupervisorLinkTest, RefusesWhatNoSupervisorWouldSay) {
  for (const auto* bad : {"", "3", "3:", ":4", "x:1", "3:x", "2:1", "-1:1", "999:1"}) {
    EXPECT_FALSE(SupervisorLink::open(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace millrace::worker::test
