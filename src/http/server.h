// Server: HTTP/1.0 and 1.1 on TCP and unix sockets, plain or TLS.
//
// Flow: start() listens; every connection is given to one of the executors in turn and stays there;
// its requests are read one after the other, found in the router, answered by their handler, and
// reported to the access log. What is malformed, too large, too slow or too much never reaches a
// handler: the server answers with the fitting status, worded by ServerOptions::problem, and closes
// where it must. stop() stops listening, closes idle connections, lets running requests end until
// the deadline and cuts what is left.
//
// Threading: each executor is run by one thread at a time (see ServerThreads); handlers run on the
// executor of their connection. start, stop and reload_tls may be called from any thread. Lifetime:
// call stop() before destroying it; clock, random and log outlive it, and so do the executors.
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/task.h"
#include "http/access_log.h"
#include "http/cors.h"
#include "http/ip_network.h"
#include "http/message.h"
#include "http/request_reader.h"
#include "http/router.h"
#include "http/server_listen.h"
#include "http/server_problem.h"
#include "http/tls.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <sys/types.h>
#include <vector>

namespace millrace::http {

struct ServerLimits {
  HeadLimits head;
  std::chrono::milliseconds header_time_max{10'000};  // 408: from a head's first byte to its last.
  std::chrono::milliseconds idle_time_max{75'000};    // Between requests; closed without a word.
  // 408 while the client sends; else 503, or 504 for a request that may have changed something.
  std::chrono::milliseconds request_time_max{60'000};
  std::chrono::milliseconds body_stall_max{20'000};   // 408: no byte of a body for so long.
  std::chrono::milliseconds write_stall_max{20'000};  // The client takes no byte of the answer.
  std::chrono::milliseconds linger_max{2'000};        // Reading on, so that a refusal can be read.
  std::size_t connections_max = 20'000;               // 503
  // 503. An IPv4 address or an IPv6 /64; 0: no limit. Trusted proxies are not counted.
  std::size_t connections_per_peer_max = 0;
};

// Replies to a request whose handler returned an error. What it throws is a bug.
using ErrorReply =
    std::function<void(const Error& error, const ServerRequest& request, ResponseWriter& response)>;

struct ServerOptions {
  std::vector<ListenAddress> listen = {ListenAddress{}};
  mode_t unix_mode = 0660;           // Of the socket files.
  std::optional<TlsFiles> tls = {};  // For all TCP addresses.
  ServerLimits limits = {};
  CorsOptions cors = {};
  // Whose X-Forwarded-For and X-Forwarded-Proto are believed.
  std::vector<IpNetwork> trusted_proxies = {};
  std::vector<Header> headers = {{"X-Content-Type-Options", "nosniff"}};  // In every answer.
  ProblemReply problem = reply_problem;
  ErrorReply on_error = {};   // Default: 500 and a line in the log.
  AccessLog access_log = {};  // Default: none.
};

struct StopReport {
  std::size_t cut_connections = 0;    // Still busy at the deadline.
  std::size_t stuck_connections = 0;  // Their handlers have not returned even then.
};

struct ServerState;

class Server {
 public:
  Server(std::vector<Executor> executors, Router router, ServerOptions options, Clock& clock,
         Random& random, Logger& log);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // invalid_argument for options that cannot be right, unavailable for an address in use. Nothing
  // listens after an error.
  Result<void> start();
  // The addresses, with the ports that were taken for 0.
  std::vector<ListenAddress> endpoints() const;

  // Safe twice and before start().
  awaitable<StopReport> stop(std::chrono::milliseconds deadline);
  bool stopping() const;

  // Reads certificate and key again; connections that are open keep theirs. On error nothing
  // changes.
  Result<void> reload_tls();
  std::size_t connections() const;
  std::span<const Route> routes() const;

 private:
  std::shared_ptr<ServerState> state_;  // Shared with connections under way.
};

// Raises this process's limit of open files to what the system allows; returns it.
std::size_t raise_open_files_limit();

}  // namespace millrace::http
