#include "document/bounded/inflate.h"

#include "document/inspect/made_zip.h"

#include <gtest/gtest.h>

namespace millrace::document {
namespace {

TEST(Inflate, GivesTheBytesBack) {
  const std::string text(300'000, 'a');
  for (const bool raw : {false, true}) {
    std::string got;
    const auto result = inflate_bytes(deflated(text, raw), raw ? Packing::raw : Packing::zlib,
                                      [&](std::string_view piece, std::uint64_t) {
                                        got += piece;
                                        return true;
                                      });
    EXPECT_EQ(result.end, InflateEnd::complete);
    EXPECT_EQ(got, text);
  }
}

TEST(Inflate, SaysHowItEnded) {
  const auto packed = deflated(std::string(100'000, 'b') + "end");
  const auto all = [](std::string_view, std::uint64_t) { return true; };
  const auto none = [](std::string_view, std::uint64_t) { return false; };
  EXPECT_EQ(inflate_bytes(packed.substr(0, 20), Packing::zlib, all).end, InflateEnd::truncated);
  EXPECT_EQ(inflate_bytes("no deflate data", Packing::zlib, all).end, InflateEnd::damaged);
  EXPECT_EQ(inflate_bytes(packed, Packing::zlib, none).end, InflateEnd::stopped);
  EXPECT_EQ(inflate_bytes({}, Packing::zlib, all).end, InflateEnd::truncated);
}

// F17: a bomb costs what the taker lets it.
TEST(Inflate, StopsABombEarly) {
  const auto bomb = deflated_zeros(256 * kMiB);
  std::uint64_t taken = 0;
  inflate_bytes(bomb, Packing::zlib, [&](std::string_view piece, std::uint64_t) {
    taken += piece.size();
    return taken < kMiB;
  });
  EXPECT_LT(taken, 2 * kMiB);
}

TEST(UnpackBudget, CountsEverythingTogether) {
  const Limits limits{.unpacked_bytes_max = 100};
  UnpackBudget budget(limits);
  EXPECT_TRUE(budget.add(60).has_value());
  EXPECT_TRUE(budget.add(40).has_value());
  EXPECT_EQ(budget.add(1).error().constraint, "unpacked_bytes");
}

TEST(UnpackBudget, LooksAtTheRatioOnlyAboveTheFloor) {
  const Limits limits{.ratio_max = 100, .ratio_floor_bytes = 1'000};
  const UnpackBudget budget(limits);
  EXPECT_TRUE(budget.check_ratio(1, 1'000).has_value());
  EXPECT_TRUE(budget.check_ratio(21, 2'000).has_value());
  EXPECT_EQ(budget.check_ratio(19, 2'000).error().constraint, "ratio");
}

}  // namespace
}  // namespace millrace::document
