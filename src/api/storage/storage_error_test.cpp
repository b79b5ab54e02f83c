#include "api/storage/storage_error.h"

#include "identity/refusal.h"

#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::api {
namespace {

using identity::Refusal;
using testing::HasSubstr;
using testing::Not;

Error error_of(std::string sqlstate, std::string message,
               ErrorKind kind = ErrorKind::invalid_argument) {
  return {.kind = kind, .message = std::move(message), .sqlstate = std::move(sqlstate)};
}

struct Case {
  Error error;
  int outside;
  std::string inside;
  std::string code;
};

TEST(StorageError, TheTrueStatusIsInsideAndClientsBranchOnTheCode) {
  const std::vector<Case> cases = {
      {error_of("MR031", "object 'a' does not exist in bucket 'b'", ErrorKind::not_found), 400,
       "404", "NoSuchKey"},
      {error_of("MR031", "bucket 'b' does not exist", ErrorKind::not_found), 400, "404",
       "NoSuchBucket"},
      {error_of("MR030", "object 'a' exists in bucket 'b'", ErrorKind::conflict), 400, "409",
       "KeyAlreadyExists"},
      {error_of("MR038", "an upload may have 5 bytes at most"), 400, "413", "EntityTooLarge"},
      {error_of("MR024", "the name of an object must have 1 to 1024 letters"), 400, "400",
       "InvalidKey"},
      {error_of("MR024", "bucket 'b' does not take content of type 'text/html'"), 400, "415",
       "InvalidMimeType"},
      {error_of("42501", "the name of an object must begin with the id of its user"), 400, "403",
       "AccessDenied"},
      {error_of("MR027", "the quota is used up", ErrorKind::throttled), 507, "507",
       "QuotaExceeded"},
      {error_of("", "too much at once", ErrorKind::throttled), 429, "429", "SlowDown"},
      {error_of("", "cannot reach the database", ErrorKind::unavailable), 503, "503", "SlowDown"},
      {error_of("", "a bug", ErrorKind::internal), 500, "500", "InternalError"},
  };
  for (const auto& [error, outside, inside, code] : cases) {
    const auto reply = storage_reply({.fault = storage_fault(error), .cause = error}, "cid-1");
    const auto body = *parse_json_object(reply.body);
    EXPECT_EQ(reply.status, outside) << error.message;
    EXPECT_EQ(body.at("statusCode"), json::Value(inside)) << error.message;
    EXPECT_EQ(body.at("code"), json::Value(code)) << error.message;
    EXPECT_EQ(storage_fault(error).status, outside) << error.message;
  }
}

TEST(StorageError, WhatExistsIsADuplicate) {  // INTEGRATIONS 3.3
  const auto error = error_of("MR030", "object 'a' exists in bucket 'b'", ErrorKind::conflict);
  const auto body =
      *parse_json_object(storage_reply({.fault = storage_fault(error), .cause = error}, "c").body);
  EXPECT_EQ(body.at("error"), json::Value("Duplicate"));
  EXPECT_EQ(body.at("message"), json::Value("The resource already exists"));
}

TEST(StorageError, ASignedUrlThatDoesNotOpenSaysWhy) {
  const auto code_of = [](Refusal refusal) {
    return std::string(storage_fault_of(identity::refuse(refusal, "no").error()).code);
  };
  EXPECT_EQ(code_of(Refusal::expired), "ExpiredToken");
  EXPECT_EQ(code_of(Refusal::wrong_resource), "InvalidSignature");
  EXPECT_EQ(code_of(Refusal::bad_signature), "InvalidJWT");
  EXPECT_EQ(code_of(Refusal::revoked), "InvalidJWT");
}

TEST(StorageError, WordsOfTheDatabaseAndPathsStayInside) {  // T-08
  for (const auto kind : {ErrorKind::internal, ErrorKind::unavailable, ErrorKind::in_doubt}) {
    const auto error = error_of("", "/var/lib/secret is full", kind);
    EXPECT_THAT(storage_reply({.fault = storage_fault(error), .cause = error}, "c").body,
                Not(HasSubstr("secret")));
  }
  const auto bug = error_of("42601", "syntax error at \"secret\"");
  EXPECT_EQ(storage_fault(bug).status, 500);
  EXPECT_THAT(storage_reply({.fault = storage_fault(bug), .cause = bug}, "c").body,
              Not(HasSubstr("secret")));
}

TEST(StorageError, WhoIsNotLetInKeepsTheStatus) {
  const auto reply = storage_reply(
      {.fault = {.status = 401, .code = "missing", .detail = "there are no credentials"}}, "c");
  EXPECT_EQ(reply.status, 401);
  EXPECT_EQ(parse_json_object(reply.body)->at("statusCode"), json::Value("401"));
}

}  // namespace
}  // namespace millrace::api
