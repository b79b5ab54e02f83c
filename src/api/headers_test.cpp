// Entity tags, keys of repeatable requests, cursors: small things that stand in headers and URLs.
#include "api/cursor.h"
#include "api/etag.h"
#include "api/idempotency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::api {
namespace {

TEST(ETag, IsTheSameForTheSameBytesOnly) {
  EXPECT_EQ(etag_of("a"), etag_of("a"));
  EXPECT_NE(etag_of("a"), etag_of("b"));
  EXPECT_EQ(etag_of("").size(), 24U);
}

TEST(ETag, IsFoundInListsAndStarsAndNotInNonsense) {
  const auto tag = etag_of("x");
  EXPECT_TRUE(names_tag(tag, tag, true));
  EXPECT_TRUE(names_tag("*", tag, true));
  EXPECT_TRUE(names_tag("\"a\", W/\"b\" ,  " + tag, tag, true));
  EXPECT_TRUE(names_tag("W/" + tag, tag, true));
  EXPECT_FALSE(names_tag("W/" + tag, tag, false));
  EXPECT_FALSE(names_tag("\"a\"", tag, true));
  for (const auto* nonsense : {"", ",", "\"", "W/", "x", "\"a", "**"}) {
    EXPECT_FALSE(names_tag(nonsense, tag, true)) << nonsense;
  }
}

TEST(ETag, HasTheVersionInFrontOfWhatMovesByItself) {
  const auto one = etag_of("counts 1", "v1");
  const auto two = etag_of("counts 2", "v1");
  EXPECT_NE(one, two);
  EXPECT_TRUE(names_tag(one, one, false));
  EXPECT_EQ(etag_of("x", ""), etag_of("x"));
  EXPECT_THAT(versions_in(one), testing::ElementsAre("v1"));
  EXPECT_THAT(versions_in(two + ", W/\"weak.x\", \"plain\" ,\"v2.rest\""),
              testing::ElementsAre("v1", "v2"));
  EXPECT_THAT(versions_in(" *"), testing::ElementsAre("*"));
  for (const auto* nonsense : {"", ",", "\"", "x", "\"a.b", "**", "\"plain\""}) {
    EXPECT_THAT(versions_in(nonsense), testing::IsEmpty()) << nonsense;
  }
}

TEST(IdempotencyKey, IsReadQuotedAndBare) {
  EXPECT_EQ(parse_idempotency_key("\"8e03978e-40d5\"").value(), "8e03978e-40d5");
  EXPECT_EQ(parse_idempotency_key("8e03978e-40d5").value(), "8e03978e-40d5");
  EXPECT_EQ(parse_idempotency_key(R"("a\"b\\c")").value(), R"(a"b\c)");
}

TEST(IdempotencyKey, RefusesWhatIsNoKey) {
  for (const auto* bad :
       {"", "\"\"", "\"", "\"a", "\"a\\\"", "\"a\"b\"", "a b", "\"a\\n\"", "\x01", "\xc3\xa4"}) {
    EXPECT_FALSE(parse_idempotency_key(bad).has_value()) << bad;
  }
  EXPECT_TRUE(parse_idempotency_key(std::string(255, 'k')).has_value());
  EXPECT_FALSE(parse_idempotency_key(std::string(256, 'k')).has_value());
}

// F04: parts that run into each other must not look the same.
TEST(IdempotencyKey, AnotherRequestHasAnotherFingerprint) {
  const RequestParts one{.method = "POST", .path = "/a", .query = "b", .body = "c"};
  EXPECT_EQ(fingerprint_of(one), fingerprint_of(one));
  for (const auto& other :
       {RequestParts{.method = "POST", .path = "/ab", .query = "", .body = "c"},
        RequestParts{.method = "POST", .path = "/a", .query = "", .body = "bc"},
        RequestParts{.method = "POST", .path = "/a", .query = "b", .body = "d"},
        RequestParts{.method = "PUT", .path = "/a", .query = "b", .body = "c"}}) {
    EXPECT_NE(fingerprint_of(one), fingerprint_of(other));
  }
}

TEST(Cursor, ReadsBackWhatItWasMadeOf) {
  const auto cursor = make_cursor("jobs", "11111111-1111-4111-8111-111111111111");
  EXPECT_EQ(read_cursor("jobs", cursor).value(), "11111111-1111-4111-8111-111111111111");
  EXPECT_FALSE(read_cursor("audit", cursor).has_value());
  for (const auto* bad : {"", "x", "!!!!", "am9icw"}) {
    EXPECT_FALSE(read_cursor("jobs", bad).has_value()) << bad;
  }
  EXPECT_FALSE(read_cursor("jobs", make_cursor("jobs", std::string("a\0b", 3))).has_value());
}

}  // namespace
}  // namespace millrace::api
