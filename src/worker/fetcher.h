// Fetcher: claims work for the whole process. There is one.
//
// Flow: while the Dispatcher has use for jobs it asks queue after queue, sharing what is free by
// weight. Between full scans it passes the marks of what it got, so that a claim need not walk over
// what finished jobs left behind. An empty queue is asked once more (the first empty answer armed
// the notification, the second makes sure that nothing came in between) and then left alone until
// a notification, the end of a job of its own that we ran where that makes room, or its polling
// time. What a claim took whose answer was lost goes back before the next claim, and again once per
// lease: the database may get to the claim after we looked. Suspects are claimed one at a time when
// nothing else is held. Threading: one strand. Lifetime: everything it refers to outlives it.
#pragma once

#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/random.h"
#include "store/job_store.h"
#include "store/wake_source.h"
#include "worker/backoff.h"
#include "worker/dispatcher.h"
#include "worker/options.h"
#include "worker/process_lease.h"

#include <optional>
#include <string>
#include <vector>

namespace millrace::worker {

class Fetcher {
 public:
  struct Services {
    store::JobStore& store;
    store::WakeSource* wake;  // Null: polling only.
    Clock& clock;
    Random& random;
    Logger& log;
  };

  Fetcher(Services services, const Options& options, std::vector<std::string> job_types,
          ProcessLease& lease, Dispatcher& dispatcher);

  awaitable<void> run();     // Until stop(); an error never ends it.
  awaitable<void> listen();  // Turns notifications into wake-ups; until stop().
  void stop();
  void wake();          // There may be work in any queue.
  void forget_marks();  // The process has a new identity.
  void set_suspects(int count);
  // The queues in which the end of a job makes room for another; nothing: it may be any.
  void set_limited(const std::optional<std::vector<std::string>>& queues);
  // A job of ours has ended: where its queue or key lets only so many run, there is room for one.
  void note_ended(const std::string& queue);
  Event ended() const { return ended_; }  // No claim is under way any more, nor will be.

 private:
  struct Queue {
    std::string name;
    int weight = 1;
    store::Marks marks;
    bool rescan = true;  // The next claim looks at everything.
    Clock::Steady rescanned_at{};
    Clock::Steady ask_at{};  // Not before; for a queue that was empty.
    int empty_in_a_row = 0;
    bool limited = true;   // Only so many of its jobs may run at a time, as far as is known.
    bool gathers = false;  // It is known: it is asked at the end of a job, and else every kGather.
    Clock::Steady asked_at{};
  };

  awaitable<void> wait_for_use();
  awaitable<void> claim_round(int want);
  // How many jobs it got; fewer than asked means that there are no more.
  Task<int> claim(Queue* queue, int limit);
  Task<int> claim_alone(Queue* queue);
  void hand_over(std::vector<ClaimedJob> jobs, const store::WorkerKey& key, Clock::Steady asked_at);
  void note_marks(Queue& queue, int limit, const std::vector<ClaimedJob>& jobs);
  void note_empty(Queue& queue);
  awaitable<void> note_error(Queue* queue, Error error);
  bool repair_due() const;
  awaitable<void> repair();
  awaitable<void> alone_session();
  awaitable<int> run_suspects();
  awaitable<bool> wait_until_idle();
  bool alone_due() const;
  bool may_claim() const;
  awaitable<void> pause(std::chrono::milliseconds duration);
  std::vector<Queue*> askable();

  Services services_;
  const Options& options_;
  std::vector<std::string> job_types_;
  ProcessLease& lease_;
  Dispatcher& dispatcher_;
  std::vector<Queue> queues_;
  Backoff backoff_;
  Event stopping_;
  Event wake_;
  Event ended_;
  bool unheld_ = false;                             // A claim's answer was lost.
  Clock::Steady repair_at_ = Clock::Steady::max();  // When to repair again, once one was lost.
  bool listening_ = false;                          // Notifications arrive, as far as is known.
  std::size_t first_ = 0;                           // Who is asked first: each in turn.
  int suspects_ = 0;
  Clock::Steady alone_at_{};  // When to look for suspects, once there are some.
  std::chrono::milliseconds alone_pause_{0};
};

}  // namespace millrace::worker
