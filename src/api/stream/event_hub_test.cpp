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
#include <optional>
#include <vector>

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

  std::unique_ptr<StreamSubscription> subscribe(StreamScope scope = {.tenant = kStreamTenant},
                                                StreamHolder holder = {}) {
    auto made = run_blocking(io_, hub_.subscribe(std::move(scope), std::move(holder)));
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
  void pass_a_minute() {
    clock_.advance(60s);
    settle(2);
  }

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
  clock_.advance(10ms);  // Less than it sleeps.
  log_.add({});
  wake_.hint.set();
  run_blocking(io_, run_until([&] { return !channel->frames.empty(); }));  // No time has passed.
  EXPECT_EQ(channel->frames.size(), 1U);
}

TEST_F(Hub, ManyNotificationsDoNotMakeItReadWithoutAPause) {
  const auto subscription = subscribe();
  settle(2);
  const int before = log_.reads;
  for (int i = 0; i < 10; ++i) {
    wake_.hint.set();
    run_blocking(io_, run_until([&] { return !wake_.hint.is_set(); }));
    settle(2);
  }
  EXPECT_EQ(log_.reads, before);
  clock_.advance(5ms);
  run_blocking(io_, run_until([&] { return log_.reads > before; }));
  settle(2);
  EXPECT_EQ(log_.reads, before + 1);
}

// What happened just before is for those whose server has gone, not for those who come first.
TEST_F(Hub, ItBeginsWithWhatHappenedBefore) {
  log_.add({});
  log_.add({.kind = "job.claimed"});
  log_.add({.kind = "job.retried"});
  const auto subscription = subscribe();
  const auto channel = attach(*subscription);
  const auto missed = subscription->remembered(*store::EventPosition::parse("101-1"));
  ASSERT_TRUE(missed);
  ASSERT_EQ(missed->size(), 2U);
  EXPECT_EQ(missed->back()->stored.kind, "job.retried");
  settle(2);
  EXPECT_TRUE(channel->frames.empty());
  EXPECT_EQ(log_.questions, 0);
}

TEST_F(Hub, RevokedTokensAndDisabledTenantsEndTheirStreams) {
  const auto one = subscribe({.tenant = kStreamTenant},
                             {.tenant = kStreamTenant, .user = user_number(1), .token_id = "one"});
  const auto two = subscribe({.tenant = kStreamTenant},
                             {.tenant = kStreamTenant, .user = user_number(1), .token_id = "two"});
  const auto other = subscribe({.tenant = kOtherTenant}, {.tenant = kOtherTenant, .token_id = {}});
  const auto one_channel = attach(*one);
  const auto two_channel = attach(*two);
  const auto other_channel = attach(*other);
  settle(2);
  log_.revoke({.tokens = {"two"}, .tenants = {}});
  pass_a_minute();
  run_blocking(io_, run_until([&] { return !two_channel->is_open(); }));
  EXPECT_TRUE(one_channel->is_open());
  EXPECT_EQ(log_.checks, 1) << "one question for all";
  log_.revoke({.tokens = {}, .tenants = {kOtherTenant}});
  pass_a_minute();
  run_blocking(io_, run_until([&] { return !other_channel->is_open(); }));
  EXPECT_TRUE(one_channel->is_open());
}

TEST_F(Hub, TheStateOfAJobIsNotKeptWhenNobodyAsksForItAgain) {
  const StreamScope scope{.tenant = kStreamTenant, .job = job_number(1)};
  ASSERT_TRUE(run_blocking(io_, hub_.state_of(scope, 7)));
  ASSERT_TRUE(run_blocking(io_, hub_.state_of(scope, 7)));
  EXPECT_EQ(jobs_.questions, 1);
  EXPECT_EQ(hub_.states_kept(), 1U);
  settle(1);
  clock_.advance(6s);
  run_blocking(io_, run_until([&] { return hub_.states_kept() == 0; }));
}

// --- What clients missed ---

class HubMissed : public Hub {
 protected:
  // Another one, which nobody has started.
  EventHub& hub_with(EventHubOptions options) {
    return other_.emplace(io_.get_executor(),
                          EventHub::Parts{.tail = log_,
                                          .events = log_,
                                          .jobs = jobs_,
                                          .clock = clock_,
                                          .random = random_,
                                          .log = silent_,
                                          .registry = other_registry_},
                          options);
  }
  Result<EventHub::Missed> missed(EventHub& hub, StreamScope scope) {
    return run_blocking(io_, hub.missed(*store::EventPosition::parse("100-0"), std::move(scope)));
  }

  MetricRegistry other_registry_;
  std::optional<EventHub> other_;
};

TEST_F(HubMissed, OfManyJobsTheOwnersAreAskedForInPieces) {
  std::vector<JobId> jobs;
  for (int i = 0; i < 4000; ++i) jobs.push_back(job_number(i));
  for (int i = 0; i < 3; ++i) log_.add({.jobs = jobs});
  log_.owners = {{job_number(3999), user_number(1)}};
  const StreamScope person{.tenant = kStreamTenant, .owner = user_number(1)};
  const auto found = missed(hub_with({}), person);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->events.size(), 3U);
  EXPECT_LE(log_.owners_asked_most, 5000U);
  const auto too_many = missed(hub_with({.missed_jobs_max = 10'000}), person);
  ASSERT_TRUE(too_many);
  EXPECT_TRUE(too_many->too_old);
  // Those who need not know whose they are.
  const auto service = missed(hub_with({.missed_jobs_max = 10'000}), {.tenant = kStreamTenant});
  ASSERT_TRUE(service);
  EXPECT_EQ(service->events.size(), 3U);
}

TEST_F(HubMissed, TheMemoryForAllTogetherIsBoundedAndGivenBack) {
  log_.add({});
  auto& hub = hub_with({.missed_bytes_all_max = 2000});
  std::vector<EventPtr> on_the_way;
  Result<EventHub::Missed> found = missed(hub, {});
  for (; found && on_the_way.size() < 1000; found = missed(hub, {})) {
    on_the_way.insert(on_the_way.end(), found->events.begin(), found->events.end());
  }
  ASSERT_FALSE(found) << "nobody is ever sent away";
  EXPECT_EQ(found.error().kind, ErrorKind::unavailable);
  EXPECT_FALSE(on_the_way.empty());
  on_the_way.clear();
  EXPECT_TRUE(missed(hub, {}));
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
