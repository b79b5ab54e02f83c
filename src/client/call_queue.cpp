#include "client/call_queue.h"

#include "base/assert.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace millrace::client {
namespace {

constexpr auto kNothing = std::numeric_limits<std::uint64_t>::max();

std::size_t bytes_of(const Calls& calls) {
  std::size_t bytes = 0;
  for (const auto& call : calls) bytes += call.size_bytes;
  return bytes;
}

}  // namespace

CallQueue::CallQueue(CallQueueOptions options, const Clock& clock)
    : options_(options), clock_(clock), in_hand_(options.workers, kNothing) {}

std::future<CallAnswer> CallQueue::submit(MadeCall made, WhenFull when_full) {
  Calls one;
  one.push_back(std::move(made.call));
  auto& call = one.front();
  auto future = call.reply.future();
  {
    std::unique_lock lock(mutex_);
    const auto room = [&] { return has_room(call.size_bytes); };
    if (when_full == WhenFull::refuse && !room()) {
      lock.unlock();
      call.reply.set(std::unexpected(
          Error{ErrorKind::throttled,
                fmt::format("{} calls wait for the database already", options_.pending_max),
                {}}));
      return future;
    }
    ++waiting_for_room_;
    room_.wait(lock, room);
    --waiting_for_room_;
    auto& line = line_of(std::move(made.key));
    call.number = next_number_++;
    call.accepted_at = clock_.now();
    ++pending_;
    pending_bytes_ += call.size_bytes;
    const bool wakes = line.calls.empty() && !line.in_hand;
    line.calls.splice(line.calls.end(), one);
    if (!wakes) return future;
    ready_.splice(ready_.end(), line.place);
  }
  work_.notify_one();
  return future;
}

CallQueue::Line& CallQueue::line_of(LineKey key) {
  const auto [found, made] = lines_.try_emplace(std::move(key));
  auto& line = found->second;
  if (made) {
    line.key = &found->first;
    line.place.front() = &line;
  }
  return line;
}

bool CallQueue::has_room(std::size_t size_bytes) const {
  if (pending_ == 0) return true;  // A job larger than the bound must get through some time.
  return pending_ < options_.pending_max &&
         pending_bytes_ + size_bytes <= options_.pending_bytes_max;
}

std::optional<CallQueue::Batch> CallQueue::take(std::size_t worker) {
  std::unique_lock lock(mutex_);
  work_.wait(lock, [&] { return closed_ || !ready_.empty(); });
  if (ready_.empty()) return std::nullopt;
  Batch batch{.line = ready_.front()};
  auto& line = *batch.line;
  line.place.splice(line.place.end(), ready_, ready_.begin());
  line.in_hand = true;
  fill(batch);
  in_hand_[worker] = batch.calls.front().number;
  return batch;
}

void CallQueue::fill(Batch& batch) {
  auto& waiting = batch.line->calls;
  const auto count_max = batch.line->key->kind.plain
                             ? options_.batch_max
                             : std::min(options_.batch_max, options_.keyed_batch_max);
  auto end = waiting.begin();
  for (; end != waiting.end() && batch.open < count_max; ++end) {
    const auto bytes = batch.open_bytes + end->size_bytes;
    if (batch.open > 0 && bytes > options_.batch_bytes_max) break;
    batch.open_bytes = bytes;
    ++batch.open;
  }
  batch.calls.splice(batch.calls.end(), waiting, waiting.begin(), end);
}

Calls CallQueue::take_waiting(Batch& batch, Clock::Steady time) {
  const std::lock_guard lock(mutex_);
  auto& waiting = batch.line->calls;
  const auto end =
      std::ranges::find_if(waiting, [&](const auto& call) { return call.accepted_at > time; });
  Calls taken;
  taken.splice(taken.end(), waiting, waiting.begin(), end);
  batch.open += taken.size();
  batch.open_bytes += bytes_of(taken);
  return taken;
}

void CallQueue::settle(Batch& batch, const Calls& calls) {
  settle(batch, calls.size(), bytes_of(calls));
}

void CallQueue::settle(Batch& batch, std::size_t count, std::size_t bytes) {
  bool ready = false;
  bool room = false;
  {
    const std::lock_guard lock(mutex_);
    MR_ASSERT(count <= batch.open);
    batch.open -= count;
    batch.open_bytes -= bytes;
    pending_ -= count;
    pending_bytes_ -= bytes;
    room = waiting_for_room_ > 0;
    if (batch.open == 0) {
      auto& line = *batch.line;
      line.in_hand = false;
      ready = !line.calls.empty();
      if (ready) {
        ready_.splice(ready_.end(), line.place);
      } else {
        lines_.erase(lines_.find(*line.key));
      }
      batch.line = nullptr;  // Another worker may have it already.
    }
  }
  if (ready) work_.notify_one();
  if (room) room_.notify_all();
}

void CallQueue::leave(std::size_t worker) {
  bool flushing = false;
  {
    const std::lock_guard lock(mutex_);
    in_hand_[worker] = kNothing;
    flushing = flushing_ > 0;
  }
  if (flushing) answered_.notify_all();
}

bool CallQueue::all_answered_before(std::uint64_t number) const {
  // Calls that wait in a line in somebody's hands are younger than what those hands hold.
  return std::ranges::all_of(in_hand_, [&](std::uint64_t oldest) { return oldest >= number; }) &&
         std::ranges::all_of(
             ready_, [&](const Line* line) { return line->calls.front().number >= number; });
}

void CallQueue::flush() {
  std::unique_lock lock(mutex_);
  ++flushing_;
  answered_.wait(lock, [&, before = next_number_] { return all_answered_before(before); });
  --flushing_;
}

void CallQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  work_.notify_all();
}

}  // namespace millrace::client
