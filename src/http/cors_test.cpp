#include "http/cors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::http {
namespace {

using testing::HasSubstr;
using testing::Not;

Cors make(CorsOptions options) {
  auto cors = Cors::make(std::move(options));
  EXPECT_TRUE(cors.has_value()) << cors.error().message;
  return *std::move(cors);
}

// T-06
TEST(Cors, OnlyListedOriginsMayRead) {
  const auto cors = make({.origins = {"https://app.example", "http://localhost:5173"}});
  EXPECT_THAT(cors.answer_lines("https://app.example"),
              HasSubstr("Access-Control-Allow-Origin: https://app.example\r\n"));
  EXPECT_THAT(cors.answer_lines("http://localhost:5173"),
              HasSubstr("Access-Control-Allow-Origin: http://localhost:5173\r\n"));
  for (const auto* other :
       {"https://evil.example", "https://app.example.evil.example", "https://app.example:8443",
        "http://app.example", "null", "", "https://APP.example"}) {
    EXPECT_EQ(cors.answer_lines(other), "Vary: Origin\r\n") << other;
    EXPECT_EQ(cors.preflight_lines(other, "GET"), "Vary: Origin\r\n") << other;
  }
}

TEST(Cors, SaysNothingWhenOff) {
  const auto cors = make({});
  EXPECT_FALSE(cors.enabled());
  EXPECT_EQ(cors.answer_lines("https://app.example"), "");
  EXPECT_EQ(cors.preflight_lines("https://app.example", "GET"), "");
}

TEST(Cors, StarAllowsEverybodyTheSame) {
  const auto cors = make({.origins = {"*"}});
  EXPECT_THAT(cors.answer_lines("https://any.example"),
              HasSubstr("Access-Control-Allow-Origin: *\r\n"));
  EXPECT_THAT(cors.answer_lines("https://any.example"), Not(HasSubstr("Vary")));
}

TEST(Cors, PreflightNamesMethodsAndHeaders) {
  const auto cors = make({.origins = {"https://app.example"},
                          .credentials = true,
                          .request_headers = {"authorization", "x-one"},
                          .preflight_age = std::chrono::seconds(60)});
  EXPECT_EQ(cors.preflight_lines("https://app.example", "GET, HEAD, OPTIONS"),
            "Vary: Origin\r\n"
            "Access-Control-Allow-Origin: https://app.example\r\n"
            "Access-Control-Allow-Credentials: true\r\n"
            "Access-Control-Allow-Methods: GET, HEAD, OPTIONS\r\n"
            "Access-Control-Allow-Headers: authorization, x-one\r\n"
            "Access-Control-Max-Age: 60\r\n");
}

TEST(Cors, RefusesWhatCannotBeMeant) {
  for (const auto* origin :
       {"app.example", "https://app.example/", "https://", "https://a b", "https://App.example",
        "https://user@app.example", "", "https://a.example\r\nX: y"}) {
    EXPECT_FALSE(Cors::make({.origins = {origin}}).has_value()) << origin;
  }
  EXPECT_FALSE(Cors::make({.origins = {"*"}, .credentials = true}).has_value());
  EXPECT_FALSE(Cors::make({.request_headers = {"a b"}}).has_value());
}

}  // namespace
}  // namespace millrace::http
