#include "api/credential_maker.h"

#include "base/run.h"
#include "identity/api_key.h"
#include "identity/test_keys.h"
#include "identity/token_verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::api {
namespace {

using identity::Role;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const identity::UserId kUser = *identity::UserId::parse("33333333-3333-4333-8333-333333333333");
const TenantId kTenant = *TenantId::parse("11111111-1111-4111-8111-111111111111");

class CredentialMakerTest : public testing::Test {
 protected:
  ManualClock clock_;
  SeededRandom random_{7};
  Secret<std::string> secret_{identity::kTestSecret};
  identity::TokenMaker tokens_ = *identity::TokenMaker::make({.secret = secret_}, clock_, random_);
  CredentialMaker maker_{&tokens_, clock_, random_};
};

TEST_F(CredentialMakerTest, TheFirstThreeRolesGetTokensThatTheVerifierKnows) {
  identity::KeySet keys;
  ASSERT_TRUE(keys.add(*identity::VerifyKey::from_secret(secret_)));
  const auto verifier = identity::TokenVerifier::make({.keys = std::move(keys)}, clock_);
  ASSERT_TRUE(verifier);
  for (const auto role : {Role::anon, Role::authenticated, Role::service_role}) {
    CredentialSpec spec{.role = role, .tenant = kTenant};
    if (role == Role::authenticated) spec.user = kUser;
    const auto made = maker_.make(spec);
    ASSERT_TRUE(made) << made.error().message;
    const auto caller = run_blocking(verifier->verify(made->text.reveal()));
    ASSERT_TRUE(caller) << caller.error().message;
    EXPECT_EQ(caller->role, role);
    EXPECT_EQ(caller->tenant, kTenant);
    EXPECT_EQ(made->record.at("jti").as_string(), caller->token_id);
  }
}

TEST_F(CredentialMakerTest, TheOthersGetKeysOfWhichOnlyTheHashIsKept) {
  for (const auto role : {Role::reader, Role::operator_, Role::admin}) {
    const auto made = maker_.make({.role = role, .name = "ops", .scopes = {"read"}});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_THAT(made->text.reveal(), StartsWith("mr_"));
    const auto digest = identity::parse_api_key(made->text.reveal());
    ASSERT_TRUE(digest);
    EXPECT_EQ(made->record.at("hash").as_string(), identity::to_hex(digest->hash));
    EXPECT_THAT(to_json(made->record), Not(HasSubstr(made->text.reveal())));
    EXPECT_FALSE(made->record.contains("expires_at"));
    EXPECT_FALSE(maker_.make({.role = role, .kind = CredentialKind::jwt}));
  }
}

TEST_F(CredentialMakerTest, SupabasesNewKeysAreForTheProjectsRoles) {
  const auto anon = maker_.make({.role = Role::anon, .kind = CredentialKind::supabase_key});
  ASSERT_TRUE(anon);
  EXPECT_THAT(anon->text.reveal(), StartsWith("sb_publishable_"));
  const auto service =
      maker_.make({.role = Role::service_role, .kind = CredentialKind::supabase_key});
  ASSERT_TRUE(service);
  EXPECT_THAT(service->text.reveal(), StartsWith("sb_secret_"));
  EXPECT_FALSE(maker_.make({.role = Role::admin, .kind = CredentialKind::supabase_key}));
}

TEST_F(CredentialMakerTest, WhatDoesNotGoTogetherIsRefused) {
  EXPECT_FALSE(maker_.make({.role = Role::authenticated}));
  EXPECT_FALSE(maker_.make({.role = Role::anon, .user = kUser}));
  EXPECT_FALSE(maker_.make({.role = Role::service_role, .scopes = {"read"}}));
  EXPECT_FALSE(maker_.make({.role = Role::admin, .scopes = {"everything"}}));
  const CredentialMaker without(nullptr, clock_, random_);
  const auto none = without.make({.role = Role::anon});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().hint, HasSubstr("auth.jwt_secret"));
  EXPECT_TRUE(without.make({.role = Role::admin}));
}

}  // namespace
}  // namespace millrace::api
