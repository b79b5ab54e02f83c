#include "identity/claims.h"

#include "identity/compact_jws.h"
#include "identity/refusal_matcher.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::identity {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Optional;

constexpr Instant kNow{std::chrono::seconds(2'000'000'000)};

Claims claims_of(const std::string& payload) {
  auto claims = parse_claims(payload);
  EXPECT_THAT(claims, Accepted()) << payload;
  return claims ? *std::move(claims) : Claims();
}

Result<void> check(const std::string& payload, const TokenRules& rules = {}) {
  return check_claims(claims_of(payload), rules, kNow);
}

TEST(Claims, AreReadAsTheyAreSigned) {
  const auto claims = claims_of(
      R"({"iss":"joe","sub":"s","jti":"j","role":"anon","aud":"a","exp":5,"nbf":3,"iat":2.5,"x":1})");
  EXPECT_EQ(claims.issuer, "joe");
  EXPECT_EQ(claims.subject, "s");
  EXPECT_EQ(claims.token_id, "j");
  EXPECT_EQ(claims.role, "anon");
  EXPECT_THAT(claims.audiences, Optional(ElementsAre("a")));
  EXPECT_EQ(claims.expires_at, Instant(5s));
  EXPECT_EQ(claims.not_before, Instant(3s));
  EXPECT_EQ(claims.issued_at, Instant(2500ms));
  EXPECT_EQ(claims.all.size(), 9U);
}

TEST(Claims, MayBeAbsent) {
  const auto claims = claims_of(R"({"sub":null,"aud":null})");
  EXPECT_EQ(claims.subject, std::nullopt);
  EXPECT_EQ(claims.audiences, std::nullopt);
  EXPECT_EQ(claims.expires_at, std::nullopt);
}

TEST(Claims, OfAWrongTypeAreRefused) {
  for (const auto* payload : {R"({"exp":"2000000001"})",
                              R"({"exp":null})",
                              R"({"exp":true})",
                              R"({"exp":[1]})",
                              R"({"nbf":"1"})",
                              R"({"iat":{}})",
                              R"({"sub":7})",
                              R"({"iss":["joe"]})",
                              R"({"jti":1})",
                              R"({"role":["anon"]})",
                              R"({"role":7})",
                              R"({"aud":7})",
                              R"({"aud":["a",7]})",
                              R"({"aud":{"a":1}})",
                              R"({"exp":1,"exp":2})",
                              R"({"a":{"b":1,"b":1}})",
                              "[]",
                              "null",
                              "",
                              "{",
                              "{}x"}) {
    EXPECT_THAT(parse_claims(payload), RefusedAs(Refusal::bad_claims)) << payload;
  }
}

TEST(Claims, WithTimesThatAreNoTimesAreRefused) {
  for (const auto* time :
       {"-1", "-0.5", "253402300800", "9223372036854775807", "9223372036854775808",
        "18446744073709551615", "1e300", "99999999999999999999999", "-9223372036854775808", "1e19",
        "253402300800.5"}) {
    for (const auto* name : {"exp", "nbf", "iat"}) {
      EXPECT_THAT(parse_claims(fmt::format(R"({{"{}":{}}})", name, time)),
                  RefusedAs(Refusal::bad_claims))
          << name << time;
    }
  }
}

// Legacy keys are made like that. In nanoseconds, which end in 2262, it would be long over.
TEST(Claims, MayEndAfterTheYear2262) {
  for (const auto* time : {"9999999999", "253402300799", "1e10", "9223372036.9"}) {
    EXPECT_THAT(check(fmt::format(R"({{"exp":{}}})", time)), Accepted()) << time;
  }
}

TEST(Claims, WithANulAreRefused) {
  for (const auto* payload :
       {R"({"sub":"a\u0000b"})", R"({"user_metadata":{"n":["\u0000"]}})", R"({"a\u0000":1})"}) {
    EXPECT_THAT(parse_claims(payload), RefusedAs(Refusal::bad_claims)) << payload;
  }
}

TEST(Claims, HaveLimits) {
  EXPECT_THAT(parse_claims(R"({"sub":")" + std::string(1024, 's') + "\"}"), Accepted());
  EXPECT_THAT(parse_claims(R"({"sub":")" + std::string(1025, 's') + "\"}"),
              RefusedAs(Refusal::bad_claims));
  EXPECT_THAT(parse_claims(R"({"x":")" + std::string(kTokenMaxBytes, 's') + "\"}"),
              RefusedAs(Refusal::bad_claims));
  std::string many = R"({"aud":["a")";
  for (int i = 0; i < 64; ++i) many += R"(,"a")";
  EXPECT_THAT(parse_claims(many + "]}"), RefusedAs(Refusal::bad_claims));
  EXPECT_THAT(parse_claims(R"({"x":)" + std::string(5000, '[') + std::string(5000, ']') + "}"),
              RefusedAs(Refusal::bad_claims));
}

TEST(Claims, SayNothingOfThemselvesInErrors) {
  const auto claims = parse_claims(R"({"hunter2":1,"hunter2":2})");
  ASSERT_FALSE(claims.has_value());
  EXPECT_THAT(claims.error().describe(), testing::Not(testing::HasSubstr("hunter2")));
}

TEST(TokenTimes, AreJudgedWithLeewayAndNotBeyond) {
  const TokenRules rules{.leeway = 30s};
  const auto at = [&](const char* name, std::chrono::seconds offset) {
    const auto time = (kNow + offset).time_since_epoch() / 1s;
    return check(fmt::format(R"({{"exp":4000000000,"{}":{}}})", name, time), rules);
  };
  const auto ends = [&](std::chrono::seconds offset) {
    return check(fmt::format(R"({{"exp":{}}})", (kNow + offset).time_since_epoch() / 1s), rules);
  };
  EXPECT_THAT(ends(1s), Accepted());
  EXPECT_THAT(ends(-29s), Accepted());
  EXPECT_THAT(ends(-30s), RefusedAs(Refusal::expired));
  for (const auto* name : {"nbf", "iat"}) {
    EXPECT_THAT(at(name, 0s), Accepted());
    EXPECT_THAT(at(name, 30s), Accepted());
    EXPECT_THAT(at(name, 31s), RefusedAs(Refusal::not_yet_valid));
  }
}

TEST(TokenTimes, NeedAnEnd) { EXPECT_THAT(check(R"({"iat":1})"), RefusedAs(Refusal::bad_claims)); }

TEST(TokenRules, JudgeTheIssuer) {
  const TokenRules rules{.issuers = {"https://a/auth/v1", "millrace"}};
  EXPECT_THAT(check(R"({"exp":4000000000,"iss":"millrace"})", rules), Accepted());
  EXPECT_THAT(check(R"({"exp":4000000000,"iss":"https://a/auth/v1"})", rules), Accepted());
  EXPECT_THAT(check(R"({"exp":4000000000,"iss":"https://a/auth/v1/"})", rules),
              RefusedAs(Refusal::wrong_issuer));
  EXPECT_THAT(check(R"({"exp":4000000000})", rules), RefusedAs(Refusal::wrong_issuer));
  EXPECT_THAT(check(R"({"exp":4000000000,"iss":"anybody"})"), Accepted());
}

TEST(TokenRules, JudgeTheAudienceBeItOneOrMany) {
  const TokenRules rules{.audiences = {"authenticated", "api"}};
  const auto aud = [&](const std::string& value) {
    return check(R"({"exp":4000000000,"aud":)" + value + "}", rules);
  };
  EXPECT_THAT(aud(R"("authenticated")"), Accepted());
  EXPECT_THAT(aud(R"(["x","api"])"), Accepted());
  EXPECT_THAT(aud(R"("Authenticated")"), RefusedAs(Refusal::wrong_audience));
  EXPECT_THAT(aud(R"(["x","y"])"), RefusedAs(Refusal::wrong_audience));
  EXPECT_THAT(aud(R"([])"), RefusedAs(Refusal::wrong_audience));
  EXPECT_THAT(aud(R"("")"), RefusedAs(Refusal::wrong_audience));
  EXPECT_THAT(check(R"({"exp":4000000000})", rules), Accepted());  // Legacy keys have none.
  EXPECT_THAT(check(R"({"exp":4000000000,"aud":"x"})"), Accepted());
}

TEST(TokenRules, MayRequireAnAudience) {
  const TokenRules rules{.audiences = {"api"}, .audience_required = true};
  EXPECT_THAT(check(R"({"exp":4000000000,"aud":"api"})", rules), Accepted());
  EXPECT_THAT(check(R"({"exp":4000000000})", rules), RefusedAs(Refusal::wrong_audience));
  EXPECT_THAT(check(R"({"exp":4000000000,"aud":null})", rules), RefusedAs(Refusal::wrong_audience));
}

TEST(TokenRules, ThatMakeNoSenseAreRefusedAtStartUp) {
  EXPECT_THAT(check_rules({}), Accepted());
  EXPECT_THAT(check_rules({.leeway = -1s}), Invalid("leeway"));
  EXPECT_THAT(check_rules({.leeway = 301s}), Invalid("0 to 300 seconds"));
  EXPECT_THAT(check_rules({.audience_required = true}), Invalid("audience"));
  EXPECT_THAT(check_rules({.roles = {Role::anon, Role::admin}}), Invalid("admin"));
}

}  // namespace
}  // namespace millrace::identity
