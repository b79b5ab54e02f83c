#include "api/stream/coverage.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace millrace::api {
namespace {

using store::EventPosition;

EventPosition at(std::string_view text) {
  auto position = EventPosition::parse(text);
  EXPECT_TRUE(position) << text;
  return position ? *std::move(position) : EventPosition();
}

TEST(Coverage, EndsAtThePositionAndLeavesOutWhatIsLate) {
  const auto position = at("81-1203~79-0.80-1100");
  EXPECT_TRUE(covers(position, 78, 999'999));
  EXPECT_TRUE(covers(position, 81, 1203));
  EXPECT_FALSE(covers(position, 81, 1204));
  EXPECT_FALSE(covers(position, 82, 1));
  EXPECT_FALSE(covers(position, 79, 1));
  EXPECT_TRUE(covers(position, 80, 1100));
  EXPECT_FALSE(covers(position, 80, 1101));
}

TEST(Coverage, APositionIncludesThoseBeforeItUnlessTheySawALateOne) {
  EXPECT_TRUE(includes(at("81-5"), at("81-5")));
  EXPECT_TRUE(includes(at("81-5"), at("80-9")));
  EXPECT_FALSE(includes(at("80-9"), at("81-5")));
  EXPECT_TRUE(includes(at("81-5"), at("81-5~79-0")));
  // The other server read transaction 79 when it had ended; this one has not yet.
  EXPECT_FALSE(includes(at("81-5~79-0"), at("80-9")));
  EXPECT_TRUE(includes(at("81-5~79-7"), at("80-9~79-7")));
  EXPECT_FALSE(includes(at("81-5~79-6"), at("80-9~79-7")));
}

TEST(Coverage, TheTailOfTheLogIncludesAllThatHadEnded) {
  const auto tail = at("90-9223372036854775807~88-0");
  EXPECT_TRUE(includes(tail, at("90-12~88-0")));
  EXPECT_TRUE(includes(tail, at("89-12~88-0")));
  EXPECT_FALSE(includes(tail, at("89-12")));
}

TEST(Coverage, AJoinForgetsALateTransactionThatEitherHasRead) {
  EXPECT_EQ(join(at("81-5~79-0.80-0"), at("80-9~79-3")).text(), "81-5~79-3.80-9");
  EXPECT_EQ(join(at("80-9"), at("81-5~79-0")).text(), "81-5");
  EXPECT_EQ(join(at("81-5"), at("81-7~80-0")).text(), "81-7");
}

// A log small enough to look at every event: the functions must agree with sets of events.
class SmallLog {
 public:
  explicit SmallLog(std::uint64_t seed) : random_(seed) {
    std::int64_t id = 0;
    for (std::uint64_t xid = 1; xid <= 6; ++xid) {
      for (std::uint64_t i = 0; i <= random_.below(3); ++i) events_.emplace_back(xid, ++id);
    }
  }

  EventPosition any_position() {
    const auto& [xid, id] = events_[random_.below(events_.size())];
    EventPosition position{.xid = xid, .seq = id, .late = {}};
    for (std::uint64_t late = 1; late < xid; ++late) {
      if (random_.below(2) == 0) continue;
      // Nothing of it was read, or one of its events was the last.
      std::vector<std::int64_t> ends{0};
      for (const auto& [other, number] : events_) {
        if (other == late) ends.push_back(number);
      }
      ends.pop_back();  // Read to its end it would not be late any more.
      if (!ends.empty()) {
        position.late.push_back({.xid = late, .seq = ends[random_.below(ends.size())]});
      }
    }
    return position;
  }

  std::set<std::int64_t> seen(const EventPosition& position) const {
    std::set<std::int64_t> ids;
    for (const auto& [xid, id] : events_) {
      if (covers(position, xid, id)) ids.insert(id);
    }
    return ids;
  }

 private:
  SeededRandom random_;
  std::vector<std::pair<std::uint64_t, std::int64_t>> events_;
};

TEST(Coverage, AgreesWithTheSetsOfEventsItStandsFor) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SmallLog log(seed);
    const auto a = log.any_position();
    const auto b = log.any_position();
    const auto seen_a = log.seen(a);
    const auto seen_b = log.seen(b);
    const bool inside = std::ranges::includes(seen_a, seen_b);
    // It may say no where there happens to be no event to tell the difference, never yes.
    if (includes(a, b)) {
      EXPECT_TRUE(inside) << "seed " << seed << ": " << a.text() << " " << b.text();
    }
    auto both = seen_a;
    both.insert(seen_b.begin(), seen_b.end());
    EXPECT_EQ(log.seen(join(a, b)), both) << "seed " << seed << ": " << a.text() << " " << b.text();
    EXPECT_TRUE(includes(join(a, b), a)) << "seed " << seed;
    EXPECT_TRUE(includes(join(a, b), b)) << "seed " << seed;
    EXPECT_TRUE(EventPosition::parse(join(a, b).text())) << "seed " << seed;
  }
}

}  // namespace
}  // namespace millrace::api
