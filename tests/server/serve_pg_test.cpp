// millrace serve as a program: where it listens, what it says, how it stops.
#include "api_world.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace millrace::test {
namespace {

using identity::Role;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Serve, SaysWhereItListensAndStopsCleanly) {
  ApiWorld world;
  EXPECT_THAT(std::string(world.ready().at("http_url").as_string()),
              StartsWith("http://127.0.0.1:"));
  EXPECT_EQ(world.get("/livez").status, 200);
  EXPECT_EQ(world.get("/readyz").status, 200);
  const auto health = world.get("/health");
  EXPECT_EQ(health.status, 200) << health.body;
  EXPECT_EQ(health.json().at("checks").at("database").at("status"), json::Value("ok"));
  EXPECT_THAT(world.get("/docs").body, HasSubstr("<!doctype html>"));
  world.program().signal(SIGTERM);
  EXPECT_EQ(world.program().wait(), 0) << world.program().err();
  EXPECT_THAT(world.program().err(), HasSubstr("\"draining\""));
}

TEST(Serve, ADatabaseThatIsAwayIs503AndComesBack) {  // K04, H-18
  ApiWorld world;
  const auto token = world.jwt(Role::service_role);
  EXPECT_EQ(world.get("/api/v1/jobs", token).status, 200);
  auto sql = TestDatabase::empty().connect();
  const auto name = world.database().name();
  must(sql.query(fmt::format("alter database {} with allow_connections false", name)));
  must(sql.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1",
                 pg::params(name)));
  EXPECT_TRUE(eventually([&] { return world.get("/readyz").status == 503; }));
  EXPECT_EQ(world.get("/livez").status, 200);
  const auto health = world.get("/health");
  EXPECT_EQ(health.status, 503);
  EXPECT_THAT(health.body, Not(HasSubstr(name)));
  const auto jobs = world.get("/api/v1/jobs", token);
  EXPECT_EQ(jobs.status, 503);
  EXPECT_FALSE(jobs.header("retry-after").empty());
  EXPECT_THAT(jobs.body, Not(HasSubstr(name)));
  EXPECT_THAT(world.get("/metrics").body, HasSubstr("millrace_database_up 0\n"));
  must(sql.query(fmt::format("alter database {} with allow_connections true", name)));
  EXPECT_TRUE(eventually([&] { return world.get("/readyz").status == 200; }));
  EXPECT_EQ(world.get("/api/v1/jobs", token).status, 200);
}

TEST(Serve, EveryRequestIsOneLineWithoutSecrets) {  // T-08, O-01
  ApiWorld world;
  const auto tenant = world.new_tenant();
  const auto token = world.jwt(Role::service_role, tenant);
  const auto made = world.ask({.method = "POST",
                               .path = "/api/v1/jobs",
                               .token = token,
                               .body = R"({"job_type":"noop","payload":{"secret":"of a patient"}})",
                               .headers = {{"x-correlation-id", "order-18"}}});
  ASSERT_EQ(made.status, 201) << made.body;
  (void)world.get("/api/v1/jobs?correlation_id=hidden-in-the-query", token);
  EXPECT_TRUE(eventually([&] { return world.program().err().contains("/api/v1/jobs\",\"route"); }));
  world.program().signal(SIGTERM);
  EXPECT_EQ(world.program().wait(), 0);
  const auto log = world.program().err();
  EXPECT_THAT(log, HasSubstr("\"cid\":\"order-18\""));
  EXPECT_THAT(log, HasSubstr(tenant.to_string()));
  EXPECT_THAT(log, HasSubstr(std::string(made.json().at("job_id").as_string())));
  EXPECT_THAT(log, Not(HasSubstr(token)));
  EXPECT_THAT(log, Not(HasSubstr("of a patient")));
  EXPECT_THAT(log, Not(HasSubstr("hidden-in-the-query")));
  EXPECT_THAT(log, Not(HasSubstr(ApiWorld::kSecret)));
}

TEST(Serve, TheRateOfATenantIsKept) {  // L-19
  ApiWorld world({.env = {{"MILLRACE_SERVER_REQUESTS_PER_MINUTE", "5"}}});
  const auto token = world.jwt(Role::service_role, world.new_tenant());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(world.get("/api/v1/jobs", token).status, 200);
  const auto refused = world.get("/api/v1/jobs", token);
  EXPECT_EQ(refused.status, 429);
  EXPECT_FALSE(refused.header("retry-after").empty());
  EXPECT_EQ(world.get("/readyz").status, 200);
}

TEST(Serve, RefusesToStartWithSettingsThatCannotBeRight) {
  const TestDatabase database;
  const auto serve = [&](std::map<std::string, std::string> env) {
    env["DATABASE_URL"] = database.url();
    env.try_emplace("MILLRACE_SERVER_LISTEN", "127.0.0.1:0");
    return run_millrace({"serve"}, {.env = std::move(env), .stdin_text = {}, .cwd = {}});
  };
  const auto weak = serve({{"MILLRACE_AUTH_JWT_SECRET", "short"}});
  EXPECT_NE(weak.code, 0);
  EXPECT_THAT(weak.err, HasSubstr("auth.jwt_secret"));
  EXPECT_THAT(weak.err, Not(HasSubstr("short\"")));
  const auto name = serve({{"MILLRACE_SERVER_LISTEN", "example.com:80"}});
  EXPECT_NE(name.code, 0);
  EXPECT_THAT(name.err, HasSubstr("server.listen"));
  const auto half = serve({{"MILLRACE_SERVER_TLS_KEY", "/nowhere.pem"}});
  EXPECT_NE(half.code, 0);
  EXPECT_THAT(half.err, HasSubstr("server.tls_certificate"));
  const auto jwks = serve({{"JWT_JWKS_URL", "http://example.com/keys"}});
  EXPECT_NE(jwks.code, 0);
  EXPECT_THAT(jwks.err, HasSubstr("auth.jwks_url"));
}

TEST(Serve, TheDocumentIsPrintedWithoutADatabase) {
  const auto printed = run_millrace({"openapi"});
  ASSERT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.json().at("openapi"), json::Value("3.1.0"));
}

TEST(Serve, ListensOnAUnixSocketToo) {
  TempFolder folder;
  const auto path = (folder.path() / "api.sock").string();
  ApiWorld world({.env = {}, .arguments = {"--listen", "unix:" + path}});
  http::RawClient client(http::ListenAddress{.host = {}, .port = 0, .path = path});
  ASSERT_TRUE(client.connected());
  EXPECT_EQ(client.ask(http::get("/livez")).status, 200);
}

}  // namespace
}  // namespace millrace::test
