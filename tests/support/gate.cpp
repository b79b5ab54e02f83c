#include "support/gate.h"

#include "base/event.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include <array>
#include <functional>
#include <set>
#include <thread>

namespace millrace::test {

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::local::stream_protocol;

namespace {

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);

// One direction: whether bytes pass, and whether some wait. Thread-safe.
struct Valve {
  Event open;
  Event holding;
};

struct Line {
  tcp::socket client;
  stream_protocol::socket server;

  void close() {
    boost::system::error_code ignored;
    client.close(ignored);
    server.close(ignored);
  }
};

template <class From, class To>
awaitable<void> pump(std::shared_ptr<Line> line, From* from, To* to, Valve* valve) {
  std::array<char, 16384> buffer;
  for (;;) {
    const auto [read_code, size] = co_await from->async_read_some(asio::buffer(buffer), kToken);
    if (read_code) break;
    if (!valve->open.is_set()) valve->holding.set();
    co_await valve->open.wait();
    const auto [write_code, written] =
        co_await asio::async_write(*to, asio::buffer(buffer.data(), size), kToken);
    if (write_code) break;
  }
  line->close();
}

}  // namespace

struct Gate::Impl {
  asio::io_context io{1};
  std::string server_socket;
  tcp::acceptor acceptor{io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
  std::uint16_t port = acceptor.local_endpoint().port();
  Valve answers;
  Valve requests;
  std::set<std::shared_ptr<Line>> lines;  // This and refusing: only on the thread.
  bool refusing = false;
  std::jthread thread;

  awaitable<void> accept() {
    for (;;) {
      auto [code, client] = co_await acceptor.async_accept(kToken);
      if (code) co_return;
      if (refusing) continue;
      auto line = std::make_shared<Line>(Line{std::move(client), stream_protocol::socket(io)});
      asio::co_spawn(io, serve(std::move(line)), asio::detached);
    }
  }

  awaitable<void> serve(std::shared_ptr<Line> line) {
    const auto [code] =
        co_await line->server.async_connect(stream_protocol::endpoint(server_socket), kToken);
    if (code) co_return;
    lines.insert(line);
    asio::co_spawn(io, pump(line, &line->client, &line->server, &requests), asio::detached);
    co_await pump(line, &line->server, &line->client, &answers);
    lines.erase(line);
  }

  // Runs `task` on the gate's thread and waits for it.
  void call(std::function<void()> task) const {
    asio::post(const_cast<asio::io_context&>(io), asio::use_future(std::move(task))).get();
  }
};

Gate::Gate(const Server& server) : impl_(std::make_unique<Impl>()) {
  impl_->server_socket = (server.socket_dir() / ".s.PGSQL.5432").string();
  open();
  asio::co_spawn(impl_->io, impl_->accept(), asio::detached);
  impl_->thread = std::jthread([io = &impl_->io] { io->run(); });
}

Gate::~Gate() {
  impl_->io.stop();
  impl_->thread.join();
}

std::string Gate::url(std::string_view database, std::string_view user) const {
  return fmt::format("postgresql://{}@127.0.0.1:{}/{}?sslmode=disable", user, impl_->port,
                     database);
}

void Gate::hold_answers() {
  impl_->answers.holding.reset();
  impl_->answers.open.reset();
}

void Gate::hold_requests() {
  impl_->requests.holding.reset();
  impl_->requests.open.reset();
}

void Gate::open() {
  impl_->answers.open.set();
  impl_->requests.open.set();
}

void Gate::cut() {
  impl_->call([this] {
    for (const auto& line : impl_->lines) line->close();
  });
  open();
}

void Gate::refuse(bool on) {
  impl_->call([this, on] { impl_->refusing = on; });
}

namespace {

void wait_blocking(const Event& event) {
  asio::io_context io;
  asio::co_spawn(io, event.wait(), asio::use_future);
  io.run();
}

}  // namespace

void Gate::wait_for_held_answer() { wait_blocking(impl_->answers.holding); }
void Gate::wait_for_held_request() { wait_blocking(impl_->requests.holding); }

std::size_t Gate::connections() const {
  std::size_t count = 0;
  impl_->call([this, &count] { count = impl_->lines.size(); });
  return count;
}

}  // namespace millrace::test
