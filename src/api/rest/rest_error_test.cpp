#include "api/rest/rest_error.h"

#include "identity/refusal.h"

#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::api {
namespace {

using testing::HasSubstr;
using testing::Not;

Error error_of(std::string sqlstate, ErrorKind kind = ErrorKind::invalid_argument) {
  return {.kind = kind,
          .message = "words of the database",
          .sqlstate = std::move(sqlstate),
          .hint = "a hint",
          .detail = "a detail"};
}

json::Object body_of(const Error& error) {
  const auto reply = rest_reply({.fault = rest_fault(error), .cause = error}, "cid-1");
  return *parse_json_object(reply.body);
}

TEST(RestError, StatusesAreThoseOfPostgrest) {
  const std::vector<std::pair<std::string, int>> cases = {
      {"23505", 409},    {"23503", 409},    {"42501", 403},    {"42P01", 404},    {"42883", 404},
      {"42703", 400},    {"22P02", 400},    {"22023", 400},    {"23514", 400},    {"P0001", 400},
      {"21000", 400},    {"PGRST100", 400}, {"PGRST103", 416}, {"PGRST106", 406}, {"PGRST116", 406},
      {"PGRST202", 404}, {"PGRST205", 404}, {"PGRST302", 401}};
  for (const auto& [code, status] : cases) {
    EXPECT_EQ(rest_fault(error_of(code)).status, status) << code;
  }
  EXPECT_EQ(rest_fault(error_of("MR011", ErrorKind::conflict)).status, 422);
  EXPECT_EQ(rest_fault(error_of("40001", ErrorKind::unavailable)).status, 503);
  EXPECT_EQ(rest_fault(error_of("25006", ErrorKind::invalid_argument)).status, 405);
  EXPECT_EQ(rest_fault(error_of("25006", ErrorKind::unavailable)).status, 503);
}

TEST(RestError, TheBodyHasPostgrestsFourMembers) {
  const auto body = body_of(error_of("23505", ErrorKind::conflict));
  EXPECT_EQ(body.at("code"), json::Value("23505"));
  EXPECT_EQ(body.at("message"), json::Value("words of the database"));
  EXPECT_EQ(body.at("details"), json::Value("a detail"));
  EXPECT_EQ(body.at("hint"), json::Value("a hint"));
  const auto bare = body_of({.kind = ErrorKind::invalid_argument, .message = "no"});
  EXPECT_TRUE(bare.at("details").is_null());
  EXPECT_TRUE(bare.at("hint").is_null());
  EXPECT_EQ(bare.at("code"), json::Value("PGRST100"));
}

TEST(RestError, WhatTheDatabaseSaysOfOurStatementsStaysInTheLog) {  // T-08
  for (const auto& [code, kind] :
       std::vector<std::pair<std::string, ErrorKind>>{{"42601", ErrorKind::invalid_argument},
                                                      {"XX000", ErrorKind::internal},
                                                      {"08006", ErrorKind::unavailable},
                                                      {"40P01", ErrorKind::unavailable}}) {
    const auto text = to_json(body_of(error_of(code, kind)));
    EXPECT_THAT(text, Not(HasSubstr("words of the database"))) << code;
    EXPECT_THAT(text, Not(HasSubstr("a detail"))) << code;
    EXPECT_GE(rest_fault(error_of(code, kind)).status, 500) << code;
  }
}

TEST(RestError, WhoIsNotLetInIsToldSoByPostgrestsCode) {
  const auto refused =
      identity::refuse(identity::Refusal::expired, "the token has expired").error();
  EXPECT_EQ(rest_fault(refused).status, 401);
  EXPECT_EQ(body_of(refused).at("code"), json::Value("PGRST301"));
}

TEST(RestError, EveryBrokenRuleOfARequestIsALineOfTheDetails) {
  const auto reply = rest_reply({.fault = {.status = 400, .code = "invalid_body", .detail = "bad"},
                                 .errors = {{.pointer = "#/a", .rule = "type", .detail = "one"},
                                            {.pointer = "#/b", .rule = "type", .detail = "two"}}},
                                "cid-1");
  const auto body = *parse_json_object(reply.body);
  EXPECT_EQ(body.at("code"), json::Value("PGRST102"));
  EXPECT_EQ(body.at("details"), json::Value("one\ntwo"));
}

}  // namespace
}  // namespace millrace::api
