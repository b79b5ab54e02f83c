// TestServer and RawClient: a real server on a loopback port, and a client that sends exact bytes.
//
// For tests only. The client blocks, with a limit on every wait that only a hanging server reaches;
// the server runs on threads of its own. With a ManualClock time stands still until the test moves
// it.
#pragma once

#include "base/run.h"
#include "http/message.h"
#include "http/response.h"
#include "http/server.h"
#include "http/server_threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace millrace::http {

struct Reply {
  int status = 0;  // 0: the connection ended before a whole answer came.
  std::vector<Header> headers;
  std::string body;

  std::string header(std::string_view name) const {
    std::string all;
    for (const auto& [key, value] : headers) {
      if (same_name(key, name)) all += (all.empty() ? "" : "|") + value;
    }
    return all;
  }
};

class RawClient {
 public:
  explicit RawClient(const ListenAddress& address, int receive_buffer_bytes = 0,
                     const char* source = nullptr) {
    fd_ = ::socket(address.is_unix() ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer_bytes > 0) {
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
    }
    if (address.is_unix()) {
      sockaddr_un name{};
      name.sun_family = AF_UNIX;
      std::strncpy(name.sun_path, address.path.c_str(), sizeof name.sun_path - 1);
      connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0;
    } else {
      sockaddr_in name{};
      name.sin_family = AF_INET;
      if (source != nullptr) {
        ::inet_pton(AF_INET, source, &name.sin_addr);
        ::bind(fd_, reinterpret_cast<sockaddr*>(&name), sizeof name);
      }
      name.sin_port = htons(address.port);
      ::inet_pton(AF_INET, address.host.c_str(), &name.sin_addr);
      connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0;
      const int on = 1;  // Every send is a packet of its own, at once.
      ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
  }
  ~RawClient() { close(); }
  RawClient(RawClient&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        connected_(other.connected_),
        buffered_(std::move(other.buffered_)) {}
  RawClient& operator=(RawClient&&) = delete;

  bool connected() const { return connected_; }
  int fd() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  void close_with_reset() {
    const linger hard{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close();
  }
  void finish_sending() { ::shutdown(fd_, SHUT_WR); }

  // False when the server does not take all of it.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // As much as the kernel takes at once.
  std::size_t send_some(std::string_view bytes) {
    const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent < 0 ? 0 : static_cast<std::size_t>(sent);
  }

  // Something can be read, or the server has closed.
  bool readable(std::chrono::milliseconds wait) {
    if (!buffered_.empty()) return true;
    pollfd poll_for{.fd = fd_, .events = POLLIN, .revents = 0};
    return ::poll(&poll_for, 1, static_cast<int>(wait.count())) == 1;
  }

  // False at the end of the connection.
  bool receive() {
    if (pollfd p{.fd = fd_, .events = POLLIN, .revents = 0}; ::poll(&p, 1, 20'000) != 1) {
      ADD_FAILURE() << "the server neither answered nor closed";
      return false;
    }
    char bytes[16 * 1024];
    const auto got = ::recv(fd_, bytes, sizeof bytes, 0);
    if (got <= 0) return false;
    buffered_.append(bytes, static_cast<std::size_t>(got));
    return true;
  }

  bool receive_until(std::size_t bytes) {
    while (buffered_.size() < bytes && receive()) {
    }
    return buffered_.size() >= bytes;
  }

  // Forgets what has come; how much it was.
  std::size_t read_all_buffered() { return std::exchange(buffered_, {}).size(); }
  std::string read_until(std::string_view end) {
    std::size_t found = 0;
    while ((found = buffered_.find(end)) == buffered_.npos) {
      if (!receive()) return std::exchange(buffered_, {});
    }
    auto text = buffered_.substr(0, found + end.size());
    buffered_.erase(0, text.size());
    return text;
  }
  std::string read_until_closed() {
    while (receive()) {
    }
    return std::exchange(buffered_, {});
  }
  bool closed_without_answer() { return read_until_closed().empty(); }

  Reply read_reply(bool head_only = false) {
    Reply reply;
    auto head = read_until("\r\n\r\n");
    if (!head.ends_with("\r\n\r\n") || !head.starts_with("HTTP/1.1 ")) return reply;
    std::from_chars(head.data() + 9, head.data() + 12, reply.status);
    std::string_view lines(head);
    lines.remove_prefix(lines.find("\r\n") + 2);
    while (lines != "\r\n") {
      const auto line = lines.substr(0, lines.find("\r\n"));
      lines.remove_prefix(line.size() + 2);
      const auto colon = line.find(": ");
      reply.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    }
    if (head_only || reply.status == 204 || reply.status == 304 || reply.status == 100)
      return reply;
    if (const auto length = reply.header("content-length"); !length.empty()) {
      const auto size = std::stoull(length);
      while (buffered_.size() < size && receive()) {
      }
      if (buffered_.size() < size) reply.status = 0;
      reply.body = buffered_.substr(0, size);
      buffered_.erase(0, reply.body.size());
    } else if (reply.header("transfer-encoding") == "chunked") {
      for (;;) {
        const auto size = std::stoull("0" + read_until("\r\n"), nullptr, 16);
        while (buffered_.size() < size + 2 && receive()) {
        }
        if (buffered_.size() < size + 2) reply.status = 0;
        reply.body += buffered_.substr(0, size);
        buffered_.erase(0, size + 2);
        if (size == 0 || reply.status == 0) break;
      }
    } else {
      reply.body = read_until_closed();
    }
    return reply;
  }

  Reply ask(std::string_view bytes, bool head_only = false) {
    send(bytes);
    return read_reply(head_only);
  }

 private:
  int fd_ = -1;
  bool connected_ = false;
  std::string buffered_;
};

// A GET as short as it can be.
inline std::string get(std::string_view path, std::string_view headers = {}) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: test\r\n" + std::string(headers) + "\r\n";
}
inline std::string post(std::string_view path, std::string_view body,
                        std::string_view headers = {}) {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(headers) + "\r\n" + std::string(body);
}

// What a test wants to know of the access log, copied out of the record.
struct Logged {
  std::string method;
  std::string path;
  std::string route;
  bool private_path = false;
  int status = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_bytes = 0;
  std::string correlation_id;
  std::string reason;
  std::string peer;
  bool cut = false;
  std::size_t fields = 0;
};

class TestServer {
 public:
  explicit TestServer(std::vector<Route> routes, ServerOptions options = {},
                      std::size_t threads = 1, ManualClock* manual = nullptr)
      : threads_(std::make_unique<ServerThreads>(threads)) {
    auto router = Router::make(std::move(routes));
    if (!router) ADD_FAILURE() << router.error().message;
    options.access_log = [this](const AccessRecord& record) { note(record); };
    server_.emplace(threads_->executors(), *std::move(router), std::move(options),
                    manual != nullptr ? static_cast<Clock&>(*manual) : clock_, random_, log_);
    const auto started = server_->start();
    if (!started) ADD_FAILURE() << started.error().message;
  }
  ~TestServer() {
    stop(std::chrono::milliseconds(0));
    threads_->stop();
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  Server& server() { return *server_; }
  ListenAddress address() const { return server_->endpoints().front(); }
  RawClient connect(int receive_buffer_bytes = 0) {
    return RawClient(address(), receive_buffer_bytes);
  }
  // One request on a connection of its own.
  Reply ask(std::string_view bytes, bool head_only = false) {
    return connect().ask(bytes, head_only);
  }
  StopReport stop(std::chrono::milliseconds deadline) {
    return run_blocking(server_->stop(deadline));
  }

  // The log is written behind the answer: waits until `count` lines are there.
  std::vector<Logged> wait_for_log(std::size_t count) {
    EXPECT_TRUE(has_logged(count, std::chrono::seconds(20)));
    const std::lock_guard lock(mutex_);
    return logged_;
  }
  bool has_logged(std::size_t count, std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    return logged_more_.wait_for(lock, wait, [&] { return logged_.size() >= count; });
  }

 private:
  void note(const AccessRecord& record) {
    const std::lock_guard lock(mutex_);
    logged_.push_back({.method = std::string(record.method),
                       .path = std::string(record.path),
                       .route = std::string(record.route),
                       .private_path = record.private_path,
                       .status = record.status,
                       .received_bytes = record.received_bytes,
                       .sent_bytes = record.sent_bytes,
                       .correlation_id = std::string(record.correlation_id),
                       .reason = std::string(record.reason),
                       .peer = record.peer->host,
                       .cut = record.cut,
                       .fields = record.fields == nullptr ? 0 : record.fields->size()});
    logged_more_.notify_all();
  }

  SystemClock clock_;
  SeededRandom random_{42};
  Logger log_ = Logger::silent();
  std::mutex mutex_;  // Guards logged_.
  std::condition_variable logged_more_;
  std::vector<Logged> logged_;
  std::unique_ptr<ServerThreads> threads_;
  std::optional<Server> server_;
};

// Moves the clock step by step until `happened`, which waits a moment itself; how far it moved.
inline std::chrono::milliseconds advance_until(
    ManualClock& clock, std::chrono::milliseconds step,
    const std::function<bool(std::chrono::milliseconds wait)>& happened) {
  std::chrono::milliseconds moved{0};
  while (!happened(std::chrono::milliseconds(3))) {
    if (moved > step * 4000) {
      ADD_FAILURE() << "nothing happened within " << moved.count() << " ms of the test's time";
      break;
    }
    clock.advance(step);
    moved += step;
  }
  return moved;
}

// Replies 200 with what `say` makes of the request.
inline Handler says(std::function<std::string(ServerRequest&)> say) {
  return [say = std::move(say)](ServerRequest& request, ResponseWriter& response) -> Task<void> {
    response.reply(200, "text/plain", say(request));
    co_return ok();
  };
}

// Replies 200 with the body of the request.
inline Task<void> echo(ServerRequest& request, ResponseWriter& response) {
  MR_CO_TRY(auto body, co_await request.read_whole_body());
  response.reply(200, "text/plain", std::move(body));
  co_return ok();
}

}  // namespace millrace::http
