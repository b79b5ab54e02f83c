#include "keeper/keeper.h"

#include "base/run.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

namespace millrace::keeper {
namespace {

using namespace std::chrono_literals;

class FakeKeeperStore final : public store::KeeperStore {
 public:
  Task<bool> elect(std::string, std::string holder, std::chrono::milliseconds) override {
    ++elections;
    if (election_gate) {
      const auto gate = *election_gate;
      co_await gate.wait();
    }
    if (election_error) co_return fail(ErrorKind::unavailable, "no database");
    if (taken_by.empty()) taken_by = holder;
    co_return taken_by == holder;
  }
  Task<void> resign(std::string, std::string holder) override {
    if (taken_by == holder) taken_by.clear();
    ++resigned;
    co_return ok();
  }
  Task<bool> work_at_hand() override {
    ++calls["work_at_hand"];
    co_return at_hand;
  }
  Task<std::int64_t> reclaim(int) override { return take("reclaim"); }
  Task<std::int64_t> promote_due(int) override { return take("promote_due"); }
  Task<std::int64_t> advance(int) override { return take("advance"); }
  Task<std::int64_t> expire_waiting(int) override { return take("expire_waiting"); }
  Task<std::int64_t> run_cron(int) override { return take("run_cron"); }
  Task<std::int64_t> fold_counters() override { return take("fold_counters"); }
  Task<std::string> reconcile(int) override { return report("reconcile"); }
  Task<std::int64_t> empty_intake() override { return take("empty_intake"); }
  Task<std::int64_t> expire_keys(int) override { return take("expire_keys"); }
  Task<std::int64_t> expire_slots(int) override { return take("expire_slots"); }
  Task<std::string> maintain_partitions() override { return report("maintain_partitions"); }
  Task<std::int64_t> seal_audit(int) override { return take("seal_audit"); }
  Task<std::vector<store::HorizonHolder>> horizon() override {
    ++calls["horizon"];
    co_return holders;
  }

  std::string taken_by;
  bool election_error = false;
  bool at_hand = true;
  std::optional<Event> election_gate;  // Elections are answered when it is set.
  int elections = 0;
  int resigned = 0;
  std::map<std::string, int> calls;
  std::map<std::string, std::vector<std::int64_t>> counts;  // Answers in order, then 0.
  std::map<std::string, bool> broken;
  std::map<std::string, Event> gates;  // A duty is answered when its gate is set.
  std::vector<store::HorizonHolder> holders;

 private:
  Task<std::int64_t> take(std::string name) {
    ++calls[name];
    if (const auto found = gates.find(name); found != gates.end()) {
      const auto gate = found->second;
      co_await gate.wait();
    }
    if (broken[name]) co_return fail(ErrorKind::internal, name + " is broken");
    auto& left = counts[name];
    if (left.empty()) co_return 0;
    const auto count = left.front();
    left.erase(left.begin());
    co_return count;
  }
  Task<std::string> report(std::string name) {
    ++calls[name];
    co_return "{}";
  }
};

class KeeperTest : public ::testing::Test {
 protected:
  // Lets everything happen that can happen without time passing.
  void settle() {
    io.restart();
    io.poll();
  }
  void advance(std::chrono::milliseconds total, std::chrono::milliseconds step = 50ms) {
    for (auto passed = 0ms; passed < total; passed += step) {
      clock.advance(step);
      settle();
    }
  }
  void start() {
    keeper.start();
    settle();
  }
  void TearDown() override { run_blocking(io, keeper.stop()); }

  boost::asio::io_context io{1};
  ManualClock clock;
  SeededRandom random{7};
  std::vector<std::string> lines;
  Logger log{clock, [this](std::string_view line) { lines.emplace_back(line); },
             Logger::Format::json, LogLevel::debug};
  FakeKeeperStore store;
  Keeper keeper{io.get_executor(), store, clock, random, log, {.holder = "me", .ttl = 9s}};
};

TEST_F(KeeperTest, DoesEveryDutyOnceElected) {
  start();
  EXPECT_TRUE(keeper.leading());
  // What jobs wait for comes at once, everything else soon after.
  advance(50ms, 10ms);
  for (const auto& duty : standard_duties()) {
    EXPECT_EQ(store.calls[duty.name] >= 1, duty.interval <= 500ms) << duty.name;
  }
  advance(2s);
  for (const auto& duty : standard_duties()) {
    EXPECT_GE(store.calls[duty.name], 1) << duty.name;
  }
}

TEST_F(KeeperTest, DoesNothingWhileAnotherIsElected) {
  store.taken_by = "other";
  start();
  advance(20s, 500ms);
  EXPECT_FALSE(keeper.leading());
  EXPECT_TRUE(store.calls.empty());
  EXPECT_GE(store.elections, 5);
  store.taken_by.clear();  // The other one died.
  advance(4s, 500ms);
  EXPECT_TRUE(keeper.leading());
  EXPECT_GE(store.calls["reclaim"], 1);
}

TEST_F(KeeperTest, LooksRarelyWhileNothingIsAtHand) {
  store.at_hand = false;
  start();
  advance(5s);
  store.calls.clear();
  advance(20s);
  int asked = 0;
  for (const auto& [name, count] : store.calls) asked += count;
  EXPECT_LE(asked, 20);
  EXPECT_GE(store.calls["work_at_hand"], 4);
  advance(45s);
  EXPECT_GE(store.calls["promote_due"], 1) << "that it looks at all is the guarantee";
}

TEST_F(KeeperTest, RestsNoLongerThanLeasesOfItsFleetLast) {
  Keeper brief(io.get_executor(), store, clock, random, log, {.holder = "brief", .ttl = 300ms});
  store.at_hand = false;
  brief.start();
  settle();
  advance(2s);
  store.at_hand = true;
  store.calls.clear();
  advance(500ms);
  EXPECT_GE(store.calls["reclaim"], 1);
  run_blocking(io, brief.stop());
}

TEST_F(KeeperTest, IsWideAwakeAsSoonAsItIsToldOfWork) {
  store.at_hand = false;
  start();
  advance(5s);
  store.calls.clear();
  store.at_hand = true;
  keeper.nudge();
  settle();
  EXPECT_EQ(store.calls["promote_due"], 1);
  advance(1s);
  EXPECT_GE(store.calls["promote_due"], 8);
}

TEST_F(KeeperTest, StaysAwakeForAWhileWhenToldOfWorkThatCannotBeSeenYet) {
  store.at_hand = false;
  start();
  advance(5s);
  store.calls.clear();
  keeper.nudge();
  advance(900ms);
  EXPECT_GE(store.calls["promote_due"], 8);
  EXPECT_EQ(store.calls["work_at_hand"], 0) << "asked too early, it would fall asleep again";
  advance(2s);
  store.calls.clear();
  advance(3s);
  EXPECT_LE(store.calls["promote_due"], 1);
}

TEST_F(KeeperTest, RepeatsAFullBatchAtOnceAndWaitsAfterAShortOne) {
  store.counts["promote_due"] = {1000, 1000, 3};
  start();
  advance(50ms);
  EXPECT_EQ(store.calls["promote_due"], 3);
  advance(100ms);
  EXPECT_EQ(store.calls["promote_due"], 4);
}

TEST_F(KeeperTest, AFailingDutyBacksOffAndStopsNoOther) {
  store.broken["reclaim"] = true;
  start();
  advance(10s);
  const int failing = store.calls["reclaim"];
  EXPECT_GE(failing, 2);
  EXPECT_LE(failing, 8);
  EXPECT_GE(store.calls["promote_due"], 90);
  store.broken["reclaim"] = false;
  advance(10s);  // The longest pause.
  const int recovered = store.calls["reclaim"];
  advance(1s);
  EXPECT_GE(store.calls["reclaim"], recovered + 3);
}

TEST_F(KeeperTest, StopsItsDutiesWhenTheDatabaseStaysAwayForTheWholeTerm) {
  start();
  store.election_error = true;
  advance(8s);
  EXPECT_TRUE(keeper.leading());
  advance(2s);
  EXPECT_FALSE(keeper.leading());
  const auto calls = store.calls;
  advance(5s);
  EXPECT_EQ(store.calls, calls);
  store.election_error = false;
  advance(4s);
  EXPECT_TRUE(keeper.leading());
}

TEST_F(KeeperTest, ADutyUnderWayStopsAfterTheBatchInWhichTheTermEnded) {
  Event gate;
  store.gates["promote_due"] = gate;
  store.counts["promote_due"] = {1000, 1000, 1000};
  start();
  store.election_error = true;
  advance(10s);
  ASSERT_FALSE(keeper.leading());
  gate.set();
  settle();
  EXPECT_EQ(store.calls["promote_due"], 1);
}

TEST_F(KeeperTest, TheTermIsMeasuredFromBeforeTheRequestWasSent) {
  Event gate;
  store.election_gate = gate;
  start();
  advance(8s);  // Of a term of nine.
  store.election_gate.reset();
  gate.set();
  settle();
  store.election_error = true;  // Nothing renews it.
  EXPECT_TRUE(keeper.leading());
  advance(2s);
  EXPECT_FALSE(keeper.leading());
}

TEST_F(KeeperTest, ResignsWhenStoppedSoThatAnotherNeedNotWait) {
  start();
  run_blocking(io, keeper.stop());
  EXPECT_EQ(store.resigned, 1);
  EXPECT_EQ(store.taken_by, "");
  run_blocking(io, keeper.stop());
  EXPECT_EQ(store.resigned, 1);
}

TEST_F(KeeperTest, WarnsWhenAnOldSnapshotHoldsTheHorizon) {
  store.holders = {{.kind = "session", .name = "worker", .pid = 1, .age = 2s},
                   {.kind = "session",
                    .name = "report",
                    .pid = 4711,
                    .age = 61s,
                    .dead_rows = 98765,
                    .dead_table = "claim_open"}};
  start();
  advance(2s);
  const auto warned = std::ranges::count_if(lines, [](const std::string& line) {
    return line.contains("horizon_held") && line.contains("4711") && line.contains("report") &&
           line.contains("98765") && line.contains("claim_open");
  });
  EXPECT_EQ(warned, 1);
}

TEST(KeeperBeforeStart, CanBeStopped) {
  boost::asio::io_context io{1};
  ManualClock clock;
  SeededRandom random{1};
  auto log = Logger::silent();
  FakeKeeperStore store;
  Keeper keeper(io.get_executor(), store, clock, random, log, {.holder = "me"});
  run_blocking(io, keeper.stop());
  keeper.start();
  io.restart();
  io.poll();
  EXPECT_EQ(store.elections, 0);
}

}  // namespace
}  // namespace millrace::keeper
