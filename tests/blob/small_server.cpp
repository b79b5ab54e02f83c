#include "small_server.h"

#include "blob/url.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace millrace::test {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string::npos ? std::string() : text.substr(first);
}

StandInRequest parse_head(const std::string& head) {
  StandInRequest request;
  auto line_end = head.find("\r\n");
  const auto first = head.find(' ');
  const auto second = head.find(' ', first + 1);
  request.method = head.substr(0, first);
  request.target = head.substr(first + 1, second - first - 1);
  const auto mark = request.target.find('?');
  request.path = blob::percent_decode(request.target.substr(0, mark));
  std::string query = mark == std::string::npos ? std::string() : request.target.substr(mark + 1);
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    const auto pair = query.substr(0, end);
    const auto equals = std::min(pair.find('='), pair.size());
    request.query[blob::percent_decode(pair.substr(0, equals))] =
        equals < pair.size() ? blob::percent_decode(pair.substr(equals + 1)) : std::string();
    query.erase(0, end + 1);
  }
  while (line_end + 2 < head.size()) {
    const auto start = line_end + 2;
    line_end = head.find("\r\n", start);
    const auto line = head.substr(start, line_end - start);
    const auto colon = line.find(':');
    if (colon == std::string::npos) break;
    request.headers[lower(line.substr(0, colon))] = trimmed(line.substr(colon + 1));
  }
  return request;
}

}  // namespace

struct SmallServer::State {
  State(asio::io_context& io, Handler handles)
      : acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
        handler(std::move(handles)) {}

  tcp::acceptor acceptor;
  Handler handler;
  std::vector<std::weak_ptr<tcp::socket>> sockets;
  bool closed = false;

  static awaitable<std::optional<StandInRequest>> read(std::shared_ptr<tcp::socket> socket,
                                                       std::string* buffer) {
    auto [error, size] = co_await asio::async_read_until(*socket, asio::dynamic_buffer(*buffer),
                                                         "\r\n\r\n", kAsTuple);
    if (error) co_return std::nullopt;
    auto request = parse_head(buffer->substr(0, size));
    buffer->erase(0, size);
    const auto length = request.header("content-length");
    const std::size_t wanted = length.empty() ? 0 : std::stoul(length);
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

  static std::string render(const StandInRequest& request, const StandInAnswer& answer) {
    std::string text = "HTTP/1.1 " + std::to_string(answer.status) + " Reason\r\n";
    for (const auto& [name, value] : answer.headers) text += name + ": " + value + "\r\n";
    if (!answer.headers.contains("Content-Length") && answer.status != 204) {
      text += "Content-Length: " + std::to_string(answer.body.size()) + "\r\n";
    }
    text += "\r\n";
    if (request.method != "HEAD") text += answer.body;
    return text;
  }

  static awaitable<void> serve(std::shared_ptr<State> state, std::shared_ptr<tcp::socket> socket) {
    std::string buffer;
    for (;;) {
      const auto request = co_await read(socket, &buffer);
      if (!request || state->closed) co_return;
      const auto answer = state->handler(*request);
      if (answer.lost) {
        boost::system::error_code ignored;
        socket->close(ignored);
        co_return;
      }
      const auto text = render(*request, answer);
      const auto [error, size] = co_await asio::async_write(*socket, asio::buffer(text), kAsTuple);
      if (error) co_return;
    }
  }

  static awaitable<void> accept(std::shared_ptr<State> state) {
    for (;;) {
      auto [error, accepted] = co_await state->acceptor.async_accept(kAsTuple);
      if (error) co_return;
      const auto socket = std::make_shared<tcp::socket>(std::move(accepted));
      state->sockets.push_back(socket);
      asio::co_spawn(socket->get_executor(), serve(state, socket), [](std::exception_ptr) {});
    }
  }
};

SmallServer::SmallServer(asio::io_context& io, Handler handler)
    : state_(std::make_shared<State>(io, std::move(handler))) {
  asio::co_spawn(io, State::accept(state_), [](std::exception_ptr) {});
}

SmallServer::~SmallServer() {
  state_->closed = true;
  boost::system::error_code ignored;
  state_->acceptor.close(ignored);
  for (const auto& weak : state_->sockets) {
    if (const auto socket = weak.lock()) socket->close(ignored);
  }
}

std::uint16_t SmallServer::port() const { return state_->acceptor.local_endpoint().port(); }

}  // namespace millrace::test
