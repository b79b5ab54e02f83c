// Client: sends HTTP requests to other servers; libcurl's multi interface on Asio.
//
// Flow: a Request goes in, a Response with any status comes out. Redirects are answers and not
// followed; nothing is retried, no cookie or cache is kept, no proxy or .netrc is taken from the
// environment. Connections are reused (HTTP/1.1 keep-alive) by all requests of one Client.
//
// Errors: invalid_argument (URL, method or header not acceptable), unavailable (no byte of the
// request was sent: sending it again is safe), in_doubt (it was sent at least in part and no whole
// answer came: the server may have acted on it), cancelled (by the token; the error's detail says
// whether the request had been sent). Messages name scheme, host and port only: paths and queries
// may hold secrets.
//
// Threading: send() may be called from any thread and on any executor; its work happens on a strand
// of `executor`. Lifetime: destroying the client cancels what is under way; the execution context
// must outlive it.
#pragma once

#include "base/cancel.h"
#include "base/task.h"
#include "http/message.h"

#include <cstddef>
#include <memory>
#include <string>

namespace millrace::http {

struct ClientOptions {
  std::string user_agent = "millrace";
  std::string ca_file;  // PEM; empty: the system's certificates.
  std::size_t idle_connections_max = 64;
};

class Client {
 public:
  explicit Client(Executor executor, ClientOptions options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Task<Response> send(Request request, CancelToken cancel = {});

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // Shared with requests under way.
};

}  // namespace millrace::http
