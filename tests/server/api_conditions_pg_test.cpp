// Requests that hold only once or only if: Idempotency-Key and If-Match, on the real server.
#include "api_world.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace millrace::test {
namespace {

using identity::Role;
using testing::HasSubstr;

class ApiConditions : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = std::make_unique<ApiWorld>(); }
  static void TearDownTestSuite() { world_.reset(); }
  static ApiWorld& world() { return *world_; }

  Answered change(const std::string& method, const std::string& path, const std::string& token,
                  const std::optional<std::string>& body, const std::string& if_match) {
    Ask ask{.method = method, .path = path, .token = token, .body = body};
    if (!if_match.empty()) ask.headers = {{"If-Match", if_match}};
    return world().ask(ask);
  }
  // Read, change, and change again by what was read before: once it works, once it is too late.
  void check_guard(const std::string& thing, const std::string& token, const std::string& method,
                   const std::string& path, const std::string& body, const std::string& other) {
    const auto read = world().get(thing, token);
    ASSERT_EQ(read.status, 200) << thing << read.body;
    const auto tag = read.header("etag");
    const auto done = change(method, path, token, body, tag);
    EXPECT_LT(done.status, 300) << path << done.body;
    const auto late = change(method, path, token, other, tag);
    EXPECT_EQ(late.status, 412) << path << late.body;
    EXPECT_EQ(late.json().at("code"), json::Value("precondition_failed"));
    const auto again = world().get(thing, token).header("etag");
    EXPECT_NE(again, tag);
    EXPECT_LT(change(method, path, token, other, "\"x.y\", " + again).status, 300) << path;
    EXPECT_LT(change(method, path, token, body, "*").status, 300) << path;
  }
  // The same request twice under one key: one effect, the same answer.
  void check_key(const std::string& path, const std::string& token, const std::string& body,
                 const std::function<std::int64_t()>& count) {
    const auto before = count();
    const std::vector<http::Header> key{{"Idempotency-Key", "\"" + path + "\""}};
    const auto first = world().post(path, token, body, key);
    ASSERT_LT(first.status, 300) << path << first.body;
    const auto again = world().post(path, token, body, key);
    EXPECT_EQ(again.status, first.status) << path;
    EXPECT_EQ(again.header("idempotent-replayed"), "true") << path;
    EXPECT_EQ(again.header("location"), first.header("location")) << path;
    EXPECT_EQ(again.json(), first.json()) << path;
    EXPECT_EQ(count(), before + 1) << path;
  }
  std::int64_t count(const std::string& from) {
    return must(sql_.query("select count(*) from " + from))[0].i64(0);
  }

  TenantId tenant_ = world().new_tenant();
  pg::SyncConnection sql_ = world().sql();

 private:
  static std::unique_ptr<ApiWorld> world_;
};

std::unique_ptr<ApiWorld> ApiConditions::world_;

TEST_F(ApiConditions, AChangeByWhatWasReadBeforeHappensOnce) {  // Item 3: conditional requests
  const auto admin = world().key(Role::admin);
  const std::string queue = "/api/v1/queues/conditions";
  ASSERT_EQ(change("PUT", queue, admin, R"({"max_attempts":3})", "").status, 200);
  check_guard(queue, admin, "PUT", queue, R"({"max_attempts":4})", R"({"max_attempts":5})");

  const std::string limit = "/api/v1/limits/someone/things";
  ASSERT_EQ(change("PUT", limit, admin, R"({"requests_per_minute":5})", "").status, 204);
  check_guard(limit, admin, "PUT", limit, R"({"requests_per_minute":6})",
              R"({"requests_per_minute":7})");

  const auto operator_key = world().key(Role::operator_, tenant_);
  const std::string cron = "/api/v1/cron/nightly";
  const auto schedule = [](int n) {
    return fmt::format(
        R"({{"schedule":"@daily","job":{{"job_type":"noop","payload":{{"n":{}}}}}}})", n);
  };
  ASSERT_EQ(change("PUT", cron, operator_key, schedule(1), "").status, 200);
  check_guard(cron, operator_key, "PUT", cron, schedule(2), schedule(3));

  const auto tenant = world().post("/api/v1/tenants", admin, R"({"name":"conditions"})");
  ASSERT_EQ(tenant.status, 201) << tenant.body;
  const auto of_tenant =
      "/api/v1/tenants/" + std::string(tenant.json().at("tenant_id").as_string());
  EXPECT_EQ(tenant.header("location"), of_tenant);
  check_guard(of_tenant, admin, "PUT", of_tenant + "/quota", R"({"quota_files":1})",
              R"({"quota_files":2})");

  const auto user = world().jwt(Role::authenticated, tenant_, world().new_user());
  const auto profile = world().post("/api/v1/profiles", user, R"({"display_name":"Ada"})");
  ASSERT_EQ(profile.status, 201) << profile.body;
  check_guard(profile.header("location"), user, "PATCH", profile.header("location"),
              R"({"display_name":"A"})", R"({"display_name":"B"})");
}

TEST_F(ApiConditions, DeletingWhatHasChangedIsRefused) {
  const auto operator_key = world().key(Role::operator_, tenant_);
  const std::string cron = "/api/v1/cron/gone";
  const std::string body = R"({"schedule":"@daily","job":{"job_type":"noop","payload":{"n":1}}})";
  ASSERT_EQ(change("PUT", cron, operator_key, body, "").status, 200);
  const auto seen = world().get(cron, operator_key).header("etag");
  ASSERT_EQ(change("PUT", cron, operator_key,
                   R"({"schedule":"@hourly","job":{"job_type":"noop","payload":{"n":1}}})", "")
                .status,
            200);
  EXPECT_EQ(change("DELETE", cron, operator_key, std::nullopt, seen).status, 412);
  const auto now = world().get(cron, operator_key).header("etag");
  EXPECT_EQ(change("DELETE", cron, operator_key, std::nullopt, now).status, 204);
  EXPECT_EQ(world().get(cron, operator_key).status, 404);
  EXPECT_EQ(change("DELETE", cron, operator_key, std::nullopt, "*").status, 412);

  const auto user = world().jwt(Role::authenticated, tenant_, world().new_user());
  const auto profile =
      world().post("/api/v1/profiles", user, R"({"display_name":"Ada"})").header("location");
  const auto tag = world().get(profile, user).header("etag");
  ASSERT_EQ(change("PATCH", profile, user, R"({"display_name":"A"})", "").status, 200);
  EXPECT_EQ(change("DELETE", profile, user, std::nullopt, tag).status, 412);
  EXPECT_EQ(change("DELETE", profile, user, std::nullopt, world().get(profile, user).header("etag"))
                .status,
            204);
}

TEST_F(ApiConditions, WhatIsCountedMeanwhileDoesNotRefuseAChange) {
  const auto admin = world().key(Role::admin);
  const std::string queue = "/api/v1/queues/default";
  const auto tag = world().get(queue, admin).header("etag");
  const auto service = world().jwt(Role::service_role, tenant_);
  ASSERT_EQ(
      world().post("/api/v1/jobs", service, R"({"job_type":"noop","payload":{"n":1}})").status,
      201);
  EXPECT_EQ(change("PUT", queue, admin, R"({"max_attempts":12})", tag).status, 200);
}

TEST_F(ApiConditions, ARepeatUnderItsKeyIsDoneOnce) {  // F02, F03
  const auto admin = world().key(Role::admin);
  check_key("/api/v1/tenants", admin, R"({"name":"keyed"})",
            [&] { return count("millrace.tenant"); });
  const auto user = world().jwt(Role::authenticated, tenant_, world().new_user());
  check_key("/api/v1/profiles", user, R"({"display_name":"Ada"})",
            [&] { return count("millrace.user_profiles"); });
  const auto service = world().jwt(Role::service_role, tenant_);
  check_key("/api/v1/audit", service,
            R"({"table_name":"t","record_id":"1","operation":"UPDATE","new_values":{"n":1}})",
            [&] { return count("millrace.audit where action = 'logged'"); });
  const auto operator_key = world().key(Role::operator_, tenant_);
  ASSERT_EQ(change("PUT", "/api/v1/cron/keyed", operator_key,
                   R"({"schedule":"@yearly","job":{"job_type":"noop","payload":{"n":1}}})", "")
                .status,
            200);
  check_key("/api/v1/cron/keyed/run", operator_key, "", [&] {
    return count(fmt::format("millrace.job_fact where tenant_id = '{}'", tenant_));
  });
}

TEST_F(ApiConditions, ARetryUnderItsKeyStartsTheJobOnce) {
  const auto service = world().jwt(Role::service_role, tenant_);
  const auto operator_key = world().key(Role::operator_, tenant_);
  const auto made = world().post("/api/v1/jobs", service,
                                 R"({"job_type":"noop","payload":{"n":1},"delay_seconds":3600})");
  ASSERT_EQ(made.status, 201) << made.body;
  const auto path = "/api/v1/jobs/" + std::string(made.json().at("job_id").as_string()) + "/retry";
  check_key(path, operator_key, "", [&] {
    return count(
        fmt::format("millrace.audit where action = 'run_now' and tenant_id = '{}'", tenant_));
  });
  // What came to nothing is not kept: the key is free for when there is something to retry.
  const auto unknown = fmt::format("/api/v1/jobs/{}/retry", world().new_user());
  const std::vector<http::Header> key{{"Idempotency-Key", "free"}};
  for (int i = 0; i < 2; ++i) {
    const auto refused = world().post(unknown, operator_key, "", key);
    EXPECT_EQ(refused.status, 404) << refused.body;
    EXPECT_EQ(refused.header("idempotent-replayed"), "");
  }
}

TEST_F(ApiConditions, AKeyThatIsNotKeptIsRefused) {
  const auto admin = world().key(Role::admin);
  const std::vector<http::Header> key{{"Idempotency-Key", "k"}};
  for (const auto& [path, body] :
       {std::pair{"/api/v1/tokens", R"({"role":"reader","name":"x"})"},
        std::pair{"/api/v1/queues/default/pause", ""}, std::pair{"/api/v1/export/cleanup", ""}}) {
    const auto refused = world().post(path, admin, body, key);
    EXPECT_EQ(refused.status, 400) << path << refused.body;
    EXPECT_THAT(refused.body, HasSubstr("idempotency_not_supported"));
  }
  EXPECT_EQ(count("millrace.queue where queue = 'default' and paused_at is not null"), 0);
}

// Medical values have as many digits as they have: no form of request rounds them.
TEST_F(ApiConditions, NumbersKeepTheirDigitsFromTheRequestToTheAnswer) {
  const auto service = world().jwt(Role::service_role, tenant_);
  const std::string exact = "0.12345678901234567891";
  const auto job = fmt::format(R"({{"job_type":"noop","payload":{{"n":{}}}}})", exact);
  const auto id_in = [](const json::Value& value) { return std::string(value.as_string()); };
  const auto bulk = world().post("/api/v1/jobs/bulk", service, "[" + job + "]");
  ASSERT_EQ(bulk.status, 201) << bulk.body;
  const auto batch = world().post("/api/v1/batches", service, R"({"jobs":[)" + job + "]}");
  ASSERT_EQ(batch.status, 201) << batch.body;
  const auto members =
      world().get("/api/v1/jobs?batch_id=" + id_in(batch.json().at("batch_id")), service);
  for (const auto& id : {id_in(bulk.json().at("items").at(0).at("job_id")),
                         id_in(members.json().at("items").at(0).at("job_id"))}) {
    EXPECT_THAT(world().get("/api/v1/jobs/" + id + "?detail=true", service).body, HasSubstr(exact));
  }
  const auto logged = world().post(
      "/api/v1/audit", service,
      R"({"table_name":"t","record_id":"exact","operation":"UPDATE","new_values":{"n":)" + exact +
          "}}");
  ASSERT_EQ(logged.status, 201) << logged.body;
  EXPECT_THAT(world().get("/api/v1/audit?record_id=exact", service).body, HasSubstr(exact));
}

}  // namespace
}  // namespace millrace::test
