#include "store/api/event_position.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace millrace::store {
namespace {

EventSnapshot snapshot(std::uint64_t xmax, std::vector<std::uint64_t> running) {
  return {.xmax = xmax, .running = std::move(running)};
}

TEST(EventPosition, TextComesBackAsItWas) {
  for (const auto* text : {"0-0", "81-1203", "81-1203~79-0", "81-9223372036854775807~5-0.79-44"}) {
    const auto position = EventPosition::parse(text);
    ASSERT_TRUE(position.has_value()) << text;
    EXPECT_EQ(position->text(), text);
  }
}

// The last transaction of all may run: the position lies before it, and its text comes back.
TEST(EventPosition, TheTailIsAPositionLikeAnyOther) {
  EXPECT_EQ(EventPosition::tail(90, {}).text(), "90-9223372036854775807");
  EXPECT_EQ(EventPosition::tail(90, {85}).text(), "90-9223372036854775807~85-0");
  EXPECT_EQ(EventPosition::tail(90, {85, 89, 90}).text(), "88-9223372036854775807~85-0");
  const auto text = EventPosition::tail(90, {85, 89, 90}).text();
  EXPECT_EQ(EventPosition::parse(text).value(), EventPosition::tail(90, {85, 89, 90}));
}

// A Last-Event-ID comes from outside.
TEST(EventPosition, HostileTextIsRefused) {
  for (const auto* text : {"", "-", "1", "1-", "-1-2", "1--2", "+1-2", " 1-2", "1-2 ", "1-2~",
                           "1-2~3-0", "9-2~1-0.1-0", "9-2~2-0.1-0", "9-2~1",
                           "99999999999999999999999-1", "1-9223372036854775808", "9-2~1-0~2-0"}) {
    const auto position = EventPosition::parse(text);
    EXPECT_FALSE(position.has_value()) << text;
    if (!position) EXPECT_EQ(position.error().kind, ErrorKind::invalid_argument);
  }
  std::string many = "1000000-1~1-0";
  for (int i = 2; i <= 201; ++i) many += "." + std::to_string(i) + "-0";
  EXPECT_FALSE(EventPosition::parse(many).has_value());
  EXPECT_FALSE(EventPosition::parse("1-" + std::string(9000, '0')).has_value());
}

TEST(EventPosition, SnapshotIsReadAsPostgresqlWritesIt) {
  const auto plain = EventSnapshot::parse("100:100:");
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->xmax, 100U);
  EXPECT_TRUE(plain->running.empty());
  const auto busy = EventSnapshot::parse("95:100:95,98");
  ASSERT_TRUE(busy.has_value());
  EXPECT_TRUE(busy->runs(95));
  EXPECT_FALSE(busy->runs(96));
  EXPECT_TRUE(busy->runs(100));
  for (const auto* text : {"", "1", "1:2", "a:b:", "1:2:3,", "1:2:x"}) {
    EXPECT_FALSE(EventSnapshot::parse(text).has_value()) << text;
  }
}

TEST(EventPosition, WhatRunsBelowAnEventIsRemembered) {
  EventPosition position{.xid = 90, .seq = 1};
  ASSERT_TRUE(position.pass(99, 7, snapshot(101, {85, 95, 98, 100})));
  // 85 lies below the old position: it was remembered before, or had ended.
  EXPECT_EQ(position.text(), "99-7~95-0.98-0");
  ASSERT_TRUE(position.pass(99, 8, snapshot(101, {95, 98, 100})));
  EXPECT_EQ(position.text(), "99-8~95-0.98-0");
  position.pass_late(95, 4);
  EXPECT_EQ(position.text(), "99-8~95-4.98-0");
  position.pass_late(98, 5);
  EXPECT_EQ(position.text(), "99-8~98-5");
  position.forget_ended(snapshot(101, {100}));
  EXPECT_EQ(position.text(), "99-8");
}

TEST(EventPosition, MoreThanItCanRememberHoldsTheReaderBack) {
  EventPosition position{.xid = 1, .seq = 1};
  EventSnapshot busy{.xmax = 1000, .running = {}};
  for (std::uint64_t xid = 2; xid < 2 + EventPosition::kLateMax + 1; ++xid)
    busy.running.push_back(xid);
  const auto before = position;
  EXPECT_FALSE(position.pass(900, 5, busy));
  EXPECT_EQ(position, before);
  busy.running.pop_back();
  EXPECT_TRUE(position.pass(900, 5, busy));
  EXPECT_TRUE(EventPosition::parse(position.text()).has_value());
}

// A model of the log: transactions commit in any order; a reader with bounded batches, restarted
// from the text of any of its events, reads each event exactly once.
TEST(EventPosition, NothingIsSkippedOrReadTwiceWhateverTheOrderOfCommits) {
  struct Event {
    std::uint64_t xid;
    std::int64_t seq;
  };
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    std::map<std::uint64_t, std::vector<Event>> running;
    std::vector<Event> committed;
    std::uint64_t next_xid = 10;
    std::int64_t next_seq = 1;
    EventPosition position{.xid = 9, .seq = 0};
    std::multiset<std::int64_t> seen;

    const auto read = [&](std::size_t limit) {
      EventSnapshot now{.xmax = next_xid, .running = {}};
      for (const auto& [xid, events] : running) now.running.push_back(xid);
      std::vector<Event> late;
      std::vector<Event> behind;
      for (const auto& one : position.late) {
        for (const auto& event : committed) {
          if (event.xid == one.xid && event.seq > one.seq) late.push_back(event);
        }
      }
      for (const auto& event : committed) {
        if (std::pair(event.xid, event.seq) > std::pair(position.xid, position.seq))
          behind.push_back(event);
      }
      const auto order = [](const Event& a, const Event& b) {
        return std::pair(a.xid, a.seq) < std::pair(b.xid, b.seq);
      };
      std::ranges::sort(late, order);
      std::ranges::sort(behind, order);
      std::size_t left = limit;
      for (const auto& event : late) {
        if (left == 0) return;
        --left;
        position.pass_late(event.xid, event.seq);
        seen.insert(event.seq);
        position = EventPosition::parse(position.text()).value();
        if (random() % 8 == 0) return;  // The reader dies here, and goes on from this event.
      }
      if (left == 0) return;
      position.forget_ended(now);
      for (const auto& event : behind) {
        if (left-- == 0) return;
        if (!position.pass(event.xid, event.seq, now)) return;
        seen.insert(event.seq);
        position = EventPosition::parse(position.text()).value();
        if (random() % 8 == 0) return;
      }
    };

    for (int step = 0; step < 300; ++step) {
      switch (random() % 4) {
        case 0:
          if (running.size() < 12) running[next_xid++] = {};
          break;
        case 1:
        case 2:
          if (!running.empty()) {
            auto one = std::next(running.begin(), static_cast<long>(random() % running.size()));
            if (random() % 3 != 0) {
              one->second.push_back({.xid = one->first, .seq = next_seq++});
            } else {
              committed.insert(committed.end(), one->second.begin(), one->second.end());
              running.erase(one);
            }
          }
          break;
        default:
          read(1 + random() % 5);
      }
    }
    for (const auto& [xid, events] : running)
      committed.insert(committed.end(), events.begin(), events.end());
    running.clear();
    for (int round = 0; round < 1000 && seen.size() < committed.size(); ++round) read(7);
    ASSERT_EQ(seen.size(), committed.size()) << "seed " << seed;
    ASSERT_EQ(std::set<std::int64_t>(seen.begin(), seen.end()).size(), committed.size())
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace millrace::store
