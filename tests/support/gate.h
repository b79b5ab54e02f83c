// Gate: stands between a client and the test server and breaks things on command: hold what the
// server answers, hold what the client asks, cut the line, refuse to connect.
//
// It listens on a port of the loopback interface and runs on a thread of its own; all members may
// be called from the test's thread. Waiting members return when it has happened, there is no need
// to sleep.
#pragma once

#include "support/server.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::test {

class Gate {
 public:
  explicit Gate(const Server& server);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  std::string url(std::string_view database, std::string_view user = "postgres") const;

  void hold_answers();   // From now on bytes from the server stay here,
  void hold_requests();  // or bytes from the client.
  void open();           // Passes on what was held.
  void cut();            // Closes all connections; what was held is lost. New ones are accepted.
  void refuse(bool on);  // New connections are closed at once.

  void wait_for_held_answer();   // Until at least one byte from the server is held,
  void wait_for_held_request();  // or from the client.
  std::size_t connections() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::test
