// millrace serve as a program: where it listens, what it says, how it stops.
#include "api/stream/stream_client.h"
#include "api_world.h"
#include "http/tls_fixture.h"

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
  const auto elsewhere = TestDatabase::empty();
  auto sql = elsewhere.connect();
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

// A reader who asks for much must not stop the API for everybody.
TEST(Serve, CallsThatTakeLongHoldUpNoOthers) {
  ApiWorld world({.env = {{"MILLRACE_SERVER_DATABASE_CONNECTIONS", "1"}}});
  const auto reader = world.key(Role::reader);
  const auto token = world.jwt(Role::service_role);
  auto holder = world.sql();
  must(holder.query("begin"));
  must(holder.query("lock table millrace.audit_seal in access exclusive mode"));
  http::RawClient client(world.address());
  client.send(http::get("/api/v1/audit/verify", "Authorization: Bearer " + reader + "\r\n"));
  auto sql = world.sql();
  EXPECT_TRUE(eventually([&] {
    const auto waiting = must(
        sql.query("select count(*) from pg_stat_activity where datname = current_database() and "
                  "application_name = 'millrace-api-apart' and wait_event_type = 'Lock'"));
    return waiting[0].i64(0) == 1;
  }));
  EXPECT_EQ(world.get("/api/v1/jobs", token).status, 200);
  EXPECT_EQ(world.get("/readyz").status, 200);
  must(holder.query("rollback"));
  EXPECT_EQ(client.read_reply().status, 200);
}

// Whether the database is there does not depend on how many ask for it.
TEST(Serve, IsReadyWhileRequestsHoldAllConnections) {
  ApiWorld world({.env = {{"MILLRACE_SERVER_DATABASE_CONNECTIONS", "1"}}});
  const auto token = world.jwt(Role::service_role);
  EXPECT_EQ(world.get("/api/v1/batches", token).status, 200);  // Who it is, is known from now on.
  auto holder = world.sql();
  must(holder.query("begin"));
  must(holder.query("lock table millrace.batch in access exclusive mode"));
  http::RawClient client(world.address());
  client.send(http::get("/api/v1/batches", "Authorization: Bearer " + token + "\r\n"));
  auto sql = world.sql();
  EXPECT_TRUE(eventually([&] {
    const auto waiting = must(
        sql.query("select count(*) from pg_stat_activity where datname = current_database() and "
                  "application_name = 'millrace-api' and wait_event_type = 'Lock'"));
    return waiting[0].i64(0) == 1;
  }));
  EXPECT_EQ(world.get("/readyz").status, 200);
  EXPECT_EQ(world.get("/health").status, 200);
  must(holder.query("rollback"));
  EXPECT_EQ(client.read_reply().status, 200);
}

TEST(Serve, SaysThatItDrainsBeforeItClosesItsDoors) {
  ApiWorld world({.env = {{"MILLRACE_SERVER_DRAIN_DELAY", "1s"}}});
  world.program().signal(SIGTERM);
  EXPECT_TRUE(eventually([&] {
    return http::RawClient(world.address()).ask(http::get("/readyz")).body.contains("draining");
  }));
  EXPECT_EQ(world.program().wait(), 0) << world.program().err();
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
  // J07: keys of uploads are made of the names of files.
  const auto person = world.jwt(Role::authenticated, tenant, world.new_user());
  const auto upload = world.ask({.method = "PUT",
                                 .path = "/api/v1/uploads/jane-doe.pdf_17",
                                 .token = person,
                                 .body = "hello",
                                 .content_type = "text/plain"});
  EXPECT_EQ(upload.status, 201) << upload.body;
  EXPECT_TRUE(eventually([&] { return world.program().err().contains("/api/v1/jobs\",\"route"); }));
  EXPECT_TRUE(
      eventually([&] { return world.program().err().contains("/api/v1/uploads/{key}\""); }));
  world.program().signal(SIGTERM);
  EXPECT_EQ(world.program().wait(), 0);
  const auto log = world.program().err();
  EXPECT_THAT(log, HasSubstr("\"cid\":\"order-18\""));
  EXPECT_THAT(log, HasSubstr(tenant.to_string()));
  EXPECT_THAT(log, HasSubstr(std::string(made.json().at("job_id").as_string())));
  EXPECT_THAT(log, Not(HasSubstr(token)));
  EXPECT_THAT(log, Not(HasSubstr("of a patient")));
  EXPECT_THAT(log, Not(HasSubstr("hidden-in-the-query")));
  EXPECT_THAT(log, Not(HasSubstr("jane-doe")));
  EXPECT_THAT(log, Not(HasSubstr(ApiWorld::kSecret)));
}

TEST(Serve, TheRateOfATenantIsKept) {  // L-19
  ApiWorld world({.env = {{"MILLRACE_SERVER_REQUESTS_PER_MINUTE", "5"}}});
  const auto token = world.jwt(Role::service_role, world.new_tenant());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(world.get("/api/v1/jobs", token).status, 200);
  const auto refused = world.get("/api/v1/jobs", token);
  EXPECT_EQ(refused.status, 429);
  EXPECT_FALSE(refused.header("retry-after").empty());
  EXPECT_THAT(refused.header("ratelimit"), HasSubstr("r=0"));
  EXPECT_THAT(refused.header("ratelimit-policy"), HasSubstr("q=5;w=60"));
  // Another tenant has its own, and nobody counts for nobody.
  EXPECT_EQ(world.get("/api/v1/jobs", world.jwt(Role::service_role, world.new_tenant())).status,
            200);
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

TEST(Serve, ARequestThatHasBegunIsAnsweredBeforeItStops) {
  ApiWorld world;
  const std::string body = R"({"job_type":"noop","payload":{"n":1}})";
  http::RawClient client(world.address());
  client.send(
      fmt::format("POST /api/v1/jobs HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {}\r\n"
                  "Content-Type: application/json\r\nExpect: 100-continue\r\n"
                  "Content-Length: {}\r\n\r\n",
                  world.jwt(Role::service_role), body.size()));
  ASSERT_EQ(client.read_reply().status, 100);  // Its body is being waited for.
  world.program().signal(SIGTERM);
  EXPECT_TRUE(eventually([&] { return world.program().err().contains("\"draining\""); }));
  client.send(body);
  const auto made = client.read_reply();
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(world.program().wait(), 0) << world.program().err();
  auto sql = world.sql();
  EXPECT_EQ(must(sql.query("select count(*) from millrace.job_fact"))[0].i64(0), 1);
}

TEST(Serve, SpeaksTlsAndReadsTheCertificateAgain) {
  http::TestCertificate certificate("first");
  ApiWorld world({.env = {{"MILLRACE_SERVER_TLS_CERTIFICATE", certificate.files().certificate},
                          {"MILLRACE_SERVER_TLS_KEY", certificate.files().key}}});
  EXPECT_THAT(std::string(world.ready().at("http_url").as_string()),
              StartsWith("https://127.0.0.1:"));
  const auto name = [&] {
    http::TlsClient client(world.address());
    return client.connected() ? client.server_name() : std::string();
  };
  EXPECT_EQ(name(), "first");
  http::TlsClient open(world.address());
  certificate.write("second");
  world.program().signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return name() == "second"; }));
  // A certificate without its key changes nothing.
  certificate.write("third", false);
  world.program().signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return world.program().err().contains("\"tls_reload\""); }));
  EXPECT_EQ(name(), "second");
  // Who was connected all the time was not disturbed.
  open.send(http::get("/livez", "Connection: close\r\n"));
  EXPECT_THAT(open.read_until("}"), HasSubstr("HTTP/1.1 200"));
}

TEST(Serve, BrowsersOfListedOriginsMayAskAndOthersMayNot) {  // T-06
  ApiWorld world({.env = {{"MILLRACE_SERVER_CORS_ORIGINS", "https://app.example"}}});
  const auto preflight = [&](const std::string& origin) {
    return world.ask({.method = "OPTIONS",
                      .path = "/api/v1/jobs",
                      .headers = {{"Origin", origin},
                                  {"Access-Control-Request-Method", "POST"},
                                  {"Access-Control-Request-Headers",
                                   "authorization,content-type,idempotency-key"}}});
  };
  const auto known = preflight("https://app.example");
  EXPECT_EQ(known.header("access-control-allow-origin"), "https://app.example");
  EXPECT_THAT(known.header("access-control-allow-methods"), HasSubstr("POST"));
  EXPECT_THAT(known.header("access-control-allow-headers"), HasSubstr("idempotency-key"));
  EXPECT_EQ(preflight("https://evil.example").header("access-control-allow-origin"), "");
  const auto asked = world.ask({.path = "/livez", .headers = {{"Origin", "https://app.example"}}});
  EXPECT_EQ(asked.header("access-control-allow-origin"), "https://app.example");
}

TEST(Serve, TheIdsOfARequestComeBackAndGoOnWithItsJobs) {  // H-24, A-07
  ApiWorld world;
  const auto token = world.jwt(Role::service_role);
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const auto made = world.post(
      "/api/v1/jobs", token, R"({"job_type":"noop","payload":{"n":1}})",
      {{"x-correlation-id", "order-19"}, {"traceparent", "00-" + trace + "-00f067aa0ba902b7-01"}});
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.header("x-correlation-id"), "order-19");
  EXPECT_THAT(made.header("traceparent"), StartsWith("00-" + trace + "-"));
  auto sql = world.sql();
  const auto rows = must(sql.query("select correlation_id, traceparent from millrace.job_fact"));
  EXPECT_EQ(rows[0].text(0), "order-19");
  EXPECT_THAT(std::string(rows[0].text(1)), StartsWith("00-" + trace + "-"));
  // Who sends none gets one.
  EXPECT_NE(world.get("/livez").header("x-correlation-id"), "");
}

// The whole of it on one machine, from nothing: database, server, worker.
TEST(ServeInsideUp, RunsAJobForATokenThatTheCommandMade) {
  TempFolder folder;
  const auto ready_file = folder.path() / "ready.json";
  const RunOptions here{.env = {}, .stdin_text = {}, .cwd = folder.path()};
  BackgroundProgram up({"up", "--ready-file", ready_file.string()}, here);
  const auto ready = up.wait_for_ready(ready_file);
  const std::string url(ready.at("http_url").as_string());
  WireClient client(must(http::parse_listen(url.substr(url.rfind('/') + 1))));
  const auto made = run_millrace({"token", "create", "--role", "service_role"}, here);
  ASSERT_EQ(made.code, 0) << made.err;
  const auto token = made.out.substr(0, made.out.find('\n'));
  const auto ask = [&](const Ask& what) { return client.ask(ApiWorld::bytes_of(what), {}); };
  const auto job = ask({.method = "POST",
                        .path = "/api/v1/jobs",
                        .token = token,
                        .body = R"({"job_type":"noop","payload":{"n":1}})"});
  ASSERT_EQ(job.status, 201) << job.body;
  const auto path = job.header("location");
  EXPECT_TRUE(eventually(
      [&] { return ask({.path = path, .token = token}).body.contains("\"completed\""); }));
  EXPECT_EQ(ask({.path = "/readyz"}).status, 200);
  up.signal(SIGTERM);
  EXPECT_EQ(up.wait(), 0) << up.err();
}

// Streams and the worker are woken by the same session.
TEST(ServeInsideUp, OneSessionListensForAllOfIt) {  // K01
  TempFolder folder;
  const auto ready_file = folder.path() / "ready.json";
  const RunOptions here{.env = {}, .stdin_text = {}, .cwd = folder.path()};
  BackgroundProgram up({"up", "--ready-file", ready_file.string()}, here);
  const auto ready = up.wait_for_ready(ready_file);
  const std::string url(ready.at("http_url").as_string());
  const auto address = must(http::parse_listen(url.substr(url.rfind('/') + 1)));
  const auto made = run_millrace({"token", "create", "--role", "service_role"}, here);
  ASSERT_EQ(made.code, 0) << made.err;
  const auto token = made.out.substr(0, made.out.find('\n'));
  api::StreamClient events(address, "/api/v1/events",
                           fmt::format("Authorization: Bearer {}\r\n", token));
  ASSERT_EQ(events.status(), 200) << events.head();
  WireClient client(address);
  // By then whoever wants to listen does.
  for (int i = 0; i < 5; ++i) {
    const auto job =
        client.ask(ApiWorld::bytes_of({.method = "POST",
                                       .path = "/api/v1/jobs",
                                       .token = token,
                                       .body = R"({"job_type":"noop","payload":{"n":1}})"}),
                   {});
    ASSERT_EQ(job.status, 201) << job.body;
    auto got = events.next();
    while (got && got->event != "job.completed") got = events.next();
    ASSERT_TRUE(got) << "the stream has ended";
  }
  auto sql = must(pg::SyncConnection::connect(std::string(ready.at("database_url").as_string())));
  const auto sessions =
      must(sql.query("select count(*) as n from pg_stat_activity"
                     " where application_name like '%listen%' or query ilike 'listen %'"));
  EXPECT_EQ(sessions[0].i64("n"), 1);
  up.signal(SIGTERM);
  EXPECT_EQ(up.wait(), 0) << up.err();
}

TEST(ServeInsideUp, StaysAwayWhenItIsNotWanted) {
  TempFolder folder;
  const auto ready_file = folder.path() / "ready.json";
  const RunOptions here{.env = {}, .stdin_text = {}, .cwd = folder.path()};
  BackgroundProgram up({"up", "--no-server", "--no-worker", "--ready-file", ready_file.string()},
                       here);
  EXPECT_FALSE(up.wait_for_ready(ready_file).contains("http_url"));
  up.signal(SIGTERM);
  EXPECT_EQ(up.wait(), 0) << up.err();
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
