// Client: sends HTTP requests to other servers; libcurl's multi interface on Asio.
//
// Flow: a Request goes in, a Response with any status comes out: send() gives it whole, open() its
// headers and then the body as it is read, so that neither side of a large transfer is ever held in
// memory. Redirects are answers and not
// followed; nothing is retried, no cookie or cache is kept, no proxy or .netrc is taken from the
// environment. Connections are reused (HTTP/1.1 keep-alive) by all requests of one Client.
//
// Errors: invalid_argument (URL, method or header not acceptable), unavailable (no byte of the
// request was sent: sending it again is safe), in_doubt (it was sent at least in part and no whole
// answer came: the server may have acted on it), cancelled (by the token; the error's detail says
// whether the request had been sent). Messages name scheme, host and port only: paths and queries
// may hold secrets.
//
// Threading: send() and open() may be called from any thread and on any executor; their work
// happens on a strand of `executor`. Lifetime: destroying the client cancels what is under way; the
// execution context must outlive it and its streams.
#pragma once

#include "base/cancel.h"
#include "base/task.h"
#include "http/message.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace millrace::http {

// Whoever wants to know of requests that have a service's name: metrics.
class CallWatch {
 public:
  virtual ~CallWatch() = default;
  // The answer came, of open() its head; or none did, and `status` is 0. Not told of requests that
  // were not sendable or that our side took back: those say nothing about the service. Any thread.
  virtual void called(std::string_view service, int status, std::chrono::nanoseconds took) = 0;
};

struct ClientOptions {
  std::string user_agent = "millrace";
  std::string ca_file = {};  // PEM; empty: the system's certificates.
  std::size_t idle_connections_max = 64;
  CallWatch* call_watch = nullptr;  // Outlives the client and what it has under way.
};

// An answer whose body is read piece by piece. One reader at a time; a server that sends faster
// than that is held back. Dropping it before the end of the body closes the connection.
class ResponseStream {
 public:
  ResponseStream();  // Of nothing: a place to move one to.
  ~ResponseStream();
  ResponseStream(ResponseStream&& other) noexcept;
  ResponseStream& operator=(ResponseStream&& other) noexcept;

  const Response& head() const;  // Status and headers; its body is empty.

  // Waits for at least one byte, up to the request's idle_timeout; 0 when the whole body has come.
  // `buffer` must not be empty.
  Task<std::size_t> read(std::span<std::byte> buffer);
  // The rest of the body up to `max_bytes`, for messages of errors.
  Task<std::string> read_text(std::size_t max_bytes);

 private:
  friend class Client;
  class Impl;
  explicit ResponseStream(std::unique_ptr<Impl> impl);
  void close() noexcept;

  std::unique_ptr<Impl> impl_;
};

class Client {
 public:
  explicit Client(Executor executor, ClientOptions options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Task<Response> send(Request request, CancelToken cancel = {});
  Task<ResponseStream> open(Request request, CancelToken cancel = {});

 private:
  friend class ResponseStream;
  class Impl;
  std::shared_ptr<Impl> impl_;  // Shared with requests under way.
};

}  // namespace millrace::http
