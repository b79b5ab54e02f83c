#include "listener.h"

#include "base/assert.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace millrace::render {
namespace {

int open_socket(int family, int type, unsigned short port) {
  const int fd = ::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  sockaddr_in6 six{
      .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_loopback};
  sockaddr_in four{.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {}};
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int bound = family == AF_INET6
                        ? ::bind(fd, reinterpret_cast<sockaddr*>(&six), sizeof six)
                        : ::bind(fd, reinterpret_cast<sockaddr*>(&four), sizeof four);
  if (bound != 0 || (type == SOCK_STREAM && ::listen(fd, 100) != 0)) {
    ::close(fd);
    return -1;
  }
  return fd;
}

}  // namespace

Listener::Listener(unsigned short port) {
  const int first = open_socket(AF_INET, SOCK_STREAM, port);
  MR_ASSERT(first >= 0);
  sockaddr_in bound{};
  socklen_t size = sizeof bound;
  ::getsockname(first, reinterpret_cast<sockaddr*>(&bound), &size);
  port_ = ntohs(bound.sin_port);
  sockets_.push_back(first);
  const int udp = open_socket(AF_INET, SOCK_DGRAM, port_);
  MR_ASSERT(udp >= 0);
  sockets_.push_back(udp);
  // A machine may have no IPv6.
  for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
    if (const int fd = open_socket(AF_INET6, type, port_); fd >= 0) sockets_.push_back(fd);
  }
  MR_ASSERT(::pipe2(wake_, O_CLOEXEC) == 0);
  thread_ = std::thread([this] { serve(); });
}

Listener::~Listener() {
  ::close(wake_[1]);
  thread_.join();
  ::close(wake_[0]);
  for (const int fd : sockets_) ::close(fd);
}

void Listener::count() {
  const std::lock_guard lock(mutex_);
  ++hits_;
  heard_.notify_all();
}

bool Listener::wait_for_hit(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return heard_.wait_for(lock, timeout, [this] { return hits_ > 0; });
}

void Listener::serve() {
  std::vector<pollfd> watched = {{.fd = wake_[0], .events = POLLIN, .revents = 0}};
  for (const int fd : sockets_) watched.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  while (::poll(watched.data(), watched.size(), -1) >= 0 && watched[0].revents == 0) {
    for (std::size_t i = 1; i < watched.size(); ++i) {
      if (watched[i].revents == 0) continue;
      char byte = 0;
      const int caller = ::accept(watched[i].fd, nullptr, nullptr);
      if (caller >= 0) {
        count();
        ::close(caller);
      } else if (::recv(watched[i].fd, &byte, 1, 0) >= 0) {
        count();
      }
    }
  }
}

}  // namespace millrace::render
