#include "http/server_listener.h"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace millrace::http {
namespace {

constexpr int kBacklog = 4096;

// Closes it unless it was given away.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

std::unexpected<Error> refuse(const ListenAddress& address, int error) {
  return fail(ErrorKind::unavailable,
              fmt::format("cannot listen on {}: {}", address.to_string(), std::strerror(error)));
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  return name;
}

// A socket file outlives the process that made it. It is removed when nobody answers there.
Result<void> remove_stale_file(const ListenAddress& address) {
  struct stat found{};
  if (::lstat(address.path.c_str(), &found) != 0) return ok();
  if (!S_ISSOCK(found.st_mode)) return refuse(address, EEXIST);
  const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto name = unix_address(address.path);
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0) {
    return refuse(address, EADDRINUSE);
  }
  if (errno != ECONNREFUSED) return refuse(address, errno);
  ::unlink(address.path.c_str());
  return ok();
}

Result<void> bind_unix(int fd, const ListenAddress& address, mode_t mode) {
  MR_TRY_VOID(remove_stale_file(address));
  const auto name = unix_address(address.path);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
    return refuse(address, errno);
  }
  // Before listen(): until then nobody can connect, whatever the umask made of it.
  if (::chmod(address.path.c_str(), mode) != 0) return refuse(address, errno);
  return ok();
}

Result<void> bind_tcp(int fd, ListenAddress& address) {
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // Accepted sockets inherit it.
  sockaddr_storage name{};
  socklen_t size = 0;
  if (address.host.contains(':')) {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(name);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(address.port);
    if (::inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr) != 1) {
      return refuse(address, EINVAL);
    }
    size = sizeof v6;
  } else {
    auto& v4 = reinterpret_cast<sockaddr_in&>(name);
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    if (::inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr) != 1) {
      return refuse(address, EINVAL);
    }
    size = sizeof v4;
  }
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&name), size) != 0) {
    return refuse(address, errno);
  }
  size = sizeof name;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size);
  address.port = ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(name).sin6_port
                                                  : reinterpret_cast<sockaddr_in&>(name).sin_port);
  return ok();
}

const sockaddr* raw(const Listener::Protocol::endpoint& endpoint) {
  return reinterpret_cast<const sockaddr*>(endpoint.data());
}

}  // namespace

Listener::Listener(Acceptor acceptor, ListenAddress address)
    : acceptor_(std::move(acceptor)), address_(std::move(address)) {}

Result<std::unique_ptr<Listener>> Listener::open(const Executor& executor, ListenAddress address,
                                                 mode_t unix_mode) {
  const int family = address.is_unix() ? AF_UNIX : address.host.contains(':') ? AF_INET6 : AF_INET;
  Descriptor fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return refuse(address, errno);
  if (address.is_unix()) {
    MR_TRY_VOID(bind_unix(fd.get(), address, unix_mode));
  } else {
    MR_TRY_VOID(bind_tcp(fd.get(), address));
  }
  if (::listen(fd.get(), kBacklog) != 0) return refuse(address, errno);
  Acceptor acceptor(executor);
  boost::system::error_code error;
  acceptor.assign(Protocol(family, address.is_unix() ? 0 : IPPROTO_TCP), fd.get(), error);
  if (error) return refuse(address, error.value());
  fd.release();
  std::unique_ptr<Listener> listener(new Listener(std::move(acceptor), std::move(address)));
  listener->remember_file();
  return listener;
}

Listener::~Listener() { close(); }

void Listener::remember_file() {
  struct stat found{};
  if (address_.is_unix() && ::lstat(address_.path.c_str(), &found) == 0) {
    device_ = found.st_dev;
    inode_ = found.st_ino;
  }
}

void Listener::close() {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  const auto inode = std::exchange(inode_, 0);
  if (inode == 0) return;
  struct stat found{};
  const bool ours = ::lstat(address_.path.c_str(), &found) == 0 && found.st_dev == device_ &&
                    found.st_ino == inode;
  if (ours) ::unlink(address_.path.c_str());
}

PeerAddress peer_address(const Listener::Protocol::endpoint& endpoint) {
  char text[INET6_ADDRSTRLEN] = {};
  if (raw(endpoint)->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(raw(endpoint));
    ::inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
    return {.host = text, .port = ntohs(v4->sin_port)};
  }
  if (raw(endpoint)->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(raw(endpoint));
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
    return {.host = text, .port = ntohs(v6->sin6_port)};
  }
  return {};
}

std::string peer_key(const Listener::Protocol::endpoint& endpoint) {
  if (raw(endpoint)->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(raw(endpoint));
    return {reinterpret_cast<const char*>(&v4->sin_addr), sizeof v4->sin_addr};
  }
  if (raw(endpoint)->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(raw(endpoint));
    if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
      return {reinterpret_cast<const char*>(&v6->sin6_addr) + 12, 4};
    }
    return {reinterpret_cast<const char*>(&v6->sin6_addr), 8};  // A /64 is one household.
  }
  return {};
}

}  // namespace millrace::http
