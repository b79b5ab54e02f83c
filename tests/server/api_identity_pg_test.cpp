// Tokens, tenants and profiles, by command and over HTTP.
#include "api_world.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::test {
namespace {

using identity::Role;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ApiIdentity : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = std::make_unique<ApiWorld>(); }
  static void TearDownTestSuite() { world_.reset(); }
  static ApiWorld& world() { return *world_; }

 private:
  static std::unique_ptr<ApiWorld> world_;
};

std::unique_ptr<ApiWorld> ApiIdentity::world_;

TEST_F(ApiIdentity, TheCommandPrintsOnlyTheTokenAndItWorks) {
  const auto user = world().new_user().to_string();
  for (const std::string role :
       {"anon", "authenticated", "service_role", "reader", "operator", "admin"}) {
    std::vector<std::string> arguments{"token", "create", "--role", role};
    if (role == "authenticated") arguments.insert(arguments.end(), {"--user", user});
    const auto made = world().run(arguments);
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(made.error_lines(), 0U) << made.err;
    ASSERT_TRUE(made.out.ends_with('\n'));
    const auto token = made.out.substr(0, made.out.size() - 1);
    EXPECT_THAT(token, Not(HasSubstr("\n")));
    const auto me = world().get("/api/v1/me", token);
    if (role == "anon") {
      EXPECT_EQ(me.status, 403);
      continue;
    }
    ASSERT_EQ(me.status, 200) << role << me.body;
    EXPECT_EQ(me.json().at("role"), json::Value(role));
  }
  EXPECT_EQ(world().run({"token", "create", "--role", "king"}).code, 2);
  EXPECT_EQ(world().run({"token", "create"}).code, 2);
}

TEST_F(ApiIdentity, ARevokedTokenIsRefusedWithinSeconds) {
  const auto admin = world().key(Role::admin);
  const auto made =
      world().post("/api/v1/tokens", admin, R"({"role":"reader","name":"for a while"})");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string token(made.json().at("token").as_string());
  const std::string id(made.json().at("token_id").as_string());
  EXPECT_EQ(world().get("/api/v1/me", token).status, 200);
  EXPECT_EQ(
      world().ask({.method = "DELETE", .path = "/api/v1/tokens/" + id, .token = admin}).status,
      204);
  EXPECT_TRUE(eventually([&] { return world().get("/api/v1/me", token).status == 401; }));
  const auto list = world().get("/api/v1/tokens?all=true", admin);
  EXPECT_THAT(list.body, HasSubstr(id));
  EXPECT_THAT(list.body, Not(HasSubstr(token)));
}

TEST_F(ApiIdentity, AJwtIsRevokedByItsId) {
  const auto made = world().run({"token", "create", "--role", "service_role", "--json"});
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string token(made.json().at("token").as_string());
  const std::string id(made.json().at("token_id").as_string());
  EXPECT_EQ(world().get("/api/v1/me", token).status, 200);
  EXPECT_EQ(world().run({"token", "revoke", id}).code, 0);
  EXPECT_TRUE(eventually([&] { return world().get("/api/v1/me", token).status == 401; }));
  EXPECT_EQ(world().run({"token", "revoke", "0190a000-0000-7000-8000-00000000ffff"}).code, 3);
}

TEST_F(ApiIdentity, AConfinedAdminMakesConfinedTokensOnly) {
  const auto tenant = world().new_tenant();
  const auto admin = world().key(Role::admin, tenant);
  const auto made = world().post("/api/v1/tokens", admin, R"({"role":"service_role"})");
  ASSERT_EQ(made.status, 201) << made.body;
  const auto me = world().get("/api/v1/me", std::string(made.json().at("token").as_string()));
  EXPECT_EQ(me.json().at("tenant_id"), json::Value(tenant.to_string()));
  const auto other = world().post(
      "/api/v1/tokens", admin,
      fmt::format(R"({{"role":"service_role","tenant_id":"{}"}})", world().new_tenant()));
  EXPECT_EQ(other.status, 403) << other.body;
}

TEST_F(ApiIdentity, ADisabledTenantIsTurnedAwayAndTakenBack) {
  const auto admin = world().key(Role::admin);
  const auto made =
      world().post("/api/v1/tenants", admin,
                   R"({"name":"Acme","quota_bytes":1000,"requests_per_minute":100000})");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string id(made.json().at("tenant_id").as_string());
  const auto token = world().jwt(Role::service_role, must(TenantId::parse(id)));
  EXPECT_EQ(world().get("/api/v1/jobs", token).status, 200);
  EXPECT_EQ(world().run({"tenants", "disable", id, "--reason", "unpaid"}).code, 0);
  EXPECT_TRUE(eventually([&] { return world().get("/api/v1/jobs", token).status == 403; }));
  EXPECT_EQ(world().post("/api/v1/tenants/" + id + "/enable", admin, "").status, 200);
  EXPECT_TRUE(eventually([&] { return world().get("/api/v1/jobs", token).status == 200; }));
  const auto again = world().post("/api/v1/tenants", admin, R"({"name":"Acme"})");
  EXPECT_GE(again.status, 400) << again.body;
  EXPECT_LT(again.status, 500) << again.body;
}

TEST_F(ApiIdentity, TenantsHaveNamesAndQuotasByCommand) {
  const auto made = world().run({"tenants", "create", "Bolt", "--quota-bytes", "10G"});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto id = made.out.substr(0, 36);
  EXPECT_THAT(world().run({"tenants", "list"}).out, HasSubstr("10.0G"));
  EXPECT_EQ(world().run({"tenants", "quota", id, "--quota-files", "7"}).code, 0);
  const auto tenant = world().get("/api/v1/tenants/" + id, world().key(Role::admin));
  EXPECT_EQ(tenant.json().at("quota_files"), json::Value(7)) << tenant.body;
  EXPECT_EQ(world().run({"tenants", "quota", id}).code, 2);
  EXPECT_EQ(world().run({"tenants", "disable", "0190a000-0000-7000-8000-00000000ffff"}).code, 3);
}

TEST_F(ApiIdentity, AUserKeepsOwnProfiles) {  // V-07
  const auto tenant = world().new_tenant();
  const auto user = world().new_user();
  const auto token = world().jwt(Role::authenticated, tenant, user);
  const auto made = world().post("/api/v1/profiles", token, R"({"display_name":"Me"})");
  ASSERT_EQ(made.status, 201) << made.body;
  const auto path = "/api/v1/profiles/" + std::string(made.json().at("id").as_string());
  EXPECT_EQ(made.json().at("account_owner_id"), json::Value(user.to_string()));
  const auto renamed = world().ask(
      {.method = "PATCH", .path = path, .token = token, .body = R"({"display_name":"Myself"})"});
  EXPECT_EQ(renamed.json().at("display_name"), json::Value("Myself")) << renamed.body;
  const auto stranger = world().jwt(Role::authenticated, tenant, world().new_user());
  EXPECT_EQ(world().get(path, stranger).status, 404);
  EXPECT_EQ(world().ask({.method = "DELETE", .path = path, .token = stranger}).status, 404);
  EXPECT_EQ(world().get("/api/v1/profiles", stranger).json().at("items").as_array().size(), 0U);
  EXPECT_EQ(world().ask({.method = "DELETE", .path = path, .token = token}).status, 204);
  EXPECT_EQ(world().get(path, token).status, 404);
}

TEST_F(ApiIdentity, AStreamTokenIsForOnePath) {
  const auto token = world().jwt(Role::authenticated, world().new_tenant(), world().new_user());
  const auto made =
      world().post("/api/v1/stream-tokens", token,
                   R"({"path":"/api/v1/jobs/0190a000-0000-7000-8000-000000000001/events"})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_THAT(std::string(made.json().at("url").as_string()),
              StartsWith("/api/v1/jobs/0190a000-0000-7000-8000-000000000001/events?token=mrs1_"));
  // In a header it is nothing, and it opens nothing that is no stream.
  const std::string ticket(made.json().at("token").as_string());
  EXPECT_EQ(world().get("/api/v1/me", ticket).status, 401);
  EXPECT_EQ(world().get("/api/v1/me?token=" + ticket).status, 401);
}

}  // namespace
}  // namespace millrace::test
