// How often a parser outside is looked at.
#include "pipeline/parse_remote.h"

#include <gtest/gtest.h>

namespace millrace::pipeline {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

TEST(ParsePauses, GrowWithTheWaitAndAgainAfterADay) {
  EXPECT_EQ(pause_after(0ms), 2s);
  EXPECT_EQ(pause_after(16s), 16s);
  EXPECT_EQ(pause_after(59min), 1min);
  EXPECT_EQ(pause_after(25h), 2min);
}

// parse.deadline is a week at most, and max_snoozes of a queue 10 000 by default: the deadline
// comes first, with room for waits of other kinds.
TEST(ParsePauses, AWeekOfLooksIsWithinWhatAQueueAllows) {
  int looks = 0;
  for (milliseconds waited = 0ms; waited < 7 * 24h; waited += pause_after(waited)) ++looks;
  EXPECT_LT(looks, 6'000);
}

}  // namespace
}  // namespace millrace::pipeline
