#include "identity/caller.h"

#include "identity/refusal_matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::identity {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kUser = "11111111-1111-4111-8111-111111111111";
const std::string kTenant = "22222222-2222-4222-8222-222222222222";
const std::string kOther = "33333333-3333-4333-8333-333333333333";

Result<Caller> caller_of(const std::string& payload, const TokenRules& rules = {}) {
  auto claims = parse_claims(payload);
  EXPECT_THAT(claims, Accepted()) << payload;
  return caller_from_claims(*std::move(claims), rules);
}

std::optional<TenantId> tenant(const std::string& text) { return *TenantId::parse(text); }

std::optional<TenantId> tenant_of(const std::string& payload) {
  const auto caller = caller_of(payload);
  EXPECT_THAT(caller, Accepted()) << payload;
  return caller ? caller->tenant : std::nullopt;
}

std::string claims(const std::string& members) {
  return R"({"role":"authenticated",)" + members + "}";
}

TEST(Caller, IsWhoTheTokenSays) {
  const auto caller = caller_of(R"({"role":"authenticated","sub":")" + kUser +
                                R"(","jti":"t1","exp":2000000000,"app_metadata":{"tenant_id":")" +
                                kTenant + R"("}})");
  ASSERT_THAT(caller, Accepted());
  EXPECT_EQ(caller->role, Role::authenticated);
  EXPECT_EQ(caller->user, *UserId::parse(kUser));
  EXPECT_EQ(caller->subject, kUser);
  EXPECT_EQ(caller->tenant, tenant(kTenant));
  EXPECT_EQ(caller->home_tenant(), *tenant(kTenant));
  EXPECT_EQ(caller->token_id, "t1");
  EXPECT_EQ(caller->expires_at, Instant(std::chrono::seconds(2'000'000'000)));
  EXPECT_EQ(caller->method, AuthMethod::jwt);
  EXPECT_THAT(caller->scopes, IsEmpty());
  EXPECT_TRUE(caller->may(Capability::write));
  EXPECT_FALSE(caller->may(Capability::operate));
}

// T-01, DESIGN §5: app_metadata.tenant_id, else tenant_id, else sub, as the SQL side reads them.
TEST(TenantOfACall, ComesFromTheFirstClaimThatNamesOne) {
  const auto sub = R"("sub":")" + kUser + "\"";
  const auto flat = R"("tenant_id":")" + kOther + "\"";
  const auto nested = R"("app_metadata":{"tenant_id":")" + kTenant + "\"}";
  EXPECT_EQ(tenant_of(claims(sub + "," + flat + "," + nested)), tenant(kTenant));
  EXPECT_EQ(tenant_of(claims(sub + "," + flat)), tenant(kOther));
  EXPECT_EQ(tenant_of(claims(sub + R"(,"app_metadata":{}, )" + flat)), tenant(kOther));
  EXPECT_EQ(tenant_of(claims(sub + R"(,"app_metadata":null)")), tenant(kUser));
  EXPECT_EQ(tenant_of(claims(sub + R"(,"app_metadata":{"tenant_id":null})")), tenant(kUser));
  EXPECT_EQ(tenant_of(claims(sub)), tenant(kUser));
}

TEST(TenantOfACall, IsNeverTakenFromWhatTheUserMayEdit) {
  EXPECT_EQ(tenant_of(claims(R"("sub":")" + kUser + R"(","user_metadata":{"tenant_id":")" + kOther +
                             R"(","role":"service_role"})")),
            tenant(kUser));
}

TEST(TenantOfACall, OwnsNothingWhenAPersonsTokenNamesNone) {
  EXPECT_EQ(tenant_of(R"({"role":"anon"})"), kNobodysTenant);
  EXPECT_EQ(tenant_of(claims(R"("sub":"auth0|12345")")), kNobodysTenant);
  EXPECT_EQ(kNobodysTenant.to_string(), "ffffffff-ffff-ffff-ffff-ffffffffffff");
}

TEST(TenantOfACall, IsOpenForServersUnlessTheirTokenSaysOtherwise) {
  EXPECT_EQ(tenant_of(R"({"role":"service_role"})"), std::nullopt);
  EXPECT_EQ(caller_of(R"({"role":"service_role"})")->home_tenant(), kDefaultTenant);
  EXPECT_EQ(kDefaultTenant.to_string(), "00000000-0000-0000-0000-000000000000");
  EXPECT_EQ(tenant_of(R"({"role":"service_role","tenant_id":")" + kTenant + "\"}"),
            tenant(kTenant));
}

// Falling through to the next claim would put the caller into another tenant than was meant.
TEST(TenantOfACall, ThatIsNoUuidIsRefused) {
  const auto sub = R"("sub":")" + kUser + "\",";
  for (const auto* bad : {R"("tenant_id":"acme")", R"("tenant_id":"")", R"("tenant_id":7)",
                          R"("app_metadata":{"tenant_id":"acme"})", R"("app_metadata":[])",
                          R"("app_metadata":"x")", R"("app_metadata":{"tenant_id":{}})"}) {
    EXPECT_THAT(caller_of(claims(sub + bad)), RefusedAs(Refusal::bad_claims)) << bad;
  }
}

TEST(RoleOfACall, IsOneThatTheIssuerMayGive) {
  const TokenRules users{.roles = {Role::anon, Role::authenticated}};
  EXPECT_THAT(caller_of(R"({"role":"authenticated"})", users), Accepted());
  EXPECT_THAT(caller_of(R"({"role":"service_role"})", users), RefusedAs(Refusal::bad_claims));
  for (const auto* role : {"admin", "operator", "reader", "postgres", "millrace_owner", ""}) {
    EXPECT_THAT(caller_of(R"({"sub":"x","role":")" + std::string(role) + "\"}"),
                RefusedAs(Refusal::bad_claims))
        << role;
  }
}

TEST(RoleOfACall, IsAuthenticatedWhenTheIssuerKnowsOnlyUsers) {
  EXPECT_EQ(caller_of(R"({"sub":"auth0|12345"})")->role, Role::authenticated);
}

// A storage service's signed URL is a JWT of the same secret, and names nobody.
TEST(RoleOfACall, IsNothingForATokenThatNamesNobody) {
  EXPECT_THAT(caller_of(R"({"url":"bucket/file.pdf","exp":2000000000})"),
              RefusedAs(Refusal::bad_claims));
  EXPECT_THAT(caller_of(R"({"sub":""})"), RefusedAs(Refusal::bad_claims));
  EXPECT_THAT(caller_of(R"({"sub":"x"})", {.roles = {Role::service_role}}),
              RefusedAs(Refusal::bad_claims));
}

TEST(Scopes, TakeAwayAndNeverGive) {
  const auto with = [](const std::string& scope) {
    return *caller_of(R"({"role":"authenticated","sub":"x",)" + scope + "}");
  };
  EXPECT_TRUE(with(R"("scope":"openid email")").may(Capability::write));
  const auto reading = with(R"("scope":"openid millrace:read")");
  EXPECT_TRUE(reading.may(Capability::read));
  EXPECT_FALSE(reading.may(Capability::write));
  EXPECT_THAT(reading.scopes, ElementsAre("millrace:read"));
  EXPECT_TRUE(with(R"("scp":["a","millrace:write"])").may(Capability::write));
  EXPECT_FALSE(with(R"("scope":"millrace:administer")").may(Capability::administer));
  EXPECT_TRUE(with(R"("scope":"millrace:future")").capabilities.empty());
}

TEST(Caller, IsToldWhatItMayNotDo) {
  const auto caller = *caller_of(R"({"role":"authenticated","sub":"x"})");
  EXPECT_THAT(caller.require(Capability::read), Accepted());
  const auto refused = caller.require(Capability::operate);
  EXPECT_THAT(refused, RefusedAs(Refusal::forbidden));
  EXPECT_THAT(refused.error().message, HasSubstr("authenticated may not operate"));
}

TEST(Caller, ActsForAnotherTenantOnlyIfItMay) {
  const auto person = *caller_of(claims(R"("sub":")" + kUser + "\""));
  EXPECT_THAT(person.for_tenant(*tenant(kUser)), Accepted());
  EXPECT_THAT(person.for_tenant(*tenant(kTenant)), RefusedAs(Refusal::forbidden));
  EXPECT_THAT(person.for_tenant(kDefaultTenant), RefusedAs(Refusal::forbidden));

  const auto confined = *caller_of(R"({"role":"service_role","tenant_id":")" + kTenant + "\"}");
  EXPECT_THAT(confined.for_tenant(*tenant(kOther)), RefusedAs(Refusal::forbidden));

  const auto server = *caller_of(R"({"role":"service_role"})");
  const auto acting = server.for_tenant(*tenant(kTenant));
  ASSERT_THAT(acting, Accepted());
  EXPECT_EQ(acting->tenant, tenant(kTenant));
  EXPECT_EQ(acting->claims_json(),
            R"({"role":"service_role","app_metadata":{"tenant_id":")" + kTenant + "\"}}");
  EXPECT_THAT(acting->for_tenant(*tenant(kOther)), RefusedAs(Refusal::forbidden));

  auto reader = server;
  reader.role = Role::reader;
  reader.capabilities = capabilities_of(Role::reader);
  EXPECT_THAT(reader.for_tenant(*tenant(kTenant)), RefusedAs(Refusal::forbidden));
}

// As PostgREST does: the claims as signed, and the role that counts.
TEST(Caller, TellsTheDatabaseTheClaims) {
  const auto caller =
      *caller_of(R"({"sub":"x","exp":2000000000,"n":0.1,"nested":{"a":[1,"\"é"]}})");
  EXPECT_EQ(
      caller.claims_json(),
      R"({"sub":"x","exp":2000000000,"n":0.1,"nested":{"a":[1,"\"é"]},"role":"authenticated"})");
  EXPECT_EQ(caller_of(R"({"role":"anon"})")->claims_json(), R"({"role":"anon"})");
}

TEST(Caller, IsNamedInTheAudit) {
  EXPECT_EQ(caller_of(claims(R"("sub":")" + kUser + "\""))->actor(), "user:" + kUser);
  EXPECT_EQ(caller_of(claims(R"("sub":"auth0|1")"))->actor(), "subject:auth0|1");
  EXPECT_EQ(caller_of(R"({"role":"anon","jti":"t1"})")->actor(), "token:t1");
  EXPECT_EQ((Caller{.token_id = "k1", .method = AuthMethod::api_key}).actor(), "key:k1");
  EXPECT_EQ(Caller().actor(), "role:anon");
}

// As millrace.claimed_tenant() reads it.
std::optional<TenantId> tenant_in(const std::string& claims_json) {
  const auto claims = *parse_json_object(claims_json);
  const auto uuid_at = [](const json::Object& object, const char* name) {
    const auto* value = object.if_contains(name);
    const bool text = value != nullptr && value->is_string();
    const auto parsed = TenantId::parse(text ? std::string_view(value->get_string()) : "");
    return parsed ? std::optional(*parsed) : std::nullopt;
  };
  const auto* metadata = claims.if_contains("app_metadata");
  if (metadata != nullptr && metadata->is_object()) {
    if (const auto tenant = uuid_at(metadata->get_object(), "tenant_id")) return tenant;
  }
  if (const auto tenant = uuid_at(claims, "tenant_id")) return tenant;
  return uuid_at(claims, "sub");
}

TEST(Caller, MadeWithoutATokenIsOfTheSameTenantForTheDatabase) {
  const auto user = *UserId::parse(kUser);
  for (const auto role : all_roles()) {
    for (const auto& confined : {std::optional<TenantId>(), tenant(kTenant), tenant(kUser)}) {
      Caller caller{.role = role, .tenant = confined, .user = user, .subject = kUser};
      caller.claims = claims_of(caller);
      EXPECT_EQ(tenant_in(caller.claims_json()), confined) << caller.claims_json();
    }
  }
}

TEST(Caller, WithoutATokenIsNobody) {
  const Caller nobody;
  EXPECT_EQ(nobody.role, Role::anon);
  EXPECT_EQ(nobody.tenant, kNobodysTenant);
  EXPECT_TRUE(nobody.capabilities.empty());
}

}  // namespace
}  // namespace millrace::identity
