#include "http/client.h"

#include "base/run.h"
#include "http/scripted_server.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace millrace::http {
namespace {

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

// Client and server on one thread: what happens between them is what the test says.
class HttpClient : public testing::Test {
 protected:
  ScriptedServer& serve(std::vector<Step> script) {
    return server_.emplace(io_, std::move(script));
  }

  Result<Response> send(Request request, CancelToken cancel = {}) {
    return run_blocking(io_, client_->send(std::move(request), std::move(cancel)));
  }

  Request get(const std::string& path = "/") { return {.url = server_->url(path)}; }
  Request post(std::string body) {
    return {.method = "POST", .url = server_->url("/hook"), .body = std::move(body)};
  }

  // Sends, and cancels once the server has the request.
  Result<Response> send_and_cancel(Request request) {
    CancelSource source;
    return run_blocking(
        io_, client_->send(std::move(request), source.token()) && cancel_when_requested(source));
  }

  // The server's answer comes `delay` after it has got the request.
  awaitable<void> release_later(Event event, std::chrono::milliseconds delay) {
    co_await server_->wait_for_requests(1);
    asio::steady_timer timer(io_, delay);
    co_await timer.async_wait(asio::use_awaitable);
    event.set();
  }

  void expect_error(const Result<Response>& result, ErrorKind kind, const std::string& text) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, kind) << result.error().message;
    EXPECT_THAT(result.error().message, HasSubstr(text));
    if (server_) {
      EXPECT_THAT(result.error().message, StartsWith("http"));
      EXPECT_THAT(result.error().message, HasSubstr(std::to_string(server_->port())));
    }
  }

  asio::io_context io_{1};
  std::optional<ScriptedServer> server_;
  std::optional<Client> client_{std::in_place, io_.get_executor()};

 private:
  awaitable<void> cancel_when_requested(CancelSource source) {
    co_await server_->wait_for_requests(1);
    source.cancel("lease lost");
  }
};

// ---- what is sent

TEST_F(HttpClient, SendsExactlyTheRequestAskedFor) {
  serve({answer(200, "")});
  auto request = post("{\"a\":1}");
  request.headers = {{"Content-Type", "application/json"},
                     {"x-correlation-id", "c-1"},
                     {"Idempotency-Key", "j-1"},
                     {"X-Empty", ""}};
  ASSERT_TRUE(send(request).has_value());
  EXPECT_THAT(server_->requests(), ElementsAre("POST /hook HTTP/1.1\r\n"
                                               "Host: 127.0.0.1:" +
                                               std::to_string(server_->port()) +
                                               "\r\n"
                                               "User-Agent: millrace\r\n"
                                               "Accept: */*\r\n"
                                               "Content-Type: application/json\r\n"
                                               "x-correlation-id: c-1\r\n"
                                               "Idempotency-Key: j-1\r\n"
                                               "X-Empty:\r\n"
                                               "Content-Length: 7\r\n"
                                               "\r\n"
                                               "{\"a\":1}"));
}

TEST_F(HttpClient, KnowsTheMethods) {
  serve({answer(200, "")});
  for (const auto* method : {"GET", "DELETE", "OPTIONS"}) {
    ASSERT_TRUE(send({.method = method, .url = server_->url("/m")}).has_value());
    EXPECT_THAT(server_->requests().back(),
                AllOf(StartsWith(std::string(method) + " /m HTTP/1.1\r\n"),
                      Not(HasSubstr("Content-Length"))));
  }
  for (const auto* method : {"POST", "PUT", "PATCH"}) {
    ASSERT_TRUE(send({.method = method, .url = server_->url("/m")}).has_value());
    EXPECT_THAT(server_->requests().back(),
                AllOf(StartsWith(std::string(method) + " /m HTTP/1.1\r\n"),
                      HasSubstr("Content-Length: 0\r\n"), Not(HasSubstr("Content-Type"))));
  }
  ASSERT_TRUE(send({.method = "DELETE", .url = server_->url(), .body = "why"}).has_value());
  EXPECT_THAT(server_->requests().back(), AllOf(StartsWith("DELETE / "), HasSubstr("\r\n\r\nwhy")));
}

TEST_F(HttpClient, SendsLargeBodiesWithoutAskingFirst) {
  serve({answer(200, "")});
  std::string body(5 * 1024 * 1024, 'x');
  body[1000] = '\0';
  ASSERT_TRUE(send(post(body)).has_value());
  EXPECT_THAT(server_->requests().back(), Not(HasSubstr("Expect")));
  EXPECT_TRUE(server_->requests().back().ends_with(body));
}

TEST_F(HttpClient, LeavesPathAndQueryAlone) {
  serve({answer(200, "")});
  ASSERT_TRUE(send(get("/a/../b/./c%2F?sig=a%2Bb&x=~#part")).has_value());
  EXPECT_THAT(server_->requests().back(),
              StartsWith("GET /a/../b/./c%2F?sig=a%2Bb&x=~ HTTP/1.1\r\n"));
}

TEST_F(HttpClient, TakesNoProxyFromTheEnvironment) {
  serve({answer(200, "direct")});
  ::setenv("http_proxy", "http://127.0.0.1:1/", 1);
  ::setenv("ALL_PROXY", "http://127.0.0.1:1/", 1);
  const auto response = send(get());
  ::unsetenv("http_proxy");
  ::unsetenv("ALL_PROXY");
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->body, "direct");
}

TEST_F(HttpClient, RefusesBadRequestsBeforeConnecting) {
  serve({answer(200, "")});
  auto injected = get();
  injected.headers = {{"X-A", "1\r\nX-B: 2"}};
  const auto response = send(injected);
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(send({.url = "ftp://127.0.0.1/"}).error().kind, ErrorKind::invalid_argument);
  io_.poll();
  EXPECT_EQ(server_->accepted(), 0U);
}

// ---- what comes back

TEST_F(HttpClient, GivesStatusHeadersAndBody) {
  serve({answer(201, "made", "X-One: 1\r\nX-Two:  two words \r\nX-One: again\r\nX-None:\r\n")});
  const auto response = send(get());
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, "made");
  EXPECT_FALSE(response->body_truncated);
  EXPECT_EQ(response->header("x-two"), "two words");
  EXPECT_EQ(response->header("X-ONE"), "1");
  EXPECT_EQ(response->header("x-none"), "");
  EXPECT_EQ(response->header("x-absent"), std::nullopt);
  EXPECT_THAT(response->headers, SizeIs(5));
}

TEST_F(HttpClient, EveryStatusIsAnAnswer) {
  for (const int status : {200, 204, 302, 304, 400, 401, 404, 422, 429, 500, 503, 529, 599}) {
    serve({answer(status, "")});
    const auto response = send(get());
    ASSERT_TRUE(response.has_value()) << status << " " << response.error().message;
    EXPECT_EQ(response->status, status);
  }
}

TEST_F(HttpClient, DoesNotFollowRedirects) {
  auto& server = serve({answer(307, "", "Location: /elsewhere\r\n"), answer(200, "followed")});
  const auto response = send(get());
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->status, 307);
  EXPECT_EQ(response->header("location"), "/elsewhere");
  EXPECT_THAT(server.requests(), SizeIs(1));
}

TEST_F(HttpClient, ReadsChunkedBodies) {
  serve({{.reply = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"}});
  EXPECT_EQ(send(get())->body, "abcdefg");
}

TEST_F(HttpClient, ReadsBodiesThatEndWithTheConnection) {
  serve({{.reply = "HTTP/1.1 200 OK\r\n\r\nuntil the end", .close = true}});
  EXPECT_EQ(send(get())->body, "until the end");
}

TEST_F(HttpClient, SkipsInterimAnswers) {
  serve({{.reply = "HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n"
                   "HTTP/1.1 200 OK\r\nX-Late: 2\r\nContent-Length: 2\r\n\r\nok"}});
  const auto response = send(get());
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->header("x-early"), std::nullopt);
  EXPECT_EQ(response->header("x-late"), "2");
}

TEST_F(HttpClient, JoinsFoldedHeaders) {
  serve({answer(200, "", "X-Long: one\r\n two\r\n\tthree\r\n")});
  EXPECT_EQ(send(get())->header("x-long"), "one two three");
}

TEST_F(HttpClient, HeadHasNoBody) {
  serve({{.reply = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"}});
  const auto response = send({.method = "HEAD", .url = server_->url()});
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->body, "");
  EXPECT_EQ(response->header("content-length"), "1000");
  EXPECT_THAT(server_->requests().back(), StartsWith("HEAD / "));
}

TEST_F(HttpClient, AnswerAtTheMaximumIsWhole) {
  serve({answer(200, "12345678")});
  auto request = get();
  request.response_max_bytes = 8;
  const auto response = send(request);
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->body, "12345678");
  EXPECT_FALSE(response->body_truncated);
}

TEST_F(HttpClient, StopsReadingAnAnswerThatIsTooLong) {
  // Only the beginning of the announced body is ever sent: waiting for the rest would hang.
  serve({{.reply = "HTTP/1.1 500 Oh\r\nX-A: 1\r\nContent-Length: 1000000000\r\n\r\n123456789"}});
  auto request = get();
  request.response_max_bytes = 8;
  const auto response = send(request);
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->status, 500);
  EXPECT_EQ(response->header("x-a"), "1");
  EXPECT_EQ(response->body, "12345678");
  EXPECT_TRUE(response->body_truncated);
  run_blocking(io_, server_->wait_for_disconnects(1));
}

TEST_F(HttpClient, MaximumOfZeroTakesNoBody) {
  serve({answer(200, "x")});
  auto request = get();
  request.response_max_bytes = 0;
  const auto response = send(request);
  ASSERT_TRUE(response.has_value());
  EXPECT_TRUE(response->body_truncated);
  EXPECT_EQ(response->body, "");
}

TEST_F(HttpClient, EndlessHeadersAreRefused) {
  std::string headers;
  for (int i = 0; i < 3000; ++i) headers += "X-Header-" + std::to_string(i) + ": some value\r\n";
  serve({answer(200, "", headers)});
  expect_error(send(get()), ErrorKind::in_doubt, "more than 65536 bytes of headers");
}

TEST_F(HttpClient, SomethingElseThanHttpIsNoAnswer) {
  serve({{.reply = "SSH-2.0-OpenSSH_9.2\r\n", .close = true}});
  const auto response = send(get());
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().kind, ErrorKind::in_doubt);
}

// ---- connections

TEST_F(HttpClient, ReusesTheConnection) {
  auto& server = serve({answer(200, "a"), answer(503, "b"), answer(200, "c")});
  EXPECT_EQ(send(get())->body, "a");
  EXPECT_EQ(send(post("x"))->body, "b");
  EXPECT_EQ(send(get())->body, "c");
  EXPECT_EQ(server.accepted(), 1U);
}

TEST_F(HttpClient, OpensAnotherConnectionWhenTheServerClosedTheIdleOne) {
  auto first = answer(200, "a");
  first.close = true;
  auto& server = serve({first, answer(200, "b")});
  EXPECT_EQ(send(get())->body, "a");
  EXPECT_EQ(send(post("x"))->body, "b");
  EXPECT_EQ(server.accepted(), 2U);
  EXPECT_THAT(server.requests(), SizeIs(2));
}

TEST_F(HttpClient, NeverSendsARequestTwiceWhenAReusedConnectionDies) {
  for (const std::string body : {"x", ""}) {
    auto& server = serve({answer(200, "a"), {.cut = 0}, answer(200, "sent twice")});
    EXPECT_EQ(send(get())->body, "a");
    expect_error(send(post(body)), ErrorKind::in_doubt, "closed");
    EXPECT_THAT(server.requests(), SizeIs(2));
  }
}

TEST_F(HttpClient, TenAtOnceUseTenConnections) {
  Event all;
  auto held = answer(200, "ok");
  held.wait_for = all;
  auto& server = serve({held});
  std::vector<Result<Response>> responses;
  for (int i = 0; i < 10; ++i) {
    asio::co_spawn(io_, client_->send(get(), {}),
                   [&](std::exception_ptr, Result<Response> response) {
                     responses.push_back(std::move(response));
                   });
  }
  run_blocking(io_, server.wait_for_requests(10));
  EXPECT_EQ(server.accepted(), 10U);
  EXPECT_THAT(responses, SizeIs(0));
  all.set();
  while (responses.size() < 10) io_.run_one();
  for (const auto& response : responses) EXPECT_EQ(response->body, "ok");
}

// ---- failures: never sent, or in doubt

TEST_F(HttpClient, RefusedConnectionWasNeverSent) {
  auto request = Request{};
  {
    const ScriptedServer gone(io_, {answer(200, "")});
    request.url = gone.url("/path?token=secret");
  }
  const auto response = send(request);
  expect_error(response, ErrorKind::unavailable, "127.0.0.1");
  EXPECT_THAT(response.error().message, Not(HasSubstr("secret")));
  EXPECT_THAT(response.error().message, Not(HasSubstr("/path")));
}

TEST_F(HttpClient, UnknownHostWasNeverSent) {
  // Whatever this machine's resolver does: an answer, no answer, or none in time.
  const auto response = send({.url = "http://no-such-host.invalid/", .connect_timeout = 300ms});
  expect_error(response, ErrorKind::unavailable, "http://no-such-host.invalid:80");
}

TEST_F(HttpClient, ServerThatHangsInTheTlsHandshakeWasNeverSent) {
  serve({{.silent = true}}).stop_reading();
  auto request = Request{.url = server_->url("/", "https"), .connect_timeout = 50ms};
  expect_error(send(request), ErrorKind::unavailable, "no connection within 50 ms");
}

TEST_F(HttpClient, NoAnswerInTimeIsInDoubt) {
  serve({{.silent = true}});
  auto request = post("x");
  request.total_timeout = 400ms;
  expect_error(send(request), ErrorKind::in_doubt, "no whole answer within 400 ms");
  EXPECT_THAT(server_->requests(), SizeIs(1));
  run_blocking(io_, server_->wait_for_disconnects(1));
}

TEST_F(HttpClient, ConnectTimeoutDoesNotLimitTheAnswer) {
  Event answer_now;
  auto held = answer(200, "slow");
  held.wait_for = answer_now;
  serve({held});
  auto request = get();
  request.connect_timeout = 300ms;
  const auto response =
      run_blocking(io_, client_->send(request, CancelToken()) && release_later(answer_now, 400ms));
  EXPECT_EQ(response->body, "slow");
}

TEST_F(HttpClient, ConnectionCutAtAnyByteOfTheAnswerIsInDoubt) {
  const auto whole = answer(200, "0123456789", "X-A: 1\r\n");
  for (std::size_t cut = 0; cut < whole.reply.size(); ++cut) {
    auto step = whole;
    step.cut = cut;
    auto& server = serve({step});
    const auto response = send(post("x"));
    ASSERT_FALSE(response.has_value()) << cut;
    EXPECT_EQ(response.error().kind, ErrorKind::in_doubt) << cut;
    EXPECT_THAT(server.requests(), SizeIs(1));
  }
}

TEST_F(HttpClient, CutBodyTellsTheStatusThatHadCome) {
  auto step = answer(202, "0123456789");
  step.cut = step.reply.size() - 4;
  serve({step});
  expect_error(send(post("x")), ErrorKind::in_doubt,
               "(status 202 and 6 bytes of the answer had come)");
}

TEST_F(HttpClient, CutChunkedBodyIsInDoubt) {
  serve({{.reply = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
          .close = true}});
  const auto response = send(get());
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().kind, ErrorKind::in_doubt);
}

TEST_F(HttpClient, WorksAgainAfterAnyFailure) {
  auto& server = serve({{.cut = 0}, {.silent = true}, answer(200, "fine")});
  EXPECT_FALSE(send(get()).has_value());
  auto impatient = get();
  impatient.total_timeout = 400ms;
  EXPECT_FALSE(send(impatient).has_value());
  EXPECT_EQ(send(get())->body, "fine");
  EXPECT_EQ(server.accepted(), 3U);
}

// ---- cancelling

TEST_F(HttpClient, CancelledBeforeItIsSentConnectsNowhere) {
  serve({answer(200, "")});
  CancelSource source;
  source.cancel("drain");
  const auto response = send(get(), source.token());
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().kind, ErrorKind::cancelled);
  EXPECT_EQ(response.error().message, "the request was cancelled: drain");
  EXPECT_EQ(response.error().detail, "the request had not been sent");
  io_.poll();
  EXPECT_EQ(server_->accepted(), 0U);
}

TEST_F(HttpClient, CancelWhileWaitingForTheAnswerClosesTheConnection) {
  serve({{.silent = true}});
  const auto response = send_and_cancel(post("x"));
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().kind, ErrorKind::cancelled);
  EXPECT_EQ(response.error().message, "the request was cancelled: lease lost");
  EXPECT_EQ(response.error().detail, "the request had been sent");
  run_blocking(io_, server_->wait_for_disconnects(1));
}

TEST_F(HttpClient, CancelAfterTheAnswerChangesNothing) {
  serve({answer(200, "a"), answer(200, "b")});
  CancelSource source;
  const auto response = send(get(), source.token());
  source.cancel("late");
  EXPECT_EQ(response->body, "a");
  EXPECT_EQ(send(get())->body, "b");
}

TEST_F(HttpClient, AsioCancellationEndsTheRequestToo) {
  serve({{.silent = true}});
  const auto first =
      run_blocking(io_, client_->send(post("x"), CancelToken()) || server_->wait_for_requests(1));
  EXPECT_EQ(first.index(), 1U);
  run_blocking(io_, server_->wait_for_disconnects(1));
}

TEST_F(HttpClient, DestroyingTheClientCancelsWhatIsUnderWay) {
  serve({{.silent = true}});
  std::optional<Result<Response>> response;
  asio::co_spawn(io_, client_->send(get(), {}), [&](std::exception_ptr, Result<Response> result) {
    response = std::move(result);
  });
  run_blocking(io_, server_->wait_for_requests(1));
  client_.reset();
  run_blocking(io_, server_->wait_for_disconnects(1));
  while (!response) io_.run_one();
  ASSERT_FALSE(response->has_value());
  EXPECT_EQ(response->error().kind, ErrorKind::cancelled);
}

TEST_F(HttpClient, AbandonedRequestLeaksNothing) {
  asio::io_context io(1);
  const ScriptedServer server(io, {{.silent = true}});
  std::optional<Client> client(std::in_place, io.get_executor());
  asio::co_spawn(io, client->send({.url = server.url()}, {}),
                 [](std::exception_ptr, Result<Response>) {});
  while (server.requests().empty()) io.run_one();
  client.reset();  // And the io_context goes away without having run again.
}

// ---- many threads

Task<void> send_many(Client* client, std::string url, int count, std::atomic<int>* good) {
  for (int i = 0; i < count; ++i) {
    CancelSource source;
    Request request{.method = "POST", .url = url, .body = std::to_string(i)};
    auto response = co_await client->send(std::move(request), source.token());
    if (!response.has_value()) co_return fail(response.error());
    if (response->body == "ok") ++*good;
  }
  co_return ok();
}

TEST(HttpClientThreads, ManyRequestsOnSeveralThreads) {
  asio::io_context server_io(1);
  const ScriptedServer server(server_io, {answer(200, "ok")});
  const std::string url = server.url();
  auto work = asio::make_work_guard(server_io);
  std::jthread server_thread([&] { server_io.run(); });
  std::atomic<int> good = 0;
  std::atomic<int> errors = 0;
  {
    asio::thread_pool pool(4);
    std::optional<Client> client(std::in_place, pool.get_executor());
    std::atomic<int> running = 16;
    for (int i = 0; i < 16; ++i) {
      asio::co_spawn(pool, send_many(&*client, url, 20, &good),
                     [&](std::exception_ptr thrown, Result<void> result) {
                       if (thrown || !result.has_value()) ++errors;
                       if (--running == 0) client.reset();
                     });
    }
    pool.join();
  }
  work.reset();
  server_io.stop();
  server_thread.join();
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(good, 16 * 20);
}

}  // namespace
}  // namespace millrace::http
