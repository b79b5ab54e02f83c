// One request from its complete head to its line in the access log.
#include "http/connection.h"
#include "http/connection_events.h"
#include "http/ip_network.h"
#include "http/message.h"
#include "http/server_state.h"

#include <array>
#include <exception>

namespace millrace::http {
namespace {

using Mode = ResponseState::Mode;

constexpr std::size_t kOneWriteBytes = 16 * 1024;  // A body up to this is copied behind its head.

struct KnownHeaders {
  std::string_view correlation_id;
  std::optional<std::string_view> traceparent;
  std::string_view origin;
  bool preflight = false;
};

// One pass, by length first: most headers of a request are none of these.
KnownHeaders find_known(const std::vector<HeaderView>& headers) {
  KnownHeaders known;
  for (const auto& [name, value] : headers) {
    switch (name.size()) {
      case 6:
        if (same_name(name, "origin")) known.origin = value;
        break;
      case 11:
        if (same_name(name, "traceparent")) known.traceparent = value;
        break;
      case 16:
        if (same_name(name, "x-correlation-id")) known.correlation_id = value;
        break;
      case 29:
        if (same_name(name, "access-control-request-method")) known.preflight = true;
        break;
      default:
        break;
    }
  }
  return known;
}

std::string what(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "unknown exception";
  }
}

}  // namespace

void Connection::begin_request() {
  auto& x = *exchange_;
  auto& server = shard_.server();
  const auto& head = x.reader.head();
  x.taken = head.size_bytes;
  leave_phase();
  reason_ = {};
  timed_out_status_ = 0;
  request_began_ = server.clock.now();
  body_ = head.chunked ? Body::chunked : head.has_body() ? Body::length : Body::none;
  body_left_ = head.content_length.value_or(0);
  body_received_ = 0;
  continue_wanted_ = head.expect_continue && body_ != Body::none;
  x.response.begin(*this);
  x.response.minor = head.minor;
  x.response.wants_keep_alive = head.keep_alive;
  x.response.head_only = head.method == "HEAD";
  const auto known = find_known(head.headers);
  x.request.trace = make_trace(known.traceparent, shard_.ids());
  if (x.request.trace.from_caller()) x.response.traceparent = x.request.trace.traceparent();
  if (server.cors->enabled()) {
    x.response.cors_lines = server.cors->answer_lines(known.origin);
  }
  fill_request(known.correlation_id);
}

// Also again, when the head has moved.
void Connection::fill_request(std::string_view correlation_id) {
  auto& x = *exchange_;
  const auto& head = x.reader.head();
  auto& request = x.request;
  request.method = head.method;
  request.path = head.path;
  request.query = head.query;
  request.host = head.host;
  request.headers = head.headers;
  request.secure = stream_->secure();
  request.peer = &peer_;
  if (by_proxy_) read_forwarded();
  request.source = this;
  if (is_correlation_id(correlation_id)) {
    request.correlation_id = correlation_id;
  } else if (request.correlation_id.empty()) {
    x.correlation_id = make_correlation_id(shard_.ids());
    request.correlation_id = {x.correlation_id.data(), x.correlation_id.size()};
  }
  x.response.correlation_id = request.correlation_id;
}

// What a trusted proxy says of the client. Where it says nothing that can be read, the proxy itself
// is all we know.
void Connection::read_forwarded() {
  auto& x = *exchange_;
  std::vector<std::string_view> lists;
  for (const auto& [name, value] : x.reader.head().headers) {
    if (same_name(name, "x-forwarded-for")) lists.push_back(value);
    // Several proxies make a list of it; the last entry is the word of the one we talk to.
    if (same_name(name, "x-forwarded-proto")) x.request.secure = value.ends_with("https");
  }
  auto client = forwarded_client(lists, shard_.server().options.trusted_proxies);
  if (!client) return;
  x.client = PeerAddress{.host = *std::move(client), .port = 0};
  x.request.peer = &x.client;
}

// A head that could not be read: little is known, and the connection ends with the answer.
void Connection::begin_failed_request() {
  auto& x = *exchange_;
  leave_phase();
  reason_ = {};
  timed_out_status_ = 0;
  request_began_ = shard_.server().clock.now();
  body_ = Body::none;
  body_received_ = 0;
  continue_wanted_ = false;
  x.match = {};
  x.response.begin(*this);
  x.response.wants_keep_alive = false;
  x.response.head_only = x.reader.head().method == "HEAD";
  x.correlation_id = make_correlation_id(shard_.ids());
  x.request.peer = &peer_;
  x.request.method = x.reader.head().method;
  x.request.correlation_id = {x.correlation_id.data(), x.correlation_id.size()};
  x.response.correlation_id = x.request.correlation_id;
}

// Finds the handler, or what to answer instead; an answer to OPTIONS is given here.
std::optional<Refusal> Connection::find_route() {
  auto& x = *exchange_;
  auto& server = shard_.server();
  const auto& head = x.reader.head();
  x.match = {};
  if (head.path == "*") {
    answer_options(server.router.allow_all());
    return std::nullopt;
  }
  if (const auto fault = x.path.parse(head.path); !fault.empty()) {
    x.match.private_path = true;  // What it holds is not known.
    return Refusal{400, fault};
  }
  x.match = server.router.find(head.method, x.path);
  if (!x.match.fault.empty()) return Refusal{400, x.match.fault};
  if (x.match.allow.empty()) return Refusal{404, "there is nothing at this path"};
  // A browser's question goes before a handler's own OPTIONS: it is about the list of origins.
  if (head.method == "OPTIONS" &&
      (x.match.route == nullptr ||
       (server.cors->enabled() && find_known(head.headers).preflight))) {
    answer_options(x.match.allow);
    return std::nullopt;
  }
  if (x.match.route == nullptr) {
    ResponseWriter(x.response).header("Allow", x.match.allow);
    return Refusal{405, "this path does not take this method"};
  }
  x.request.route = x.match.route->pattern;
  const auto& limits = x.match.route->limits;
  if (auto refusal = check_body(limits)) return refusal;
  const auto time_max = limits.time_max     ? *limits.time_max
                        : limits.long_lived ? std::chrono::milliseconds::max()
                                            : server.options.limits.request_time_max;
  request_ends_ = time_max == std::chrono::milliseconds::max() ? Clock::Steady::max()
                                                               : request_began_ + time_max;
  if (limits.long_lived) detach_head();
  x.request.parameters = std::span(x.match.parameters).first(x.match.parameter_count);
  return std::nullopt;
}

std::optional<Refusal> Connection::check_body(const RouteLimits& limits) {
  auto& reader = exchange_->reader;
  const auto& head = reader.head();
  if (limits.length_required && !head.content_length) {
    return Refusal{411, "the request must announce its Content-Length"};
  }
  if (head.content_length.value_or(0) > limits.body_max_bytes) {
    return Refusal{413, "the body is larger than this route allows"};
  }
  if (head.chunked) reader.limit_body(limits.body_max_bytes);
  return std::nullopt;
}

void Connection::answer_options(std::string_view allow) {
  auto& x = *exchange_;
  const auto& cors = *shard_.server().cors;
  const auto known = find_known(x.reader.head().headers);
  ResponseWriter response(x.response);
  response.header("Allow", allow);
  x.response.cors_lines =
      known.preflight ? cors.preflight_lines(known.origin, allow) : cors.answer_lines(known.origin);
  response.reply(204);
}

// The head gets memory of its own size, so that the buffer can go as soon as the body is read.
void Connection::detach_head() {
  auto& x = *exchange_;
  auto& head = x.reader.head();
  x.own_head.assign(x.buffer.get(), head.size_bytes);
  head.rebase(x.buffer.get(), x.own_head.data());
  x.path.parse(head.path);
  x.match = shard_.server().router.find(head.method, x.path);
  fill_request(find_known(head.headers).correlation_id);
  if (body_ == Body::none && x.unread().empty()) x.release_buffer();
}

awaitable<void> Connection::run_handler() {
  auto& x = *exchange_;
  const auto& log = shard_.server().log;
  ResponseWriter response(x.response);
  Result<void> result = ok();
  try {
    result = co_await x.match.route->handler(x.request, response);
  } catch (...) {
    log.error("handler_crashed", {{"route", x.request.route},
                                  {"cid", x.request.correlation_id},
                                  {"exception", what(std::current_exception())}});
    result = fail(ErrorKind::internal, "the handler crashed");
    x.failure = Refusal{500, "internal error"};
  }
  if (dead_) co_return;
  if (!result) {
    handler_failed(result.error());
  } else if (x.response.mode == Mode::none) {
    log.error("handler_without_answer", {{"route", x.request.route}});
    refuse({500, "internal error"});
  }
}

void Connection::handler_failed(const Error& error) {
  auto& x = *exchange_;
  const auto& server = shard_.server();
  if (x.response.started()) {
    reason_ = "the handler failed in the middle of its answer";
    cut();
    return;
  }
  if (x.failure) {
    refuse(*x.failure);
    return;
  }
  ResponseWriter response(x.response);
  x.response.mode = Mode::none;
  if (server.options.on_error) server.options.on_error(error, x.request, response);
  if (x.response.mode != Mode::none) return;
  server.log.error("request_failed", {{"route", x.request.route},
                                      {"cid", x.request.correlation_id},
                                      {"kind", to_string(error.kind)},
                                      {"error", error.message}});
  refuse({500, "internal error"});
}

void Connection::refuse(Refusal refusal) {
  auto& x = *exchange_;
  reason_ = refusal.detail;
  ResponseWriter response(x.response);
  if (refusal.status == 503) response.header("Retry-After", "1");
  shard_.server().options.problem({.status = refusal.status,
                                   .detail = refusal.detail,
                                   .correlation_id = x.request.correlation_id},
                                  response);
}

// Whole answers that the kernel takes in one piece, which are nearly all, need no coroutine.
bool Connection::answer_at_once() {
  auto& x = *exchange_;
  auto& response = x.response;
  if (dead_) return true;
  if (response.mode != Mode::whole) return false;
  if (!response.bad_header.empty()) {
    shard_.server().log.error("response_header_refused", {{"header", response.bad_header}});
    response.bad_header.clear();
    response.lines.clear();
    refuse({500, "internal error"});
  }
  auto& out = shard_.scratch();
  response.append_head(out, response.body.size());
  if (response.head_only || response.bodyless()) response.body.clear();
  response.body_bytes = response.body.size();
  const bool apart = response.body.size() > kOneWriteBytes;
  if (!apart) out.append(response.body);
  const std::array<std::string_view, 2> parts = {out, apart ? response.body : std::string_view()};
  const auto sent = stream_->write(std::span(parts).first(apart ? 2 : 1));
  if (sent.state == Io::closed) {
    cut();
    return true;
  }
  if (sent.bytes == parts[0].size() + parts[1].size()) {
    response.mode = Mode::finished;
    return true;
  }
  response.mode = Mode::sending;
  x.rest = std::string(parts[0].substr(std::min(sent.bytes, out.size())));
  x.body_sent = apart ? sent.bytes - std::min(sent.bytes, out.size()) : response.body.size();
  return false;
}

awaitable<void> Connection::finish_answer() {
  auto& x = *exchange_;
  if (x.response.mode == Mode::events) {
    co_await finish_events();
    co_return;
  }
  Result<void> result = ok();
  if (x.response.mode == Mode::sending) {
    const std::array<std::string_view, 2> parts = {
        x.rest, std::string_view(x.response.body).substr(x.body_sent)};
    result = co_await send(parts);
    if (result) x.response.mode = Mode::finished;
  } else {
    ResponseWriter response(x.response);
    result = co_await response.finish();
  }
  if (result || dead_) co_return;
  reason_ = "the handler did not send what it announced";
  cut();
}

awaitable<void> Connection::finish_events() {
  auto& x = *exchange_;
  if (channel_) {
    channel_->close();
    co_await channel_->wait_until_sent();
  }
  if (dead_) co_return;
  if (x.response.chunked && !x.response.head_only) {
    const std::array<std::string_view, 1> parts = {"0\r\n\r\n"};
    if (!co_await send(parts)) co_return;
  }
  x.response.mode = Mode::finished;
}

void Connection::close_channel() {
  exchange_->response.body_bytes = channel_->sent_bytes();
  channel_->detach();
  channel_.reset();
}

void Connection::report() {
  const auto& server = shard_.server();
  if (!server.options.access_log) return;
  auto& x = *exchange_;
  const auto mode = x.response.mode;
  const bool answered = mode != Mode::none && mode != Mode::whole;
  server.options.access_log({
      .method = x.request.method,
      .path = x.request.path,
      .route = x.request.route,
      .private_path = x.match.private_path,
      .status = timed_out_status_ != 0 ? timed_out_status_
                : answered             ? x.response.status
                                       : 0,
      .received_bytes = body_received_,
      .sent_bytes = x.response.body_bytes,
      .duration = server.clock.now() - request_began_,
      .correlation_id = x.request.correlation_id,
      .trace = x.request.path.empty() ? nullptr : &x.request.trace,
      .peer = x.request.peer,
      .cut = mode != Mode::finished && answered && timed_out_status_ == 0,
      .reason = reason_,
      .fields = x.request.log_fields.empty() ? nullptr : &x.request.log_fields,
  });
}

}  // namespace millrace::http
