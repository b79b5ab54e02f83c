#include "api/stream/event_ring.h"

#include "api/stream/stream_fixture.h"

#include <gtest/gtest.h>

namespace millrace::api {
namespace {

using store::EventPosition;

EventPtr event_at(std::uint64_t number, std::string position, JobId job = job_number(1)) {
  const auto parsed = *EventPosition::parse(position);
  auto made = make_stream_event({.xid = parsed.xid,
                                 .event_id = parsed.seq,
                                 .position = std::move(position),
                                 .at = "2026-11-16T12:00:00+00:00",
                                 .tenant = kStreamTenant,
                                 .kind = "job.progress",
                                 .queue = "default",
                                 .job_ids = {job},
                                 .data_json = {}},
                                number);
  EXPECT_TRUE(made);
  return std::make_shared<const StreamEvent>(*std::move(made));
}

EventPosition at(std::string_view text) { return *EventPosition::parse(text); }

TEST(EventRing, GivesWhatLiesBehindAPosition) {
  EventRing ring;
  ring.begin(at("10-9223372036854775807"));
  ring.push(event_at(1, "11-1"));
  ring.push(event_at(2, "12-2", job_number(2)));
  ring.push(event_at(3, "13-3"));
  const StreamScope scope{.tenant = kStreamTenant, .job = job_number(1)};
  auto found = ring.after(at("11-1"), scope, 3);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front()->number, 3U);
  // What a stream gets live is not its business here.
  EXPECT_TRUE(ring.after(at("11-1"), scope, 2)->empty());
  EXPECT_EQ(ring.after(at("11-1"), {}, 3)->size(), 2U);
  EXPECT_TRUE(ring.after(at("11-1"), {.tenant = kOtherTenant}, 3)->empty());
}

TEST(EventRing, SaysWhenItDoesNotReachThatFar) {
  EventRing ring({.events_max = 2});
  EXPECT_FALSE(ring.after(at("10-1"), {}, 0));
  ring.begin(at("10-0"));
  EXPECT_TRUE(ring.after(at("10-1"), {}, 0));
  for (std::uint64_t i = 1; i <= 3; ++i) ring.push(event_at(i, fmt::format("{}-{}", 10 + i, i)));
  EXPECT_EQ(ring.size(), 2U);
  EXPECT_FALSE(ring.after(at("10-1"), {}, 3));
  EXPECT_EQ(ring.after(at("11-1"), {}, 3)->size(), 2U);
}

TEST(EventRing, IsBoundedInBytes) {
  EventRing ring({.events_max = 1000, .bytes_max = 4 * event_at(1, "11-1")->size_bytes()});
  ring.begin(at("10-0"));
  for (std::uint64_t i = 1; i <= 20; ++i) ring.push(event_at(i, fmt::format("{}-{}", 10 + i, i)));
  EXPECT_LE(ring.size_bytes(), 4 * event_at(1, "11-1")->size_bytes());
  EXPECT_GE(ring.size(), 3U);
}

// Another server remembers a transaction as late that this one read in its turn.
TEST(EventRing, GivesALateEventToAClientThatHasNotSeenIt) {
  EventRing ring;
  ring.begin(at("10-0"));
  ring.push(event_at(1, "11-1"));
  ring.push(event_at(2, "12-2"));
  const auto found = ring.after(at("12-2~11-0"), {}, 2);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front()->stored.xid, 11U);
}

TEST(EventRing, DoesNotGuessWhoseJobsTheyAre) {  // T-02
  EventRing ring;
  ring.begin(at("10-0"));
  ring.push(event_at(1, "11-1"));
  const StreamScope person{.tenant = kStreamTenant, .owner = user_number(1)};
  EXPECT_FALSE(ring.after(at("10-1"), person, 1));
  EXPECT_TRUE(
      ring.after(at("10-1"), {.tenant = kOtherTenant, .owner = user_number(1)}, 1)->empty());
}

}  // namespace
}  // namespace millrace::api
