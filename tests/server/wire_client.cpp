#include "wire_client.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace millrace::test {
namespace {

// How long the beginning of a stream is listened to.
constexpr std::chrono::milliseconds kStreamBeginning{30};

int connect_to(const http::ListenAddress& address) {
  const int fd = ::socket(address.is_unix() ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // Of connecting too: a server that takes nothing in is not waited for without end.
  const timeval most{.tv_sec = 20, .tv_usec = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
  bool connected = false;
  if (address.is_unix()) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::strncpy(name.sun_path, address.path.c_str(), sizeof name.sun_path - 1);
    connected = ::connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0;
  } else {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(address.port);
    ::inet_pton(AF_INET, address.host.c_str(), &name.sin_addr);
    connected = ::connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  if (connected) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

std::string Heard::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (http::same_name(key, name)) return value;
  }
  return {};
}

WireClient::WireClient(const http::ListenAddress& address) : fd_(connect_to(address)) {}

WireClient::~WireClient() { close(); }

void WireClient::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

bool WireClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool WireClient::receive(Deadline until) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  pollfd wanted{.fd = fd_, .events = POLLIN, .revents = 0};
  if (left.count() <= 0 || ::poll(&wanted, 1, static_cast<int>(left.count())) != 1) {
    late_ = true;
    return false;
  }
  char bytes[16 * 1024];
  const auto got = ::recv(fd_, bytes, sizeof bytes, 0);
  if (got <= 0) return false;
  buffered_.append(bytes, static_cast<std::size_t>(got));
  return true;
}

std::string WireClient::take(std::size_t bytes) {
  auto taken = buffered_.substr(0, bytes);
  buffered_.erase(0, taken.size());
  return taken;
}

bool WireClient::read_head(Heard& heard, Deadline until) {
  std::size_t end = 0;
  while ((end = buffered_.find("\r\n\r\n")) == buffered_.npos) {
    if (!receive(until)) return false;
  }
  const auto head = take(end + 4);
  if (!head.starts_with("HTTP/1.1 ")) return false;
  std::from_chars(head.data() + 9, head.data() + 12, heard.status);
  heard.headers.clear();
  std::string_view lines(head);
  lines.remove_prefix(lines.find("\r\n") + 2);
  while (lines != "\r\n") {
    const auto line = lines.substr(0, lines.find("\r\n"));
    lines.remove_prefix(line.size() + 2);
    const auto colon = std::min(line.find(": "), line.size() - 1);
    heard.headers.emplace_back(line.substr(0, colon),
                               line.substr(std::min(colon + 2, line.size())));
  }
  return true;
}

bool WireClient::read_chunks(Heard& heard, Deadline until) {
  for (;;) {
    std::size_t end = 0;
    while ((end = buffered_.find("\r\n")) == buffered_.npos) {
      if (!receive(until)) return false;
    }
    const auto line = take(end + 2);
    std::size_t size = 0;
    std::from_chars(line.data(), line.data() + line.size(), size, 16);
    while (buffered_.size() < size + 2) {
      if (!receive(until)) return false;
    }
    heard.body += take(size);
    take(2);
    if (size == 0) return true;
  }
}

bool WireClient::read_body(Heard& heard, Deadline until) {
  if (const auto length = heard.header("content-length"); !length.empty()) {
    std::size_t size = 0;
    std::from_chars(length.data(), length.data() + length.size(), size);
    while (buffered_.size() < size) {
      if (!receive(until)) return false;
    }
    heard.body = take(size);
    return true;
  }
  if (heard.header("transfer-encoding") == "chunked") return read_chunks(heard, until);
  while (receive(until)) {
  }
  heard.body = take(buffered_.size());
  return !late_;
}

Heard WireClient::ask(std::string_view bytes, Patience patience) {
  Heard heard;
  if (fd_ < 0) return heard;
  late_ = false;
  (void)send(bytes);  // A refusal may come before everything is sent.
  auto until = std::chrono::steady_clock::now() + patience.wait;
  bool whole = read_head(heard, until);
  while (whole && heard.status == 100) whole = read_head(heard, until);
  if (!whole) {
    heard.status = 0;
    heard.quiet = late_;
    close();
    return heard;
  }
  heard.streams = heard.header("content-type").starts_with("text/event-stream");
  if (heard.streams) until = std::chrono::steady_clock::now() + kStreamBeginning;
  if (!patience.head_only && heard.status != 204 && heard.status != 304) {
    whole = read_body(heard, until);
    heard.quiet = late_ && !heard.streams;
    if (!whole && !late_) heard.status = 0;
  }
  if (!whole || heard.streams || heard.header("connection") == "close") close();
  return heard;
}

}  // namespace millrace::test
