#include "provider/exchange.h"

#include "http/request_check.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace millrace::provider {
namespace {

namespace asio = boost::asio;
using Kind = CallFailure::Kind;
using std::chrono::milliseconds;

constexpr std::size_t kPieceBytes = 16 * 1024;
constexpr std::string_view kTotal = "the time for the whole call was up";

bool is_success(int status) { return status >= 200 && status < 300; }

// The body as far as it came; the error that cut it.
struct Read {
  std::string body = {};
  bool too_long = false;
  std::optional<Error> cut = {};
};

awaitable<Read> read_body(http::ResponseStream* stream, std::size_t max_bytes) {
  Read out;
  std::array<std::byte, kPieceBytes> piece;
  for (;;) {
    auto size = co_await stream->read(piece);
    if (!size) {
      out.cut = std::move(size).error();
      co_return out;
    }
    if (*size == 0) co_return out;
    const auto room = max_bytes - out.body.size();
    out.body.append(reinterpret_cast<const char*>(piece.data()), std::min(*size, room));
    if (*size > room) {
      out.too_long = true;
      co_return out;
    }
  }
}

// Cancelled by the caller's token and by the clock; the request sees one token.
class Limits {
 public:
  Limits(const CancelToken& cancel, const Executor& executor, milliseconds total)
      : timer_(executor, total), on_cancel_(cancel, [source = source_, cancel]() mutable {
          source.cancel(cancel.reason().empty() ? "cancelled" : cancel.reason());
        }) {
    timer_.async_wait([source = source_](boost::system::error_code error) mutable {
      if (!error) source.cancel(std::string(kTotal));
    });
  }

  CancelToken token() const { return source_.token(); }
  bool time_is_up() const { return source_.token().reason() == kTotal; }

  // A cancelling by the clock is a timeout, and what that means depends on what had been sent.
  CallFailure failure(Error error, bool answer_began) const {
    if (error.kind == ErrorKind::cancelled && time_is_up()) {
      const bool sent = answer_began || error.detail == "the request had been sent";
      error.kind = sent ? ErrorKind::in_doubt : ErrorKind::unavailable;
      error.message = kTotal;
    }
    return transport_failure(error);
  }

 private:
  CancelSource source_;
  asio::steady_timer timer_;
  CancelCallback on_cancel_;
};

bool says_timeout(std::string_view message) {
  return message.contains(" within ") || message == kTotal;
}

// "http://127.0.0.1:8080" and its kind: nobody else can listen there.
bool is_this_machine(std::string_view origin) {
  constexpr std::string_view kHttp = "http://";
  if (!origin.starts_with(kHttp)) return false;
  const auto host = origin.substr(kHttp.size(), origin.rfind(':') - kHttp.size());
  return host == "127.0.0.1" || host == "[::1]" || host == "localhost";
}

}  // namespace

CallFailure transport_failure(const Error& error) {
  CallFailure failure;
  failure.message = error.message;
  switch (error.kind) {
    case ErrorKind::cancelled:
      failure.kind = Kind::cancelled;
      failure.error_type = "cancelled";
      failure.maybe_charged = error.detail == "the request had been sent";
      return failure;
    case ErrorKind::invalid_argument:
      failure.kind = Kind::permanent;
      failure.error_type = "bad_request";
      return failure;
    case ErrorKind::in_doubt:
      failure.kind = Kind::unknown;
      failure.error_type = says_timeout(error.message) ? "timeout" : "connection_lost";
      failure.maybe_charged = true;
      return failure;
    default:  // A kind nobody has thought of is tried again.
      failure.kind = Kind::retry;
      failure.error_type = says_timeout(error.message) ? "connect_timeout" : "connection";
      return failure;
  }
}

awaitable<Answer<http::Response>> exchange(http::Client* client, http::Request request,
                                           ExchangeOptions options, CancelToken cancel) {
  if (request.body.size() > options.request_max_bytes) {
    co_return std::unexpected(CallFailure{
        .kind = Kind::permanent,
        .error_type = "too_large",
        .message = fmt::format("{}: the request has {} bytes, more than {}", request.service,
                               request.body.size(), options.request_max_bytes)});
  }
  auto timeouts = options.timeouts;
  if (options.call_timeout > milliseconds::zero()) {
    timeouts.total = std::min(timeouts.total, options.call_timeout);
  }
  const Limits limits(cancel, co_await asio::this_coro::executor, timeouts.total);
  request.connect_timeout = std::min(timeouts.connect, timeouts.total);
  request.total_timeout = std::min(timeouts.first_byte, timeouts.total);
  request.idle_timeout = std::min(timeouts.idle, timeouts.total);
  auto stream = co_await client->open(std::move(request), limits.token());
  if (!stream) co_return std::unexpected(limits.failure(std::move(stream).error(), false));
  http::Response response = stream->head();
  auto read = co_await read_body(&*stream, options.response_max_bytes);
  response.body = std::move(read.body);
  response.body_truncated = read.too_long;
  if (!is_success(response.status)) co_return response;
  if (read.cut) {
    auto failure = limits.failure(*std::move(read.cut), true);
    failure.status = response.status;
    failure.maybe_charged = true;
    co_return std::unexpected(std::move(failure));
  }
  if (read.too_long) {
    co_return std::unexpected(CallFailure{
        .kind = Kind::permanent,
        .error_type = "answer_too_large",
        .message = fmt::format("the answer has more than {} bytes", options.response_max_bytes),
        .maybe_charged = true,
        .status = response.status});
  }
  co_return response;
}

Result<void> check_base_url(std::string_view key, const std::string& url, bool allow_http) {
  auto origin = http::check_request({.url = url});
  if (!origin) return fail_with_context(key, std::move(origin).error());
  if (url.find_first_of("?#") != std::string::npos) {
    return fail(ErrorKind::invalid_argument, fmt::format("{} must have no ? and no #", key));
  }
  if (origin->starts_with("https://") || is_this_machine(*origin) || allow_http) return ok();
  return fail(
      ErrorKind::invalid_argument,
      fmt::format("{} must be https, or http to this machine; allow_http allows others", key));
}

Result<void> check_timeouts(std::string_view key, const CallTimeouts& timeouts) {
  for (const auto timeout :
       {timeouts.connect, timeouts.first_byte, timeouts.idle, timeouts.total}) {
    if (timeout <= milliseconds::zero() || timeout > std::chrono::hours(1)) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("{} must be above zero and at most 1 h each", key));
    }
  }
  return ok();
}

}  // namespace millrace::provider
