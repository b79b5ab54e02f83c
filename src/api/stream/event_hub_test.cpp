// The reader of the log in time that the test moves. What clients see is in
// routes/streams_test.cpp.
#include "api/stream/event_hub.h"

#include "api/stream/stream_fixture.h"
#include "base/run.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace millrace::api {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class FakeWake final : public store::WakeSource {
 public:
  Task<bool> wait(std::chrono::milliseconds) override {
    co_await hint.wait();
    hint.reset();
    co_return true;
  }

  Event hint;
};

awaitable<void> run_until(std::function<bool()> holds) {
  const auto executor = co_await boost::asio::this_coro::executor;
  for (int turns = 0; !holds(); ++turns) {
    if (turns == 100'000) {
      ADD_FAILURE() << "it never came to it";
      co_return;
    }
    co_await boost::asio::post(executor, boost::asio::use_awaitable);
  }
}

class Hub : public testing::Test {
 protected:
  Hub() { hub_.start(); }
  ~Hub() override { run_blocking(io_, hub_.stop()); }

  std::unique_ptr<StreamSubscription> subscribe(StreamScope scope = {.tenant = kStreamTenant}) {
    auto made = run_blocking(io_, hub_.subscribe(std::move(scope)));
    EXPECT_TRUE(made);
    return made ? *std::move(made) : nullptr;
  }
  std::shared_ptr<FakeChannel> attach(StreamSubscription& subscription) {
    auto channel = std::make_shared<FakeChannel>(io_.get_executor());
    subscription.attach(http::SseStream(channel), std::nullopt);
    return channel;
  }
  // Until all that sleep do so again.
  void settle(std::size_t sleepers) { run_blocking(io_, clock_.wait_for_sleepers(sleepers)); }

  boost::asio::io_context io_{1};
  ManualClock clock_;
  SeededRandom random_{7};
  Logger silent_ = Logger::silent();
  MetricRegistry registry_;
  FakeLog log_;
  FakeJobs jobs_;
  FakeWake wake_;
  EventHub hub_{io_.get_executor(), EventHub::Parts{.tail = log_,
                                                    .events = log_,
                                                    .jobs = jobs_,
                                                    .wake = &wake_,
                                                    .clock = clock_,
                                                    .random = random_,
                                                    .log = silent_,
                                                    .registry = registry_}};
};

// One sleeper is the hub's second hand; the other, if there is one, the reader between two reads.
TEST_F(Hub, TheLogIsNotReadWhenNobodyListens) {
  settle(1);
  EXPECT_EQ(log_.reads, 0);
  auto subscription = subscribe();
  settle(2);
  EXPECT_GT(log_.reads, 0);
  subscription.reset();
  // For a while it goes on, for those who come back.
  int before = log_.reads;
  clock_.advance(30s);
  settle(2);
  EXPECT_GT(log_.reads, before);
  clock_.advance(31s);
  settle(1);
  run_blocking(io_, run_until([&] { return clock_.sleepers() == 1; }));
  before = log_.reads;
  for (int i = 0; i < 5; ++i) {
    clock_.advance(10s);
    settle(1);
  }
  EXPECT_EQ(log_.reads, before);
  // What happened meanwhile is not news to somebody who comes now.
  log_.add({});
  subscription = subscribe();
  const auto channel = attach(*subscription);
  log_.add({.kind = "job.claimed"});
  settle(2);
  clock_.advance(1s);
  run_blocking(io_, run_until([&] { return !channel->frames.empty(); }));
  EXPECT_THAT(channel->frames, ElementsAre(HasSubstr("event: job.claimed\n")));
}

TEST_F(Hub, ANotificationMakesItReadAtOnce) {
  const auto subscription = subscribe();
  const auto channel = attach(*subscription);
  settle(2);
  log_.add({});
  wake_.hint.set();
  run_blocking(io_, run_until([&] { return !channel->frames.empty(); }));  // No time has passed.
  EXPECT_EQ(channel->frames.size(), 1U);
}

TEST_F(Hub, AStreamThatIsBeingOpenedLosesNothing) {
  const auto subscription = subscribe();
  settle(2);
  log_.add({});
  clock_.advance(1s);
  settle(2);
  log_.add({.kind = "job.claimed"});
  clock_.advance(1s);
  settle(2);
  run_blocking(io_, run_until([&] { return subscription->reader().held.size() == 2; }));
  const auto channel = attach(*subscription);
  EXPECT_THAT(channel->frames,
              ElementsAre(HasSubstr("event: job.progress\n"), HasSubstr("event: job.claimed\n")));
}

TEST_F(Hub, WhoComesWhenItStopsIsSentAway) {
  run_blocking(io_, hub_.stop());
  const auto made = run_blocking(io_, hub_.subscribe({.tenant = kStreamTenant}));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::unavailable);
}

}  // namespace
}  // namespace millrace::api
