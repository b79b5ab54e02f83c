// Stream: the socket of one accepted connection, plain or TLS. Internal to http.
//
// Nothing here waits but wait(): reading and writing are tried at once and say `again` when the
// kernel has nothing to give or no room, so that a connection which waits needs no buffer. No
// signal is raised by writing to a client that has gone.
#pragma once

#include "base/task.h"

#include <boost/asio/generic/stream_protocol.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

struct ssl_st;

namespace millrace::http {

enum class Io { done, again_when_readable, again_when_writable, closed };

struct IoResult {
  Io state = Io::done;
  std::size_t bytes = 0;  // More than 0 when done.
};

class Stream {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  // Takes over `session`, which is null for a plain connection.
  Stream(Socket socket, ssl_st* session);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  bool secure() const { return session_ != nullptr; }
  Io handshake();
  IoResult read(std::span<char> into);
  // Up to four parts as one; `bytes` counts over all of them.
  IoResult write(std::span<const std::string_view> parts);
  // Whether the client is still there: done (it has sent something), again, or closed.
  Io peek();
  // Bytes that have come but would not wake a wait, because TLS holds them already.
  bool has_pending() const;

  // Ends when `state` may have changed, or by cancel_waits(); false then.
  awaitable<bool> wait(Io state);
  // The same as a call, for watches beside a coroutine.
  void wait(Io state, std::function<void(bool ready)> then);
  void cancel_waits();

  void finish_writing();  // Says that nothing more will come.
  void close();
  bool is_open() const { return socket_.is_open(); }

 private:
  struct FreeSession {
    void operator()(ssl_st* session) const;
  };
  Io state_after(int result) const;
  IoResult write_session(std::span<const std::string_view> parts);

  Socket socket_;
  std::unique_ptr<ssl_st, FreeSession> session_;
};

}  // namespace millrace::http
