// CallQueue: enqueue calls that were accepted and not yet answered, in lines by kind of job.
//
// Flow: callers submit(); a worker takes a line with the calls that have gathered in it, sends
// them, settles them and leaves the line. While a line is in a worker's hands no other worker gets
// it, so the jobs of a line reach the database in the order in which their calls were accepted.
// Bounds: pending_max calls and pending_bytes_max bytes of jobs; beyond that callers wait or are
// refused. Threading: all members from any thread; a worker's number from one thread at a time.
#pragma once

#include "client/pending_call.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace millrace::client {

struct CallQueueOptions {
  std::size_t workers = 2;
  std::size_t batch_max = 1000;
  // Jobs with keys take locks in the database, of which it has a fixed number.
  std::size_t keyed_batch_max = 250;
  std::size_t batch_bytes_max = 4 * 1024 * 1024;  // A single job may be larger.
  std::size_t pending_max = 100'000;
  std::size_t pending_bytes_max = 256 * 1024 * 1024;
};

class CallQueue {
 public:
  enum class WhenFull { wait, refuse };

  struct Line {
    const LineKey* key = nullptr;
    Calls calls = {};
    bool in_hand = false;
    // One element that names this line. It moves into ready_ and back, so that making a line ready
    // needs no memory and cannot fail.
    std::list<Line*> place = std::list<Line*>(1);
  };

  // What a worker has in its hands. The line and its kind are there until the last call of the
  // batch is settled.
  struct Batch {
    Line* line = nullptr;
    std::size_t open = 0;  // Calls that are not settled.
    std::size_t open_bytes = 0;
    Calls calls = {};
  };

  CallQueue(CallQueueOptions options, const Clock& clock);

  // The future is ready at once, with `throttled`, when the queue is full and may not be waited
  // for.
  std::future<CallAnswer> submit(MadeCall made, WhenFull when_full);
  // Waits until everything that was accepted before has been answered.
  void flush();

  // Waits for calls to send; nothing once the queue is closed and empty.
  std::optional<Batch> take(std::size_t worker);
  // The fate of these calls is known and they will be answered now. Before the answer, not after:
  // a caller who has it finds room for its next call.
  void settle(Batch& batch, const Calls& calls);
  // The same for all that is left of the batch.
  void settle(Batch& batch) { settle(batch, batch.open, batch.open_bytes); }
  // The worker has answered all it had.
  void leave(std::size_t worker);
  // Calls that still wait in the line of the batch and came no later than `time` join the batch.
  Calls take_waiting(Batch& batch, Clock::Steady time);
  // Workers end when nothing is left to send.
  void close();

 private:
  Line& line_of(LineKey key);
  bool has_room(std::size_t size_bytes) const;
  bool all_answered_before(std::uint64_t number) const;
  void fill(Batch& batch);
  void settle(Batch& batch, std::size_t count, std::size_t bytes);

  const CallQueueOptions options_;
  const Clock& clock_;
  std::mutex mutex_;  // Guards everything below.
  std::condition_variable work_;
  std::condition_variable room_;
  std::condition_variable answered_;
  std::map<LineKey, Line> lines_;       // Those that have calls or are in a worker's hands.
  std::list<Line*> ready_;              // Those that have calls and are in nobody's hands.
  std::vector<std::uint64_t> in_hand_;  // By worker: the oldest call that it has not answered.
  std::size_t pending_ = 0;
  std::size_t pending_bytes_ = 0;
  std::size_t waiting_for_room_ = 0;
  std::size_t flushing_ = 0;
  std::uint64_t next_number_ = 0;
  bool closed_ = false;
};

}  // namespace millrace::client
