// What is too large, too slow, too much or malformed: the right status, and the connection's end.
#include "base/event.h"
#include "http/server_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

namespace millrace::http {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

Route route(std::string method, std::string pattern, Handler handler, RouteLimits limits = {}) {
  return {std::move(method), std::move(pattern), std::move(handler), limits};
}

std::vector<Route> routes() {
  return {
      route("GET", "/hello", says([](auto&) { return "hello"; })),
      route("GET", "/smuggled", says([](auto&) { return "SMUGGLED"; })),
      route("POST", "/echo", echo),
      route("POST", "/small", echo, {.body_max_bytes = 10}),
      route("POST", "/measured", echo, {.length_required = true}),
      route("GET", "/large", says([](auto&) { return std::string(64 << 20, 'x'); })),
  };
}

void expect_problem(const Reply& reply, int status) {
  EXPECT_EQ(reply.status, status);
  EXPECT_EQ(reply.header("content-type"), "application/problem+json");
  EXPECT_THAT(reply.body, AllOf(HasSubstr("\"status\":" + std::to_string(status)),
                                HasSubstr("\"title\""), HasSubstr("\"detail\""),
                                HasSubstr("\"cid\":\"" + reply.header("x-correlation-id") + "\"")));
}

// ---- sizes

TEST(HttpServerLimits, EachRefusalHasItsStatusAndAProblem) {
  TestServer server(routes(), {.limits = {.head = {.request_line_max_bytes = 200,
                                                   .header_max_bytes = 1000,
                                                   .header_max_count = 10}}});
  std::string many;
  for (int i = 0; i < 11; ++i) many += "X: y\r\n";
  const std::vector<std::pair<int, std::string>> cases = {
      {414, "GET /" + std::string(300, 'a')},
      {431, get("/hello", "X: " + std::string(1000, 'a') + "\r\n")},
      {431, get("/hello", many)},
      {400, "GET /hello HTTP/1.1\r\n\r\n"},
      {400, get("/hello%")},
      {400, get("/../hello")},
      {417, get("/hello", "Expect: magic\r\n")},
      {501, "BREW /hello HTTP/1.1\r\nHost: a\r\n\r\n"},
      {501, get("/hello", "Transfer-Encoding: gzip\r\n")},
      {505, "GET /hello HTTP/3.0\r\nHost: a\r\n\r\n"},
      {413, post("/small", "12345678901")},
      {413, "POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n"},
      {413, "POST /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nB\r\n1234"},
      {411, "POST /measured HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {411, "POST /measured HTTP/1.1\r\nHost: a\r\n\r\n"},
      {400, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n\r\n"},
      {404, get("/nowhere")},
      {405, "PUT /hello HTTP/1.1\r\nHost: a\r\n\r\n"},
  };
  for (const auto& [status, bytes] : cases) {
    SCOPED_TRACE(bytes.substr(0, 60));
    expect_problem(server.ask(bytes), status);
  }
  EXPECT_EQ(server.ask(post("/small", "1234567890")).status, 200);
  EXPECT_EQ(server.ask(post("/measured", "x")).status, 200);
}

TEST(HttpServerLimits, TheRefusalOfALargeUploadCanBeRead) {
  TestServer server(routes());
  auto client = server.connect();
  // The client sends on without looking, as many do: the answer must not be lost in a reset.
  std::string bytes = "POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n";
  bytes.append(4'000'000, 'x');
  client.send(bytes);
  expect_problem(client.read_reply(), 413);
}

// ---- smuggling

TEST(HttpServerLimits, NoRequestHidesInsideAnother) {
  TestServer server(routes());
  const auto hidden = get("/smuggled");
  const std::string head = "POST /echo HTTP/1.1\r\nHost: a\r\n";
  const std::vector<std::string> attacks = {
      head + "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG",
      head + "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\nG",
      head + "Content-Length: 0\r\nContent-Length: 44\r\n\r\n",
      head + "Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
      head + "Content-Length: 0, 44\r\n\r\n",
      head + "Content-Length: +0\r\n\r\n",
      head + "Content-Length : 44\r\n\r\n",
      head + "Transfer-Encoding: xchunked\r\n\r\n",
      head + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
      head +
          "Transfer-Encoding:\x0b"
          "chunked\r\n\r\n0\r\n\r\n",
      head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
      head + "X: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      head + "X: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      head + "X: y\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      head + std::string("X: y\0\r\n\r\n", 10),
      head + "Transfer-Encoding: chunked\r\n\r\n1\nx\n0\n\n",
      head + "Transfer-Encoding: chunked\r\n\r\n1;\nx\r\n0\r\n\r\n",
      head + "Transfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n",
      "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "GET http://b/echo HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
      "GET /hello HTTP/1.1\nHost: a\n\n",
  };
  for (const auto& attack : attacks) {
    SCOPED_TRACE(testing::PrintToString(attack));
    auto client = server.connect();
    client.send(attack + hidden);
    const auto answers = client.read_until_closed();
    EXPECT_TRUE(answers.starts_with("HTTP/1.1 400") || answers.starts_with("HTTP/1.1 501"));
    EXPECT_EQ(answers.find("HTTP/1.1", 1), answers.npos) << "one answer, then the end";
    EXPECT_EQ(answers.find("SMUGGLED"), answers.npos);
  }
}

// ---- times

class HttpServerTimes : public testing::Test {
 protected:
  void start(std::vector<Route> table, ServerLimits limits = {}) {
    server_.emplace(std::move(table), ServerOptions{.limits = limits}, 1, &clock_);
  }
  std::chrono::milliseconds wait_for(RawClient& client) {
    return advance_until(clock_, 500ms, [&](auto wait) { return client.readable(wait); });
  }

  ManualClock clock_;
  std::optional<TestServer> server_;
};

TEST_F(HttpServerTimes, AHeadThatDoesNotEndIs408) {
  start(routes(), {.header_time_max = 5s});
  auto client = server_->connect();
  client.send("GET /hello HTTP/1.1\r\nHost: a\r\n");
  EXPECT_GE(wait_for(client), 5s);
  expect_problem(client.read_reply(), 408);
  client.finish_sending();
  EXPECT_TRUE(client.closed_without_answer());
}

TEST_F(HttpServerTimes, SendingSlowlyDoesNotBuyTime) {
  start(routes(), {.header_time_max = 5s});
  auto client = server_->connect();
  client.send("GET /hello HTTP/1.1\r\n");
  const auto moved = advance_until(clock_, 100ms, [&](auto wait) {
    if (client.readable(wait)) return true;
    client.send("X: y\r\n");
    return false;
  });
  EXPECT_GE(moved, 5s);
  EXPECT_LT(moved, 8s);
  EXPECT_EQ(client.read_reply().status, 408);
}

TEST_F(HttpServerTimes, IdleConnectionsEndWithoutAWord) {
  start(routes(), {.header_time_max = 5s, .idle_time_max = 20s});
  auto silent = server_->connect();
  EXPECT_GE(wait_for(silent), 5s);
  EXPECT_TRUE(silent.closed_without_answer());
  auto client = server_->connect();
  EXPECT_EQ(client.ask(get("/hello")).status, 200);
  EXPECT_GE(wait_for(client), 20s);
  EXPECT_TRUE(client.closed_without_answer());
}

TEST_F(HttpServerTimes, ABodyThatStopsIs408) {
  start(routes(), {.request_time_max = 60s, .body_stall_max = 5s});
  for (const auto* head :
       {"Content-Length: 10\r\n\r\n123", "Transfer-Encoding: chunked\r\n\r\n5\r\n12"}) {
    auto client = server_->connect();
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\n" + std::string(head));
    EXPECT_GE(wait_for(client), 5s);
    expect_problem(client.read_reply(), 408);
  }
}

TEST_F(HttpServerTimes, ABodyThatTricklesForeverIs408) {
  start(routes(), {.request_time_max = 30s, .body_stall_max = 5s});
  auto client = server_->connect();
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
  const auto moved = advance_until(clock_, 500ms, [&](auto wait) {
    if (client.readable(wait)) return true;
    client.send("x");
    return false;
  });
  EXPECT_GE(moved, 30s);
  EXPECT_EQ(client.read_reply().status, 408);
}

TEST_F(HttpServerTimes, AHandlerThatTakesTooLongIs503AndIsTold) {
  Event released;
  std::string reason;
  start({route("GET", "/slow",
               [&](ServerRequest& request, ResponseWriter& response) -> Task<void> {
                 auto token = request.cancel_token();
                 co_await token.wait();
                 reason = token.reason();
                 released.set();
                 response.reply(200, "text/plain", "too late");
                 co_return ok();
               },
               {.time_max = 3s})});
  auto client = server_->connect();
  client.send(get("/slow"));
  EXPECT_GE(wait_for(client), 3s);
  const auto reply = client.read_reply();
  expect_problem(reply, 503);
  EXPECT_EQ(reply.header("retry-after"), "1");
  EXPECT_TRUE(client.closed_without_answer());
  const auto log = server_->wait_for_log(1);
  EXPECT_EQ(log[0].status, 503);
  EXPECT_EQ(log[0].reason, "the request took too long");
  EXPECT_EQ(reason, "the request took too long");
}

// The handler goes on and may commit: 503 would tell the client that nothing was done.
TEST_F(HttpServerTimes, AChangeThatTakesTooLongIs504BecauseItMayStillHappen) {
  start({route("POST", "/slow",
               [](ServerRequest& request, ResponseWriter& response) -> Task<void> {
                 co_await request.cancel_token().wait();
                 response.reply(200, "text/plain", "too late");
                 co_return ok();
               },
               {.time_max = 3s})});
  auto client = server_->connect();
  client.send(post("/slow", ""));
  EXPECT_GE(wait_for(client), 3s);
  const auto reply = client.read_reply();
  expect_problem(reply, 504);
  EXPECT_EQ(reply.header("retry-after"), "") << "not an invitation to repeat it";
  EXPECT_THAT(reply.body, testing::HasSubstr("may have been done"));
  EXPECT_EQ(server_->wait_for_log(1)[0].status, 504);
}

TEST_F(HttpServerTimes, ALongLivedRouteHasNoEndOfItsOwn) {
  Event release;
  start({route("GET", "/poll",
               [&](ServerRequest& request, ResponseWriter& response) -> Task<void> {
                 co_await release.wait();
                 // Its head has memory of its own by now.
                 response.reply(200, "text/plain",
                                std::string(request.path) + std::string(*request.header("x-a")));
                 co_return ok();
               },
               {.long_lived = true})},
        {.request_time_max = 3s});
  auto client = server_->connect();
  client.send(get("/poll", "X-A: b\r\n") + get("/poll", "X-A: c\r\n"));
  for (int i = 0; i < 100; ++i) {
    clock_.advance(1s);
    ASSERT_FALSE(client.readable(1ms));
  }
  release.set();
  EXPECT_EQ(client.read_reply().body, "/pollb");
  EXPECT_EQ(client.read_reply().body, "/pollc");
}

TEST_F(HttpServerTimes, AClientThatReadsNothingIsCut) {
  start(routes(), {.write_stall_max = 5s});
  auto client = server_->connect(4096);
  client.send(get("/large"));
  const auto moved =
      advance_until(clock_, 100ms, [&](auto wait) { return server_->has_logged(1, wait); });
  EXPECT_GE(moved, 5s);
  const auto log = server_->wait_for_log(1);
  EXPECT_TRUE(log[0].cut);
  EXPECT_EQ(log[0].reason, "the client took nothing of the answer");
}

TEST_F(HttpServerTimes, AClientThatReadsSlowlyGetsEverything) {
  start(routes(), {.write_stall_max = 5s});
  auto client = server_->connect(4096);
  client.send(get("/large"));
  // Steps larger than what the kernel keeps: the server has written within the last few.
  for (std::size_t i = 1; i <= 20; ++i) {
    ASSERT_TRUE(client.receive_until(i * (3U << 20U)));
    clock_.advance(1s);
  }
  EXPECT_EQ(client.read_reply().body.size(), 64U << 20U);
}

// ---- numbers of connections

TEST(HttpServerLimits, ConnectionsBeyondTheLimitAreTold) {
  TestServer server(routes(), {.limits = {.connections_max = 2}});
  auto first = server.connect();
  auto second = server.connect();
  EXPECT_EQ(first.ask(get("/hello")).status, 200);
  EXPECT_EQ(second.ask(get("/hello")).status, 200);
  auto third = server.connect();
  const auto reply = third.ask(get("/hello"));
  expect_problem(reply, 503);
  EXPECT_EQ(reply.header("retry-after"), "1");
  EXPECT_EQ(reply.header("connection"), "close");
  EXPECT_EQ(first.ask(get("/hello")).status, 200) << "those inside notice nothing";
  second.close();
  third.close();
  int status = 503;
  for (int i = 0; i < 1000 && status != 200; ++i) status = server.ask(get("/hello")).status;
  EXPECT_EQ(status, 200) << "a place that was left is free again";
}

TEST(HttpServerLimits, OneClientCannotTakeAllConnections) {
  TestServer server(routes(), {.limits = {.connections_per_peer_max = 2}});
  auto first = server.connect();
  auto second = server.connect();
  EXPECT_EQ(first.ask(get("/hello")).status, 200);
  EXPECT_EQ(second.ask(get("/hello")).status, 200);
  expect_problem(server.ask(get("/hello")), 503);
  RawClient elsewhere(server.address(), 0, "127.0.0.2");
  EXPECT_EQ(elsewhere.ask(get("/hello")).status, 200);
  first.close();
  int status = 503;
  for (int i = 0; i < 1000 && status != 200; ++i) status = server.ask(get("/hello")).status;
  EXPECT_EQ(status, 200);
}

TEST(HttpServerLimits, ATrustedProxyBringsManyClients) {
  TestServer server(routes(), {.limits = {.connections_per_peer_max = 1},
                               .trusted_proxies = {*IpNetwork::parse("127.0.0.1")}});
  auto first = server.connect();
  auto second = server.connect();
  EXPECT_EQ(first.ask(get("/hello")).status, 200);
  EXPECT_EQ(second.ask(get("/hello")).status, 200);
  RawClient elsewhere(server.address(), 0, "127.0.0.2");
  EXPECT_EQ(elsewhere.ask(get("/hello")).status, 200);
  RawClient again(server.address(), 0, "127.0.0.2");
  expect_problem(again.ask(get("/hello")), 503);
}

}  // namespace
}  // namespace millrace::http
