// Listener: one address that is listened on. Internal to http.
#pragma once

#include "base/task.h"
#include "http/server_listen.h"
#include "http/server_request.h"

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include <memory>
#include <string>
#include <sys/types.h>

namespace millrace::http {

class Listener {
 public:
  using Protocol = boost::asio::generic::stream_protocol;
  using Acceptor = boost::asio::basic_socket_acceptor<Protocol>;

  // Bound and listening. A socket file that nobody listens on any more is replaced.
  static Result<std::unique_ptr<Listener>> open(const Executor& executor, ListenAddress address,
                                                mode_t unix_mode);
  ~Listener();  // Removes its socket file.
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  Acceptor& acceptor() { return acceptor_; }
  const ListenAddress& address() const { return address_; }
  void close();

 private:
  Listener(Acceptor acceptor, ListenAddress address);
  void remember_file();

  Acceptor acceptor_;
  ListenAddress address_;  // With the real port.
  dev_t device_ = 0;       // Of the socket file, so that no other is removed.
  ino_t inode_ = 0;
};

PeerAddress peer_address(const Listener::Protocol::endpoint& endpoint);
// What counts as one client: an IPv4 address, or the network of an IPv6 address. Empty: nothing.
std::string peer_key(const Listener::Protocol::endpoint& endpoint);

}  // namespace millrace::http
