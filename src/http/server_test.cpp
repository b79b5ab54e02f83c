// The server over loopback: exact bytes in, answers out.
#include "http/server.h"

#include "http/client.h"
#include "http/server_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <sys/stat.h>
#include <thread>

namespace millrace::http {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

Route route(std::string method, std::string pattern, Handler handler, RouteLimits limits = {}) {
  return {std::move(method), std::move(pattern), std::move(handler), limits};
}

std::vector<Route> plain_routes() {
  return {
      route("GET", "/hello", says([](auto&) { return "hello"; })),
      route("GET", "/jobs/{id}", says([](auto& r) { return std::string(r.parameter("id")); })),
      route("POST", "/echo", echo),
      route("POST", "/ignore", says([](auto&) { return "ignored"; })),
      route(
          "GET", "/fails",
          [](auto&, auto&) -> Task<void> { co_return fail(ErrorKind::conflict, "secret detail"); }),
      route("GET", "/throws",
            [](auto&, auto&) -> Task<void> {
              throw std::runtime_error("secret detail");
              co_return ok();
            }),
      route("GET", "/silent", [](auto&, auto&) -> Task<void> { co_return ok(); }),
  };
}

TEST(HttpServer, AnswersAGet) {
  TestServer server(plain_routes());
  const auto reply = server.ask(get("/hello"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "hello");
  EXPECT_EQ(reply.header("content-length"), "5");
  EXPECT_EQ(reply.header("content-type"), "text/plain");
  EXPECT_EQ(reply.header("x-content-type-options"), "nosniff");
  EXPECT_EQ(reply.header("connection"), "");
  EXPECT_THAT(reply.header("date"), MatchesRegex("[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} "
                                                 "[0-9]{2}:[0-9]{2}:[0-9]{2} GMT"));
}

TEST(HttpServer, TheDateIsThatOfTheClock) {
  ManualClock clock;
  TestServer server(plain_routes(), {}, 1, &clock);
  auto client = server.connect();
  EXPECT_EQ(client.ask(get("/hello")).header("date"), "Tue, 01 Jan 2030 00:00:00 GMT");
  clock.set_wall(clock.wall() + 32 * 24h + 1h + 2min + 3s);
  EXPECT_EQ(client.ask(get("/hello")).header("date"), "Sat, 02 Feb 2030 01:02:03 GMT");
}

TEST(HttpServer, GivesTheHandlerItsRequest) {
  std::string seen;
  TestServer server({route(
      "POST", "/q/{queue}/jobs/{id}", says([&seen](ServerRequest& r) {
        seen = std::string(r.method) + " " + std::string(r.path) + " " + std::string(r.query) +
               " " + std::string(r.host) + " " + std::string(r.route) + " " +
               std::string(r.parameter("queue")) + " " + std::string(r.parameter("id")) + " " +
               std::string(r.header("X-One").value_or("none")) + " " +
               std::string(r.header("x-two").value_or("none")) + " " + r.peer->host + " " +
               std::to_string(r.body_length().value_or(99)) + (r.secure ? " tls" : " plain");
        return "";
      }))});
  EXPECT_EQ(server
                .ask("POST /q/a%20b/jobs/7?x=1&y HTTP/1.1\r\nHost: h:1\r\nx-ONE: 1\r\n"
                     "Content-Length: 2\r\n\r\nhi")
                .status,
            200);
  EXPECT_EQ(seen,
            "POST /q/a%20b/jobs/7 x=1&y h:1 /q/{queue}/jobs/{id} a b 7 1 none 127.0.0.1 2 plain");
}

TEST(HttpServer, KeepsTheConnectionForTheNextRequest) {
  TestServer server(plain_routes());
  auto client = server.connect();
  for (int i = 0; i < 100; ++i) {
    const auto id = std::to_string(i);
    ASSERT_EQ(client.ask(get("/jobs/" + id)).body, id);
  }
  EXPECT_EQ(server.server().connections(), 1U);
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  TestServer server(plain_routes());
  auto client = server.connect();
  std::string bytes;
  for (int i = 0; i < 500; ++i) {
    bytes +=
        i % 3 == 0 ? post("/echo", "body" + std::to_string(i)) : get("/jobs/" + std::to_string(i));
  }
  std::jthread sender([&] { client.send(bytes); });
  for (int i = 0; i < 500; ++i) {
    ASSERT_EQ(client.read_reply().body, (i % 3 == 0 ? "body" : "") + std::to_string(i));
  }
}

TEST(HttpServer, SpeaksHttp10) {
  TestServer server(plain_routes());
  auto client = server.connect();
  client.send("GET /hello HTTP/1.0\r\n\r\n");
  const auto text = client.read_until_closed();
  EXPECT_THAT(text, AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("Connection: close\r\n"),
                          HasSubstr("\r\n\r\nhello")));
  auto keeper = server.connect();
  const auto reply = keeper.ask("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(reply.header("connection"), "keep-alive");
  EXPECT_EQ(keeper.ask(get("/hello")).status, 200);
}

TEST(HttpServer, ClosesWhenAskedTo) {
  TestServer server(plain_routes());
  auto client = server.connect();
  const auto reply = client.ask(get("/hello", "Connection: close\r\n"));
  EXPECT_EQ(reply.header("connection"), "close");
  EXPECT_TRUE(client.closed_without_answer());
}

TEST(HttpServer, HeadIsGetWithoutTheBody) {
  TestServer server(plain_routes());
  auto client = server.connect();
  const auto reply = client.ask("HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n", true);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.header("content-length"), "5");
  EXPECT_EQ(client.ask(get("/jobs/next")).body, "next") << "no body was in between";
}

TEST(HttpServer, OptionsSaysWhatAPathTakes) {
  TestServer server(plain_routes());
  auto reply = server.ask("OPTIONS /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(reply.header("allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(reply.header("content-length"), "");
  reply = server.ask("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(reply.header("allow"), "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(server.ask("OPTIONS /none HTTP/1.1\r\nHost: a\r\n\r\n").status, 404);
}

TEST(HttpServer, ReadsBodiesOfEveryKind) {
  TestServer server(plain_routes());
  auto client = server.connect();
  EXPECT_EQ(client.ask(post("/echo", "hello")).body, "hello");
  EXPECT_EQ(client.ask(post("/echo", "")).body, "");
  EXPECT_EQ(client.ask("POST /echo HTTP/1.1\r\nHost: a\r\n\r\n").body, "");
  const std::string large(700'000, 'x');
  EXPECT_EQ(client.ask(post("/echo", large)).body, large);
  EXPECT_EQ(client
                .ask("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                     "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nX-Trailer: z\r\n\r\n")
                .body,
            "hello world");
  std::string chunked = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 10; ++i)
    chunked += "10000\r\n" + std::string(65536, static_cast<char>('a' + i)) + "\r\n";
  const auto reply = client.ask(chunked + "0\r\n\r\n");
  EXPECT_EQ(reply.body.size(), 655'360U);
  EXPECT_EQ(reply.body.substr(655'359), "j");
  EXPECT_EQ(client.ask(get("/hello")).body, "hello");
}

TEST(HttpServer, HeadersSurviveAChunkedBody) {
  TestServer server({route("POST", "/x", [](ServerRequest& r, ResponseWriter& w) -> Task<void> {
    const auto before = *r.header("x-kept");  // A view from before the body was read.
    MR_CO_TRY(const auto body, co_await r.read_whole_body());
    w.reply(200, "text/plain",
            std::string(before) + std::to_string(body.size()) + std::string(r.path));
    co_return ok();
  })});
  auto client = server.connect();
  client.send(
      "POST /x HTTP/1.1\r\nHost: a\r\nX-Kept: value\r\nTransfer-Encoding: chunked\r\n\r\n4000\r\n");
  client.send(std::string(0x4000, 'b') + "\r\n0\r\n\r\n");
  EXPECT_EQ(client.read_reply().body, "value16384/x");
}

TEST(HttpServer, ABodyNobodyReadsDoesNotBecomeTheNextRequest) {
  TestServer server(plain_routes());
  auto client = server.connect();
  const auto smuggled = get("/jobs/smuggled");
  EXPECT_EQ(client.ask(post("/ignore", smuggled)).body, "ignored");
  EXPECT_EQ(client.ask(post("/none", smuggled)).status, 404);
  EXPECT_EQ(client.ask(get("/hello")).body, "hello");
  // Too much to read for nothing, or of unknown length: the connection ends instead.
  const auto reply = client.ask(post("/ignore", std::string(100'000, 'x')));
  EXPECT_EQ(reply.body, "ignored");
  EXPECT_EQ(reply.header("connection"), "close");
  EXPECT_TRUE(client.closed_without_answer());
  auto chunked = server.connect();
  EXPECT_EQ(chunked
                .ask("POST /ignore HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                     "1\r\nx\r\n0\r\n\r\n" +
                     smuggled)
                .header("connection"),
            "close");
  EXPECT_TRUE(chunked.closed_without_answer());
}

TEST(HttpServer, ContinueIsSaidWhenTheHandlerWantsTheBody) {
  TestServer server(plain_routes());
  auto client = server.connect();
  client.send(
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(client.ask("hello").body, "hello");
  EXPECT_EQ(client.ask(get("/hello")).status, 200);
}

TEST(HttpServer, ContinueIsNotSaidWhenTheRequestIsRefused) {
  TestServer server(plain_routes());
  for (const auto* path : {"/none", "/ignore"}) {
    auto client = server.connect();
    client.send("POST " + std::string(path) +
                " HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    const auto reply = client.read_reply();
    EXPECT_NE(reply.status, 100);
    EXPECT_EQ(reply.header("connection"), "close") << "the body may or may not follow";
  }
}

TEST(HttpServer, UnknownPathsAndMethodsAreProblems) {
  TestServer server(plain_routes());
  auto client = server.connect();
  auto reply = client.ask(get("/none?token=secret", "x-correlation-id: c-1\r\n"));
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.header("content-type"), "application/problem+json");
  EXPECT_EQ(reply.body, R"({"type":"about:blank","title":"Not Found","status":404,)"
                        R"("detail":"there is nothing at this path","cid":"c-1"})");
  reply = client.ask(post("/hello", ""));
  EXPECT_EQ(reply.status, 405);
  EXPECT_EQ(reply.header("allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(client.ask(get("/hello")).status, 200) << "the connection goes on";
}

// H-18: nothing of an exception or an internal error gets out.
TEST(HttpServer, FailuresOfHandlersAreInternalErrors) {
  TestServer server(plain_routes());
  auto client = server.connect();
  for (const auto* path : {"/fails", "/throws", "/silent"}) {
    const auto reply = client.ask(get(path));
    EXPECT_EQ(reply.status, 500) << path;
    EXPECT_THAT(reply.body, Not(HasSubstr("secret")));
  }
  EXPECT_EQ(client.ask(get("/hello")).status, 200);
}

TEST(HttpServer, ErrorsAndProblemsAreWordedByCallbacks) {
  TestServer server(
      plain_routes(),
      {.problem =
           [](const Problem& problem, ResponseWriter& response) {
             response.reply(problem.status, "text/x", "problem " + std::to_string(problem.status));
           },
       .on_error =
           [](const Error& error, const ServerRequest& request, ResponseWriter& response) {
             response.reply(409, "text/x",
                            std::string(to_string(error.kind)) + std::string(request.path));
           }});
  auto client = server.connect();
  EXPECT_EQ(client.ask(get("/none")).body, "problem 404");
  EXPECT_EQ(client.ask(get("/fails")).body, "conflict/fails");
  EXPECT_EQ(client.ask("bad\r\n\r\n").body, "problem 400");
}

TEST(HttpServer, AHandlersHeadersCannotSplitTheAnswer) {
  TestServer server({route("GET", "/x", [](ServerRequest& r, ResponseWriter& w) -> Task<void> {
    w.header("X-Good", "yes");
    w.header("Location",
             *parse_query(r.query)->at(0).second.c_str() == 'g' ? "good" : "a\r\nX-Evil: 1");
    w.reply(302);
    co_return ok();
  })});
  auto client = server.connect();
  auto reply = client.ask(get("/x?q=g"));
  EXPECT_EQ(reply.status, 302);
  EXPECT_EQ(reply.header("location"), "good");
  EXPECT_EQ(reply.header("content-length"), "0");
  reply = client.ask(get("/x?q=b"));
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(reply.header("x-evil"), "");
}

// H-24
TEST(HttpServer, CorrelationIdsAreEchoedOrMade) {
  TestServer server(plain_routes());
  auto client = server.connect();
  EXPECT_EQ(client.ask(get("/hello", "X-Correlation-Id: abc-1\r\n")).header("x-correlation-id"),
            "abc-1");
  std::set<std::string> made;
  for (const auto* bad : {"", "X-Correlation-Id: a b\r\n", "X-Correlation-Id: <script>\r\n"}) {
    const auto id = client.ask(get("/hello", bad)).header("x-correlation-id");
    EXPECT_TRUE(Uuid::parse(id).has_value()) << id;
    made.insert(id);
  }
  EXPECT_EQ(made.size(), 3U);
}

TEST(HttpServer, TracesGoOnUnderASpanOfOurs) {
  TestServer server({route("GET", "/t", says([](auto& r) { return r.trace.traceparent(); }))});
  auto client = server.connect();
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const auto reply = client.ask(get("/t", "traceparent: 00-" + trace + "-00f067aa0ba902b7-01\r\n"));
  EXPECT_THAT(reply.body, MatchesRegex("00-" + trace + "-[0-9a-f]{16}-01"));
  EXPECT_THAT(reply.body, Not(HasSubstr("00f067aa0ba902b7")));
  EXPECT_EQ(reply.header("traceparent"), reply.body);
  const auto fresh = client.ask(get("/t", "traceparent: 00-bad-01\r\n"));
  EXPECT_EQ(fresh.header("traceparent"), "");
  EXPECT_THAT(fresh.body, Not(HasSubstr(trace)));
}

// T-06
TEST(HttpServer, CorsIsForListedOrigins) {
  TestServer server(plain_routes(), {.cors = {.origins = {"https://app.example"}}});
  auto client = server.connect();
  const std::string origin = "Origin: https://app.example\r\n";
  EXPECT_EQ(client.ask(get("/hello", origin)).header("access-control-allow-origin"),
            "https://app.example");
  EXPECT_EQ(client.ask(get("/none", origin)).header("access-control-allow-origin"),
            "https://app.example")
      << "a page may read its errors, too";
  const auto other = client.ask(get("/hello", "Origin: https://evil.example\r\n"));
  EXPECT_EQ(other.header("access-control-allow-origin"), "");
  EXPECT_EQ(other.header("vary"), "Origin");
  const auto preflight = client.ask("OPTIONS /hello HTTP/1.1\r\nHost: a\r\n" + origin +
                                    "Access-Control-Request-Method: GET\r\n\r\n");
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(preflight.header("access-control-allow-methods"), "GET, HEAD, OPTIONS");
  EXPECT_THAT(preflight.header("access-control-allow-headers"), HasSubstr("authorization"));
}

TEST(HttpServer, AHandlersOwnOptionsIsNotForPreflights) {
  const auto own = [](ServerRequest&, ResponseWriter& response) -> Task<void> {
    response.header("Tus-Version", "1.0.0");
    response.reply(204);
    co_return ok();
  };
  TestServer server({route("OPTIONS", "/files", own)},
                    {.cors = {.origins = {"https://app.example"}}});
  const std::string head = "OPTIONS /files HTTP/1.1\r\nHost: a\r\nOrigin: https://app.example\r\n";
  const auto plain = server.ask(head + "\r\n");
  EXPECT_EQ(plain.header("tus-version"), "1.0.0");
  EXPECT_EQ(plain.header("access-control-allow-origin"), "https://app.example");
  const auto preflight = server.ask(head + "Access-Control-Request-Method: POST\r\n\r\n");
  EXPECT_EQ(preflight.header("tus-version"), "");
  EXPECT_EQ(preflight.header("access-control-allow-methods"), "OPTIONS");
}

// T-08: the query may hold tokens and is not logged.
TEST(HttpServer, TheAccessLogKnowsWhatHappened) {
  TestServer server(
      {route("POST", "/jobs/{id}", [](ServerRequest& r, ResponseWriter& w) -> Task<void> {
        MR_CO_TRY(auto body, co_await r.read_whole_body());
        r.log_fields.push_back({"tenant_id", "t-1"});
        w.reply(201, "text/plain", body + body);
        co_return ok();
      })});
  auto client = server.connect();
  client.ask(post("/jobs/7?token=secret", "12345", "x-correlation-id: c-9\r\n"));
  client.ask(get("/none"));
  client.ask("nonsense\r\n\r\n");
  const auto log = server.wait_for_log(3);
  EXPECT_EQ(log[0].method, "POST");
  EXPECT_EQ(log[0].path, "/jobs/7");
  EXPECT_EQ(log[0].route, "/jobs/{id}");
  EXPECT_EQ(log[0].status, 201);
  EXPECT_EQ(log[0].received_bytes, 5U);
  EXPECT_EQ(log[0].sent_bytes, 10U);
  EXPECT_EQ(log[0].correlation_id, "c-9");
  EXPECT_EQ(log[0].peer, "127.0.0.1");
  EXPECT_EQ(log[0].fields, 1U);
  EXPECT_FALSE(log[0].cut);
  EXPECT_EQ(log[1].status, 404);
  EXPECT_EQ(log[1].route, "");
  EXPECT_EQ(log[2].status, 400);
  EXPECT_EQ(log[2].method, "");
  EXPECT_NE(log[2].reason, "");
}

// H06: anybody can write X-Forwarded-For; what a proxy of ours wrote into it is true.
TEST(HttpServer, TheClientBehindATrustedProxyIsKnownAndNobodyElseIsBelieved) {
  const auto who = [](ServerRequest& r) { return r.peer->host + (r.secure ? " tls" : " plain"); };
  const auto headers = "X-Forwarded-For: 198.51.100.1, 203.0.113.7\r\nX-Forwarded-Proto: https\r\n";
  TestServer alone({route("GET", "/who", says(who))});
  EXPECT_EQ(alone.ask(get("/who", headers)).body, "127.0.0.1 plain");
  TestServer behind({route("GET", "/who", says(who)), route("GET", "/fails", says(who))},
                    {.trusted_proxies = {*IpNetwork::parse("127.0.0.0/8")}});
  EXPECT_EQ(behind.ask(get("/who", headers)).body, "203.0.113.7 tls");
  EXPECT_EQ(behind.ask(get("/who")).body, "127.0.0.1 plain");
  EXPECT_EQ(behind.ask(get("/who", "X-Forwarded-For: unknown\r\n")).body, "127.0.0.1 plain");
  auto client = behind.connect();
  EXPECT_EQ(client.ask(get("/who", headers)).body, "203.0.113.7 tls");
  EXPECT_EQ(client.ask(get("/who")).body, "127.0.0.1 plain") << "each request for itself";
  const auto log = behind.wait_for_log(5);
  EXPECT_EQ(log[0].peer, "203.0.113.7");
  EXPECT_EQ(log[1].peer, "127.0.0.1");
}

// T-08, J07: also where the request is refused before its handler.
TEST(HttpServer, PathsThatHoldNamesOfPeopleAreMarkedForTheLog) {
  auto upload = route("PUT", "/uploads/{key}", echo);
  upload.private_path = true;
  upload.limits.body_max_bytes = 4;
  TestServer server({upload, route("GET", "/files/{path...}", echo), route("GET", "/a", echo)});
  const auto put = [&](std::string_view body) {
    return server
        .ask("PUT /uploads/jane.pdf HTTP/1.1\r\nHost: a\r\nContent-Length: " +
             std::to_string(body.size()) + "\r\n\r\n" + std::string(body))
        .status;
  };
  EXPECT_EQ(put("1234"), 200);
  EXPECT_EQ(put("12345"), 413);
  EXPECT_EQ(server.ask(get("/uploads/jane.pdf")).status, 405);
  EXPECT_EQ(server.ask(get("/files/b/jane.pdf")).status, 200);
  EXPECT_EQ(server.ask(post("/files/b/jane.pdf", "")).status, 405);
  EXPECT_EQ(server.ask(get("/files/b%2Fjane.pdf")).status, 400);
  EXPECT_EQ(server.ask(get("/files/../jane.pdf")).status, 400);
  const auto log = server.wait_for_log(7);
  for (const auto& line : log) EXPECT_TRUE(line.private_path) << line.status << " " << line.path;
  EXPECT_EQ(log[1].route, "/uploads/{key}") << "which route it was is no secret";
  EXPECT_EQ(server.ask(get("/a")).status, 200);
  EXPECT_FALSE(server.wait_for_log(8)[7].private_path);
}

TEST(AccessLogLine, HasNoPathThatIsPrivate) {  // T-08
  ManualClock clock;
  std::string line;
  const Logger log(clock, [&line](std::string_view text) { line = text; }, Logger::Format::json);
  AccessRecord record{.method = "PUT", .path = "/u/jane", .route = "/u/{key}", .status = 201};
  log_access(log, record);
  EXPECT_THAT(line, HasSubstr("jane"));
  record.private_path = true;
  log_access(log, record);
  EXPECT_THAT(line, AllOf(Not(HasSubstr("jane")), HasSubstr(R"("route":"/u/{key}")")));
}

TEST(AccessLogLine, HasTheFieldsThatPeopleSearchFor) {
  ManualClock clock;
  std::string line;
  const Logger log(clock, [&line](std::string_view text) { line = text; }, Logger::Format::json);
  const PeerAddress peer{.host = "203.0.113.7", .port = 1};
  const std::vector<LogField> fields = {{"tenant_id", "t-1"}};
  log_access(log, {.method = "GET",
                   .path = "/x",
                   .route = "/{x}",
                   .status = 200,
                   .duration = 1500us,
                   .correlation_id = "c",
                   .peer = &peer,
                   .fields = &fields});
  EXPECT_THAT(line, AllOf(HasSubstr(R"("event":"http_request")"), HasSubstr(R"("status":200)"),
                          HasSubstr(R"("ms":1.5)"), HasSubstr(R"("cid":"c")"),
                          HasSubstr(R"("peer":"203.0.113.7")"), HasSubstr(R"("tenant_id":"t-1")"),
                          Not(HasSubstr("reason"))));
}

TEST(HttpServer, ConnectionsAreSpreadOverTheThreads) {
  TestServer server({route("GET", "/thread", says([](auto&) {
                             std::ostringstream id;
                             id << std::this_thread::get_id();
                             return id.str();
                           }))},
                    {}, 2);
  std::multiset<std::string> threads;
  std::vector<RawClient> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(server.connect());
    threads.insert(clients.back().ask(get("/thread")).body);
  }
  const std::set<std::string> distinct(threads.begin(), threads.end());
  ASSERT_EQ(distinct.size(), 2U);
  for (const auto& id : distinct) EXPECT_EQ(threads.count(id), 5U);
}

TEST(HttpServer, ListensOnUnixSocketsToo) {
  const auto path =
      std::filesystem::temp_directory_path() / ("mr_http_" + std::to_string(::getpid()));
  {
    TestServer server(plain_routes(),
                      {.listen = {{.path = path}, {.host = "127.0.0.1"}}, .unix_mode = 0600});
    RawClient client(server.address());
    EXPECT_EQ(client.ask(get("/hello")).body, "hello");
    EXPECT_EQ(server.wait_for_log(1)[0].peer, "");
    RawClient other(server.server().endpoints()[1]);
    EXPECT_EQ(other.ask(get("/hello")).body, "hello");
    struct stat found{};
    ASSERT_EQ(::stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U);
  }
  EXPECT_FALSE(std::filesystem::exists(path)) << "the file goes with its server";
}

TEST(HttpServer, ReplacesASocketFileNobodyListensOn) {
  const auto path =
      std::filesystem::temp_directory_path() / ("mr_stale_" + std::to_string(::getpid()));
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::strncpy(name.sun_path, path.c_str(), sizeof name.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
  ::close(fd);
  TestServer server(plain_routes(), {.listen = {{.path = path}}});
  EXPECT_EQ(server.ask(get("/hello")).status, 200);
}

TEST(HttpServer, LeavesTheSocketFileOfItsSuccessor) {
  const auto path =
      std::filesystem::temp_directory_path() / ("mr_successor_" + std::to_string(::getpid()));
  std::optional<TestServer> first(std::in_place, plain_routes(),
                                  ServerOptions{.listen = {{.path = path}}});
  std::filesystem::remove(path);
  TestServer second(plain_routes(), {.listen = {{.path = path}}});
  first.reset();
  EXPECT_EQ(second.ask(get("/hello")).status, 200);
}

TEST(HttpServer, DoesNotStartWhereSomebodyElseListens) {
  TestServer first(plain_routes());
  const auto path =
      std::filesystem::temp_directory_path() / ("mr_file_" + std::to_string(::getpid()));
  std::fclose(std::fopen(path.c_str(), "w"));
  ServerThreads threads(1);
  SystemClock clock;
  SeededRandom random(1);
  auto log = Logger::silent();
  for (const auto& address : {first.address(), ListenAddress{.path = path}}) {
    Server server(threads.executors(), *Router::make(plain_routes()), {.listen = {address}}, clock,
                  random, log);
    const auto started = server.start();
    ASSERT_FALSE(started.has_value());
    EXPECT_EQ(started.error().kind, ErrorKind::unavailable);
    EXPECT_THAT(started.error().message, HasSubstr(address.to_string()));
  }
  EXPECT_TRUE(std::filesystem::exists(path)) << "a file that is no socket is not ours to remove";
  std::filesystem::remove(path);
}

TEST(HttpServer, ServesTheOutboundClient) {
  TestServer server(plain_routes(), {}, 2);
  boost::asio::io_context io(1);
  Client client(io.get_executor());
  const auto url = "http://" + server.address().to_string();
  const auto hello = run_blocking(io, client.send({.url = url + "/hello"}));
  ASSERT_TRUE(hello.has_value()) << hello.error().message;
  EXPECT_EQ(hello->body, "hello");
  const std::string body(500'000, 'b');
  const auto echoed =
      run_blocking(io, client.send({.method = "POST", .url = url + "/echo", .body = body}));
  ASSERT_TRUE(echoed.has_value()) << echoed.error().message;
  EXPECT_EQ(echoed->body, body);
}

}  // namespace
}  // namespace millrace::http
