#include "identity/token_maker.h"

#include "base/run.h"
#include "identity/compact_jws.h"
#include "identity/refusal_matcher.h"
#include "identity/test_keys.h"
#include "identity/token_verifier.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::identity {
namespace {

using namespace std::chrono_literals;

const UserId kUser = *UserId::parse("11111111-1111-4111-8111-111111111111");
const TenantId kTenant = *TenantId::parse("22222222-2222-4222-8222-222222222222");

class TokenMakerTest : public testing::Test {
 protected:
  TokenMaker maker(TokenMaker::Options options = {.secret = Secret(kTestSecret)}) {
    auto made = TokenMaker::make(std::move(options), clock_, random_);
    EXPECT_THAT(made, Accepted());
    return *std::move(made);
  }

  Result<Caller> verify(const MadeToken& made) {
    KeySet keys;
    EXPECT_THAT(keys.add(*VerifyKey::from_secret(Secret(kTestSecret))), Accepted());
    const auto verifier = TokenVerifier::make({.keys = std::move(keys)}, clock_);
    return run_blocking(verifier->verify(made.token.reveal()));
  }

  static std::string payload_of(const MadeToken& made) {
    return parse_compact_jws(made.token.reveal())->payload;
  }

  ManualClock clock_;
  SeededRandom random_{1};
};

TEST_F(TokenMakerTest, MakesTokensThatAreAccepted) {
  const auto made = maker().make_token({.tenant = kTenant, .user = kUser, .ttl = 60s});
  ASSERT_THAT(made, Accepted());
  const auto caller = verify(*made);
  ASSERT_THAT(caller, Accepted());
  EXPECT_EQ(caller->role, Role::authenticated);
  EXPECT_EQ(caller->tenant, kTenant);
  EXPECT_EQ(caller->user, kUser);
  EXPECT_EQ(caller->token_id, made->token_id);
  EXPECT_EQ(caller->expires_at, made->expires_at);
  clock_.advance(60s + 30s);
  EXPECT_THAT(verify(*made), RefusedAs(Refusal::expired));
}

// What supabase-js is given as its key, and what tools read in it.
TEST_F(TokenMakerTest, ShapesThemLikeLegacyKeys) {
  const auto made = *maker({.secret = Secret(kTestSecret), .issuer = "supabase", .ref = "demo"})
                         .make_token({.role = Role::anon, .ttl = std::chrono::days(3650)});
  const auto now = made.issued_at.time_since_epoch() / 1s;
  EXPECT_EQ(
      payload_of(made),
      fmt::format(R"({{"iss":"supabase","ref":"demo","role":"anon","jti":"{}","iat":{},"exp":{}}})",
                  made.token_id, now, now + 315'360'000));
  EXPECT_EQ(made.token.reveal().substr(0, 36), "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9");
  EXPECT_EQ(verify(made)->role, Role::anon);
}

TEST_F(TokenMakerTest, NamesTheAudienceOfPeople) {
  const auto made = *maker().make_token({.tenant = kTenant, .user = kUser});
  const auto claims = parse_claims(payload_of(made));
  EXPECT_THAT(claims->audiences, testing::Optional(testing::ElementsAre("authenticated")));
  EXPECT_EQ(claims->issuer, "millrace");
  EXPECT_EQ(parse_claims(payload_of(*maker().make_token({.role = Role::service_role})))->audiences,
            std::nullopt);
}

TEST_F(TokenMakerTest, NamesItsKey) {
  const auto made =
      *maker({.secret = Secret(kTestSecret), .key_id = "2030"}).make_token({.role = Role::anon});
  EXPECT_EQ(parse_compact_jws(made.token.reveal())->key_id, "2030");
}

TEST_F(TokenMakerTest, GivesEveryTokenAnIdOfItsOwn) {
  EXPECT_NE(maker().make_token({.role = Role::anon})->token_id,
            maker().make_token({.role = Role::anon})->token_id);
}

TEST_F(TokenMakerTest, RefusesWhatMakesNoSense) {
  EXPECT_THAT(maker().make_token({.role = Role::admin}), Invalid("admin gets an API key"));
  EXPECT_THAT(maker().make_token({.role = Role::authenticated}), Invalid("needs a user"));
  EXPECT_THAT(maker().make_token({.role = Role::anon, .ttl = 0s}), Invalid("1 second"));
  EXPECT_THAT(maker().make_token({.role = Role::anon, .ttl = -5s}), Invalid("1 second"));
  EXPECT_THAT(maker().make_token({.role = Role::anon, .ttl = std::chrono::seconds::max()}),
              Invalid("3660 days"));
  EXPECT_THAT(TokenMaker::make({.secret = Secret(std::string("short"))}, clock_, random_),
              Invalid("32 to 4096"));
}

}  // namespace
}  // namespace millrace::identity
