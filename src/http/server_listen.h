// ListenAddress: where a server waits for connections, as people write it.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::http {

struct ListenAddress {
  std::string host = "127.0.0.1";  // An IP address; empty for a unix socket.
  std::uint16_t port = 0;          // 0: one that is free.
  std::string path = {};           // Of a unix socket.

  bool is_unix() const { return !path.empty(); }
  // "127.0.0.1:8080", "[::1]:8080", "unix:/run/millrace.sock": parse_listen reads it back.
  std::string to_string() const;

  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

// "host:port", "[v6]:port", ":port" and "*:port" (all IPv4 addresses), "port", "unix:/path". The
// host is an IP address or "localhost"; other names are refused, because what they resolve to may
// change. invalid_argument says what is wrong.
Result<ListenAddress> parse_listen(std::string_view text);

}  // namespace millrace::http
