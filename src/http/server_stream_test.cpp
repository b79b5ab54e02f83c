// Bodies and events that are sent piece by piece.
#include "base/event.h"
#include "http/server_fixture.h"

#include <boost/asio/post.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <vector>

namespace millrace::http {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Route route(std::string pattern, Handler handler, RouteLimits limits = {}) {
  return {"GET", std::move(pattern), std::move(handler), limits};
}

// Three pieces; `length` as announced.
Handler pieces(std::optional<std::uint64_t> length) {
  return [length](ServerRequest&, ResponseWriter& response) -> Task<void> {
    response.header("X-Own", "1");
    MR_CO_TRY_VOID(co_await response.start(200, "text/csv", length));
    for (const auto* piece : {"one,", "", "two,", "three"}) {
      MR_CO_TRY_VOID(co_await response.write(piece));
    }
    co_return ok();
  };
}

Handler breaks_off() {
  return [](ServerRequest&, ResponseWriter& response) -> Task<void> {
    MR_CO_TRY_VOID(co_await response.start(200, "text/csv"));
    MR_CO_TRY_VOID(co_await response.write("half"));
    co_return fail(ErrorKind::unavailable, "the rest cannot be read");
  };
}

std::vector<Route> stream_routes() {
  return {route("/pieces", pieces(std::nullopt)),
          route("/exact", pieces(13)),
          route("/short", pieces(14)),
          route("/long", pieces(12)),
          route("/broken", breaks_off()),
          route("/hello", says([](auto&) { return "hello"; }))};
}

TEST(HttpStream, IsChunkedWhenItsLengthIsUnknown) {
  TestServer server(stream_routes());
  auto client = server.connect();
  auto reply = client.ask(get("/pieces"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "one,two,three");
  EXPECT_EQ(reply.header("transfer-encoding"), "chunked");
  EXPECT_EQ(reply.header("content-length"), "");
  EXPECT_EQ(reply.header("x-own"), "1");
  reply = client.ask(get("/exact"));
  EXPECT_EQ(reply.body, "one,two,three");
  EXPECT_EQ(reply.header("content-length"), "13");
  EXPECT_EQ(reply.header("transfer-encoding"), "");
  EXPECT_EQ(client.ask(get("/hello")).body, "hello");
}

TEST(HttpStream, EndsWithTheConnectionInHttp10) {
  TestServer server(stream_routes());
  auto client = server.connect();
  client.send("GET /pieces HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const auto text = client.read_until_closed();
  EXPECT_TRUE(text.ends_with("\r\n\r\none,two,three")) << text;
  EXPECT_THAT(text, AllOf(HasSubstr("Connection: close"), Not(HasSubstr("chunked"))));
}

TEST(HttpStream, HasNoBodyForHead) {
  TestServer server(stream_routes());
  auto client = server.connect();
  for (const auto* path : {"/pieces", "/exact"}) {
    const auto reply =
        client.ask("HEAD " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n\r\n", true);
    EXPECT_EQ(reply.status, 200);
  }
  EXPECT_EQ(client.ask(get("/hello")).body, "hello");
}

TEST(HttpStream, ThatBreaksOffIsSeenToBeIncomplete) {
  TestServer server(stream_routes());
  for (const auto* path : {"/broken", "/short", "/long"}) {
    auto client = server.connect();
    client.send(get(path));
    const auto text = client.read_until_closed();
    EXPECT_THAT(text, StartsWith("HTTP/1.1 200 OK")) << path;
    EXPECT_FALSE(text.ends_with("0\r\n\r\n")) << path;
  }
  const auto log = server.wait_for_log(3);
  for (const auto& line : log) EXPECT_TRUE(line.cut) << line.path;
}

TEST(HttpStream, WaitsForItsReader) {
  std::atomic<std::size_t> written = 0;
  constexpr std::size_t kSize = 256 << 20;
  TestServer server({route("/flood", [&](ServerRequest&, ResponseWriter& response) -> Task<void> {
    const std::string piece(1 << 20, 'x');
    MR_CO_TRY_VOID(co_await response.start(200, "application/octet-stream", kSize));
    for (std::size_t sent = 0; sent < kSize; sent += piece.size()) {
      MR_CO_TRY_VOID(co_await response.write(piece));
      written += piece.size();
    }
    co_return ok();
  })});
  auto client = server.connect(65536);
  client.send(get("/flood"));
  EXPECT_THAT(client.read_until("\r\n\r\n"), HasSubstr("200"));
  std::size_t received = 0;
  while (client.receive()) {
    received += client.read_all_buffered();
    // What the kernel holds for a connection is a few megabytes, and the piece in the handler one.
    ASSERT_LE(written, received + (16U << 20U));
    if (received == kSize) break;
  }
  EXPECT_EQ(received, kSize);
}

TEST(HttpStream, AClientThatGoesAwayEndsTheHandler) {
  std::promise<Error> error;
  TestServer server({route("/endless", [&](ServerRequest&, ResponseWriter& response) -> Task<void> {
    MR_CO_TRY_VOID(co_await response.start(200, "text/plain"));
    const std::string piece(100'000, 'x');
    for (;;) {
      auto written = co_await response.write(piece);
      if (written) continue;
      error.set_value(written.error());
      co_return fail(std::move(written).error());
    }
  })});
  auto client = server.connect();
  client.send(get("/endless"));
  client.read_until("\r\n\r\n");
  client.close_with_reset();
  EXPECT_EQ(error.get_future().get().kind, ErrorKind::cancelled);
}

TEST(HttpRequest, ALongPollLearnsThatItsClientHasGone) {
  std::promise<std::string> reason;
  Event waiting;
  TestServer server({route("/poll",
                           [&](ServerRequest& request, ResponseWriter&) -> Task<void> {
                             auto token = request.cancel_token();
                             waiting.set();
                             co_await token.wait();
                             reason.set_value(token.reason());
                             co_return fail(ErrorKind::cancelled, "gone");
                           },
                           {.long_lived = true})});
  auto client = server.connect();
  client.send(get("/poll"));
  run_blocking(waiting.wait());
  client.close();
  EXPECT_EQ(reason.get_future().get(), "the client closed the connection");
  const auto log = server.wait_for_log(1);
  EXPECT_EQ(log[0].status, 0) << "nobody was answered";
}

// ---- events

// A route whose stream the test gets hold of.
struct EventSource {
  explicit EventSource(SseOptions options = {}) : options(options) {}

  Handler handler() {
    return [this](ServerRequest&, ResponseWriter& response) -> Task<void> {
      MR_CO_TRY(auto stream, co_await response.start_events(options));
      opened.set_value(stream);
      co_await stream.closed();
      ended.set();
      co_return ok();
    };
  }
  SseStream wait_for_stream() { return opened.get_future().get(); }

  SseOptions options;
  std::promise<SseStream> opened;
  Event ended;
};

// Runs `call` where the stream lives.
template <class F>
auto on(SseStream stream, F call) {
  std::packaged_task<decltype(call(stream))()> task([&] { return call(stream); });
  auto result = task.get_future();
  asio::post(stream.executor(), [&] { task(); });
  return result.get();
}

SseFrame frame(std::string_view data, std::string_view id = "1") {
  return *SseFrame::make({.data = data, .id = id});
}

Route events_route(EventSource& source) {
  return route("/events", source.handler(), {.long_lived = true});
}

// H-04
TEST(HttpEvents, ArriveAsTheyArePushed) {
  EventSource source({.retry = 2s});
  TestServer server({events_route(source), route("/hello", says([](auto&) { return "hello"; }))});
  auto client = server.connect();
  client.send(get("/events"));
  const auto head = client.read_until("\r\n\r\n");
  EXPECT_THAT(
      head, AllOf(HasSubstr("Content-Type: text/event-stream; charset=utf-8\r\n"),
                  HasSubstr("Cache-Control: no-store\r\n"), HasSubstr("Connection: keep-alive\r\n"),
                  HasSubstr("X-Accel-Buffering: no\r\n")));
  auto stream = source.wait_for_stream();
  EXPECT_EQ(client.read_until("\n\n\r\n"), "d\r\nretry: 2000\n\n\r\n");
  for (int i = 0; i < 100; ++i) {
    const auto id = std::to_string(i);
    EXPECT_TRUE(on(stream, [&](SseStream s) { return s.push(frame("event", id)); }));
    EXPECT_THAT(client.read_until("\n\n\r\n"),
                HasSubstr("\r\nid: " + id + "\ndata: event\n\n\r\n"));
  }
  on(stream, [](SseStream s) { return s.push(frame("last")), s.close(), true; });
  EXPECT_THAT(client.read_until("0\r\n\r\n"), HasSubstr("data: last"));
  EXPECT_EQ(client.ask(get("/hello")).body, "hello") << "a stream that ended leaves the connection";
  EXPECT_FALSE(on(stream, [](SseStream s) { return s.push(frame("x")) || s.is_open(); }));
}

TEST(HttpEvents, AreNotChunkedInHttp10) {
  EventSource source;
  TestServer server({events_route(source)});
  auto client = server.connect();
  client.send("GET /events HTTP/1.0\r\n\r\n");
  auto stream = source.wait_for_stream();
  on(stream, [](SseStream s) { return s.push(frame("a")), s.close(), true; });
  EXPECT_TRUE(client.read_until_closed().ends_with("\r\n\r\nid: 1\ndata: a\n\n"));
}

TEST(HttpEvents, HeadHasNone) {
  EventSource source;
  TestServer server({events_route(source)});
  const auto reply = server.ask("HEAD /events HTTP/1.1\r\nHost: a\r\n\r\n", true);
  EXPECT_EQ(reply.header("content-type"), "text/event-stream; charset=utf-8");
  run_blocking(source.ended.wait());
}

TEST(HttpEvents, SilenceIsBrokenByAHeartbeat) {
  ManualClock clock;
  EventSource source({.heartbeat = 15s});
  TestServer server({events_route(source)}, {}, 1, &clock);
  auto client = server.connect();
  client.send(get("/events"));
  client.read_until("\r\n\r\n");
  source.wait_for_stream();
  for (int i = 0; i < 3; ++i) {
    EXPECT_GE(advance_until(clock, 500ms, [&](auto wait) { return client.readable(wait); }), 15s);
    EXPECT_EQ(client.read_until("\n\n\r\n"), "8\r\n: ping\n\n\r\n");
  }
}

// K01: a client that has gone is noticed, not written to for ever.
TEST(HttpEvents, AClientThatGoesAwayClosesItsStream) {
  EventSource source;
  TestServer server({events_route(source)});
  auto client = server.connect();
  client.send(get("/events"));
  auto stream = source.wait_for_stream();
  client.close();
  run_blocking(source.ended.wait());
  EXPECT_FALSE(on(stream, [](SseStream s) { return s.push(frame("x")); }));
  EXPECT_EQ(server.wait_for_log(1)[0].reason, "the client closed the connection");
}

TEST(HttpEvents, ASlowClientHoldsNoMoreThanItsBufferAndIsCut) {
  EventSource source({.buffer_max_bytes = 100'000});
  TestServer server({events_route(source)});
  auto client = server.connect(4096);
  client.send(get("/events"));
  auto stream = source.wait_for_stream();
  const auto large = frame(std::string(10'000, 'x'));
  std::size_t pushed = 0;
  std::size_t most = 0;
  while (on(stream, [&](SseStream s) {
    const bool taken = s.push(large);
    most = std::max(most, s.buffered_bytes());
    return taken;
  })) {
    ++pushed;
    ASSERT_LT(pushed, 100'000U);
  }
  EXPECT_LE(most, 100'000U);
  EXPECT_GT(most, 80'000U);
  run_blocking(source.ended.wait());
  EXPECT_EQ(server.wait_for_log(1)[0].reason, "the client was too slow for its events");
  EXPECT_EQ(on(stream, [](SseStream s) { return s.buffered_bytes(); }), 0U);
}

TEST(HttpEvents, AClientThatTakesNothingIsCutEvenWithoutNewEvents) {
  ManualClock clock;
  EventSource source({.buffer_max_bytes = 1'000'000});
  TestServer server({events_route(source)}, {.limits = {.write_stall_max = 5s}}, 1, &clock);
  auto client = server.connect(4096);
  client.send(get("/events"));
  auto stream = source.wait_for_stream();
  const auto large = frame(std::string(50'000, 'x'));
  while (on(stream, [&](SseStream s) { return s.push(large), s.buffered_bytes() < 100'000; })) {
  }
  EXPECT_GE(advance_until(clock, 100ms, [&](auto wait) { return server.has_logged(1, wait); }), 5s);
  EXPECT_EQ(server.wait_for_log(1)[0].reason, "the client took none of its events");
}

TEST(HttpEvents, SendWaitsUntilThereIsRoom) {
  constexpr int kCount = 2000;
  const auto text = std::string(10'000, 'x');
  std::atomic<std::size_t> most = 0;
  TestServer server(
      {route("/all",
             [&](ServerRequest&, ResponseWriter& response) -> Task<void> {
               MR_CO_TRY(auto stream, co_await response.start_events({.buffer_max_bytes = 30'000}));
               for (int i = 0; i < kCount; ++i) {
                 MR_CO_TRY_VOID(co_await stream.send(frame(text, std::to_string(i))));
                 most = std::max<std::size_t>(most, stream.buffered_bytes());
               }
               co_return ok();
             },
             {.long_lived = true})});
  auto client = server.connect(16384);
  const auto reply = client.ask(get("/all"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body.size(), [&] {
    std::size_t size = 0;
    for (int i = 0; i < kCount; ++i) size += frame(text, std::to_string(i)).text().size();
    return size;
  }());
  EXPECT_THAT(reply.body.substr(reply.body.size() - 10'100), HasSubstr("id: 1999\n"));
  EXPECT_LE(most, 30'000U);
}

TEST(HttpEvents, OneLargeEventPassesWhateverTheBuffer) {
  EventSource source({.buffer_max_bytes = 1000});
  TestServer server({events_route(source)});
  auto client = server.connect(4096);
  client.send(get("/events"));
  auto stream = source.wait_for_stream();
  const std::string large(20 << 20, 'x');
  EXPECT_TRUE(on(stream, [&](SseStream s) {
    const bool taken = s.push(frame(large));
    s.close();
    return taken;
  }));
  EXPECT_EQ(client.read_reply().body.size(), large.size() + 14);
}

}  // namespace
}  // namespace millrace::http
