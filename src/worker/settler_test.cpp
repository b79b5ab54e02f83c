// The settler alone: what goes into one call, and what becomes of what cannot be stored.
#include "worker/settler.h"

#include "base/spawn.h"
#include "worker/fake_job_store.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <optional>

namespace millrace::worker::test {
namespace {

using Sizes = std::vector<std::size_t>;

class SettlerTest : public ::testing::Test {
 protected:
  SettlerTest() {
    spawn(io.get_executor(), settler.run(), log, "settler");
    run();
  }
  ~SettlerTest() override {
    settler.abandon();
    run();
  }
  void run() {
    io.restart();
    io.poll();
  }
  // A settlement of the delivery that the store believes in.
  Settlement delivery(std::uint8_t number, const std::string& worker = "w") {
    ClaimedJob job;
    job.id = JobId{Uuid{{number}}};
    job.token = LeaseToken{Uuid{{number}}};
    store.leases[job.id] = {.job = job, .process = {}, .worker_id = worker};
    return {.id = job.id, .token = job.token, .outcome = Outcome::ok(), .logs = {}};
  }
  void offer(Settlement settlement, std::string worker = "w") {
    answers.emplace_back();
    spawn(io.get_executor(), settle(std::move(worker), std::move(settlement), answers.size() - 1),
          log, "settlement");
    run();
  }
  awaitable<void> settle(std::string worker, Settlement settlement, std::size_t at) {
    const auto answer = co_await settler.settle(std::move(worker), std::move(settlement));
    answers[at] = answer;
  }
  // What comes while a call is under way is gathered; open() lets it go.
  void hold() {
    store.gates["settle"] = gate;
    offer(delivery(255));
  }
  void open() {
    gate.set();
    run();
  }

  boost::asio::io_context io{1};
  ManualClock clock;
  SeededRandom random{1};
  Logger log = Logger::silent();
  FakeJobStore store;
  Event gate;
  Settler settler{store, clock, random, log};
  std::vector<std::optional<Answer>> answers;
};

TEST_F(SettlerTest, NeverSendsTwoDeliveriesOfOneJobInOneCall) {
  hold();
  auto stale = delivery(1);
  stale.token = LeaseToken{Uuid{{99}}};
  offer(std::move(stale));
  offer(delivery(1));
  offer(delivery(2));
  open();
  EXPECT_EQ(store.settle_sizes, (Sizes{1, 2, 1}));
  EXPECT_EQ(answers[1], Answer::lease_lost);
  EXPECT_EQ(answers[2], Answer::settled);
}

TEST_F(SettlerTest, SendsUnderTheNameThatClaimed) {
  hold();
  offer(delivery(1, "before"), "before");
  offer(delivery(2, "after"), "after");
  open();
  EXPECT_EQ(store.settle_sizes, (Sizes{1, 1, 1}));
  EXPECT_EQ(answers[1], Answer::settled);
  EXPECT_EQ(answers[2], Answer::settled);
}

TEST_F(SettlerTest, ACallIsBoundedInNumberAndBytes) {
  hold();
  for (int i = 0; i < 2; ++i) {
    auto large = delivery(static_cast<std::uint8_t>(i));
    large.outcome = Outcome::ok("\"" + std::string(Settler::kBatchBytesMax, 'x') + "\"");
    offer(std::move(large));
  }
  open();
  EXPECT_EQ(store.settle_sizes, (Sizes{1, 1, 1}));
  gate.reset();
  hold();
  for (std::size_t i = 0; i < Settler::kBatchMax + 1; ++i) {
    auto one = delivery(7);
    one.id = JobId{Uuid{{static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i >> 8U), 1}}};
    offer(std::move(one));
  }
  open();
  EXPECT_EQ(store.settle_sizes, (Sizes{1, 1, 1, 1, Settler::kBatchMax, 1}));
}

TEST_F(SettlerTest, ResultsThatComeAtOnceGoInOneCall) {
  int left = 3;
  settler.gather_while([this, &left] {
    if (left == 0) return false;
    const auto number = static_cast<std::uint8_t>(left--);
    answers.emplace_back();
    spawn(io.get_executor(), settle("w", delivery(number), answers.size() - 1), log, "settlement");
    return true;
  });
  offer(delivery(9));
  EXPECT_EQ(store.settle_sizes, (Sizes{4}));
}

TEST_F(SettlerTest, WhatDoesNotComeIsNotWaitedForLong) {
  settler.gather_while([] { return true; });
  offer(delivery(1));
  EXPECT_EQ(store.settle_sizes, (Sizes{1})) << "although no time passes";
}

TEST_F(SettlerTest, StopSendsWhatWaits) {
  hold();
  offer(delivery(1));
  settler.stop();
  open();
  EXPECT_EQ(answers[1], Answer::settled);
}

TEST_F(SettlerTest, LogLinesThatCannotBeStoredDoNotTakeTheJobWithThem) {
  store.refuse_logs = true;
  auto settlement = delivery(1);
  settlement.logs.push_back({.level = LogLevel::info, .message = "?", .at = clock.wall()});
  offer(std::move(settlement));
  ASSERT_EQ(answers[0], Answer::settled);
  EXPECT_EQ(store.ended[0].outcome.kind, Outcome::Kind::permanent);
}

TEST_F(SettlerTest, WhatCannotBeStoredAtAllIsGivenUp) {
  store.refuse_all = true;
  offer(delivery(1));
  EXPECT_EQ(answers[0], Answer::lease_lost);
  EXPECT_EQ(store.calls["settle"], 2) << "as it was, and as a failure that says why";
}

TEST_F(SettlerTest, ALeaseThatIsLostIsNoFaultOfTheOutcome) {
  store.trouble["settle"] = {.calls = 1,
                             .error = {.kind = ErrorKind::lease_lost, .message = "unknown worker"}};
  offer(delivery(1));
  EXPECT_EQ(answers[0], Answer::lease_lost);
  EXPECT_EQ(store.calls["settle"], 1);
}

}  // namespace
}  // namespace millrace::worker::test
