// Bodies in pieces, both ways: what is held, what is held back, and how it ends.
#include "base/run.h"
#include "http/client.h"
#include "http/scripted_server.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::http {
namespace {

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>((i * 7 + i / 251) & 0xFF);
  return text;
}

// A body from memory in pieces of a given size; may fail or end at some byte.
class TextSource final : public BodySource {
 public:
  TextSource(std::string text, std::size_t piece) : text_(std::move(text)), piece_(piece) {}
  void fail_at(std::size_t offset) { fail_at_ = offset; }
  std::size_t given() const { return given_; }
  std::size_t largest_request() const { return largest_; }

  Task<std::size_t> read(std::span<std::byte> buffer) override {
    largest_ = std::max(largest_, buffer.size());
    if (given_ >= fail_at_) co_return fail(ErrorKind::unavailable, "the disk is gone");
    const auto size = std::min({buffer.size(), piece_, text_.size() - given_});
    std::copy_n(text_.data() + given_, size, reinterpret_cast<char*>(buffer.data()));
    given_ += size;
    co_return size;
  }

 private:
  std::string text_;
  std::size_t piece_;
  std::size_t given_ = 0;
  std::size_t largest_ = 0;
  std::size_t fail_at_ = SIZE_MAX;
};

class HttpClientStream : public testing::Test {
 protected:
  ScriptedServer& serve(std::vector<Step> script) {
    return server_.emplace(io_, std::move(script));
  }

  Request put(std::shared_ptr<TextSource> source, std::size_t size) {
    return {.method = "PUT",
            .url = server_->url("/object"),
            .body_source = std::move(source),
            .body_source_bytes = size};
  }

  Result<Response> send(Request request) {
    return run_blocking(io_, client_->send(std::move(request)));
  }
  Result<ResponseStream> open(Request request, CancelToken cancel = {}) {
    return run_blocking(io_, client_->open(std::move(request), std::move(cancel)));
  }
  Request get() { return {.url = server_->url("/object")}; }

  Result<std::size_t> read(ResponseStream& stream, std::span<std::byte> buffer) {
    return run_blocking(io_, stream.read(buffer));
  }
  // Until the end or an error, which is kept.
  std::string read_all(ResponseStream& stream, std::size_t piece) {
    std::string text;
    std::vector<std::byte> buffer(piece);
    for (;;) {
      auto size = read(stream, buffer);
      if (!size) {
        error_ = std::move(size).error();
        return text;
      }
      if (*size == 0) return text;
      text.append(reinterpret_cast<const char*>(buffer.data()), *size);
    }
  }

  asio::io_context io_{1};
  std::optional<ScriptedServer> server_;
  std::optional<Client> client_{std::in_place, io_.get_executor()};
  std::optional<Error> error_;
};

// ---- the request's body

TEST_F(HttpClientStream, SendsABodyFromASourceWithItsLength) {
  serve({answer(201, "kept")});
  const auto text = pattern(3'000'001);
  for (const std::size_t piece : {1'000'000UL, 65'536UL, 4'097UL}) {
    auto source = std::make_shared<TextSource>(text, piece);
    const auto response = send(put(source, text.size()));
    ASSERT_TRUE(response.has_value()) << response.error().message;
    EXPECT_EQ(response->status, 201);
    EXPECT_EQ(response->body, "kept");
    EXPECT_THAT(server_->requests().back(),
                AllOf(HasSubstr("PUT /object HTTP/1.1\r\n"),
                      HasSubstr("Content-Length: 3000001\r\n"), Not(HasSubstr("Expect"))));
    EXPECT_TRUE(server_->requests().back().ends_with(text)) << piece;
    EXPECT_LE(source->largest_request(), 65'536U);
  }
  EXPECT_EQ(server_->accepted(), 1U);
}

TEST_F(HttpClientStream, SendsAnEmptyBodyFromASource) {
  serve({answer(200, "")});
  auto source = std::make_shared<TextSource>("", 10);
  ASSERT_TRUE(send(put(source, 0)).has_value());
  EXPECT_THAT(server_->requests().back(),
              AllOf(HasSubstr("Content-Length: 0\r\n"), EndsWith("\r\n\r\n")));
}

TEST_F(HttpClientStream, TakesNoMoreFromTheSourceThanWasAnnounced) {
  serve({answer(200, "")});
  auto source = std::make_shared<TextSource>(pattern(1000), 1000);
  ASSERT_TRUE(send(put(source, 10)).has_value());
  EXPECT_EQ(source->given(), 10U);
  EXPECT_TRUE(server_->requests().back().ends_with("\r\n\r\n" + pattern(10)));
}

TEST_F(HttpClientStream, AnErrorOfTheSourceIsTheAnswerAndClosesTheConnection) {
  serve({answer(200, "")});
  auto source = std::make_shared<TextSource>(pattern(200'000), 65'536);
  source->fail_at(100'000);
  const auto response = send(put(source, 200'000));
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(response.error().message, "the disk is gone");
  run_blocking(io_, server_->wait_for_disconnects(1));
  EXPECT_THAT(server_->requests(), SizeIs(0));
}

TEST_F(HttpClientStream, ASourceThatEndsEarlyIsAnErrorAndNoShorterBodyIsSent) {
  serve({answer(200, "")});
  const auto response = send(put(std::make_shared<TextSource>(pattern(50), 50), 60));
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().kind, ErrorKind::internal);
  EXPECT_THAT(response.error().message, HasSubstr("10 bytes early"));
  run_blocking(io_, server_->wait_for_disconnects(1));
  EXPECT_THAT(server_->requests(), SizeIs(0));
}

TEST_F(HttpClientStream, RefusesABodyBesideASource) {
  serve({answer(200, "")});
  auto request = put(std::make_shared<TextSource>("x", 1), 1);
  request.body = "y";
  EXPECT_EQ(send(request).error().kind, ErrorKind::invalid_argument);
}

TEST_F(HttpClientStream, ASourceIsHeldBackByAServerThatDoesNotRead) {
  serve({answer(200, "")}).stop_reading();
  // More than both sockets' buffers can take.
  const std::size_t size = 64 * 1024 * 1024;
  auto source = std::make_shared<TextSource>(pattern(size), 65'536);
  auto request = put(source, size);
  request.total_timeout = 300ms;
  const auto response = send(request);
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().kind, ErrorKind::in_doubt);
  EXPECT_LT(source->given(), size);
}

// ---- the answer's body

TEST_F(HttpClientStream, GivesHeadersFirstAndThenTheBody) {
  const auto text = pattern(2'000'003);
  serve({answer(206, text, "X-One: 1\r\n")});
  auto stream = open(get());
  ASSERT_TRUE(stream.has_value()) << stream.error().message;
  EXPECT_EQ(stream->head().status, 206);
  EXPECT_EQ(stream->head().header("x-one"), "1");
  EXPECT_EQ(read_all(*stream, 10'000), text);
  EXPECT_FALSE(error_.has_value());
  std::array<std::byte, 1> more;
  EXPECT_EQ(read(*stream, more).value(), 0U) << "the end stays the end";
}

TEST_F(HttpClientStream, ReadsAnEmptyBodyAndErrorStatuses) {
  serve({answer(404, "no such key")});
  auto stream = open(get());
  ASSERT_TRUE(stream.has_value());
  EXPECT_EQ(stream->head().status, 404);
  EXPECT_EQ(run_blocking(io_, stream->read_text(5)).value(), "no su");
  EXPECT_EQ(run_blocking(io_, stream->read_text(100)).value(), "ch key");

  serve({answer(204, "")});
  auto empty = open(get());
  ASSERT_TRUE(empty.has_value());
  EXPECT_EQ(read_all(*empty, 100), "");
  EXPECT_FALSE(error_.has_value());
}

TEST_F(HttpClientStream, ConnectionIsReusedOnceTheBodyHasBeenRead) {
  auto& server = serve({answer(200, pattern(300'000)), answer(200, "second")});
  {
    auto stream = open(get());
    ASSERT_TRUE(stream.has_value());
    EXPECT_THAT(read_all(*stream, 65'536), SizeIs(300'000));
  }
  EXPECT_EQ(send(get())->body, "second");
  EXPECT_EQ(server.accepted(), 1U);
}

// Sends zeros for as long as somebody takes them, and counts.
awaitable<void> send_zeros(asio::ip::tcp::acceptor* acceptor, std::size_t size,
                           std::size_t* written, Event* ended) {
  auto socket = co_await acceptor->async_accept(asio::use_awaitable);
  std::string request;
  co_await asio::async_read_until(socket, asio::dynamic_buffer(request), "\r\n\r\n",
                                  asio::use_awaitable);
  const auto head = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n";
  co_await asio::async_write(socket, asio::buffer(head), asio::use_awaitable);
  const std::string zeros(65'536, '\0');
  while (*written < size) {
    const auto [error, count] = co_await asio::async_write(socket, asio::buffer(zeros),
                                                           asio::as_tuple(asio::use_awaitable));
    *written += count;
    if (error) break;
  }
  ended->set();
}

TEST_F(HttpClientStream, AReaderThatStopsHoldsTheServerBackAndDroppingItCloses) {
  constexpr std::size_t kSize = 256 * 1024 * 1024;  // Far more than both sockets' buffers take.
  asio::ip::tcp::acceptor acceptor(io_, {asio::ip::address_v4::loopback(), 0});
  std::size_t written = 0;
  Event ended;
  asio::co_spawn(io_, send_zeros(&acceptor, kSize, &written, &ended), [](std::exception_ptr) {});
  {
    auto stream =
        open({.url = "http://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()) + "/"});
    ASSERT_TRUE(stream.has_value());
    std::vector<std::byte> buffer(1000);
    EXPECT_GT(read(*stream, buffer).value(), 0U);
    while (io_.poll() > 0) {  // All that can happen without a reader has happened.
    }
    EXPECT_LT(written, kSize / 4);
    EXPECT_FALSE(ended.is_set());
  }
  run_blocking(io_, ended.wait());
  EXPECT_LT(written, kSize / 4);
}

TEST_F(HttpClientStream, SlowReaderGetsEveryByte) {
  const auto text = pattern(1'000'000);
  serve({answer(200, text)});
  auto stream = open(get());
  ASSERT_TRUE(stream.has_value());
  std::string got;
  std::vector<std::byte> buffer(777);
  for (;;) {
    while (io_.poll() > 0) {  // All that can arrive has arrived.
    }
    const auto size = read(*stream, buffer);
    ASSERT_TRUE(size.has_value()) << size.error().message;
    if (*size == 0) break;
    got.append(reinterpret_cast<const char*>(buffer.data()), *size);
  }
  EXPECT_EQ(got, text);
}

TEST_F(HttpClientStream, CutBodyIsAnErrorAfterTheBytesThatCame) {
  auto step = answer(200, pattern(100'000));
  step.cut = step.reply.size() - 10;
  serve({step});
  auto stream = open(get());
  ASSERT_TRUE(stream.has_value());
  EXPECT_EQ(read_all(*stream, 4096), pattern(99'990));
  ASSERT_TRUE(error_.has_value());
  EXPECT_EQ(error_->kind, ErrorKind::in_doubt);
  std::array<std::byte, 1> more;
  EXPECT_EQ(read(*stream, more).error().kind, ErrorKind::in_doubt) << "and stays one";
}

TEST_F(HttpClientStream, NoHeadersInTimeIsInDoubt) {
  serve({{.silent = true}});
  auto request = get();
  request.total_timeout = 200ms;
  const auto stream = open(request);
  ASSERT_FALSE(stream.has_value());
  EXPECT_EQ(stream.error().kind, ErrorKind::in_doubt);
  EXPECT_THAT(stream.error().message, HasSubstr("no answer within 200 ms"));
  run_blocking(io_, server_->wait_for_disconnects(1));
}

TEST_F(HttpClientStream, RefusedConnectionWasNeverSent) {
  std::string url;
  {
    const ScriptedServer gone(io_, {answer(200, "")});
    url = gone.url("/path?token=secret");
  }
  const auto stream = open({.url = url});
  ASSERT_FALSE(stream.has_value());
  EXPECT_EQ(stream.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(stream.error().message, Not(HasSubstr("secret")));
}

TEST_F(HttpClientStream, ABodyThatStallsEndsByTheIdleTimeoutOnlyWhileItIsAwaited) {
  serve({{.reply = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234"}});
  auto request = get();
  request.idle_timeout = 200ms;
  auto stream = open(request);
  ASSERT_TRUE(stream.has_value());
  asio::steady_timer timer(io_, 300ms);  // Nobody reads for longer than that: no harm.
  run_blocking(io_, timer.async_wait(asio::use_awaitable));
  EXPECT_EQ(read_all(*stream, 100), "01234");
  ASSERT_TRUE(error_.has_value());
  EXPECT_EQ(error_->kind, ErrorKind::in_doubt);
  EXPECT_THAT(error_->message, HasSubstr("within 200 ms"));
}

TEST_F(HttpClientStream, CancellingEndsAReadThatWaits) {
  serve({{.reply = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"}});
  CancelSource source;
  auto stream = open(get(), source.token());
  ASSERT_TRUE(stream.has_value());
  source.cancel("lease lost");
  std::array<std::byte, 8> buffer;
  const auto size = read(*stream, buffer);
  ASSERT_FALSE(size.has_value());
  EXPECT_EQ(size.error().kind, ErrorKind::cancelled);
  EXPECT_THAT(size.error().message, HasSubstr("lease lost"));
}

TEST_F(HttpClientStream, AsioCancellationEndsAReadThatWaits) {
  serve({{.reply = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"}});
  auto stream = open(get());
  ASSERT_TRUE(stream.has_value());
  std::array<std::byte, 8> buffer;
  asio::steady_timer soon(io_, 1ms);
  const auto first =
      run_blocking(io_, stream->read(buffer) || soon.async_wait(asio::use_awaitable));
  EXPECT_EQ(first.index(), 1U);
}

TEST_F(HttpClientStream, StreamOutlivesItsClientAndSaysSo) {
  serve({{.reply = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n012"}});
  auto stream = open(get());
  ASSERT_TRUE(stream.has_value());
  client_.reset();
  while (io_.poll() > 0) {
  }
  EXPECT_EQ(read_all(*stream, 100), "012");
  ASSERT_TRUE(error_.has_value());
  EXPECT_EQ(error_->kind, ErrorKind::cancelled);
}

TEST_F(HttpClientStream, AbandonedStreamLeaksNothing) {
  std::optional<ResponseStream> kept;
  {
    asio::io_context io(1);
    const ScriptedServer server(io, {answer(200, pattern(1'000'000))});
    Client client(io.get_executor());
    auto stream = run_blocking(io, client.open({.url = server.url()}));
    ASSERT_TRUE(stream.has_value());
    kept = *std::move(stream);
    kept.reset();  // And the io_context goes away without having run again.
  }
}

}  // namespace
}  // namespace millrace::http
