#include "identity/key_set.h"

#include "identity/refusal_matcher.h"
#include "identity/test_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::identity {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(KeySet, ReadsTheKeysItCanUseAndSkipsTheOthers) {
  const auto ec = TestKey::ec();
  const auto text = jwks_text({
      ec.jwk("one"),
      {{"kty", "OKP"}, {"crv", "Ed25519"}, {"x", "abc"}},
      {{"kty", "oct"}, {"k", "c2VjcmV0"}, {"kid", "shared"}},
      {{"kty", "EC"}, {"crv", "P-521"}},
  });
  const auto set = KeySet::parse_jwks(text);
  ASSERT_THAT(set, Accepted());
  EXPECT_EQ(set->size(), 1U);
  EXPECT_THAT(set->skipped(),
              ElementsAre(HasSubstr("key 2"), HasSubstr("key 3"), HasSubstr("key 4")));
}

// RFC 7517 appendix A.1: an EC key for encryption and an RSA key.
TEST(KeySet, ReadsTheExampleOfRfc7517) {
  const auto set = KeySet::parse_jwks(
      R"({"keys":[{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",)"
      R"("y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","use":"enc","kid":"1"},)"
      R"({"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPF)"
      R"(FxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5)"
      R"(v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt)"
      R"(-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw",)"
      R"("e":"AQAB","alg":"RS256","kid":"2011-04-29"}]})");
  ASSERT_THAT(set, Accepted());
  EXPECT_EQ(set->size(), 1U);
  EXPECT_THAT(set->select(Algorithm::rs256, "2011-04-29").keys, SizeIs(1));
  EXPECT_THAT(set->skipped(), ElementsAre(HasSubstr("use")));
}

// What Supabase answers while a project still has a shared secret.
TEST(KeySet, MayBeEmpty) {
  const auto set = KeySet::parse_jwks(R"({"keys":[]})");
  ASSERT_THAT(set, Accepted());
  EXPECT_TRUE(set->empty());
}

TEST(KeySet, RefusesWhatIsNoKeySet) {
  for (const auto* text : {"", "null", "[]", "{}", R"({"keys":{}})", R"({"keys":null})",
                           R"({"keys":[],"keys":[]})", "<html>"}) {
    EXPECT_THAT(KeySet::parse_jwks(text), Invalid("")) << text;
  }
  EXPECT_THAT(KeySet::parse_jwks(R"({"keys":[1,null,"x",[]]})")->skipped(), SizeIs(4));
}

TEST(KeySet, HasAnEnd) {
  const auto many = [](std::size_t count) {
    std::string text = R"({"keys":[1)";
    for (std::size_t i = 1; i < count; ++i) text += ",1";
    return KeySet::parse_jwks(text + "]}");
  };
  EXPECT_THAT(many(kKeySetMaxKeys), Accepted());
  EXPECT_THAT(many(kKeySetMaxKeys + 1), Invalid("more than 64"));
  EXPECT_THAT(KeySet::parse_jwks(R"({"keys":[],"x":")" + std::string(kKeySetMaxBytes, 'x') + "\"}"),
              Invalid("larger than the limit"));
  KeySet set;
  const auto key = VerifyKey::from_secret(Secret(kTestSecret));
  for (std::size_t i = 0; i < kKeySetMaxKeys; ++i) EXPECT_THAT(set.add(*key), Accepted());
  EXPECT_THAT(set.add(*key), Invalid("at most 64"));
  EXPECT_THAT(set.select(Algorithm::hs256, std::nullopt).keys, SizeIs(kKeysTriedMax));
}

TEST(KeySet, ChoosesByKeyIdAndNeverAcrossAlgorithms) {
  KeySet set;
  ASSERT_THAT(set.add(*VerifyKey::from_secret(Secret(kTestSecret))), Accepted());
  ASSERT_THAT(set.add(*VerifyKey::from_secret(Secret(kOtherSecret), "old")), Accepted());
  ASSERT_THAT(set.add(*VerifyKey::from_jwk(TestKey::ec().jwk("ec"))), Accepted());

  const auto ids = [&](Algorithm algorithm, const std::optional<std::string>& id) {
    std::vector<std::string> found;
    for (const auto* key : set.select(algorithm, id).keys) {
      found.push_back(key->key_id().value_or("-"));
    }
    return found;
  };
  EXPECT_THAT(ids(Algorithm::hs256, std::nullopt), ElementsAre("-", "old"));
  EXPECT_THAT(ids(Algorithm::hs256, "old"), ElementsAre("old"));
  EXPECT_THAT(ids(Algorithm::hs256, "new"), ElementsAre("-"));  // One without an id may be it.
  EXPECT_THAT(ids(Algorithm::hs256, "ec"), IsEmpty());          // Never a public key as a secret.
  EXPECT_TRUE(set.select(Algorithm::hs256, "ec").key_id_known);
  EXPECT_THAT(ids(Algorithm::es256, "ec"), ElementsAre("ec"));
  EXPECT_THAT(ids(Algorithm::es256, "old"), IsEmpty());
  EXPECT_THAT(ids(Algorithm::es256, "unknown"), IsEmpty());
  EXPECT_FALSE(set.select(Algorithm::es256, "unknown").key_id_known);
  EXPECT_THAT(ids(Algorithm::rs256, std::nullopt), IsEmpty());
}

}  // namespace
}  // namespace millrace::identity
