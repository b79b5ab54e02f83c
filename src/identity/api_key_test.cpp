#include "identity/api_key.h"

#include "identity/refusal_matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace millrace::identity {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr Instant kNow{std::chrono::seconds(2'000'000'000)};
const UserId kUser = *UserId::parse("11111111-1111-4111-8111-111111111111");
const TenantId kTenant = *TenantId::parse("22222222-2222-4222-8222-222222222222");

class ApiKeys : public testing::Test {
 protected:
  NewApiKey create(ApiKeyForm form = ApiKeyForm::own) { return create_api_key(form, random_); }
  static ApiKeyRecord record_of(const NewApiKey& key, Role role = Role::operator_) {
    return {.key_id = "k1", .hash = key.digest.hash, .role = role};
  }

  SeededRandom random_{3};
};

TEST_F(ApiKeys, AreReadAsTheyWereMade) {
  for (const auto form : {ApiKeyForm::own, ApiKeyForm::publishable, ApiKeyForm::secret}) {
    const auto key = create(form);
    const auto parsed = parse_api_key(key.text.reveal());
    ASSERT_THAT(parsed, Accepted());
    EXPECT_EQ(parsed->form, form);
    EXPECT_EQ(parsed->hash, key.digest.hash);
    EXPECT_EQ(parsed->hash, sha256(key.text.reveal()));
    EXPECT_EQ(parsed->public_id, key.digest.public_id);
    EXPECT_TRUE(looks_like_api_key(key.text.reveal()));
  }
}

TEST_F(ApiKeys, HaveTheFormsThatClientsKnow) {
  EXPECT_THAT(create().text.reveal(), testing::MatchesRegex("mr_[0-9a-z]{16}_[0-9A-Za-z]{49}"));
  EXPECT_THAT(create(ApiKeyForm::publishable).text.reveal(),
              testing::MatchesRegex("sb_publishable_[0-9A-Za-z]{22}_[0-9A-Za-z_-]{8}"));
  EXPECT_THAT(create(ApiKeyForm::secret).text.reveal(),
              testing::MatchesRegex("sb_secret_[0-9A-Za-z]{22}_[0-9A-Za-z_-]{8}"));
}

TEST_F(ApiKeys, AreNeverTheSame) {
  std::set<std::string> texts;
  std::set<std::string> ids;
  for (int i = 0; i < 200; ++i) {
    const auto key = create();
    texts.insert(key.text.reveal());
    ids.insert(key.digest.public_id);
  }
  EXPECT_EQ(texts.size(), 200U);
  EXPECT_EQ(ids.size(), 200U);
}

TEST_F(ApiKeys, ShowNothingOfTheirSecret) {
  const auto key = create();
  const auto secret = key.text.reveal().substr(3 + 16 + 1);
  EXPECT_EQ(key.digest.display_prefix, "mr_" + key.digest.public_id);
  EXPECT_THAT(key.digest.display_prefix, Not(HasSubstr(secret.substr(0, 4))));
  const auto foreign = create(ApiKeyForm::secret);
  EXPECT_EQ(foreign.digest.display_prefix, foreign.text.reveal().substr(0, 15));
}

TEST_F(ApiKeys, WithATypingMistakeAreToldSo) {
  const auto text = create().text.reveal();
  for (std::size_t i = 3; i < text.size(); ++i) {
    auto wrong = text;
    wrong[i] = wrong[i] == 'a' ? 'b' : 'a';
    EXPECT_THAT(parse_api_key(wrong), RefusedAs(Refusal::malformed)) << i;
    EXPECT_THAT(parse_api_key(text.substr(0, i)), RefusedAs(Refusal::malformed)) << i;
  }
  auto swapped = text;
  std::swap(swapped[25], swapped[26]);
  if (swapped != text) EXPECT_THAT(parse_api_key(swapped), RefusedAs(Refusal::malformed));
  for (const auto& wrong : {text + "a", " " + text, text + " ", "MR" + text.substr(2)}) {
    EXPECT_THAT(parse_api_key(wrong), RefusedAs(Refusal::malformed)) << wrong;
  }
}

TEST_F(ApiKeys, OfOthersAreTakenByTheirForm) {
  EXPECT_THAT(parse_api_key("sb_secret_" + std::string(16, 'a')), Accepted());
  EXPECT_THAT(parse_api_key("sb_publishable_abcDEF-_0123456789abcd_12345678"), Accepted());
  for (const auto& wrong :
       {std::string("sb_secret_"), "sb_secret_" + std::string(15, 'a'),
        "sb_secret_" + std::string(257, 'a'), "sb_secret_" + std::string(20, '.'),
        "sb_secret_" + std::string(20, ' '), std::string("sb_other_aaaaaaaaaaaaaaaaaaaaaaa"),
        std::string(), std::string("eyJhbGciOiJIUzI1NiJ9.e30.AAAA")}) {
    EXPECT_THAT(parse_api_key(wrong), RefusedAs(Refusal::malformed)) << wrong;
  }
  EXPECT_FALSE(looks_like_api_key("eyJhbGciOiJIUzI1NiJ9.e30.AAAA"));
}

TEST_F(ApiKeys, GiveWhatTheirRowSays) {
  const auto key = create();
  auto record = record_of(key);
  record.user = kUser;
  record.expires_at = kNow + 1s;
  const auto caller = caller_from_api_key(key.digest, record, kNow);
  ASSERT_THAT(caller, Accepted());
  EXPECT_EQ(caller->role, Role::operator_);
  EXPECT_EQ(caller->tenant, std::nullopt);
  EXPECT_EQ(caller->user, kUser);
  EXPECT_EQ(caller->token_id, "k1");
  EXPECT_EQ(caller->method, AuthMethod::api_key);
  EXPECT_EQ(caller->capabilities, capabilities_of(Role::operator_));
  EXPECT_EQ(caller->expires_at, record.expires_at);
  // The user as `sub` would confine the operator to a tenant of that id.
  EXPECT_EQ(caller->claims_json(), R"({"role":"operator","jti":"k1","exp":2000000001})");
  EXPECT_EQ(caller->actor(), "user:11111111-1111-4111-8111-111111111111");
}

TEST_F(ApiKeys, WithAnotherSecretAreUnknown) {
  const auto key = create();
  const auto other = create();
  EXPECT_THAT(caller_from_api_key(key.digest, record_of(other), kNow),
              RefusedAs(Refusal::unknown_key));
  auto record = record_of(key);
  record.hash.back() ^= 1U;
  EXPECT_THAT(caller_from_api_key(key.digest, record, kNow), RefusedAs(Refusal::unknown_key));
}

TEST_F(ApiKeys, ThatWereRevokedOrHaveExpiredAreRefused) {
  const auto key = create();
  auto record = record_of(key);
  record.expires_at = kNow;
  EXPECT_THAT(caller_from_api_key(key.digest, record, kNow), RefusedAs(Refusal::expired));
  record.expires_at = std::nullopt;
  record.revoked = true;
  EXPECT_THAT(caller_from_api_key(key.digest, record, kNow), RefusedAs(Refusal::revoked));
}

TEST_F(ApiKeys, AreNarrowedByTheirScopes) {
  const auto key = create();
  auto record = record_of(key, Role::service_role);
  record.scopes = {"work"};
  const auto caller = caller_from_api_key(key.digest, record, kNow);
  ASSERT_THAT(caller, Accepted());
  EXPECT_EQ(caller->capabilities, CapabilitySet{Capability::work});
  EXPECT_THAT(caller->scopes, ElementsAre("work"));
  record.scopes = {"administer"};
  EXPECT_TRUE(caller_from_api_key(key.digest, record, kNow)->capabilities.empty());
  record.scopes = {"read", "everything"};
  EXPECT_THAT(caller_from_api_key(key.digest, record, kNow), RefusedAs(Refusal::bad_claims));
}

TEST_F(ApiKeys, OfPeopleAreConfinedToATenant) {
  const auto key = create();
  auto record = record_of(key, Role::authenticated);
  EXPECT_EQ(caller_from_api_key(key.digest, record, kNow)->tenant, kNobodysTenant);
  record.user = kUser;
  EXPECT_EQ(caller_from_api_key(key.digest, record, kNow)->tenant, TenantId{kUser.value});
  record.tenant = kTenant;
  EXPECT_EQ(caller_from_api_key(key.digest, record, kNow)->tenant, kTenant);
}

// T-03: what stands in web pages has no power, whatever a row says.
TEST_F(ApiKeys, ThatArePublishableAreNobody) {
  const auto key = create(ApiKeyForm::publishable);
  EXPECT_EQ(caller_from_api_key(key.digest, record_of(key, Role::anon), kNow)->role, Role::anon);
  for (const auto role : all_roles()) {
    if (role == Role::anon) continue;
    EXPECT_THAT(caller_from_api_key(key.digest, record_of(key, role), kNow),
                RefusedAs(Refusal::bad_claims));
  }
}

}  // namespace
}  // namespace millrace::identity
