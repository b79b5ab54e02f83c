// The settler alone: what goes into one call.
#include "worker/settler.h"

#include "base/spawn.h"
#include "worker/fake_job_store.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace millrace::worker::test {
namespace {

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
  void offer(std::uint8_t job, std::uint8_t token) {
    spawn(io.get_executor(), settle(job, token), log, "settlement");
    run();
  }
  awaitable<void> settle(std::uint8_t job, std::uint8_t token) {
    co_await settler.settle("w", {.id = JobId{Uuid{{job}}},
                                  .token = LeaseToken{Uuid{{token}}},
                                  .outcome = Outcome::ok(),
                                  .logs = {}});
  }

  boost::asio::io_context io{1};
  ManualClock clock;
  SeededRandom random{1};
  Logger log = Logger::silent();
  FakeJobStore store;
  Settler settler{store, clock, random, log};
};

TEST_F(SettlerTest, NeverSendsTwoDeliveriesOfOneJobInOneCall) {
  Event gate;
  store.gates["settle"] = gate;
  offer(9, 9);  // Under way: what comes now is gathered.
  offer(1, 1);
  offer(1, 2);
  offer(2, 3);
  gate.set();
  run();
  EXPECT_EQ(store.settle_sizes, (std::vector<std::size_t>{1, 2, 1}));
}

}  // namespace
}  // namespace millrace::worker::test
