// ResponseWriter: how a handler answers.
//
// Flow: one of three ways. reply() gives the whole answer, which is written after the handler has
// returned; the last reply counts. start(), write() and finish() stream a body: write() returns
// when the kernel has taken the bytes, so the pace is the reader's, and an answer that was begun
// and then failed is cut off, so that the client can tell. start_events() opens a stream of events.
// Date, Content-Length, Connection, Transfer-Encoding, x-correlation-id, traceparent and the CORS
// headers are the server's. Threading: the connection's executor only.
#pragma once

#include "base/task.h"
#include "http/sse_stream.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::http {

struct ResponseState;

class ResponseWriter {
 public:
  explicit ResponseWriter(ResponseState& state) : state_(state) {}
  ResponseWriter(const ResponseWriter&) = delete;
  ResponseWriter& operator=(const ResponseWriter&) = delete;

  // A further header, before the answer begins. A name or value that would break the message (a
  // line end, say) is not sent: the answer becomes a 500, and the log names the header.
  void header(std::string_view name, std::string_view value);

  void reply(int status, std::string_view content_type, std::string body);
  void reply(int status);  // Without a body.

  // Sends the head. With a length exactly so many bytes must follow; without one the body is
  // chunked, or ends with the connection in HTTP/1.0.
  Task<void> start(int status, std::string_view content_type,
                   std::optional<std::uint64_t> length = std::nullopt);
  // `bytes` stay valid until it returns. An error: the client has gone or takes nothing any more.
  Task<void> write(std::string_view bytes);
  // The end of a streamed body. Also done for a handler that returns without error.
  Task<void> finish();

  // 200, text/event-stream, no-store. The answer ends when the handler returns.
  Task<SseStream> start_events(SseOptions options = {});

  bool started() const;   // Something has been sent.
  bool answered() const;  // There is an answer: started, or replied.

 private:
  ResponseState& state_;
};

// "Not Found"; empty for a status without a name.
std::string_view reason_phrase(int status);

}  // namespace millrace::http
