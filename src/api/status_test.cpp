#include "api/status.h"

#include "identity/refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::api {
namespace {

using testing::HasSubstr;
using testing::Not;

Fault of(ErrorKind kind, std::string sqlstate = {}, std::string message = "words") {
  return fault_of({.kind = kind, .message = std::move(message), .sqlstate = std::move(sqlstate)});
}

TEST(Status, EveryKindHasItsOwn) {  // H-16
  EXPECT_EQ(of(ErrorKind::invalid_argument).status, 400);
  EXPECT_EQ(of(ErrorKind::not_found).status, 404);
  EXPECT_EQ(of(ErrorKind::conflict).status, 409);
  EXPECT_EQ(of(ErrorKind::lease_lost).status, 409);
  EXPECT_EQ(of(ErrorKind::throttled).status, 429);
  EXPECT_EQ(of(ErrorKind::unavailable).status, 503);
  EXPECT_EQ(of(ErrorKind::cancelled).status, 503);
  EXPECT_EQ(of(ErrorKind::in_doubt).status, 504);
  EXPECT_EQ(of(ErrorKind::internal).status, 500);
}

TEST(Status, FailuresOfOurFunctionsHaveTheExactOne) {
  EXPECT_EQ(of(ErrorKind::invalid_argument, "MR004").status, 413);
  EXPECT_EQ(of(ErrorKind::throttled, "MR008").status, 429);
  EXPECT_EQ(of(ErrorKind::conflict, "MR010").status, 409);
  EXPECT_EQ(of(ErrorKind::conflict, "MR011").status, 422);
  EXPECT_EQ(of(ErrorKind::invalid_argument, "MR015").status, 403);
  EXPECT_EQ(of(ErrorKind::unavailable, "MR021").status, 503);
  EXPECT_EQ(of(ErrorKind::conflict, "MR027").status, 507);
}

TEST(Status, OnlyOurOwnWordsReachTheClient) {  // T-08
  EXPECT_EQ(of(ErrorKind::not_found, "MR009", "job 7 does not exist").detail,
            "job 7 does not exist");
  for (const auto kind : {ErrorKind::internal, ErrorKind::unavailable, ErrorKind::in_doubt}) {
    EXPECT_THAT(of(kind, "", "connection to /run/secret failed").detail, Not(HasSubstr("secret")));
  }
  const auto statement = of(ErrorKind::invalid_argument, "42601", "syntax error at \"secret\"");
  EXPECT_EQ(statement.status, 500);
  EXPECT_THAT(statement.detail, Not(HasSubstr("secret")));
}

TEST(Status, AValueThatPostgresRefusesIsTheClientsFault) {
  const auto fault =
      of(ErrorKind::invalid_argument, "22P05", "unsupported Unicode escape sequence");
  EXPECT_EQ(fault.status, 400);
  EXPECT_THAT(fault.detail, Not(HasSubstr("Unicode")));
  EXPECT_EQ(of(ErrorKind::conflict, "23505", "duplicate key").status, 409);
}

TEST(Status, WhoeverIsNotLetInIsToldWhy) {  // H-16
  const auto unknown =
      identity::refuse(identity::Refusal::expired, "the token has expired").error();
  EXPECT_EQ(fault_of(unknown).status, 401);
  EXPECT_EQ(fault_of(unknown).code, "expired");
  const auto known = identity::refuse(identity::Refusal::forbidden, "may not").error();
  EXPECT_EQ(fault_of(known).status, 403);
}

}  // namespace
}  // namespace millrace::api
