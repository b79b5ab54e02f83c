// SmallServer: HTTP/1.1 on a loopback port for stand-ins: whole requests in, whole answers out.
//
// Threading: the thread that runs `io`. Lifetime: the handler lives as long as the server.
#pragma once

#include "base/task.h"

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace millrace::test {

struct StandInRequest {
  std::string method;
  std::string target;                          // As it came.
  std::string path;                            // Decoded, without the query.
  std::map<std::string, std::string> query;    // Decoded.
  std::map<std::string, std::string> headers;  // Names in lower case.
  std::string body;

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  }
};

struct StandInAnswer {
  int status = 200;
  std::map<std::string, std::string> headers = {};
  std::string body = {};
  bool lost = false;  // The connection is closed in place of sending it.
};

class SmallServer {
 public:
  using Handler = std::function<StandInAnswer(const StandInRequest&)>;

  SmallServer(boost::asio::io_context& io, Handler handler);
  ~SmallServer();
  SmallServer(const SmallServer&) = delete;
  SmallServer& operator=(const SmallServer&) = delete;

  std::uint16_t port() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // Shared with connections that may end after it.
};

}  // namespace millrace::test
