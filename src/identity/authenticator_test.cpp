#include "identity/authenticator.h"

#include "base/run.h"
#include "identity/refusal_matcher.h"
#include "identity/test_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace millrace::identity {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Rows in memory, found as the store finds them.
class MemoryDirectory final : public KeyDirectory {
 public:
  Task<std::optional<ApiKeyRecord>> find_api_key(ApiKeyDigest key) override {
    asked.push_back(key.display_prefix);
    if (away) co_return fail(ErrorKind::unavailable, "no database");
    for (const auto& [digest, record] : rows) {
      const bool same =
          key.public_id.empty() ? digest.hash == key.hash : digest.public_id == key.public_id;
      if (same) co_return record;
    }
    co_return std::nullopt;
  }
  Task<bool> is_token_revoked(std::string token_id) override {
    if (away) co_return fail(ErrorKind::unavailable, "no database");
    co_return revoked.contains(token_id);
  }
  std::optional<bool> remembers_revoked(const std::string& token_id) override {
    if (away) return std::nullopt;
    return revoked.contains(token_id);
  }
  void note_good_key(const ApiKeyDigest& key, const std::string& key_id) override {
    good.insert(key.hash);
    used.push_back(key_id);
  }
  bool was_good_key(const ApiKeyDigest& key) const override { return good.contains(key.hash); }

  std::vector<std::pair<ApiKeyDigest, ApiKeyRecord>> rows;
  std::set<Digest> good;
  std::vector<std::string> used;
  std::set<std::string> revoked;
  std::vector<std::string> asked;
  bool away = false;
};

class AuthenticatorTest : public testing::Test {
 protected:
  AuthenticatorTest() : verifier_(make_verifier()) {}

  TokenVerifier make_verifier() {
    KeySet keys;
    EXPECT_THAT(keys.add(*VerifyKey::from_secret(Secret(kTestSecret))), Accepted());
    return *TokenVerifier::make({.keys = std::move(keys)}, clock_);
  }

  std::string add_key(ApiKeyForm form, Role role) {
    auto key = create_api_key(form, random_);
    directory_.rows.emplace_back(
        key.digest, ApiKeyRecord{.key_id = "k1", .hash = key.digest.hash, .role = role});
    return key.text.reveal();
  }

  Result<Caller> identify(std::string api_key, std::string bearer = {},
                          Welcome welcome = Welcome::anybody) {
    Credentials credentials;
    if (!api_key.empty()) credentials.api_key.emplace(std::move(api_key));
    if (!bearer.empty()) credentials.bearer.emplace(std::move(bearer));
    return run_blocking(authenticator_.identify(std::move(credentials), welcome));
  }

  static std::string token(const std::string& role, const std::string& more = {}) {
    return hs256_token(R"({"role":")" + role + R"(","sub":"x","exp":1900000000)" + more + "}");
  }

  ManualClock clock_;
  SeededRandom random_{5};
  MemoryDirectory directory_;
  TokenVerifier verifier_;
  Authenticator authenticator_{verifier_, directory_, clock_};
};

// I08, I09: deny by default.
TEST_F(AuthenticatorTest, LetsNobodyInWithoutCredentials) {
  EXPECT_THAT(identify(""), RefusedAs(Refusal::missing));
}

TEST_F(AuthenticatorTest, KnowsTokensAndKeysInEitherHeader) {
  const auto key = add_key(ApiKeyForm::own, Role::admin);
  EXPECT_EQ(identify("", token("authenticated"))->role, Role::authenticated);
  EXPECT_EQ(identify(token("anon"))->role, Role::anon);
  EXPECT_EQ(identify(key)->role, Role::admin);
  EXPECT_EQ(identify("", key)->role, Role::admin);
  EXPECT_EQ(identify(key)->method, AuthMethod::api_key);
}

// As supabase-js sends them: the project's key and the user's token.
TEST_F(AuthenticatorTest, TakesTheUsersTokenOverTheProjectsKey) {
  const auto publishable = add_key(ApiKeyForm::publishable, Role::anon);
  const auto secret = add_key(ApiKeyForm::secret, Role::service_role);
  EXPECT_EQ(identify(publishable)->role, Role::anon);
  EXPECT_EQ(identify(publishable, token("authenticated"))->role, Role::authenticated);
  EXPECT_EQ(identify(secret)->role, Role::service_role);
  EXPECT_EQ(identify(secret, token("authenticated"))->role, Role::authenticated);
  EXPECT_EQ(identify(token("anon"), token("authenticated"))->role, Role::authenticated);
}

TEST_F(AuthenticatorTest, WantsEverythingThatIsPresentedToBeGood) {
  const auto stranger = create_api_key(ApiKeyForm::publishable, random_).text.reveal();
  EXPECT_THAT(identify(stranger, token("authenticated")), RefusedAs(Refusal::unknown_key));
  const auto forged = hs256_token(R"({"alg":"HS256"})", R"({"role":"anon"})", kOtherSecret);
  EXPECT_THAT(identify(token("anon"), forged), RefusedAs(Refusal::bad_signature));
  EXPECT_THAT(identify(forged, token("authenticated")), RefusedAs(Refusal::bad_signature));
}

TEST_F(AuthenticatorTest, LooksNothingUpForThoseWhoGuessedTooOften) {
  const auto key = add_key(ApiKeyForm::own, Role::admin);
  EXPECT_THAT(identify(key, "", Welcome::known), RefusedAs(Refusal::unknown_key));
  EXPECT_THAT(directory_.asked, IsEmpty());
  EXPECT_THAT(identify("", token("authenticated"), Welcome::known), Accepted())
      << "a signature is checked without asking anybody";
  EXPECT_THAT(identify(key), Accepted());
  EXPECT_THAT(identify(key, "", Welcome::known), Accepted()) << "it was good a moment ago";
}

// Whoever knows no more than the public id of a key does not change what is known of its use.
TEST_F(AuthenticatorTest, NotesAKeyAsUsedOnlyWhenItIsGood) {
  const auto key = add_key(ApiKeyForm::own, Role::admin);
  directory_.rows.front().second.hash.front() ^= 1U;
  EXPECT_THAT(identify(key), RefusedAs(Refusal::unknown_key));
  EXPECT_THAT(directory_.used, IsEmpty());
  directory_.rows.front().second.hash.front() ^= 1U;
  directory_.rows.front().second.revoked = true;
  EXPECT_THAT(identify(key), RefusedAs(Refusal::revoked));
  EXPECT_THAT(directory_.used, IsEmpty());
  directory_.rows.front().second.revoked = false;
  EXPECT_THAT(identify(key), Accepted());
  EXPECT_THAT(directory_.used, ElementsAre("k1"));
}

TEST_F(AuthenticatorTest, SaysTheSameOfAWrongSecretAndOfNoSuchKey) {
  const auto key = add_key(ApiKeyForm::own, Role::admin);
  directory_.rows.front().second.hash.front() ^= 1U;
  const auto wrong = identify(key);
  directory_.rows.clear();
  const auto unknown = identify(key);
  EXPECT_THAT(wrong, RefusedAs(Refusal::unknown_key));
  EXPECT_EQ(wrong.error(), unknown.error());
}

TEST_F(AuthenticatorTest, DoesNotAskTheDatabaseAboutAMistypedKey) {
  auto key = add_key(ApiKeyForm::own, Role::admin);
  key.back() = key.back() == 'a' ? 'b' : 'a';
  EXPECT_THAT(identify(key), RefusedAs(Refusal::malformed));
  EXPECT_THAT(directory_.asked, IsEmpty());
}

TEST_F(AuthenticatorTest, RefusesWhatWasRevoked) {
  const auto key = add_key(ApiKeyForm::own, Role::admin);
  directory_.rows.front().second.revoked = true;
  EXPECT_THAT(identify(key), RefusedAs(Refusal::revoked));
  directory_.revoked.insert("t1");
  EXPECT_THAT(identify("", token("authenticated", R"(,"jti":"t1")")), RefusedAs(Refusal::revoked));
  EXPECT_THAT(identify("", token("authenticated", R"(,"jti":"t2")")), Accepted());
}

// T-01: remembering that a token was good forgets neither its end nor that it was taken back.
TEST_F(AuthenticatorTest, RefusesAtOnceWhatIsRevokedOrExpiresAfterItWasAccepted) {
  const auto jwt = token("authenticated", R"(,"jti":"t1")");
  EXPECT_THAT(identify("", jwt), Accepted());
  EXPECT_THAT(identify("", jwt), Accepted());
  auto forged = jwt;
  forged.back() = forged.back() == 'A' ? 'Q' : 'A';
  EXPECT_THAT(identify("", forged), RefusedAs(Refusal::bad_signature));
  directory_.revoked.insert("t1");
  EXPECT_THAT(identify("", jwt), RefusedAs(Refusal::revoked));
  directory_.revoked.clear();
  EXPECT_THAT(identify("", jwt), Accepted());
  clock_.set_wall(Clock::Wall(std::chrono::seconds(1'900'000'000) + std::chrono::hours(1)));
  EXPECT_THAT(identify("", jwt), RefusedAs(Refusal::expired));
}

TEST_F(AuthenticatorTest, RecognisesATokenOnlyWhileAllIsRemembered) {
  const auto jwt = token("authenticated", R"(,"jti":"t1")");
  Credentials credentials;
  EXPECT_EQ(authenticator_.recognise(credentials), nullptr);
  credentials.bearer.emplace(jwt);
  EXPECT_EQ(authenticator_.recognise(credentials), nullptr) << "nobody has verified it yet";
  EXPECT_THAT(identify("", jwt), Accepted());
  const auto caller = authenticator_.recognise(credentials);
  ASSERT_NE(caller, nullptr);
  EXPECT_EQ(caller->role, Role::authenticated);
  EXPECT_EQ(caller->token_id, "t1");
  directory_.revoked.insert("t1");
  EXPECT_EQ(authenticator_.recognise(credentials), nullptr);
  directory_.revoked.clear();
  directory_.away = true;
  EXPECT_EQ(authenticator_.recognise(credentials), nullptr) << "whether it counts is not known";
  directory_.away = false;
  credentials.api_key.emplace(token("anon"));
  EXPECT_EQ(authenticator_.recognise(credentials), nullptr) << "everything must be good";
  credentials.api_key.reset();
  EXPECT_NE(authenticator_.recognise(credentials), nullptr);
  clock_.advance(std::chrono::seconds(5));
  EXPECT_EQ(authenticator_.recognise(credentials), nullptr);
}

TEST_F(AuthenticatorTest, DoesNotGuessWhileTheDatabaseIsAway) {
  const auto key = add_key(ApiKeyForm::own, Role::admin);
  directory_.away = true;
  for (const auto& result :
       {identify(key), identify("", token("authenticated", R"(,"jti":"t1")"))}) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, ErrorKind::unavailable);
    EXPECT_EQ(refusal_of(result.error()), std::nullopt);
  }
}

TEST_F(AuthenticatorTest, ShowsNoKeyToAnybody) {
  const auto key = add_key(ApiKeyForm::own, Role::admin);
  EXPECT_THAT(identify(key), Accepted());
  EXPECT_THAT(directory_.asked, ElementsAre(key.substr(0, 19)));
  directory_.rows.clear();
  EXPECT_THAT(identify(key).error().describe(),
              testing::Not(testing::HasSubstr(key.substr(3, 16))));
}

}  // namespace
}  // namespace millrace::identity
