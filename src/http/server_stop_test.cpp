// Drain: what stop() ends, what it waits for, what it cuts.
#include "base/event.h"
#include "http/server_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>

namespace millrace::http {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// A request that stays until the test lets it go.
struct Held {
  Handler handler() {
    return [this](ServerRequest&, ResponseWriter& response) -> Task<void> {
      begun.set();
      co_await release.wait();
      response.reply(200, "text/plain", "done");
      co_return ok();
    };
  }
  Event begun;
  Event release;
};

std::vector<Route> routes(Held& held) {
  return {{"GET", "/held", held.handler()}, {"GET", "/hello", says([](auto&) { return "hello"; })}};
}

TEST(HttpServerStop, ClosesIdleConnectionsAndTheDoor) {
  Held held;
  TestServer server(routes(held), {}, 2);
  auto idle = server.connect();
  EXPECT_EQ(idle.ask(get("/hello")).status, 200);
  auto fresh = server.connect();
  EXPECT_EQ(fresh.ask(get("/hello")).status, 200);
  const auto report = server.stop(10s);
  EXPECT_EQ(report.cut_connections, 0U);
  EXPECT_TRUE(idle.closed_without_answer());
  EXPECT_TRUE(fresh.closed_without_answer());
  EXPECT_FALSE(server.connect().connected());
  EXPECT_TRUE(server.server().stopping());
}

TEST(HttpServerStop, LetsRunningRequestsFinish) {
  Held held;
  TestServer server(routes(held));
  auto client = server.connect();
  client.send(get("/held") + get("/hello"));
  run_blocking(held.begun.wait());
  auto stopped = std::async(std::launch::async, [&] { return server.stop(20s); });
  // The door is closed before anything else happens.
  while (RawClient(server.address()).connected()) {
  }
  held.release.set();
  const auto reply = client.read_reply();
  EXPECT_EQ(reply.body, "done");
  EXPECT_EQ(reply.header("connection"), "close");
  EXPECT_TRUE(client.closed_without_answer()) << "the request behind it was not begun";
  client.close();
  EXPECT_EQ(stopped.get().cut_connections, 0U);
}

TEST(HttpServerStop, CutsWhatIsLeftAtTheDeadline) {
  Held held;
  TestServer server(routes(held));
  auto client = server.connect();
  client.send(get("/held"));
  run_blocking(held.begun.wait());
  auto stopped = std::async(std::launch::async, [&] { return server.stop(10ms); });
  EXPECT_TRUE(client.closed_without_answer());
  held.release.set();
  EXPECT_EQ(stopped.get().cut_connections, 1U);
}

TEST(HttpServerStop, ARequestThatListensIsToldAtTheDeadline) {
  std::promise<std::string> reason;
  Event begun;
  TestServer server({{"GET", "/x", [&](ServerRequest& request, ResponseWriter&) -> Task<void> {
                        auto token = request.cancel_token();
                        begun.set();
                        co_await token.wait();
                        reason.set_value(token.reason());
                        co_return fail(ErrorKind::cancelled, "stopped");
                      }}});
  auto client = server.connect();
  client.send(get("/x"));
  run_blocking(begun.wait());
  const auto report = server.stop(10ms);
  EXPECT_EQ(report.cut_connections, 1U);
  EXPECT_EQ(report.stuck_connections, 0U);
  EXPECT_NE(reason.get_future().get(), "");
}

TEST(HttpServerStop, StreamsAndLongPollsEndAtOnce) {
  Event polling;
  Event streaming;
  TestServer server({{"GET",
                      "/poll",
                      [&](ServerRequest& request, ResponseWriter& response) -> Task<void> {
                        auto token = request.cancel_token();
                        polling.set();
                        co_await token.wait();
                        response.reply(200, "text/plain", token.reason());
                        co_return ok();
                      },
                      {.long_lived = true}},
                     {"GET",
                      "/events",
                      [&](ServerRequest&, ResponseWriter& response) -> Task<void> {
                        MR_CO_TRY(auto stream, co_await response.start_events());
                        streaming.set();
                        co_await stream.closed();
                        co_return ok();
                      },
                      {.long_lived = true}}});
  auto poll = server.connect();
  auto events = server.connect();
  poll.send(get("/poll"));
  events.send(get("/events"));
  run_blocking(polling.wait());
  run_blocking(streaming.wait());
  EXPECT_EQ(server.stop(20s).cut_connections, 0U);
  EXPECT_EQ(poll.read_reply().body, "the server stops");
  const auto text = events.read_until_closed();
  EXPECT_TRUE(text.ends_with("\r\n\r\n0\r\n\r\n")) << "a proper end: " << text;
}

TEST(HttpServerStop, AStreamThatBeginsWhileTheServerStopsEndsAtOnce) {
  Event begun;
  Event release;
  TestServer server({{"GET",
                      "/events",
                      [&](ServerRequest&, ResponseWriter& response) -> Task<void> {
                        begun.set();
                        co_await release.wait();
                        MR_CO_TRY(auto stream, co_await response.start_events());
                        co_await stream.closed();
                        co_return ok();
                      },
                      {.long_lived = true}}});
  auto client = server.connect();
  client.send(get("/events"));
  run_blocking(begun.wait());
  auto stopped = std::async(std::launch::async, [&] { return server.stop(20s); });
  while (RawClient(server.address()).connected()) {
  }
  release.set();
  EXPECT_TRUE(client.read_until_closed().ends_with("\r\n\r\n0\r\n\r\n"));
  EXPECT_EQ(stopped.get().cut_connections, 0U);
}

TEST(HttpServerStop, IsSafeTwiceAndBeforeTheStart) {
  Held held;
  TestServer server(routes(held));
  EXPECT_EQ(server.stop(1s).cut_connections, 0U);
  EXPECT_EQ(server.stop(1s).cut_connections, 0U);
  ServerThreads threads(1);
  SystemClock clock;
  SeededRandom random(1);
  auto log = Logger::silent();
  Server never(threads.executors(), *Router::make(routes(held)), {}, clock, random, log);
  EXPECT_EQ(run_blocking(never.stop(1s)).cut_connections, 0U);
}

}  // namespace
}  // namespace millrace::http
