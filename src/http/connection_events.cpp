#include "http/connection_events.h"

#include "http/connection.h"
#include "http/server_state.h"

#include <algorithm>
#include <array>

namespace millrace::http {
namespace {

constexpr std::size_t kFramesAtOnce = 4;

}  // namespace

EventChannel::EventChannel(Connection& connection, SseOptions options, bool chunked)
    : connection_(&connection),
      executor_(connection.shard().executor()),
      options_(options),
      chunked_(chunked),
      last_sent_(connection.shard().server().clock.now()) {}

bool EventChannel::push(const SseFrame& frame) {
  if (!open_ || connection_ == nullptr) return false;
  const auto size = bytes_of(frame).size();
  // A frame larger than the bound may wait alone, or it could never be sent.
  if (buffered_bytes_ > 0 && buffered_bytes_ + size > options_.buffer_max_bytes) {
    connection_->fail_events("the client was too slow for its events");
    return false;
  }
  // The client's time begins when there is something to take.
  if (buffered_bytes_ == 0) last_sent_ = connection_->shard().server().clock.now();
  frames_.push_back(frame);
  buffered_bytes_ += size;
  if (!waiting_) flush();
  return open_;
}

Task<void> EventChannel::send(SseFrame frame) {
  const auto self = shared_from_this();
  while (open_ && buffered_bytes_ > 0 &&
         buffered_bytes_ + bytes_of(frame).size() > options_.buffer_max_bytes) {
    if (!progress_) progress_.emplace();
    progress_->reset();
    auto progress = *progress_;
    co_await progress.wait();
  }
  if (!push(frame)) co_return fail(ErrorKind::cancelled, "the event stream is closed");
  co_return ok();
}

awaitable<void> EventChannel::closed() {
  const auto self = shared_from_this();
  co_await closed_.wait();
}

void EventChannel::close() {
  open_ = false;
  closed_.set();
  if (progress_) progress_->set();
}

void EventChannel::gone() {
  connection_ = nullptr;
  frames_.clear();
  first_ = first_sent_bytes_ = buffered_bytes_ = 0;
  close();
}

void EventChannel::detach() {
  connection_ = nullptr;
  close();
}

void EventChannel::tick(Clock::Steady now) {
  if (connection_ == nullptr) return;
  if (buffered_bytes_ > 0) {
    if (now - last_sent_ >= connection_->shard().server().options.limits.write_stall_max) {
      connection_->fail_events("the client took none of its events");
    }
    return;
  }
  if (open_ && options_.heartbeat > std::chrono::milliseconds::zero() &&
      now - last_sent_ >= options_.heartbeat) {
    push(connection_->shard().heartbeat());
  }
}

awaitable<void> EventChannel::wait_until_sent() {
  const auto self = shared_from_this();
  while (connection_ != nullptr && buffered_bytes_ > 0) {
    if (!progress_) progress_.emplace();
    progress_->reset();
    auto progress = *progress_;
    co_await progress.wait();
  }
}

void EventChannel::flush() {
  while (connection_ != nullptr && first_ < frames_.size()) {
    std::array<std::string_view, kFramesAtOnce> parts;
    const auto count = std::min(frames_.size() - first_, parts.size());
    for (std::size_t i = 0; i < count; ++i) parts[i] = bytes_of(frames_[first_ + i]);
    parts[0].remove_prefix(first_sent_bytes_);
    const auto sent = connection_->stream().write(std::span(parts).first(count));
    if (sent.state == Io::closed) {
      connection_->fail_events("the client closed the connection");
      return;
    }
    if (sent.state != Io::done) {
      wait_for_room(sent.state);
      return;
    }
    taken(sent.bytes);
  }
}

void EventChannel::taken(std::size_t bytes) {
  last_sent_ = connection_->shard().server().clock.now();
  buffered_bytes_ -= bytes;
  sent_bytes_ += bytes;
  while (bytes > 0) {
    const auto left = bytes_of(frames_[first_]).size() - first_sent_bytes_;
    if (bytes < left) {
      first_sent_bytes_ += bytes;
      break;
    }
    bytes -= left;
    first_sent_bytes_ = 0;
    ++first_;
  }
  if (first_ == frames_.size()) {
    frames_.clear();
    first_ = 0;
    // A burst is over; thousands of streams must not each keep the room for one.
    if (frames_.capacity() > 4) std::vector<SseFrame>().swap(frames_);
  } else if (first_ >= 16 && first_ * 2 >= frames_.size()) {
    // A client that never quite catches up must not keep all that it was sent.
    frames_.erase(frames_.begin(), frames_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  if (progress_) progress_->set();
}

void EventChannel::wait_for_room(Io state) {
  waiting_ = true;
  connection_->stream().wait(state, [self = shared_from_this()](bool ready) {
    self->waiting_ = false;
    if (ready) self->flush();
  });
}

}  // namespace millrace::http
