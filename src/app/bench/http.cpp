#include "app/bench/http.h"

#include "app/bench/sample.h"
#include "app/exit_code.h"
#include "base/file.h"
#include "cluster/unique_fd.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <system_error>

namespace millrace::app {
namespace {

using Seconds = std::chrono::duration<double>;
using cluster::UniqueFd;

constexpr std::size_t kAnswerMaxBytes = 64 * 1024;
constexpr std::size_t kIdBytes = 36;
constexpr std::int64_t kFirstNumber = 1'000'000'000;  // Ten digits from here on.
constexpr std::size_t kNumberDigits = 10;
constexpr std::chrono::seconds kPatience{10};

std::unexpected<Error> system_error(std::string_view what) {
  return fail(ErrorKind::unavailable,
              fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

bool is_length_header(std::string_view line) {
  constexpr std::string_view kName = "content-length:";
  if (line.size() < kName.size()) return false;
  return std::ranges::equal(line.substr(0, kName.size()), kName, {}, [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Target {
  sockaddr_in address{};
  std::string host;  // With the port, as the Host header says it.
};

Result<Target> parse_target(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  const auto refuse = [&] {
    return fail(ErrorKind::invalid_argument,
                fmt::format("--url: '{}' is not http://ADDRESS:PORT of this machine", url));
  };
  if (!url.starts_with(kScheme)) return refuse();
  auto rest = url.substr(kScheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const auto colon = rest.rfind(':');
  if (colon == rest.npos) return refuse();
  const auto port = number_in<std::uint16_t>(rest.substr(colon + 1));
  std::string host(rest.substr(0, colon));
  if (host == "localhost") host = "127.0.0.1";
  Target target{.address = {}, .host = std::string(rest)};
  target.address.sin_family = AF_INET;
  if (!port || ::inet_pton(AF_INET, host.c_str(), &target.address.sin_addr) != 1) return refuse();
  target.address.sin_port = htons(*port);
  return target;
}

// The request as bytes, and where in them the id or the number of a job stands.
struct Pattern {
  std::string bytes;
  std::size_t place = 0;
};

Pattern make_pattern(const HttpLoadOptions& options, const std::string& host) {
  const auto headers =
      fmt::format("Host: {}\r\nAuthorization: Bearer {}\r\nAccept: */*\r\n", host, options.token);
  Pattern pattern;
  if (options.requests == HttpRequests::status) {
    pattern.bytes = "GET /api/v1/jobs/";
    pattern.place = pattern.bytes.size();
    pattern.bytes += fmt::format("{} HTTP/1.1\r\n{}\r\n", std::string(kIdBytes, '0'), headers);
    return pattern;
  }
  auto payload = fmt::format(R"({{"number":{},"fill":")", kFirstNumber);
  const auto rest = options.payload_bytes - static_cast<std::int64_t>(payload.size()) - 2;
  payload.append(static_cast<std::size_t>(std::max<std::int64_t>(0, rest)), 'x').append("\"}");
  const auto body = fmt::format(R"({{"job_type":"{}","queue":"{}","payload":{}}})",
                                options.job_type, options.queue, payload);
  pattern.bytes = fmt::format(
      "POST /api/v1/jobs HTTP/1.1\r\n{}Content-Type: application/json\r\n"
      "Content-Length: {}\r\n\r\n{}",
      headers, body.size(), body);
  pattern.place = pattern.bytes.find(std::to_string(kFirstNumber));
  return pattern;
}

double own_cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Load {
 public:
  Load(const HttpLoadOptions& options, const Clock& clock) : options_(options), clock_(clock) {}

  Result<HttpLoadResult> run() {
    MR_TRY_VOID(connect_all());
    const auto begin = clock_.now() + duration(options_.warm_up_seconds);
    const auto end = begin + duration(options_.seconds);
    auto last = clock_.now();
    for (auto& client : clients_) MR_TRY_VOID(ask(client, last));
    result_.times.reserve(static_cast<std::size_t>(options_.seconds * 50'000));
    auto began = begin;
    double cpu = 0;
    std::array<epoll_event, 256> events;
    for (;;) {
      const int count =
          ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 1000);
      if (count < 0 && errno != EINTR) return system_error("epoll_wait");
      const auto now = clock_.now();
      if (!measuring_ && now >= begin) {
        measuring_ = true;
        began = now;
        cpu = own_cpu_seconds();
      }
      if (now >= end) {
        result_.seconds = Seconds(now - began).count();
        result_.cpu_seconds = own_cpu_seconds() - cpu;
        return std::move(result_);
      }
      if (count > 0) last = now;
      if (now - last > kPatience) return fail(ErrorKind::unavailable, "no answer comes any more");
      for (int i = 0; i < count; ++i) {
        MR_TRY_VOID(receive(clients_[events[static_cast<std::size_t>(i)].data.u32]));
      }
    }
  }

 private:
  struct Client {
    UniqueFd socket;
    std::string request;
    std::vector<char> received = std::vector<char>(kAnswerMaxBytes);
    std::size_t used = 0;
    Clock::Steady asked_at{};
  };

  static Clock::Duration duration(double seconds) {
    return std::chrono::duration_cast<Clock::Duration>(Seconds(seconds));
  }

  Result<void> connect_all() {
    MR_TRY(const auto target, parse_target(options_.url));
    pattern_ = make_pattern(options_, target.host);
    epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
    if (!epoll_) return system_error("epoll_create1");
    for (int i = 0; i < options_.connections; ++i) {
      Client client;
      client.socket = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      if (!client.socket) return system_error("socket");
      const int fd = client.socket.get();
      if (::connect(fd, reinterpret_cast<const sockaddr*>(&target.address),
                    sizeof target.address) != 0) {
        return system_error(fmt::format("cannot connect to {}", options_.url));
      }
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      epoll_event event{.events = EPOLLIN, .data = {.u32 = static_cast<std::uint32_t>(i)}};
      if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
        return system_error("epoll_ctl");
      }
      client.request = pattern_.bytes;
      clients_.push_back(std::move(client));
    }
    return {};
  }

  Result<void> ask(Client& client, Clock::Steady now) {
    char* place = client.request.data() + pattern_.place;
    if (options_.requests == HttpRequests::status) {
      std::memcpy(place, options_.ids[next_++ % options_.ids.size()].data(), kIdBytes);
    } else {
      std::to_chars(place, place + kNumberDigits,
                    kFirstNumber + static_cast<std::int64_t>(next_++));
    }
    client.asked_at = now;
    // A request is small and the connection is idle: the kernel takes it whole.
    const auto sent = ::send(client.socket.get(), client.request.data(), client.request.size(),
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent == static_cast<ssize_t>(client.request.size())) return {};
    return system_error("a request could not be sent");
  }

  Result<void> receive(Client& client) {
    const auto got = ::recv(client.socket.get(), client.received.data() + client.used,
                            client.received.size() - client.used, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    if (got <= 0) return fail(ErrorKind::unavailable, "the server closed a connection");
    client.used += static_cast<std::size_t>(got);
    MR_TRY(const auto answer, read_http_answer({client.received.data(), client.used}));
    if (!answer) {
      if (client.used < client.received.size()) return {};
      return fail(ErrorKind::internal, "an answer is longer than any that was expected");
    }
    MR_TRY_VOID(check(client, *answer));
    const auto now = clock_.now();
    if (measuring_) {
      ++result_.answers;
      result_.times.push_back(Seconds(now - client.asked_at).count() * 1000);
    }
    client.used = 0;
    return ask(client, now);
  }

  Result<void> check(const Client& client, const HttpAnswer& answer) const {
    const bool reads = options_.requests == HttpRequests::status;
    const std::string_view wanted =
        reads ? std::string_view(client.request).substr(pattern_.place, kIdBytes) : "\"job_id\"";
    const bool good = answer.status == (reads ? 200 : 201) && answer.size == client.used &&
                      answer.body.contains(wanted);
    if (good) return {};
    return fail(ErrorKind::internal, fmt::format("the server answered {}: {}", answer.status,
                                                 answer.body.substr(0, 300)));
  }

  const HttpLoadOptions& options_;
  const Clock& clock_;
  Pattern pattern_;
  UniqueFd epoll_;
  std::vector<Client> clients_;
  std::size_t next_ = 0;
  bool measuring_ = false;
  HttpLoadResult result_;
};

Result<std::vector<std::string>> read_ids(const std::filesystem::path& file) {
  MR_TRY(const auto text, read_file(file));
  std::vector<std::string> ids;
  for (std::string_view rest = text; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    if (end > 0) ids.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return ids;
}

}  // namespace

Result<HttpRequests> parse_http_requests(std::string_view text) {
  if (text == "status") return HttpRequests::status;
  if (text == "enqueue") return HttpRequests::enqueue;
  return fail(ErrorKind::invalid_argument,
              fmt::format("--requests: '{}' is neither status nor enqueue", text));
}

Result<std::optional<HttpAnswer>> read_http_answer(std::string_view received) {
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  const auto head_end = received.find("\r\n\r\n");
  if (head_end == received.npos) return std::nullopt;
  const auto head = received.substr(0, head_end + 2);
  const auto status = number_in<int>(head.substr(std::min(kVersion.size(), head.size()), 3));
  if (!head.starts_with(kVersion) || !status) {
    return fail(ErrorKind::internal, "what the server sent is not an answer of HTTP/1.1");
  }
  std::optional<std::size_t> length;
  for (auto rest = head.substr(head.find("\r\n") + 2); !rest.empty();) {
    const auto line = rest.substr(0, rest.find("\r\n"));
    if (is_length_header(line)) length = number_in<std::size_t>(line.substr(line.find(':') + 1));
    rest.remove_prefix(line.size() + 2);
  }
  if (!length) return fail(ErrorKind::internal, "an answer does not say how long it is");
  const auto size = head_end + 4 + *length;
  if (received.size() < size) return std::nullopt;
  return HttpAnswer{
      .status = *status, .body = received.substr(head_end + 4, *length), .size = size};
}

Result<HttpLoadResult> run_http_load(const HttpLoadOptions& options, const Clock& clock) {
  if (options.requests == HttpRequests::status) {
    const auto odd = std::ranges::find_if(
        options.ids, [](const std::string& id) { return id.size() != kIdBytes; });
    if (options.ids.empty() || odd != options.ids.end()) {
      return fail(ErrorKind::invalid_argument, "--ids: a file with a job's id on every line");
    }
  }
  return Load(options, clock).run();
}

Result<int> run_http_command(Context& context, HttpCommand command) {
  if (command.load.requests == HttpRequests::status) {
    MR_TRY(command.load.ids, read_ids(command.ids));
  }
  MR_TRY(const auto load, run_http_load(command.load, context.clock));
  json::Object times;
  for (const auto& [name, share] :
       {std::pair{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}}) {
    times[name] = percentile(load.times, share);
  }
  context.print_json(json::Object{{"requests", load.answers},
                                  {"seconds", load.seconds},
                                  {"rate", load.rate()},
                                  {"connections", command.load.connections},
                                  {"own_cpu_seconds", load.cpu_seconds},
                                  {"ms", std::move(times)}});
  return kExitOk;
}

}  // namespace millrace::app
