// SseStream: one open stream of server-sent events.
//
// Flow: a handler gets it from ResponseWriter::start_events and hands copies to whoever has events;
// frames are pushed, the connection sends them, and closed() ends when the client has gone, was too
// slow, the server stops or somebody called close(). Then the handler returns. Frames that the
// client has not taken wait in a buffer of bounded size; a push that does not fit closes the
// stream, because a client that missed an event must come back and resume. The connection sends the
// heartbeat by itself. Threading: executor() only. Copies are handles on one stream and may outlive
// it: a closed stream takes nothing.
#pragma once

#include "base/task.h"
#include "http/sse.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

namespace millrace::http {

struct SseOptions {
  std::size_t buffer_max_bytes = 64 * 1024;
  std::chrono::milliseconds heartbeat{15'000};  // A comment after so much silence; 0: none.
  std::chrono::milliseconds retry{0};           // Tells the client when to come back; 0: nothing.
  std::string_view cache_control = "no-store";
};

// What a connection does for its stream. Shared by the connection and the handles.
class SseChannel {
 public:
  virtual ~SseChannel() = default;
  virtual bool push(const SseFrame& frame) = 0;
  virtual Task<void> send(SseFrame frame) = 0;
  virtual awaitable<void> closed() = 0;
  virtual void close() = 0;
  virtual bool is_open() const = 0;
  virtual std::size_t buffered_bytes() const = 0;
  virtual Executor executor() const = 0;
};

class SseStream {
 public:
  explicit SseStream(std::shared_ptr<SseChannel> channel) : channel_(std::move(channel)) {}

  // At once or never: false when the stream is closed, or is now because the frame did not fit.
  bool push(const SseFrame& frame) { return channel_->push(frame); }
  // Waits until the client has taken so much that the frame fits; cancelled when it is closed.
  Task<void> send(SseFrame frame) { return channel_->send(std::move(frame)); }
  awaitable<void> closed() { return channel_->closed(); }
  void close() { channel_->close(); }  // What was pushed before is still sent.
  bool is_open() const { return channel_->is_open(); }
  std::size_t buffered_bytes() const { return channel_->buffered_bytes(); }
  Executor executor() const { return channel_->executor(); }

 private:
  std::shared_ptr<SseChannel> channel_;
};

}  // namespace millrace::http
