// ServerState and Shard: what the connections of a server share. Internal to http.
//
// A Shard is one executor's part: its connections, its clock for deadlines (one tick looks at all
// of them, so that a connection needs no timer), and memory that its connections take turns in
// using. Everything in a Shard belongs to its executor; ServerState is immutable after start()
// except for what is atomic or locked.
#pragma once

#include "base/event.h"
#include "base/spawn.h"
#include "http/connection.h"
#include "http/server.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace millrace::http {

class Listener;

// How many connections each address has open.
class PeerCounts {
 public:
  bool enter(const std::string& key, std::size_t max);  // False when it has `max` already.
  void leave(const std::string& key);

 private:
  std::mutex mutex_;  // Guards counts_.
  std::unordered_map<std::string, std::size_t> counts_;
};

class Shard {
 public:
  Shard(ServerState& server, Executor executor, std::uint64_t seed);
  ~Shard();

  ServerState& server() { return server_; }
  const Executor& executor() const { return executor_; }
  Random& ids() { return ids_; }

  // Looks after deadlines until the server stops and no connection is left.
  static awaitable<void> watch_time(std::shared_ptr<ServerState> keep_alive, Shard* shard);
  void drain();  // Closes what is idle, asks long-lived requests to end.
  void cut();    // Closes everything.

  void enter(Connection& connection);
  void leave(Connection& connection);

  std::unique_ptr<Exchange> take_exchange();
  void give_back(std::unique_ptr<Exchange> exchange);
  std::string& scratch();             // Empty; not across a co_await.
  std::string_view common_headers();  // Date and ServerOptions::headers, as lines.
  const SseFrame& heartbeat() const { return heartbeat_; }

 private:
  void tick(Clock::Steady now);

  ServerState& server_;
  Executor executor_;
  SeededRandom ids_;  // Correlation and span ids need to differ, not to be secret.
  Connection* first_ = nullptr;
  std::vector<std::unique_ptr<Exchange>> spare_;
  SseFrame heartbeat_ = SseFrame::comment("ping");
  std::string scratch_;
  std::string common_;
  std::chrono::sys_seconds common_made_at_{};
};

struct ServerState : std::enable_shared_from_this<ServerState> {
  ServerState(Router router_in, ServerOptions options_in, Clock& clock_in, Random& random_in,
              Logger& log_in);
  ~ServerState();

  Router router;
  ServerOptions options;
  Clock& clock;
  Random& random;
  Logger& log;
  std::optional<Cors> cors;
  std::unique_ptr<TlsCertificate> tls;
  std::vector<std::unique_ptr<Shard>> shards;
  std::vector<std::unique_ptr<Listener>> listeners;
  std::string header_lines;  // ServerOptions::headers.
  Clock::Duration tick{};    // How often deadlines are looked at.

  std::atomic<std::size_t> turn = 0;  // Whose turn it is to get a connection.
  std::atomic<std::size_t> connections = 0;
  std::atomic<std::size_t> refusals = 0;  // Of them, those that are only told 503.
  std::atomic<bool> started = false;
  std::atomic<bool> draining = false;
  Event stopping;  // Set with draining.
  Event empty;     // Set when draining and no connection is left.
  PeerCounts peers;

  Shard& next_shard() { return *shards[turn.fetch_add(1) % shards.size()]; }
  void connection_ended();
};

// "Sun, 06 Nov 1994 08:49:37 GMT"
void append_http_date(std::string& out, std::chrono::sys_seconds time);

}  // namespace millrace::http
