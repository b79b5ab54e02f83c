// Settler: brings finished deliveries into the database, many at a time.
//
// Flow: each job's coroutine calls settle() and waits there until the result is durable or refused;
// run() gathers what has come in while the previous call was under way and sends it as one batch,
// so that nothing waits when little happens and batches grow under load. A call whose fate is
// unknown is repeated until it is known: the database recognises its own success. A settlement that
// the database cannot take is found by halving the batch and replaced by a failure that says why.
// Threading: one strand. Lifetime: store, clock, random and log outlive it.
#pragma once

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/random.h"
#include "model/settlement.h"
#include "store/job_store.h"

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace millrace::worker {

class Settler {
 public:
  static constexpr std::size_t kBatchMax = 1000;
  static constexpr std::size_t kBatchBytesMax = 4 * 1024 * 1024;

  Settler(store::JobStore& store, Clock& clock, Random& random, Logger& log);

  awaitable<void> run();  // Ends after stop(), when nothing waits any more, or after abandon().

  // Returns what the fence said. lease_lost also when it was given up (abandon).
  awaitable<Answer> settle(std::string worker_id, Settlement settlement);
  // The same with statements that must commit together with it.
  awaitable<Answer> settle_with(std::string worker_id, Settlement settlement,
                                std::vector<SqlStatement> statements);

  void stop();
  void abandon();  // Stops trying: the leases will expire.
  std::size_t waiting() const { return queue_.size(); }

 private:
  struct Item {
    std::string worker_id;
    Settlement settlement;
    bool replaced = false;  // Its outcome was refused once and is now a failure.
    Event done;
    Answer answer = Answer::lease_lost;
  };
  using Batch = std::vector<std::shared_ptr<Item>>;

  Batch next_batch();
  awaitable<void> send(Batch batch);
  Task<std::vector<JobAnswer>> send_once(Batch batch);
  void refuse(const std::shared_ptr<Item>& item, const Error& error);
  awaitable<void> pause(Error error, std::chrono::milliseconds duration);
  static void answer(Item& item, Answer value);

  store::JobStore& store_;
  Clock& clock_;
  Random& random_;
  Logger& log_;
  // Shared with the waiting coroutine, which may be destroyed first at shutdown.
  std::deque<std::shared_ptr<Item>> queue_;
  Batch sending_;
  Event arrived_;
  Event abandoned_;
  bool stopping_ = false;
};

// The database cannot be asked now, or has not said what became of it: ask again.
bool should_repeat(const Error& error);

}  // namespace millrace::worker
