// Server-sent events as text: what EventSource reads, one frame per event.
//
// A frame is made once and pushed to any number of streams, which share its bytes. Pure; the stream
// itself is in http/sse_stream.h.
#pragma once

#include "base/result.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::http {

struct SseEvent {
  std::string_view data;                    // Any text: CR, LF and CRLF each begin a new data line.
  std::string_view event = {};              // Empty: "message", EventSource's default.
  std::optional<std::string_view> id = {};  // Without one the client's last id stays.
  std::optional<std::chrono::milliseconds> retry = {};
};

class SseFrame {
 public:
  // invalid_argument for an event name or id that holds CR, LF or NUL, or a name of "error", which
  // EventSource uses for its own failures. Bytes that are not UTF-8 become U+FFFD.
  static Result<SseFrame> make(const SseEvent& event);
  // ": text" lines, which EventSource ignores and proxies count as life.
  static SseFrame comment(std::string_view text);
  // "retry: ms" alone.
  static SseFrame retry(std::chrono::milliseconds wait);
  // "id: …" alone: no event for the client, but where it goes on when it comes back.
  // invalid_argument as with make().
  static Result<SseFrame> position(std::string_view id);

  std::string_view text() const;
  // The same as one chunk of HTTP's chunked coding.
  std::string_view chunk() const { return *bytes_; }

 private:
  explicit SseFrame(std::string_view text);

  std::shared_ptr<const std::string> bytes_;  // Shared by all streams it was pushed to.
  std::size_t head_size_;                     // Of the chunk's size line.
};

}  // namespace millrace::http
