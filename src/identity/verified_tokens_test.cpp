#include "identity/verified_tokens.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::identity {
namespace {

using namespace std::chrono_literals;

class VerifiedTokensTest : public testing::Test {
 protected:
  Caller caller(Clock::Duration lifetime) const {
    Caller made;
    made.subject = "ada";
    made.expires_at =
        instant_of(clock_.wall() + std::chrono::duration_cast<Clock::Wall::duration>(lifetime));
    return made;
  }

  ManualClock clock_;
  VerifiedTokens tokens_{clock_, {.ttl = 5s, .tokens_max = 10}};
};

TEST_F(VerifiedTokensTest, AreKnownByAllTheirBytesForAMoment) {
  EXPECT_EQ(tokens_.find(sha256("a.b.c")), nullptr);
  tokens_.keep(sha256("a.b.c"), caller(1h));
  ASSERT_NE(tokens_.find(sha256("a.b.c")), nullptr);
  EXPECT_EQ(tokens_.find(sha256("a.b.c"))->subject, "ada");
  EXPECT_EQ(tokens_.find(sha256("a.b.d")), nullptr);
  clock_.advance(4999ms);
  EXPECT_NE(tokens_.find(sha256("a.b.c")), nullptr);
  clock_.advance(1ms);
  EXPECT_EQ(tokens_.find(sha256("a.b.c")), nullptr);
}

// T-01: never past its own end, also when the clock was set.
TEST_F(VerifiedTokensTest, EndWithTheirExpiry) {
  tokens_.keep(sha256("short"), caller(2s));
  clock_.advance(1999ms);
  EXPECT_NE(tokens_.find(sha256("short")), nullptr);
  clock_.advance(1ms);
  EXPECT_EQ(tokens_.find(sha256("short")), nullptr);
  tokens_.keep(sha256("long"), caller(1h));
  clock_.set_wall(clock_.wall() + 2h);
  EXPECT_EQ(tokens_.find(sha256("long")), nullptr);
}

TEST_F(VerifiedTokensTest, AreBounded) {
  for (int i = 0; i < 1000; ++i) tokens_.keep(sha256(std::to_string(i)), caller(1h));
  EXPECT_LE(tokens_.size(), 10U);
  EXPECT_NE(tokens_.find(sha256("999")), nullptr);
}

}  // namespace
}  // namespace millrace::identity
