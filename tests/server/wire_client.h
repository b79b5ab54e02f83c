// WireClient: one connection to the server under test. It sends exact bytes and waits with a limit,
// so that an answer that does not come is told apart from one that goes on: of a stream it hears
// the beginning and hangs up.
#pragma once

#include "http/message.h"
#include "http/server_listen.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::test {

struct Heard {
  int status = 0;  // 0: the connection ended without an answer.
  std::vector<http::Header> headers = {};
  std::string body = {};
  bool quiet = false;    // Nothing came, or no end came, within the time.
  bool streams = false;  // text/event-stream: the body is its beginning.

  std::string header(std::string_view name) const;
};

class WireClient {
 public:
  explicit WireClient(const http::ListenAddress& address);
  ~WireClient();
  WireClient(const WireClient&) = delete;
  WireClient& operator=(const WireClient&) = delete;

  struct Patience {
    bool head_only = false;  // The answer has no body: HEAD.
    std::chrono::milliseconds wait{20'000};
  };
  Heard ask(std::string_view bytes, Patience patience);
  // Whether the connection can be used for another request.
  bool open() const { return fd_ >= 0; }

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  void close();
  bool send(std::string_view bytes);
  bool receive(Deadline until);  // False at the end of the connection, or of the time.
  bool read_head(Heard& heard, Deadline until);
  bool read_body(Heard& heard, Deadline until);
  bool read_chunks(Heard& heard, Deadline until);
  std::string take(std::size_t bytes);

  int fd_ = -1;
  bool late_ = false;  // The time was up.
  std::string buffered_;
};

}  // namespace millrace::test
