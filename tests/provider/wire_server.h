// WireServer: HTTP/1.1 on a loopback port for the stand-in: whole requests in; answers out whole,
// cut, dribbled, or not at all.
//
// Threading: the thread that runs `io`. Lifetime: the handler lives as long as the server.
#pragma once

#include "base/task.h"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace millrace::test {

struct WireRequest {
  std::string method;
  std::string path;                            // Without the query.
  std::string query;                           // As it came.
  std::map<std::string, std::string> headers;  // Names in lower case.
  std::string body;
  bool too_large = false;  // The body was longer than the server reads; it is empty.

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  }
};

struct WireReply {
  enum class End {
    whole,
    cut,    // The connection is closed in the middle of the body.
    reset,  // The connection is reset in place of an answer.
    stall,  // Nothing, until the client goes away.
  };

  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  End end = End::whole;
  std::chrono::milliseconds delay{0};  // Before the answer.
  std::chrono::milliseconds pause{0};  // Between the halves of the body.
  std::function<void()> done = [] {};  // Called once, when the exchange is over.
};

class WireServer {
 public:
  using Handler = std::function<WireReply(const WireRequest&)>;

  WireServer(boost::asio::io_context& io, std::uint16_t port, Handler handler);
  ~WireServer();
  WireServer(const WireServer&) = delete;
  WireServer& operator=(const WireServer&) = delete;

  std::uint16_t port() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // Shared with connections that may end after it.
};

}  // namespace millrace::test
