#include "identity/token_verifier.h"

#include "identity/jwks_world.h"
#include "identity/test_keys.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::identity {
namespace {

using namespace std::chrono_literals;
using testing::SizeIs;

constexpr std::string_view kHs256 = R"({"alg":"HS256","typ":"JWT"})";
// ManualClock begins in 2030.
constexpr std::string_view kPayload =
    R"({"role":"authenticated","sub":"11111111-1111-4111-8111-111111111111","aud":"authenticated",)"
    R"("exp":1900000000,"jti":"t1"})";

class TokenVerifierTest : public JwksWorld {
 protected:
  void trust_secret(const std::string& secret, std::optional<std::string> key_id = std::nullopt) {
    auto key = VerifyKey::from_secret(Secret(secret), std::move(key_id));
    ASSERT_THAT(key, Accepted());
    ASSERT_THAT(options_.keys.add(*std::move(key)), Accepted());
  }
  void trust_pem(const TestKey& key, std::optional<std::string> key_id = std::nullopt) {
    ASSERT_THAT(options_.keys.add(*VerifyKey::from_pem(key.pem(), std::move(key_id))), Accepted());
  }
  void trust_issuer(std::vector<http::Step> script) { options_.jwks = &serve(std::move(script)); }

  Result<Caller> verify(std::string token) {
    auto verifier = TokenVerifier::make(options_, clock_);
    EXPECT_THAT(verifier, Accepted());
    return run_blocking(io_, verifier->verify(std::move(token)));
  }

  awaitable<void> verify_into(const TokenVerifier* verifier, std::string token,
                              std::vector<Result<Caller>>* results) {
    results->push_back(co_await verifier->verify(std::move(token)));
  }

  static std::string es256(std::string_view kid) {
    return fmt::format(R"({{"alg":"ES256","kid":"{}"}})", kid);
  }

  TokenVerifier::Options options_;
};

TEST_F(TokenVerifierTest, AcceptsAGoodToken) {
  trust_secret(kTestSecret);
  const auto caller = verify(hs256_token(kHs256, kPayload));
  ASSERT_THAT(caller, Accepted());
  EXPECT_EQ(caller->role, Role::authenticated);
  EXPECT_EQ(caller->token_id, "t1");
}

TEST_F(TokenVerifierTest, KnowsSeveralSecretsWhileOneIsReplaced) {
  trust_secret(kTestSecret);
  trust_secret(kOtherSecret, "next");
  EXPECT_THAT(verify(hs256_token(kHs256, kPayload, kTestSecret)), Accepted());
  EXPECT_THAT(verify(hs256_token(kHs256, kPayload, kOtherSecret)), Accepted());
  const auto next = R"({"alg":"HS256","kid":"next"})";
  EXPECT_THAT(verify(hs256_token(next, kPayload, kOtherSecret)), Accepted());
  EXPECT_THAT(verify(hs256_token(next, kPayload, kTestSecret)), RefusedAs(Refusal::bad_signature));
  // GoTrue names a key id in HS256 tokens too; the secret may have been configured without one.
  const auto other = R"({"alg":"HS256","kid":"x"})";
  EXPECT_THAT(verify(hs256_token(other, kPayload, kTestSecret)), Accepted());
}

TEST_F(TokenVerifierTest, RefusesAnyAlteredToken) {
  trust_secret(kTestSecret);
  const auto token = hs256_token(kHs256, kPayload);
  for (std::size_t i = 0; i < token.size(); ++i) {
    auto altered = token;
    altered[i] = altered[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(verify(altered).has_value()) << i;
    EXPECT_FALSE(verify(token.substr(0, i)).has_value()) << i;
  }
  EXPECT_THAT(verify(hs256_token(kHs256, kPayload, kOtherSecret)),
              RefusedAs(Refusal::bad_signature));
}

TEST_F(TokenVerifierTest, RefusesTheSignatureOfAnotherToken) {
  trust_secret(kTestSecret);
  const auto mine = hs256_token(kHs256, kPayload);
  const auto other = hs256_token(kHs256, R"({"role":"service_role","exp":1900000000})");
  EXPECT_THAT(verify(other.substr(0, other.rfind('.')) + mine.substr(mine.rfind('.'))),
              RefusedAs(Refusal::bad_signature));
}

// A public key is known to all. Whoever signs with it as an HMAC secret must not get in.
TEST_F(TokenVerifierTest, IsNotConfusedAboutWhichAlgorithmAKeyIsFor) {
  const auto rsa = TestKey::rsa();
  trust_pem(rsa, "rsa");
  const auto modulus = *base64url_decode(rsa.jwk()["n"].get_string());
  for (const auto& secret : {rsa.pem(), rsa.pem().substr(0, rsa.pem().size() - 1), modulus,
                             std::string(rsa.jwk()["n"].get_string())}) {
    EXPECT_THAT(verify(hs256_token(R"({"alg":"HS256","kid":"rsa"})", kPayload, secret)),
                RefusedAs(Refusal::unsupported));
    EXPECT_THAT(verify(hs256_token(kHs256, kPayload, secret)), RefusedAs(Refusal::unknown_key));
    // The header says what the key is for, the signature is still an HMAC.
    EXPECT_THAT(verify(hs256_token(R"({"alg":"RS256","kid":"rsa"})", kPayload, secret)),
                RefusedAs(Refusal::bad_signature));
  }
  EXPECT_THAT(verify(signed_token(rsa, R"({"alg":"RS256","kid":"rsa"})", kPayload)), Accepted());
}

TEST_F(TokenVerifierTest, IsNotConfusedByOneKeyIdForTwoAlgorithms) {
  const auto ec = TestKey::ec();
  trust_secret(kTestSecret, "k");
  trust_pem(ec, "k");
  EXPECT_THAT(verify(signed_token(ec, es256("k"), kPayload)), Accepted());
  EXPECT_THAT(verify(hs256_token(R"({"alg":"HS256","kid":"k"})", kPayload)), Accepted());
  EXPECT_THAT(verify(hs256_token(es256("k"), kPayload)), RefusedAs(Refusal::bad_signature));
}

TEST_F(TokenVerifierTest, TrustsNoKeyThatTheTokenBrings) {
  const auto mine = TestKey::ec();
  const auto attackers = TestKey::ec();
  trust_pem(mine);
  for (const auto& header :
       {R"({"alg":"ES256","jwk":)" + to_json(attackers.jwk()) + "}",
        std::string(R"({"alg":"ES256","jku":"http://127.0.0.1:1/keys"})"),
        std::string(R"({"alg":"ES256","x5u":"http://127.0.0.1:1/c","x5c":["AAAA"]})")}) {
    EXPECT_THAT(verify(signed_token(attackers, header, kPayload)),
                RefusedAs(Refusal::bad_signature));
  }
}

// Nobody is told what an unsigned payload would have given.
TEST_F(TokenVerifierTest, ReadsClaimsOnlyAfterTheSignature) {
  trust_secret(kTestSecret);
  for (const auto* payload : {"{", "not json", R"({"exp":1})", R"({"exp":"x"})"}) {
    EXPECT_THAT(verify(hs256_token(kHs256, payload, kOtherSecret)),
                RefusedAs(Refusal::bad_signature));
  }
  EXPECT_THAT(verify(hs256_token(kHs256, "{")), RefusedAs(Refusal::bad_claims));
  EXPECT_THAT(verify(hs256_token(kHs256, R"({"role":"anon","exp":1})")),
              RefusedAs(Refusal::expired));
}

TEST_F(TokenVerifierTest, RefusesADoubledClaimOfARightlySignedToken) {
  trust_secret(kTestSecret);
  EXPECT_THAT(
      verify(hs256_token(kHs256, R"({"role":"anon","role":"service_role","exp":1900000000})")),
      RefusedAs(Refusal::bad_claims));
}

TEST_F(TokenVerifierTest, FollowsTheWallClockWhereverItJumps) {
  trust_secret(kTestSecret);
  const auto token =
      hs256_token(kHs256, R"({"role":"anon","exp":1900000000,"nbf":1893456000,"iat":1893456000})");
  EXPECT_THAT(verify(token), Accepted());
  clock_.set_wall(Clock::Wall(1'899'999'999s + 30s));
  EXPECT_THAT(verify(token), Accepted());
  clock_.set_wall(Clock::Wall(1'900'000'030s));
  EXPECT_THAT(verify(token), RefusedAs(Refusal::expired));
  clock_.set_wall(Clock::Wall(1'893'456'000s - 31s));
  EXPECT_THAT(verify(token), RefusedAs(Refusal::not_yet_valid));
  clock_.set_wall(Clock::Wall(0s));
  EXPECT_THAT(verify(token), RefusedAs(Refusal::not_yet_valid));
  clock_.set_wall(Clock::Wall::max());
  EXPECT_THAT(verify(token), RefusedAs(Refusal::expired));
}

TEST_F(TokenVerifierTest, TakesBothFormsOfASignatureForTheSameToken) {
  const auto ec = TestKey::ec();
  trust_pem(ec);
  const auto input = signing_input(R"({"alg":"ES256"})", kPayload);
  auto signature = ec.sign(input);
  BIGNUM* order = nullptr;
  BN_hex2bn(&order, "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551");
  BIGNUM* s = BN_bin2bn(reinterpret_cast<const unsigned char*>(signature.data()) + 32, 32, nullptr);
  BN_sub(s, order, s);
  const auto twin = signature.substr(0, 32) + TestKey::padded(s, 32);
  BN_free(s);
  BN_free(order);
  EXPECT_EQ(verify(with_signature(input, signature))->token_id, "t1");
  EXPECT_EQ(verify(with_signature(input, twin))->token_id, "t1");
}

// T-01: by JWKS.
TEST_F(TokenVerifierTest, ChecksTokensByAPublishedKeySet) {
  const auto ec = TestKey::ec();
  const auto rsa = TestKey::rsa();
  trust_issuer({answer(jwks_text({ec.jwk("e1"), rsa.jwk("r1")}))});
  EXPECT_THAT(verify(signed_token(ec, es256("e1"), kPayload)), Accepted());
  EXPECT_THAT(verify(signed_token(rsa, R"({"alg":"RS256","kid":"r1"})", kPayload)), Accepted());
  EXPECT_THAT(verify(signed_token(ec, R"({"alg":"ES256"})", kPayload)), Accepted());
  EXPECT_THAT(verify(signed_token(ec, es256("r1"), kPayload)), RefusedAs(Refusal::unsupported));
  EXPECT_THAT(verify(signed_token(TestKey::ec(), es256("e1"), kPayload)),
              RefusedAs(Refusal::bad_signature));
  EXPECT_EQ(requests(), 1U);
}

TEST_F(TokenVerifierTest, FindsAKeyThatWasAddedSince) {
  const auto old_key = TestKey::ec();
  const auto new_key = TestKey::ec();
  trust_issuer({answer(jwks_text({old_key.jwk("old")})),
                answer(jwks_text({old_key.jwk("old"), new_key.jwk("new")}))});
  EXPECT_THAT(verify(signed_token(old_key, es256("old"), kPayload)), Accepted());
  clock_.advance(10s);
  EXPECT_THAT(verify(signed_token(new_key, es256("new"), kPayload)), Accepted());
  EXPECT_THAT(verify(signed_token(old_key, es256("old"), kPayload)), Accepted());
  EXPECT_EQ(requests(), 2U);
}

TEST_F(TokenVerifierTest, ForgetsAKeyThatWasWithdrawn) {
  const auto key = TestKey::ec();
  trust_issuer({answer(jwks_text({key.jwk("k")})), answer(jwks_text({}))});
  const auto token = signed_token(key, es256("k"), kPayload);
  EXPECT_THAT(verify(token), Accepted());
  clock_.advance(1200s);
  EXPECT_THAT(verify(token), RefusedAs(Refusal::unknown_key));
}

TEST_F(TokenVerifierTest, TurnsAFloodOfUnknownKeysIntoOneRequestPerInterval) {
  const auto key = TestKey::ec();
  const auto attackers = TestKey::ec();
  trust_issuer({answer(jwks_text({key.jwk("good")}))});
  EXPECT_THAT(verify(signed_token(key, es256("good"), kPayload)), Accepted());
  const auto verifier = TokenVerifier::make(options_, clock_);
  for (std::size_t round = 1; round <= 3; ++round) {
    clock_.advance(10s);
    std::vector<Result<Caller>> results;
    TaskGroup group(io_.get_executor(), log_);
    for (int i = 0; i < 100; ++i) {
      const auto kid = fmt::format("invented {} {}", round, i);
      group.add("attack",
                verify_into(&*verifier, signed_token(attackers, es256(kid), kPayload), &results));
    }
    run_blocking(io_, group.join());
    ASSERT_THAT(results, SizeIs(100));
    for (const auto& result : results) EXPECT_THAT(result, RefusedAs(Refusal::unknown_key));
    EXPECT_EQ(requests(), 1 + round);
    EXPECT_THAT(verify(signed_token(key, es256("good"), kPayload)), Accepted());
  }
}

TEST_F(TokenVerifierTest, NeverFetchesForATokenWithASecret) {
  trust_secret(kTestSecret);
  trust_issuer({answer(jwks_text({}))});
  EXPECT_THAT(verify(hs256_token(R"({"alg":"HS256","kid":"invented"})", kPayload, kOtherSecret)),
              RefusedAs(Refusal::bad_signature));
  EXPECT_EQ(requests(), 0U);
}

TEST_F(TokenVerifierTest, CannotTellWhileTheIssuerIsAway) {
  trust_issuer({http::answer(500, "")});
  const auto result = verify(signed_token(TestKey::ec(), es256("k"), kPayload));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(refusal_of(result.error()), std::nullopt);
}

TEST_F(TokenVerifierTest, HoldsEachIssuerToItsOwnRules) {
  const auto key = TestKey::ec();
  trust_secret(kTestSecret);
  trust_issuer({answer(jwks_text({key.jwk("k")}))});
  const auto service = R"({"role":"service_role","aud":"authenticated","exp":1900000000})";
  const auto nameless = R"({"sub":"x","exp":1900000000})";
  EXPECT_THAT(verify(hs256_token(kHs256, service)), Accepted());
  EXPECT_THAT(verify(signed_token(key, es256("k"), service)), RefusedAs(Refusal::bad_claims));
  EXPECT_THAT(verify(hs256_token(kHs256, nameless)), Accepted());
  EXPECT_THAT(verify(signed_token(key, es256("k"), nameless)), RefusedAs(Refusal::wrong_audience));
}

TEST_F(TokenVerifierTest, RefusesToStartWithRulesThatLetOthersIn) {
  EXPECT_THAT(TokenVerifier::make({}, clock_), Invalid("no token can be checked"));
  trust_issuer({answer(jwks_text({}))});
  options_.jwks_rules.audience_required = false;
  EXPECT_THAT(TokenVerifier::make(options_, clock_), Invalid("audience"));
  options_.jwks_rules = {.audiences = {"api"}, .audience_required = true, .leeway = 1h};
  EXPECT_THAT(TokenVerifier::make(options_, clock_), Invalid("leeway"));
}

}  // namespace
}  // namespace millrace::identity
