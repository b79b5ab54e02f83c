// ScriptedServer: an HTTP server on a loopback port that does exactly what a test tells it to.
//
// Flow: the n-th request (over all connections, in order of arrival) is answered by the n-th step
// of the script, the last step serving all further ones. A step is raw bytes, so every malformed
// answer can be made; it can wait for an Event of the test, cut the connection after some bytes, or
// never answer. Requests are recorded as they came over the wire. For tests only. Threading: one
// thread runs `io` and uses the server.
#pragma once

#include "base/event.h"
#include "base/task.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace millrace::http {

struct Step {
  std::string reply;               // Status line, headers, body: all of it.
  std::optional<Event> wait_for;   // Before the reply.
  std::optional<std::size_t> cut;  // Close after that many bytes of the reply.
  bool close = false;              // Close after the reply.
  bool silent = false;             // Never answer; the connection stays until the client closes it.
};

// An answer with Content-Length.
inline Step answer(int status, std::string body, std::string headers = {}) {
  return {.reply = "HTTP/1.1 " + std::to_string(status) + " Some Reason\r\n" + headers +
                   "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body};
}

class ScriptedServer {
  using tcp = boost::asio::ip::tcp;

 public:
  ScriptedServer(boost::asio::io_context& io, std::vector<Step> script)
      : state_(std::make_shared<State>(io, std::move(script))) {
    boost::asio::co_spawn(io, accept(state_), [](std::exception_ptr) {});
  }
  ~ScriptedServer() { state_->close(); }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  std::uint16_t port() const { return state_->port; }
  std::string url(const std::string& path = "/", const std::string& scheme = "http") const {
    return scheme + "://127.0.0.1:" + std::to_string(port()) + path;
  }

  const std::vector<std::string>& requests() const { return state_->requests; }
  std::size_t accepted() const { return state_->accepted; }
  std::size_t disconnected() const { return state_->disconnected; }

  // Connections are taken but not read, as by a server that hangs.
  void stop_reading() { state_->reading = false; }

  awaitable<void> wait_for_requests(std::size_t count) {
    return wait_until(state_, &State::request_count, count);
  }
  awaitable<void> wait_for_disconnects(std::size_t count) {
    return wait_until(state_, &State::disconnect_count, count);
  }

 private:
  struct State {
    State(boost::asio::io_context& io, std::vector<Step> steps)
        : acceptor(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)),
          port(acceptor.local_endpoint().port()),
          script(std::move(steps)) {}

    std::size_t request_count() const { return requests.size(); }
    std::size_t disconnect_count() const { return disconnected; }

    void close() {
      boost::system::error_code ignored;
      acceptor.close(ignored);
      for (const auto& weak : sockets) {
        if (const auto socket = weak.lock()) socket->close(ignored);
      }
      unread.clear();
    }

    tcp::acceptor acceptor;
    std::uint16_t port;
    std::vector<Step> script;
    std::vector<std::string> requests;
    std::vector<std::weak_ptr<tcp::socket>> sockets;
    std::vector<std::shared_ptr<tcp::socket>> unread;
    std::size_t accepted = 0;
    std::size_t disconnected = 0;
    bool reading = true;
    Event changed;
  };
  // Shared with the coroutines that serve: they may end after the server object.
  using StatePtr = std::shared_ptr<State>;

  static constexpr auto kAsTuple = boost::asio::as_tuple(boost::asio::use_awaitable);

  static awaitable<void> wait_until(StatePtr state, std::size_t (State::*value)() const,
                                    std::size_t count) {
    while ((*state.*value)() < count) {
      state->changed.reset();
      co_await state->changed.wait();
    }
  }

  static awaitable<void> accept(StatePtr state) {
    for (;;) {
      auto [error, accepted] = co_await state->acceptor.async_accept(kAsTuple);
      if (error) co_return;
      ++state->accepted;
      const auto socket = std::make_shared<tcp::socket>(std::move(accepted));
      state->sockets.push_back(socket);
      boost::asio::co_spawn(socket->get_executor(), serve(state, socket),
                            [](std::exception_ptr) {});
    }
  }

  static awaitable<void> serve(StatePtr state, std::shared_ptr<tcp::socket> socket) {
    std::string buffer;
    while (state->reading) {
      auto request = co_await read_request(socket, &buffer);
      if (request.empty()) break;
      state->requests.push_back(std::move(request));
      const auto index = std::min(state->requests.size(), state->script.size()) - 1;
      state->changed.set();
      const Step step = state->script.at(index);
      if (step.wait_for) co_await step.wait_for->wait();
      if (step.silent) continue;
      const auto size = std::min(step.cut.value_or(step.reply.size()), step.reply.size());
      co_await boost::asio::async_write(*socket, boost::asio::buffer(step.reply.data(), size),
                                        kAsTuple);
      if (step.cut || step.close) {
        boost::system::error_code ignored;
        socket->close(ignored);
        co_return;
      }
    }
    if (!state->reading) {
      state->unread.push_back(socket);  // Stays open as long as the server.
      co_return;
    }
    ++state->disconnected;
    state->changed.set();
  }

  // Headers and the body that Content-Length announces; empty when the client has closed.
  static awaitable<std::string> read_request(std::shared_ptr<tcp::socket> socket,
                                             std::string* buffer) {
    auto [error, head] = co_await boost::asio::async_read_until(
        *socket, boost::asio::dynamic_buffer(*buffer), "\r\n\r\n", kAsTuple);
    if (error) co_return std::string();
    std::size_t size = head;
    const auto length = buffer->find("Content-Length: ");
    if (length < head) size += std::stoul(buffer->substr(length + 16));
    while (buffer->size() < size) {
      std::string chunk(65536, '\0');
      auto [failed, count] = co_await socket->async_read_some(boost::asio::buffer(chunk), kAsTuple);
      if (failed) co_return std::string();
      buffer->append(chunk, 0, count);
    }
    std::string request = buffer->substr(0, size);
    buffer->erase(0, size);
    co_return request;
  }

  StatePtr state_;
};

}  // namespace millrace::http
