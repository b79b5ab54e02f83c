// ResponseState: an answer in the making. Internal to http: the connection fills in what it knows
// of the request, ResponseWriter what the handler says, and the connection writes it.
#pragma once

#include "base/task.h"
#include "http/sse_stream.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace millrace::http {

// Where the bytes of an answer go.
class ResponseSink {
 public:
  virtual bool may_keep_alive() = 0;              // Asked when a head is made.
  virtual std::string_view common_headers() = 0;  // Date and others, as lines.
  virtual Task<void> send(std::span<const std::string_view> parts) = 0;
  virtual std::shared_ptr<SseChannel> open_channel(SseOptions options, bool chunked) = 0;

 protected:
  ~ResponseSink() = default;
};

struct ResponseState {
  // whole: not a byte sent yet; sending: the kernel did not take all of it at once.
  enum class Mode { none, whole, sending, streaming, events, finished };

  // From the connection, for each request.
  ResponseSink* sink = nullptr;
  int minor = 1;
  bool wants_keep_alive = true;  // In HTTP/1.0 the client is told that it is granted.
  bool head_only = false;
  std::string_view correlation_id;
  std::string traceparent;  // Empty: not sent.
  std::string cors_lines;

  // From the handler.
  Mode mode = Mode::none;
  int status = 0;
  std::string content_type;
  std::string lines;  // Further headers.
  std::string body;
  std::string bad_header;  // The name of the first header that was refused.

  // What was decided when the head was made.
  bool keep_alive = false;
  bool chunked = false;
  std::optional<std::uint64_t> remaining;
  std::uint64_t body_bytes = 0;

  void begin(ResponseSink& where);  // Forgets the last answer, keeps the memory.
  bool started() const { return mode != Mode::none && mode != Mode::whole; }
  bool bodyless() const { return status == 204 || status == 304; }
  // Appends status line and headers, with the empty line. No length: chunked or until the end.
  void append_head(std::string& out, std::optional<std::uint64_t> length);
};

}  // namespace millrace::http
