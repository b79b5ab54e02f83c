// EventChannel: the events of one open stream on their way to the client. Internal to http.
//
// Frames go to the kernel at once; what it does not take waits here, up to the stream's bound, and
// is sent on when the socket has room. No coroutine and no timer of its own. Threading: the
// connection's executor. Lifetime: shared by the connection and the handles of handlers; detach()
// ends its use of the connection.
#pragma once

#include "base/clock.h"
#include "base/event.h"
#include "http/sse_stream.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace millrace::http {

class Connection;
enum class Io;

class EventChannel final : public SseChannel, public std::enable_shared_from_this<EventChannel> {
 public:
  EventChannel(Connection& connection, SseOptions options, bool chunked);

  bool push(const SseFrame& frame) override;
  Task<void> send(SseFrame frame) override;
  awaitable<void> closed() override;
  void close() override;
  bool is_open() const override { return open_; }
  std::size_t buffered_bytes() const override { return buffered_bytes_; }
  Executor executor() const override { return executor_; }

  void gone();                        // The connection is dead.
  void detach();                      // The answer is over.
  void tick(Clock::Steady now);       // Heartbeat, and an end to clients that take nothing.
  awaitable<void> wait_until_sent();  // Or gone.
  std::uint64_t sent_bytes() const { return sent_bytes_; }

 private:
  std::string_view bytes_of(const SseFrame& frame) const {
    return chunked_ ? frame.chunk() : frame.text();
  }
  void flush();
  void taken(std::size_t bytes);
  void wait_for_room(Io state);

  Connection* connection_;  // Null when dead or detached.
  Executor executor_;
  SseOptions options_;
  bool chunked_;
  bool open_ = true;
  bool waiting_ = false;          // For the socket to take more.
  std::vector<SseFrame> frames_;  // Not sent yet; the first perhaps in part.
  std::size_t first_ = 0;         // Of frames_.
  std::size_t first_sent_bytes_ = 0;
  std::size_t buffered_bytes_ = 0;
  std::uint64_t sent_bytes_ = 0;
  Clock::Steady last_sent_;  // Or when something began to wait, if that was later.
  Event closed_;
  std::optional<Event> progress_;  // Made when somebody waits.
};

}  // namespace millrace::http
