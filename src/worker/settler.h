// Settler: brings finished deliveries into the database, many at a time.
//
// Flow: offer() takes a result and returns at once; run() gathers what has come in while the
// previous call was under way and sends it as one batch, so that nothing waits when little happens
// and batches grow under load; what the fence said goes to `on_answers`, a batch at a time. A call
// whose fate is unknown is repeated until it is known: the database recognises its own success. A
// settlement that the database cannot take is found by halving the batch and replaced by a failure
// that says why. Threading: one strand. Lifetime: store, clock, random and log outlive it.
#pragma once

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/random.h"
#include "model/settlement.h"
#include "store/job_store.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace millrace::worker {

struct JobRun;

class Settler {
 public:
  static constexpr std::size_t kBatchMax = 4000;
  static constexpr std::size_t kBatchBytesMax = 4 * 1024 * 1024;

  struct Answered {
    std::shared_ptr<JobRun> run;
    Outcome::Kind outcome = Outcome::Kind::ok;
    Answer answer = Answer::lease_lost;  // Also when it was given up (abandon).
  };
  using OnAnswers = std::function<void(std::span<Answered>)>;

  Settler(store::JobStore& store, Clock& clock, Random& random, Logger& log,
          OnAnswers on_answers = {});

  // Whether more results come at once: then a batch waits for them, for a moment.
  void gather_while(std::function<bool()> more) { more_comes_ = std::move(more); }

  awaitable<void> run();  // Ends after stop(), when nothing waits any more, or after abandon().

  // The answer comes through on_answers.
  void offer(std::shared_ptr<JobRun> run, Settlement settlement);
  // Returns what the fence said. lease_lost also when it was given up (abandon).
  awaitable<Answer> settle(std::string worker_id, Settlement settlement);
  // The same with statements that must commit together with it.
  awaitable<Answer> settle_with(std::string worker_id, Settlement settlement,
                                std::vector<SqlStatement> statements);

  void stop();
  void abandon();  // Stops trying: the leases will expire.
  std::size_t waiting() const { return queue_.size(); }
  // A call has failed and is to be repeated: results do not become durable now.
  bool failing() const { return failing_ > 0; }

 private:
  // Shared with the waiting coroutine, which may be destroyed first at shutdown.
  struct Waiter {
    Event done;
    Answer answer = Answer::lease_lost;
  };
  struct Item {
    std::shared_ptr<const std::string> worker_id;  // Shared by all that were claimed under it.
    Settlement settlement;
    // One of them gets the answer.
    std::shared_ptr<JobRun> run;
    std::shared_ptr<Waiter> waiter;
    bool replaced = false;  // Its outcome was refused once and is now a failure.
    bool answered = false;
  };
  // Part of what is being sent.
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t size() const { return end - begin; }
  };

  void enqueue(Item item);
  awaitable<void> gather();
  void shrink();
  void take_batch();
  awaitable<void> send(Range range);
  Task<std::vector<JobAnswer>> send_once(Range range);
  void refuse(Item& item, const Error& error);
  awaitable<void> pause(Error error, std::chrono::milliseconds duration);
  std::span<Item> items(Range range);
  // Collects the answer for on_answers, or wakes who waits for it.
  static void answer(Item& item, Answer value, std::vector<Answered>& answered);
  void answer_all(std::span<Item> given, Answer value);
  void deliver(std::vector<Answered> answered);

  store::JobStore& store_;
  Clock& clock_;
  Random& random_;
  Logger& log_;
  OnAnswers on_answers_;
  std::function<bool()> more_comes_;
  std::vector<Item> queue_;
  std::vector<Item> sending_;
  Event arrived_;
  Event abandoned_;
  bool stopping_ = false;
  std::size_t failing_ = 0;  // Calls that are to be repeated.
};

// The database cannot be asked now, or has not said what became of it: ask again.
bool should_repeat(const Error& error);

}  // namespace millrace::worker
