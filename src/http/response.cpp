#include "http/response.h"

#include "base/assert.h"
#include "http/response_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace millrace::http {
namespace {

constexpr std::size_t kKeptBytes = 4 * 1024;  // Memory of a past answer that is worth keeping.

bool is_token_char(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_char);
}

bool is_header_value(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7F;
  });
}

void append_number(std::string& out, std::uint64_t number) {
  std::array<char, 20> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), end);
}

void clear(std::string& text) {
  if (text.capacity() > kKeptBytes) {
    text = std::string();
  } else {
    text.clear();
  }
}

Result<void> check_headers(const ResponseState& state) {
  if (state.bad_header.empty()) return ok();
  return fail(ErrorKind::internal,
              fmt::format("header {} of the answer is not valid", state.bad_header));
}

void append_status_line(std::string& out, int status) {
  if (status == 200) {
    out.append("HTTP/1.1 200 OK\r\n");
    return;
  }
  out.append("HTTP/1.1 ");
  append_number(out, static_cast<std::uint64_t>(status));
  out.append(" ").append(reason_phrase(status)).append("\r\n");
}

}  // namespace

void ResponseState::begin(ResponseSink& where) {
  sink = &where;
  minor = 1;
  wants_keep_alive = true;
  head_only = false;
  correlation_id = {};
  for (auto* text : {&traceparent, &cors_lines, &content_type, &lines, &body, &bad_header}) {
    clear(*text);
  }
  mode = Mode::none;
  status = 0;
  keep_alive = false;
  chunked = false;
  remaining.reset();
  body_bytes = 0;
}

void ResponseState::append_head(std::string& out, std::optional<std::uint64_t> length) {
  keep_alive = wants_keep_alive && sink->may_keep_alive();
  // Without a length a body needs chunks, which HTTP/1.0 does not know: there it ends with the
  // connection.
  chunked = !length && !bodyless() && minor > 0;
  if (!length && !bodyless() && minor == 0) keep_alive = false;
  append_status_line(out, status);
  out.append(sink->common_headers());
  out.append("x-correlation-id: ").append(correlation_id).append("\r\n");
  if (!traceparent.empty()) out.append("traceparent: ").append(traceparent).append("\r\n");
  out.append(cors_lines).append(lines);
  if (!content_type.empty()) out.append("Content-Type: ").append(content_type).append("\r\n");
  if (length && !bodyless()) {
    out.append("Content-Length: ");
    append_number(out, *length);
    out.append("\r\n");
  }
  if (chunked) out.append("Transfer-Encoding: chunked\r\n");
  if (!keep_alive) {
    out.append("Connection: close\r\n");
  } else if (minor == 0 || mode == Mode::events) {
    out.append("Connection: keep-alive\r\n");
  }
  out.append("\r\n");
}

void ResponseWriter::header(std::string_view name, std::string_view value) {
  MR_ASSERT(!state_.started());
  if (!is_token(name) || !is_header_value(value)) {
    if (state_.bad_header.empty()) state_.bad_header = is_token(name) ? name : "?";
    return;
  }
  state_.lines.append(name).append(": ").append(value).append("\r\n");
}

void ResponseWriter::reply(int status, std::string_view content_type, std::string body) {
  MR_ASSERT(!state_.started());
  MR_ASSERT(status >= 200 && status <= 599);
  state_.mode = ResponseState::Mode::whole;
  state_.status = status;
  state_.body = std::move(body);
  if (is_header_value(content_type)) {
    state_.content_type = content_type;
  } else {
    state_.bad_header = "Content-Type";
  }
}

void ResponseWriter::reply(int status) { reply(status, {}, {}); }

Task<void> ResponseWriter::start(int status, std::string_view content_type,
                                 std::optional<std::uint64_t> length) {
  reply(status, content_type, {});
  MR_CO_TRY_VOID(check_headers(state_));
  state_.mode = ResponseState::Mode::streaming;
  state_.remaining = length;
  std::string head;
  state_.append_head(head, length);
  const std::array<std::string_view, 1> parts = {head};
  co_return co_await state_.sink->send(parts);
}

Task<void> ResponseWriter::write(std::string_view bytes) {
  MR_ASSERT(state_.mode == ResponseState::Mode::streaming);
  if (state_.remaining) {
    if (bytes.size() > *state_.remaining) {
      co_return fail(ErrorKind::internal, "the body is longer than its announced length");
    }
    *state_.remaining -= bytes.size();
  }
  // A chunk of no bytes would be the end.
  if (bytes.empty() || state_.head_only || state_.bodyless()) co_return ok();
  state_.body_bytes += bytes.size();
  if (!state_.chunked) {
    const std::array<std::string_view, 1> parts = {bytes};
    co_return co_await state_.sink->send(parts);
  }
  std::array<char, 18> size;
  auto [end, error] = std::to_chars(size.data(), size.data() + 16, bytes.size(), 16);
  *end++ = '\r';
  *end++ = '\n';
  const std::array<std::string_view, 3> parts = {std::string_view(size.data(), end), bytes, "\r\n"};
  co_return co_await state_.sink->send(parts);
}

Task<void> ResponseWriter::finish() {
  if (state_.mode != ResponseState::Mode::streaming) co_return ok();
  if (state_.remaining.value_or(0) > 0 && !state_.head_only) {
    co_return fail(ErrorKind::internal, "the body is shorter than its announced length");
  }
  if (state_.chunked && !state_.head_only) {
    const std::array<std::string_view, 1> parts = {"0\r\n\r\n"};
    MR_CO_TRY_VOID(co_await state_.sink->send(parts));
  }
  state_.mode = ResponseState::Mode::finished;
  co_return ok();
}

Task<SseStream> ResponseWriter::start_events(SseOptions options) {
  MR_ASSERT(!state_.started());
  header("Cache-Control", options.cache_control);
  header("X-Accel-Buffering", "no");  // Or nginx collects events instead of passing them on.
  MR_CO_TRY_VOID(check_headers(state_));
  state_.mode = ResponseState::Mode::events;
  state_.status = 200;
  state_.content_type = "text/event-stream; charset=utf-8";
  std::string head;
  state_.append_head(head, std::nullopt);
  const std::array<std::string_view, 1> parts = {head};
  MR_CO_TRY_VOID(co_await state_.sink->send(parts));
  auto channel = state_.sink->open_channel(options, state_.chunked);
  if (state_.head_only) channel->close();
  if (options.retry > std::chrono::milliseconds::zero()) {
    channel->push(SseFrame::retry(options.retry));
  }
  co_return SseStream(std::move(channel));
}

bool ResponseWriter::started() const { return state_.started(); }
bool ResponseWriter::answered() const { return state_.mode != ResponseState::Mode::none; }

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 428:
      return "Precondition Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 460:
      return "Checksum Mismatch";
    case 499:
      return "Client Closed Request";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    case 507:
      return "Insufficient Storage";
    default:
      return "";
  }
}

}  // namespace millrace::http
