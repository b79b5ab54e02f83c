#include "api/stream/stream_shard.h"

#include "api/stream/stream_fixture.h"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace millrace::api {
namespace {

using store::EventPosition;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class Shard : public testing::Test {
 protected:
  struct Open {
    StreamReader reader;
    std::shared_ptr<FakeChannel> channel;
  };

  std::unique_ptr<Open> open(StreamScope scope, std::optional<EventPosition> floor = {}) {
    auto one = entered(std::move(scope));
    attach(*one, std::move(floor));
    return one;
  }
  std::unique_ptr<Open> entered(StreamScope scope) {
    auto one = std::make_unique<Open>();
    one->reader.scope = std::move(scope);
    one->channel = std::make_shared<FakeChannel>(io_.get_executor());
    shard_.enter(one->reader);
    return one;
  }
  void attach(Open& one, std::optional<EventPosition> floor = {}) {
    shard_.attach(one.reader, http::SseStream(one.channel), std::move(floor));
  }
  EventPtr event(NewEvent event, std::string position, std::vector<Uuid> owners = {}) {
    const auto parsed = *EventPosition::parse(position);
    auto made = make_stream_event({.xid = parsed.xid,
                                   .event_id = parsed.seq,
                                   .position = std::move(position),
                                   .at = "2026-11-16T12:00:00+00:00",
                                   .tenant = event.tenant,
                                   .kind = std::move(event.kind),
                                   .queue = std::move(event.queue),
                                   .job_ids = std::move(event.jobs),
                                   .data_json = std::move(event.data)},
                                  ++number_, std::move(owners));
    return std::make_shared<const StreamEvent>(*std::move(made));
  }
  std::size_t deliver(NewEvent of, std::string position, std::vector<Uuid> owners = {}) {
    return shard_.deliver(event(std::move(of), std::move(position), std::move(owners)));
  }

  boost::asio::io_context io_{1};
  std::vector<StreamShard::Ending> endings_;
  std::size_t cut_ = 0;
  std::uint64_t number_ = 0;
  StreamShard shard_{
      io_.get_executor(),
      {.on_ending = [this](StreamShard::Ending ending) { endings_.push_back(std::move(ending)); },
       .on_sent = [](std::size_t) {},
       .on_cut = [this] { ++cut_; }},
      0,
      EventPosition{.xid = 10, .seq = 0, .late = {}}};
};

TEST_F(Shard, AnEventGoesToAllThatItConcernsAndToNobodyElse) {
  const auto job = open({.tenant = kStreamTenant, .job = job_number(1)});
  const auto other_job = open({.tenant = kStreamTenant, .job = job_number(2)});
  const auto queue = open({.tenant = kStreamTenant, .queue = "default"});
  const auto other_queue = open({.tenant = kStreamTenant, .queue = "slow"});
  const auto tenant = open({.tenant = kStreamTenant});
  const auto other_tenant = open({.tenant = kOtherTenant});
  const auto everything = open({});
  EXPECT_EQ(deliver({}, "11-1"), 4U);
  EXPECT_THAT(job->channel->frames, ElementsAre(HasSubstr("event: progress\n")));
  EXPECT_THAT(queue->channel->frames, ElementsAre(HasSubstr("event: job.progress\n")));
  EXPECT_THAT(tenant->channel->frames, ElementsAre(HasSubstr("event: job.progress\n")));
  EXPECT_THAT(everything->channel->frames, ElementsAre(HasSubstr("id: 11-1\n")));
  EXPECT_THAT(other_job->channel->frames, IsEmpty());
  EXPECT_THAT(other_queue->channel->frames, IsEmpty());
  EXPECT_THAT(other_tenant->channel->frames, IsEmpty());
}

// A job's id does not open its stream to another tenant, whatever was asked for.
TEST_F(Shard, AnEventOfAnotherTenantIsNeverSent) {  // I08
  const auto job = open({.tenant = kOtherTenant, .job = job_number(1)});
  const auto queue = open({.tenant = kOtherTenant, .queue = "default"});
  const auto batch = open({.tenant = kOtherTenant, .batch = batch_number(1)});
  deliver({.data = fmt::format(R"({{"batch_id":"{}"}})", batch_number(1))}, "11-1");
  EXPECT_THAT(job->channel->frames, IsEmpty());
  EXPECT_THAT(queue->channel->frames, IsEmpty());
  EXPECT_THAT(batch->channel->frames, IsEmpty());
}

TEST_F(Shard, WhoHasLeftGetsNothing) {
  const auto gone = open({.tenant = kStreamTenant});
  const auto stays = open({.tenant = kStreamTenant});
  shard_.leave(gone->reader);
  shard_.leave(gone->reader);
  deliver({}, "11-1");
  EXPECT_THAT(gone->channel->frames, IsEmpty());
  EXPECT_EQ(stays->channel->frames.size(), 1U);
  EXPECT_EQ(shard_.size(), 1U);
}

TEST_F(Shard, EventsAreHeldUntilTheStreamIsReady) {
  const auto one = entered({.tenant = kStreamTenant});
  deliver({}, "11-1");
  deliver({}, "12-2");
  EXPECT_THAT(one->channel->frames, IsEmpty());
  attach(*one);
  deliver({}, "13-3");
  EXPECT_THAT(one->channel->frames, ElementsAre(StartsWith("id: 11-1\n"), StartsWith("id: 12-2\n"),
                                                StartsWith("id: 13-3\n")));
}

TEST_F(Shard, AStreamThatWasNotReadyForTooLongHasToResume) {
  const auto one = entered({.tenant = kStreamTenant});
  for (std::size_t i = 0; i <= kHeldEventsMax; ++i) {
    deliver({}, fmt::format("{}-{}", 11 + i, 1 + i));
  }
  attach(*one);
  EXPECT_FALSE(one->channel->is_open());
  EXPECT_THAT(one->channel->frames, IsEmpty());
}

TEST_F(Shard, WhatTheClientHasSeenElsewhereIsNotSentAgain) {
  const auto one = open({.tenant = kStreamTenant}, EventPosition::parse("12-2").value());
  deliver({}, "11-1");
  deliver({}, "12-2");
  deliver({}, "13-3");
  EXPECT_THAT(one->channel->frames, ElementsAre(StartsWith("id: 13-3\n")));
}

// The client has seen transaction 14 on another server; here a late one comes first. The id of that
// event must not lead back before 14.
TEST_F(Shard, IdsDoNotLeadBackBehindWhatTheClientHasSeen) {
  const auto one = open({.tenant = kStreamTenant}, EventPosition::parse("14-4~11-0").value());
  deliver({}, "11-1");
  deliver({}, "14-4");
  deliver({}, "15-5");
  EXPECT_THAT(one->channel->frames,
              ElementsAre(StartsWith("id: 14-4~11-1\n"), StartsWith("id: 15-5\n")));
}

TEST_F(Shard, AnEventIsOfferedOnceEvenIfItIsDeliveredTwice) {
  const auto one = open({.tenant = kStreamTenant});
  const auto same = event({}, "11-1");
  shard_.deliver(same);
  shard_.deliver(same);
  EXPECT_EQ(one->channel->frames.size(), 1U);
}

TEST_F(Shard, TheEndOfAJobWaitsForItsStateAndNothingComesAfterIt) {
  const auto first = open({.tenant = kStreamTenant, .job = job_number(1)});
  const auto second = open({.tenant = kStreamTenant, .job = job_number(1)});
  deliver({.kind = "job.completed"}, "11-1");
  deliver({.kind = "job.redriven"}, "12-2");
  ASSERT_EQ(endings_.size(), 1U);
  EXPECT_EQ(endings_[0].streams.size(), 2U);
  EXPECT_EQ(endings_[0].streams[0].second, "11-1");
  EXPECT_THAT(first->channel->frames, IsEmpty());
  EXPECT_THAT(second->channel->frames, IsEmpty());
}

TEST_F(Shard, PeopleGetEventsOfTheirOwnJobs) {  // T-02
  const auto first = open({.tenant = kStreamTenant, .owner = user_number(1)});
  const auto second = open({.tenant = kStreamTenant, .owner = user_number(2)});
  deliver({}, "11-1", {user_number(1)});
  deliver({.jobs = {job_number(1), job_number(2)}}, "12-2", {user_number(1), user_number(1)});
  deliver({.kind = "limit.breaker", .jobs = {}}, "13-3");
  EXPECT_EQ(first->channel->frames.size(), 2U);
  EXPECT_THAT(second->channel->frames, IsEmpty());
  EXPECT_TRUE(second->channel->is_open());
}

TEST_F(Shard, WhereNobodyKnowsWhoseJobsTheyArePeopleHaveToResume) {
  const auto person = open({.tenant = kStreamTenant, .owner = user_number(1)});
  const auto elsewhere = open({.tenant = kOtherTenant, .owner = user_number(1)});
  deliver({}, "11-1");
  EXPECT_FALSE(person->channel->is_open());
  EXPECT_TRUE(elsewhere->channel->is_open());
}

TEST_F(Shard, AClientThatTakesNothingIsCountedOnce) {
  const auto slow = open({.tenant = kStreamTenant});
  slow->channel->full = true;
  deliver({}, "11-1");
  deliver({}, "12-2");
  EXPECT_EQ(cut_, 1U);
}

TEST_F(Shard, QuietStreamsLearnHowFarTheyAre) {
  const auto quiet = open({.tenant = kOtherTenant});
  deliver({}, "11-1");
  shard_.arrive(1, *EventPosition::parse("11-1"));
  shard_.tick({}, false);
  EXPECT_THAT(quiet->channel->frames, IsEmpty());
  shard_.tick({}, true);
  shard_.tick({}, true);
  EXPECT_THAT(quiet->channel->frames, ElementsAre("id: 11-1\n\n"));
}

TEST_F(Shard, AStreamThatJustHadAnEventNeedsNotBeToldWhereItIs) {
  const auto busy = open({.tenant = kStreamTenant});
  deliver({}, "11-1");
  shard_.tick({}, true);
  EXPECT_EQ(busy->channel->frames.size(), 1U);
}

TEST_F(Shard, StreamsOfRevokedCredentialsEnd) {
  const auto kept = open({.tenant = kStreamTenant});
  const auto nameless = open({.tenant = kStreamTenant});
  const auto opening = entered({.tenant = kStreamTenant});
  const auto revoked = open({.tenant = kStreamTenant});
  kept->reader.holder = {.tenant = kStreamTenant, .token_id = "a"};
  opening->reader.holder = revoked->reader.holder = {.tenant = kStreamTenant, .token_id = "b"};
  shard_.close_holders({.tokens = {"b"}, .tenants = {kOtherTenant}});
  EXPECT_TRUE(kept->channel->is_open());
  EXPECT_TRUE(nameless->channel->is_open());
  EXPECT_FALSE(revoked->channel->is_open());
  attach(*opening);
  EXPECT_FALSE(opening->channel->is_open());
  shard_.close_holders({.tokens = {}, .tenants = {kStreamTenant}});
  EXPECT_FALSE(kept->channel->is_open());
}

TEST_F(Shard, AStreamEndsWhenItsTimeIsUp) {  // H-05
  const auto one = open({.tenant = kStreamTenant});
  const Clock::Steady begin{};
  one->reader.ends_at = begin + std::chrono::seconds(60);
  one->reader.farewell = *http::SseFrame::make({.data = "{}", .event = "timeout"});
  shard_.tick(begin + std::chrono::seconds(59), false);
  EXPECT_TRUE(one->channel->is_open());
  shard_.tick(begin + std::chrono::seconds(60), false);
  EXPECT_FALSE(one->channel->is_open());
  EXPECT_THAT(one->channel->frames, ElementsAre(HasSubstr("event: timeout\n")));
}

}  // namespace
}  // namespace millrace::api
