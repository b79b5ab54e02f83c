#include "provider/clamd.h"

#include "base/either.h"
#include "model/outcome.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <sys/un.h>
#include <utility>
#include <vector>

namespace millrace::provider {
namespace {

namespace asio = boost::asio;
using namespace either;
using Kind = CallFailure::Kind;
using Socket = asio::generic::stream_protocol::socket;
using Steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::string_view kNoConnection = "connection";
constexpr std::string_view kConnectionLost = "connection_lost";
constexpr std::string_view kConnectTimeout = "connect_timeout";
constexpr std::string_view kScanTimeout = "scan_timeout";
constexpr std::size_t kReplyMaxBytes = 4 * 1024;
constexpr std::size_t kSignatureMaxBytes = 200;
constexpr std::size_t kChunkMaxBytes = 1024 * 1024;

CallFailure failed(Kind kind, std::string_view type, std::string message) {
  return {.kind = kind, .error_type = std::string(type), .message = "clamd: " + message};
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return storable_text(out, max_bytes);
}

// One conversation. On a strand; the watchdog and the talk see each other's changes.
class Talk {
 public:
  Talk(const ClamdOptions& options, const Executor& strand)
      : options_(options), socket_(strand), timer_(strand) {}

  // Each step of the talk moves the deadline; the total never moves. Looks up now and then, because
  // a new deadline may be before the old one.
  awaitable<void> watch() {
    const auto last = Steady::now() + options_.total_timeout;
    const auto step = std::min(options_.connect_timeout, options_.idle_timeout);
    for (;;) {
      const auto now = Steady::now();
      const auto until = std::min(deadline_, last);
      if (now >= until) co_return;
      timer_.expires_at(std::min(until, now + step));
      const auto [error] = co_await timer_.async_wait(kAsTuple);
      if (error) co_return;
    }
  }

  awaitable<std::optional<CallFailure>> connect() {
    expect_within(options_.connect_timeout);
    boost::system::error_code error;
    if (options_.socket_path.empty()) {
      error = co_await connect_tcp();
    } else {
      const asio::local::stream_protocol::endpoint endpoint(options_.socket_path);
      std::tie(error) = co_await socket_.async_connect(endpoint, kAsTuple);
    }
    connected_ = !error;
    if (!error) co_return std::nullopt;
    co_return failed(Kind::retry, kNoConnection, fmt::format("no connection: {}", error.message()));
  }

  // False: the daemon takes no more; perhaps it has said why.
  awaitable<bool> send(std::span<const std::byte> head, std::span<const std::byte> data) {
    expect_within(options_.idle_timeout);
    const std::array buffers = {asio::buffer(head.data(), head.size()),
                                asio::buffer(data.data(), data.size())};
    const auto [error, size] = co_await asio::async_write(socket_, buffers, kAsTuple);
    co_return !error;
  }
  awaitable<bool> send(std::string_view text) {
    co_return co_await send(std::as_bytes(std::span(text)), {});
  }

  // A daemon that speaks before it has everything has refused.
  bool has_spoken() {
    boost::system::error_code error;
    return socket_.available(error) > 0 || error;
  }

  // It was there, whatever it did then.
  bool is_connected() const { return connected_; }

  // Up to the NUL that ends it, or the end of the connection.
  awaitable<Answer<std::string>> reply() {
    expect_within(options_.idle_timeout);
    std::string text;
    std::array<char, 512> piece;
    for (;;) {
      const auto [error, size] = co_await socket_.async_read_some(asio::buffer(piece), kAsTuple);
      text.append(piece.data(), size);
      const auto end = text.find('\0');
      if (end != text.npos) co_return text.substr(0, end);
      if (error && !text.empty() && text.ends_with('\n')) co_return text;
      if (error) {
        co_return std::unexpected(
            failed(Kind::retry, kConnectionLost, "the connection ended before the verdict"));
      }
      if (text.size() > kReplyMaxBytes) {
        co_return std::unexpected(failed(Kind::retry, "bad_answer", "the verdict has no end"));
      }
    }
  }

 private:
  void expect_within(milliseconds time) { deadline_ = Steady::now() + time; }

  awaitable<boost::system::error_code> connect_tcp() {
    asio::ip::tcp::resolver resolver(socket_.get_executor());
    auto [error, found] =
        co_await resolver.async_resolve(options_.host, std::to_string(options_.port), kAsTuple);
    for (const auto& entry : found) {
      boost::system::error_code ignored;
      socket_.close(ignored);
      const Socket::endpoint_type endpoint(entry.endpoint());
      std::tie(error) = co_await socket_.async_connect(endpoint, kAsTuple);
      if (!error) break;
    }
    co_return error;
  }

  const ClamdOptions& options_;
  Socket socket_;
  asio::steady_timer timer_;
  bool connected_ = false;
  Steady::time_point deadline_ = Steady::now() + options_.connect_timeout;
};

std::array<std::byte, 4> length_of(std::size_t size) {
  return {std::byte(size >> 24), std::byte(size >> 16), std::byte(size >> 8), std::byte(size)};
}

awaitable<Answer<ScanVerdict>> stream(Talk* talk, ByteSource* source, std::size_t chunk_bytes) {
  if (auto failure = co_await talk->connect()) co_return std::unexpected(*std::move(failure));
  using namespace std::string_view_literals;
  bool takes = co_await talk->send("zINSTREAM\0"sv);
  std::vector<std::byte> chunk(chunk_bytes);
  std::uint64_t sent = 0;
  while (takes && !talk->has_spoken()) {
    auto size = co_await (*source)(chunk);
    if (!size) {
      co_return std::unexpected(failed(Kind::retry, "source", size.error().message));
    }
    const auto bytes = std::span(chunk).first(std::min(*size, chunk.size()));
    takes = co_await talk->send(length_of(bytes.size()), bytes);
    sent += bytes.size();
    if (bytes.empty()) break;
  }
  auto reply = co_await talk->reply();
  if (!reply) co_return std::unexpected(std::move(reply).error());
  auto verdict = parse_clamd_reply(*reply);
  if (verdict) verdict->scanned_bytes = sent;
  co_return verdict;
}

awaitable<Answer<std::string>> ask_version(Talk* talk) {
  if (auto failure = co_await talk->connect()) co_return std::unexpected(*std::move(failure));
  using namespace std::string_view_literals;
  static_cast<void>(co_await talk->send("zVERSION\0"sv));
  auto reply = co_await talk->reply();
  if (!reply) co_return std::unexpected(std::move(reply).error());
  co_return printable(*reply, kSignatureMaxBytes);
}

// The talk, ended by the clock or by the token when those are first.
template <class T>
awaitable<Answer<T>> within_limits(awaitable<Answer<T>> work, Talk* talk, CancelToken cancel) {
  auto first = co_await (std::move(work) || (talk->watch() || cancel.wait()));
  if (first.index() == 0) co_return std::get<0>(std::move(first));
  if (cancel.cancelled()) {
    co_return std::unexpected(failed(Kind::cancelled, "cancelled", cancel.reason()));
  }
  if (!talk->is_connected()) {
    co_return std::unexpected(
        failed(Kind::retry, kConnectTimeout, "no connection within the time allowed"));
  }
  co_return std::unexpected(
      failed(Kind::retry, kScanTimeout, "no progress within the time allowed"));
}

awaitable<Answer<ScanVerdict>> scan_here(ClamdOptions options, ByteSource source,
                                         CancelToken cancel) {
  Talk talk(options, co_await asio::this_coro::executor);
  co_return co_await within_limits(stream(&talk, &source, options.chunk_bytes), &talk,
                                   std::move(cancel));
}

awaitable<Answer<std::string>> version_here(ClamdOptions options, CancelToken cancel) {
  Talk talk(options, co_await asio::this_coro::executor);
  co_return co_await within_limits(ask_version(&talk), &talk, std::move(cancel));
}

}  // namespace

Result<void> check_options(const ClamdOptions& options) {
  const auto wrong = [](std::string_view what) {
    return fail(ErrorKind::invalid_argument, fmt::format("clamd.{}", what));
  };
  if (options.socket_path.empty()) {
    if (options.host.empty()) return wrong("host is missing");
    if (options.port == 0) return wrong("port must not be 0");
  } else if (options.socket_path.size() >= sizeof(sockaddr_un::sun_path)) {
    return wrong("socket is longer than a path of a socket may be");
  }
  for (const auto timeout :
       {options.connect_timeout, options.idle_timeout, options.total_timeout}) {
    if (timeout <= milliseconds::zero() || timeout > std::chrono::hours(1)) {
      return wrong("timeouts must be above zero and at most 1 h each");
    }
  }
  if (options.chunk_bytes < 1 || options.chunk_bytes > kChunkMaxBytes) {
    return wrong("chunk_bytes must be 1 to 1048576");
  }
  return ok();
}

Clamd::Clamd(ClamdOptions options) : options_(std::move(options)) {}

awaitable<Answer<ScanVerdict>> Clamd::scan(ByteSource source, CancelToken cancel) const {
  auto strand = asio::make_strand(co_await asio::this_coro::executor);
  co_return co_await asio::co_spawn(
      strand, scan_here(options_, std::move(source), std::move(cancel)), asio::use_awaitable);
}

awaitable<Answer<std::string>> Clamd::version(CancelToken cancel) const {
  auto strand = asio::make_strand(co_await asio::this_coro::executor);
  co_return co_await asio::co_spawn(strand, version_here(options_, std::move(cancel)),
                                    asio::use_awaitable);
}

bool is_away(const CallFailure& failure) {
  constexpr auto kAway = std::to_array({kNoConnection, kConnectTimeout});
  return failure.kind == Kind::retry && std::ranges::find(kAway, failure.error_type) != kAway.end();
}

Answer<ScanVerdict> parse_clamd_reply(std::string_view reply) {
  constexpr std::string_view kFound = " FOUND";
  constexpr std::string_view kStream = "stream: ";
  while (reply.ends_with('\n') || reply.ends_with('\0')) reply.remove_suffix(1);
  if (reply == "stream: OK") return ScanVerdict{};
  if (reply.starts_with(kStream) && reply.ends_with(kFound) &&
      reply.size() > kStream.size() + kFound.size()) {
    reply.remove_prefix(kStream.size());
    reply.remove_suffix(kFound.size());
    return ScanVerdict{.found = true,
                       .signature = printable(reply, kSignatureMaxBytes),
                       .incomplete = reply.starts_with("Heuristics.Limits.Exceeded")};
  }
  if (reply.contains("size limit exceeded")) {
    return std::unexpected(
        failed(Kind::permanent, "too_large", "the bytes are more than its StreamMaxLength allows"));
  }
  const auto shown = printable(reply, kSignatureMaxBytes);
  if (reply.ends_with("ERROR")) {
    return std::unexpected(failed(Kind::retry, "scan_error", shown));
  }
  return std::unexpected(failed(Kind::retry, "bad_answer", "not understood: " + shown));
}

}  // namespace millrace::provider
