#include "http/server.h"

#include "base/assert.h"
#include "base/either.h"
#include "http/server_listener.h"
#include "http/server_state.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <sys/resource.h>
#include <utility>

namespace millrace::http {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kRefusalsMax = 64;
constexpr std::chrono::milliseconds kTickMax{500};
constexpr std::chrono::milliseconds kTickMin{5};
constexpr std::chrono::milliseconds kAcceptPause{50};
constexpr std::chrono::milliseconds kCutTime{1'000};  // For handlers to notice that they were cut.

// Fine enough for the shortest of the limits, coarse enough to cost nothing.
Clock::Duration tick_for(const ServerLimits& limits) {
  const auto shortest =
      std::min({limits.header_time_max, limits.idle_time_max, limits.request_time_max,
                limits.body_stall_max, limits.write_stall_max, limits.linger_max});
  return std::clamp(shortest / 8, kTickMin, kTickMax);
}

Result<std::string> header_lines(const std::vector<Header>& headers) {
  std::string lines;
  for (const auto& [name, value] : headers) {
    const auto text = name + ": " + value;
    const bool broken = std::ranges::any_of(text, [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return byte < 0x20 || byte == 0x7F;
    });
    if (name.empty() || name.find_first_of(": ") != name.npos || broken) {
      return fail(ErrorKind::invalid_argument, "a header for all answers is not valid");
    }
    lines.append(text).append("\r\n");
  }
  return lines;
}

void start_connection(const std::shared_ptr<ServerState>& server, Shard& shard,
                      Stream::Socket socket, const Listener::Protocol::endpoint& endpoint,
                      bool secure) {
  const auto& limits = server->options.limits;
  auto peer = peer_address(endpoint);
  // Behind a proxy are many clients.
  const bool by_proxy = is_trusted(peer.host, server->options.trusted_proxies);
  const bool counted = limits.connections_per_peer_max > 0 && !by_proxy;
  auto key = counted ? peer_key(endpoint) : std::string();
  const bool too_many = server->connections.load() >= limits.connections_max;
  const bool admitted =
      !too_many && (key.empty() || server->peers.enter(key, limits.connections_per_peer_max));
  // Those beyond the limit are told so, but not over TLS, which costs more than it says; and beyond
  // some, nobody is.
  if (!admitted && (secure || server->refusals.load() >= kRefusalsMax)) return;
  auto stream =
      std::make_unique<Stream>(std::move(socket), secure ? server->tls->new_session() : nullptr);
  auto connection =
      std::make_shared<Connection>(shard, std::move(stream), std::move(peer),
                                   admitted ? std::move(key) : std::string(), by_proxy);
  server->connections.fetch_add(1);
  if (!admitted) server->refusals.fetch_add(1);
  spawn(shard.executor(),
        admitted ? Connection::run(std::move(connection), server)
                 : Connection::run_refusal(std::move(connection), server),
        server->log, "connection");
}

awaitable<void> accept_all(std::shared_ptr<ServerState> server, Listener* listener) {
  const bool secure = server->tls != nullptr && !listener->address().is_unix();
  for (;;) {
    Shard& shard = server->next_shard();
    Listener::Protocol::endpoint endpoint;
    auto [error, socket] = co_await listener->acceptor().async_accept(
        shard.executor(), endpoint, asio::as_tuple(asio::use_awaitable));
    if (server->draining.load()) co_return;
    if (!error) {
      start_connection(server, shard, std::move(socket), endpoint, secure);
      continue;
    }
    if (error == asio::error::operation_aborted || error == asio::error::bad_descriptor) co_return;
    if (error == asio::error::connection_aborted) continue;  // The client was quicker.
    // No descriptor or memory left: waiting for some to be freed beats spinning.
    server->log.warn("http_accept_failed", {{"error", error.message()}});
    using namespace either;
    co_await (server->clock.sleep_for(kAcceptPause) || server->stopping.wait());
  }
}

// Not by co_spawn, whose last words to the caller's context may come when that is gone already.
awaitable<void> run_on(Executor executor, std::function<void()> action) {
  Event done;
  asio::post(executor, [action = std::move(action), done]() mutable {
    action();
    done.set();
  });
  co_await done.wait();
}

awaitable<void> on_all_shards(std::shared_ptr<ServerState> server, void (Shard::*action)()) {
  for (const auto& shard : server->shards) {
    co_await run_on(shard->executor(),
                    [server, action, shard = shard.get()] { (shard->*action)(); });
  }
}

awaitable<StopReport> stop_server(std::shared_ptr<ServerState> server,
                                  std::chrono::milliseconds deadline) {
  using namespace either;
  if (!server->started.load()) co_return StopReport{};
  server->draining.store(true);  // First: whoever finds the door closed finds the rest draining.
  server->stopping.set();
  // Acceptors belong to the first shard.
  co_await run_on(server->shards.front()->executor(), [server] {
    for (const auto& listener : server->listeners) listener->close();
  });
  if (server->connections.load() == 0) server->empty.set();
  co_await on_all_shards(server, &Shard::drain);
  co_await (server->empty.wait() || server->clock.sleep_for(deadline));
  StopReport report{.cut_connections = server->connections.load()};
  if (report.cut_connections == 0) co_return report;
  co_await on_all_shards(server, &Shard::cut);
  // Real time: this is no policy, only the time that code needs to unwind.
  co_await server->empty.wait_for(kCutTime);
  report.stuck_connections = server->connections.load();
  co_return report;
}

}  // namespace

Server::Server(std::vector<Executor> executors, Router router, ServerOptions options, Clock& clock,
               Random& random, Logger& log)
    : state_(std::make_shared<ServerState>(std::move(router), std::move(options), clock, random,
                                           log)) {
  MR_ASSERT(!executors.empty());
  for (auto& executor : executors) {
    state_->shards.push_back(std::make_unique<Shard>(*state_, std::move(executor), random.next()));
  }
}

Server::~Server() { MR_ASSERT(!state_->started.load() || state_->draining.load()); }

Result<void> Server::start() {
  auto& state = *state_;
  MR_ASSERT(!state.started.load());
  MR_TRY(auto cors, Cors::make(state.options.cors));
  state.cors = std::move(cors);
  MR_TRY(state.header_lines, header_lines(state.options.headers));
  if (state.options.tls) {
    MR_TRY(state.tls, TlsCertificate::load(*state.options.tls));
  }
  state.tick = tick_for(state.options.limits);
  std::vector<std::unique_ptr<Listener>> listeners;
  for (const auto& address : state.options.listen) {
    MR_TRY(auto listener,
           Listener::open(state.shards.front()->executor(), address, state.options.unix_mode));
    listeners.push_back(std::move(listener));
  }
  state.listeners = std::move(listeners);
  state.started.store(true);
  for (const auto& shard : state.shards) {
    spawn(shard->executor(), Shard::watch_time(state_, shard.get()), state.log, "http_deadlines");
  }
  for (const auto& listener : state.listeners) {
    spawn(state.shards.front()->executor(), accept_all(state_, listener.get()), state.log,
          "http_accept");
  }
  return ok();
}

std::vector<ListenAddress> Server::endpoints() const {
  std::vector<ListenAddress> addresses;
  for (const auto& listener : state_->listeners) addresses.push_back(listener->address());
  return addresses;
}

awaitable<StopReport> Server::stop(std::chrono::milliseconds deadline) {
  return stop_server(state_, deadline);
}

bool Server::stopping() const { return state_->draining.load(); }

Result<void> Server::reload_tls() {
  if (!state_->tls) return fail(ErrorKind::invalid_argument, "the server does not use TLS");
  return state_->tls->reload();
}

std::size_t Server::connections() const { return state_->connections.load(); }

std::span<const Route> Server::routes() const { return state_->router.routes(); }

std::size_t raise_open_files_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace millrace::http
