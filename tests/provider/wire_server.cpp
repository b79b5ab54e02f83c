#include "wire_server.h"

#include "base/either.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <charconv>

namespace millrace::test {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using namespace either;
constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kHeadMaxBytes = 64 * 1024;
constexpr std::size_t kBodyMaxBytes = std::size_t{64} * 1024 * 1024;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

WireRequest parse_head(const std::string& head) {
  WireRequest request;
  auto line_end = head.find("\r\n");
  const auto first = head.find(' ');
  const auto second = head.find(' ', first + 1);
  request.method = head.substr(0, first);
  const auto target = head.substr(first + 1, second - first - 1);
  const auto mark = std::min(target.find('?'), target.size());
  request.path = target.substr(0, mark);
  if (mark < target.size()) request.query = target.substr(mark + 1);
  while (line_end + 2 < head.size()) {
    const auto start = line_end + 2;
    line_end = head.find("\r\n", start);
    const auto line = head.substr(start, line_end - start);
    const auto colon = line.find(':');
    if (colon == std::string::npos) break;
    const auto value = line.find_first_not_of(' ', colon + 1);
    request.headers[lower(line.substr(0, colon))] =
        value == std::string::npos ? std::string() : line.substr(value);
  }
  return request;
}

std::string render_head(const WireReply& reply) {
  std::string text = "HTTP/1.1 " + std::to_string(reply.status) + " Reason\r\n";
  for (const auto& [name, value] : reply.headers) text += name + ": " + value + "\r\n";
  return text + "Content-Length: " + std::to_string(reply.body.size()) + "\r\n\r\n";
}

// Calls when it goes away, however that happens.
class AtEnd {
 public:
  explicit AtEnd(std::function<void()> call) : call_(std::move(call)) {}
  ~AtEnd() { call_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  std::function<void()> call_;
};

}  // namespace

struct WireServer::State {
  State(asio::io_context& io, std::uint16_t port, Handler handles)
      : acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), port)),
        handler(std::move(handles)) {}

  using SocketPtr = std::shared_ptr<tcp::socket>;

  tcp::acceptor acceptor;
  Handler handler;
  std::vector<std::weak_ptr<tcp::socket>> sockets;
  bool closed = false;

  static awaitable<std::optional<WireRequest>> read(SocketPtr socket, std::string* buffer) {
    auto [error, size] = co_await asio::async_read_until(
        *socket, asio::dynamic_buffer(*buffer, kHeadMaxBytes + kBodyMaxBytes), "\r\n\r\n",
        kAsTuple);
    if (error) co_return std::nullopt;
    auto request = parse_head(buffer->substr(0, size));
    buffer->erase(0, size);
    const auto length = request.header("content-length");
    std::size_t wanted = 0;
    std::from_chars(length.data(), length.data() + length.size(), wanted);
    if (wanted > kBodyMaxBytes) {
      request.too_large = true;
      co_return request;
    }
    if (buffer->size() < wanted) {
      auto [failed, got] =
          co_await asio::async_read(*socket, asio::dynamic_buffer(*buffer),
                                    asio::transfer_exactly(wanted - buffer->size()), kAsTuple);
      if (failed) co_return std::nullopt;
    }
    request.body = buffer->substr(0, wanted);
    buffer->erase(0, wanted);
    co_return request;
  }

  static awaitable<bool> write(SocketPtr socket, std::string_view text) {
    const auto [error, size] =
        co_await asio::async_write(*socket, asio::buffer(text.data(), text.size()), kAsTuple);
    co_return !error;
  }

  static awaitable<void> wait(SocketPtr socket, std::chrono::milliseconds time) {
    if (time <= std::chrono::milliseconds::zero()) co_return;
    asio::steady_timer timer(socket->get_executor(), time);
    co_await timer.async_wait(kAsTuple);
  }

  // The client has nothing to say before the answer: what can be read is that it has gone.
  static awaitable<void> gone(SocketPtr socket) {
    co_await socket->async_wait(tcp::socket::wait_read, kAsTuple);
  }

  // False: the connection is of no more use.
  static awaitable<bool> deliver(SocketPtr socket, WireReply reply) {
    const AtEnd at_end(reply.done);
    boost::system::error_code ignored;
    if (reply.delay.count() > 0) {
      const auto first = co_await (wait(socket, reply.delay) || gone(socket));
      if (first.index() == 1) co_return false;
    }
    if (reply.end == WireReply::End::stall) {
      co_await gone(socket);
      co_return false;
    }
    if (reply.end == WireReply::End::reset) {
      socket->set_option(asio::socket_base::linger(true, 0), ignored);
      socket->close(ignored);
      co_return false;
    }
    const std::string_view body = reply.body;
    const auto half = body.substr(0, body.size() / 2);
    if (!co_await write(socket, render_head(reply)) || !co_await write(socket, half)) {
      co_return false;
    }
    if (reply.end == WireReply::End::cut) {
      socket->close(ignored);
      co_return false;
    }
    co_await wait(socket, reply.pause);
    co_return co_await write(socket, body.substr(half.size()));
  }

  static awaitable<void> serve(std::shared_ptr<State> state, SocketPtr socket) {
    std::string buffer;
    for (;;) {
      const auto request = co_await read(socket, &buffer);
      if (!request || state->closed) co_return;
      if (!co_await deliver(socket, state->handler(*request)) || request->too_large) co_return;
    }
  }

  static awaitable<void> accept(std::shared_ptr<State> state) {
    for (;;) {
      auto [error, accepted] = co_await state->acceptor.async_accept(kAsTuple);
      if (error) co_return;
      boost::system::error_code ignored;
      accepted.set_option(tcp::no_delay(true), ignored);
      const auto socket = std::make_shared<tcp::socket>(std::move(accepted));
      std::erase_if(state->sockets, [](const auto& weak) { return weak.expired(); });
      state->sockets.push_back(socket);
      asio::co_spawn(socket->get_executor(), serve(state, socket), [](std::exception_ptr) {});
    }
  }
};

WireServer::WireServer(asio::io_context& io, std::uint16_t port, Handler handler)
    : state_(std::make_shared<State>(io, port, std::move(handler))) {
  asio::co_spawn(io, State::accept(state_), [](std::exception_ptr) {});
}

WireServer::~WireServer() {
  state_->closed = true;
  boost::system::error_code ignored;
  state_->acceptor.close(ignored);
  for (const auto& weak : state_->sockets) {
    if (const auto socket = weak.lock()) socket->close(ignored);
  }
}

std::uint16_t WireServer::port() const { return state_->acceptor.local_endpoint().port(); }

}  // namespace millrace::test
