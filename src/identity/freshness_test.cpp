#include "identity/freshness.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::identity {
namespace {

using namespace std::chrono_literals;

std::chrono::seconds fresh(std::vector<http::Header> headers) {
  return freshness_of(headers, {.unsaid = 600s, .least = 60s, .most = 3600s});
}

std::chrono::seconds fresh(const std::string& cache_control) {
  return fresh({{"Cache-Control", cache_control}});
}

TEST(Freshness, IsWhatTheServerSaysWithinBounds) {
  EXPECT_EQ(fresh("public, max-age=900"), 900s);
  EXPECT_EQ(fresh("MAX-AGE = \"900\" , public"), 900s);
  EXPECT_EQ(fresh("max-age=0"), 60s);
  EXPECT_EQ(fresh("max-age=31536000"), 3600s);
  EXPECT_EQ(fresh("max-age=99999999999999999999999999"), 3600s);
}

TEST(Freshness, HasADefaultForWhatItDoesNotUnderstand) {
  for (const auto* text :
       {"", "public", "max-age", "max-age=", "max-age=-5", "max-age=1.5", "max-age=\"",
        "s-maxage=900", "xmax-age=900", ",,,", "=", "max-age=1 2"}) {
    EXPECT_EQ(fresh(text), 600s) << text;
  }
  EXPECT_EQ(fresh(std::vector<http::Header>{}), 600s);
}

TEST(Freshness, IsShortWhenTheServerWantsNoCaching) {
  EXPECT_EQ(fresh("no-store, max-age=900"), 60s);
  EXPECT_EQ(fresh("No-Cache"), 60s);
}

TEST(Freshness, IsLessWhatACacheHasUsedUp) {
  EXPECT_EQ(fresh({{"cache-control", "max-age=900"}, {"age", "100"}}), 800s);
  EXPECT_EQ(fresh({{"cache-control", "max-age=900"}, {"age", "5000"}}), 60s);
  EXPECT_EQ(fresh({{"cache-control", "max-age=900"}, {"age", "soon"}}), 900s);
  EXPECT_EQ(
      fresh({{"cache-control", "max-age=9223372036854775807"}, {"age", "9223372036854775807"}}),
      60s);
}

TEST(Freshness, TakesTheShorterOfTwo) {
  EXPECT_EQ(fresh("max-age=900, max-age=300"), 300s);
  EXPECT_EQ(fresh({{"Cache-Control", "max-age=300"}, {"Cache-Control", "max-age=900"}}), 300s);
}

}  // namespace
}  // namespace millrace::identity
