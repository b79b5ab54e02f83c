#include "app/bench/streams.h"

#include "app/bench/http.h"
#include "app/bench/sample.h"
#include "app/exit_code.h"
#include "cluster/unique_fd.h"
#include "http/server.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <system_error>
#include <utility>

namespace millrace::app {
namespace {

using cluster::UniqueFd;
using Milliseconds = std::chrono::duration<double, std::milli>;
using Seconds = std::chrono::duration<double>;

constexpr std::chrono::seconds kPatience{30};
constexpr std::size_t kHeadMaxBytes = 16 * 1024;
constexpr std::size_t kReceiveBytes = 64 * 1024;
constexpr std::size_t kSpareFiles = 64;  // Besides the streams.
constexpr double kPauseMaxMs = 120;

std::unexpected<Error> system_error(std::string_view what) {
  return fail(ErrorKind::unavailable,
              fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

Result<sockaddr_in> target_of(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (url.starts_with(kScheme)) {
    const auto parsed = http::parse_listen(url.substr(kScheme.size()));
    if (parsed && ::inet_pton(AF_INET, parsed->host.c_str(), &address.sin_addr) == 1) {
      address.sin_port = htons(parsed->port);
      return address;
    }
  }
  return fail(ErrorKind::invalid_argument,
              fmt::format("--url: '{}' is not http://ADDRESS:PORT of this machine", url));
}

Result<UniqueFd> connect_to(const sockaddr_in& address) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return system_error("socket");
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return system_error("cannot connect to the server");
  }
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

Result<void> send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return system_error("the server takes no request");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

}  // namespace

std::size_t EventCounter::feed(std::string_view bytes) {
  constexpr std::string_view kBegin = "\ndata: ";
  std::size_t events = 0;
  for (const char c : bytes) {
    matched_ = c == kBegin[matched_] ? matched_ + 1 : c == '\n' ? 1U : 0U;
    if (matched_ < kBegin.size()) continue;
    ++events;
    matched_ = 0;
  }
  return events;
}

struct StreamLoad::Impl {
  struct Stream {
    UniqueFd socket;
    std::string head = {};  // Until it is complete.
    bool open = false;
    EventCounter counter = {};
    std::size_t events = 0;
  };

  Impl(StreamLoadOptions chosen, Clock& with_clock, Random& with_random)
      : options(std::move(chosen)), clock(with_clock), random(with_random) {}

  Result<void> open_all();
  Result<void> open_one(const sockaddr_in& address);
  Result<void> receive(Stream& stream);
  Result<void> read_head(Stream& stream, std::string_view bytes);
  // Until `done` streams have what they wait for.
  Result<void> wait_for(const std::size_t& count, std::size_t done, std::string_view what);
  // Reads whatever comes for so long.
  Result<void> listen(Milliseconds time);
  Result<int> receive_ready(int timeout_ms);
  Result<void> enqueue();
  Result<void> read_answer();
  Result<void> measure_one(StreamTimes& times);

  StreamLoadOptions options;
  Clock& clock;
  Random& random;
  UniqueFd epoll;
  UniqueFd producer;
  std::string request;
  std::vector<Stream> streams;
  std::size_t open_count = 0;
  std::size_t heard_count = 0;  // Of the present event.
  std::size_t expected = 0;     // Events that every stream should have.
  Clock::Steady asked_at{};
  StreamTimes* times = nullptr;
  std::array<char, kReceiveBytes> buffer{};
  double opened_in_seconds = 0;
};

Result<void> StreamLoad::Impl::open_all() {
  const auto files = http::raise_open_files_limit();
  if (files < static_cast<std::size_t>(options.streams) + kSpareFiles) {
    return fail(Error{.kind = ErrorKind::unavailable,
                      .message = fmt::format("only {} files may be open here", files),
                      .hint = "raise 'ulimit -Hn', or take fewer --connections"});
  }
  MR_TRY(const auto address, target_of(options.url));
  epoll = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return system_error("epoll_create1");
  const auto begin = clock.now();
  streams.reserve(static_cast<std::size_t>(options.streams));
  for (int i = 0; i < options.streams; ++i) MR_TRY_VOID(open_one(address));
  MR_TRY_VOID(wait_for(open_count, streams.size(), "streams are open"));
  opened_in_seconds = Seconds(clock.now() - begin).count();
  MR_TRY(producer, connect_to(address));
  const std::string fill(static_cast<std::size_t>(options.payload_bytes), 'x');
  const auto body = fmt::format(R"({{"job_type":"{}","queue":"{}","payload":{{"fill":"{}"}}}})",
                                options.job_type, options.queue, fill);
  request = fmt::format(
      "POST /api/v1/jobs HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {}\r\n"
      "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
      options.token, body.size(), body);
  return {};
}

Result<void> StreamLoad::Impl::open_one(const sockaddr_in& address) {
  MR_TRY(auto socket, connect_to(address));
  const int fd = socket.get();
  epoll_event event{.events = EPOLLIN, .data = {.u32 = static_cast<std::uint32_t>(streams.size())}};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0) return system_error("epoll_ctl");
  MR_TRY_VOID(send_all(fd, fmt::format("GET {} HTTP/1.1\r\nHost: bench\r\n"
                                       "Accept: text/event-stream\r\n"
                                       "Authorization: Bearer {}\r\n\r\n",
                                       options.path, options.token)));
  streams.push_back({.socket = std::move(socket)});
  return {};
}

Result<int> StreamLoad::Impl::receive_ready(int timeout_ms) {
  std::array<epoll_event, 512> events;
  const int ready =
      ::epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  if (ready < 0 && errno != EINTR) return system_error("epoll_wait");
  for (int i = 0; i < ready; ++i) {
    MR_TRY_VOID(receive(streams[events[static_cast<std::size_t>(i)].data.u32]));
  }
  return ready;
}

Result<void> StreamLoad::Impl::listen(Milliseconds time) {
  const auto end = clock.now() + std::chrono::duration_cast<Clock::Duration>(time);
  for (auto now = clock.now(); now < end; now = clock.now()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now);
    MR_TRY_VOID(receive_ready(static_cast<int>(left.count())));
  }
  return {};
}

Result<void> StreamLoad::Impl::wait_for(const std::size_t& count, std::size_t done,
                                        std::string_view what) {
  auto last = clock.now();
  while (count < done) {
    const auto before = count;
    MR_TRY_VOID(receive_ready(100));
    const auto now = clock.now();
    if (count > before) last = now;
    if (now - last > kPatience) {
      return fail(ErrorKind::unavailable, fmt::format("only {} of {} {}", count, done, what));
    }
  }
  return {};
}

Result<void> StreamLoad::Impl::receive(Stream& stream) {
  const auto got = ::recv(stream.socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (got <= 0) return fail(ErrorKind::unavailable, "the server closed a stream");
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
  if (!stream.open) return read_head(stream, bytes);
  const auto before = stream.events;
  stream.events += stream.counter.feed(bytes);
  if (before < expected && stream.events >= expected) {
    ++heard_count;
    if (times != nullptr) times->each.push_back(Milliseconds(clock.now() - asked_at).count());
  }
  return {};
}

Result<void> StreamLoad::Impl::read_head(Stream& stream, std::string_view bytes) {
  stream.head += bytes;
  const auto end = stream.head.find("\r\n\r\n");
  if (end == std::string::npos) {
    if (stream.head.size() < kHeadMaxBytes) return {};
    return fail(ErrorKind::unavailable, "the server's answer has no end");
  }
  if (!stream.head.starts_with("HTTP/1.1 200 ")) {
    return fail(ErrorKind::unavailable,
                "no stream: " + stream.head.substr(0, stream.head.find('\r')));
  }
  stream.open = true;
  ++open_count;
  stream.events += stream.counter.feed(std::string_view(stream.head).substr(end + 4));
  stream.head = std::string();
  return {};
}

Result<void> StreamLoad::Impl::enqueue() {
  asked_at = clock.now();
  return send_all(producer.get(), request);
}

// After the streams: the answer may come before or after the events.
Result<void> StreamLoad::Impl::read_answer() {
  std::string received;
  for (;;) {
    const auto got = ::recv(producer.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) return fail(ErrorKind::unavailable, "the server did not answer an enqueue");
    received.append(buffer.data(), static_cast<std::size_t>(got));
    MR_TRY(const auto answer, read_http_answer(received));
    if (!answer) continue;
    if (answer->status == 201) return {};
    return fail(ErrorKind::unavailable,
                fmt::format("an enqueue was answered with {}: {}", answer->status, answer->body));
  }
}

Result<void> StreamLoad::Impl::measure_one(StreamTimes& into) {
  heard_count = 0;
  ++expected;
  times = &into;
  MR_TRY_VOID(enqueue());
  MR_TRY_VOID(wait_for(heard_count, streams.size(), "streams have heard of a job"));
  into.last.push_back(Milliseconds(clock.now() - asked_at).count());
  times = nullptr;
  return read_answer();
}

StreamLoad::StreamLoad(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StreamLoad::~StreamLoad() = default;

Result<std::unique_ptr<StreamLoad>> StreamLoad::open(StreamLoadOptions options, Clock& clock,
                                                     Random& random) {
  auto impl = std::make_unique<Impl>(std::move(options), clock, random);
  MR_TRY_VOID(impl->open_all());
  return std::unique_ptr<StreamLoad>(new StreamLoad(std::move(impl)));
}

double StreamLoad::opened_in_seconds() const { return impl_->opened_in_seconds; }

Result<void> StreamLoad::measure(std::int64_t events, StreamTimes& times) {
  for (std::int64_t i = 0; i < events; ++i) {
    MR_TRY_VOID(impl_->measure_one(times));
    MR_TRY_VOID(impl_->listen(Milliseconds(impl_->random.uniform() * kPauseMaxMs)));
  }
  return {};
}

Result<int> run_streams_command(Context& context, const StreamsCommand& command) {
  MR_TRY(auto load, StreamLoad::open(command.load, context.clock, context.random));
  StreamTimes times;
  MR_TRY_VOID(load->measure(command.events, times));
  const auto percentiles = [](const std::vector<double>& values) {
    json::Object out;
    for (const auto& [name, share] :
         {std::pair{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}}) {
      out[name] = percentile(values, share);
    }
    return out;
  };
  context.print_json(json::Object{{"streams", command.load.streams},
                                  {"events", command.events},
                                  {"opened_in_seconds", load->opened_in_seconds()},
                                  {"ms_to_each", percentiles(times.each)},
                                  {"ms_to_last", percentiles(times.last)}});
  return kExitOk;
}

}  // namespace millrace::app
