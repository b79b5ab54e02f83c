// Model: the engine's database in memory, after the functions in sql/: what each of them does to
// the places of jobs, to leases, attempts, keys and limits, and what it answers.
//
// Flow: Link calls it at the instant the simulated database does the work; model_pg_test makes the
// same calls here and on PostgreSQL and compares. Each call is one transaction and happens at one
// instant; what concurrency adds in PostgreSQL (a row or key that somebody else holds is skipped)
// is thrown in by chance, see `hiccups`. One tenant, no dedupe keys, no tokens, no cron.
// Lifetime: policies are set before the first call; `random` and `watch` outlive it.
#pragma once

#include "sim/limiter.h"
#include "sim/loop.h"
#include "store/job_store.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::sim {

inline constexpr Time kForever = Time::max();

struct QueuePolicy {
  std::string name = "default";
  int max_attempts = 12;
  Time backoff_base = std::chrono::seconds(15);
  double backoff_factor = 2;
  Time backoff_cap = std::chrono::hours(1);
  double jitter_low = 1;
  double jitter_high = 2;
  Time lease = std::chrono::seconds(30);
  Time run_timeout = std::chrono::seconds(300);
  Time reclaim_jitter = std::chrono::milliseconds(500);
  Time max_age = std::chrono::hours(24);
  int max_snoozes = 10000;
  std::optional<int> concurrency_max;
  std::optional<int> key_concurrency_max;
  int priority_default = 5;
  std::optional<Time> age_step = std::chrono::seconds(30);
};

struct TypePolicy {
  std::string name;
  int queue = 0;
  std::optional<int> provider;
  std::optional<int> max_attempts;
  std::optional<Time> run_timeout;
};

struct Policies {
  std::vector<QueuePolicy> queues;
  std::vector<TypePolicy> types;
  std::vector<LimitPolicy> limits;
};

struct JobSpec {
  JobId id;
  int type = 0;
  std::optional<int> queue;
  std::optional<int> priority;
  Time delay{0};
  std::string serial_key;
  std::string concurrency_key;
  std::optional<int> max_attempts;
  std::optional<Time> run_timeout;
  std::optional<Time> start_within;
  std::vector<JobId> after;
  bool after_any = false;
  bool after_failure_runs = false;
  std::optional<int> batch;
};

enum class Place { ready, delayed, lease, history };
enum class WaitReason { scheduled, retrying, deferred, serial, concurrency, dependency };
std::string_view to_string(Place place);
std::string_view to_string(WaitReason reason);

struct Ending {
  int generation = 1;
  JobStatus status = JobStatus::completed;
  std::string reason;
  LeaseToken token;  // Nil: it was not running.
  int attempt = 0;
  int deliveries = 0;
  bool redriven = false;
};

struct Attempt {
  LeaseToken token;
  std::string outcome;
  bool charged = false;
  Time ended_at{0};
};

// A job with the place it lies in. Fields of other places keep old values and mean nothing.
struct Job {
  JobId id;
  std::int64_t seq = 0;
  int queue = 0;
  int type = 0;
  int priority = 0;
  std::string serial_key;
  std::string concurrency_key;
  std::optional<int> max_attempts;
  std::optional<Time> run_timeout;
  std::optional<Time> fact_deadline;
  Time scheduled_at{0};
  std::optional<int> fact_batch;

  Place place = Place::ready;
  int generation = 1;
  int attempt = 0;
  int deliveries = 0;
  int crashes = 0;
  int suspects = 0;
  int snoozes = 0;
  Time born_at{0};
  bool batched = false;       // Counts in its batch: only in its first life.
  bool has_deadline = false;  // Likewise.
  bool has_carry = false;
  std::optional<Time> start_deadline;

  std::int64_t ready_seq = 0;
  Time ready_at{0};
  bool in_lane = false;   // Waits in its lane: nobody has had it yet.
  int claim = 0;          // Held under a claim of a lane; 0: by a lease of its own, or not at all.
  bool reseated = false;  // Came back from a claim: it stands where it came.

  WaitReason reason = WaitReason::scheduled;
  Time due_at{0};
  std::string wait_key;
  std::int64_t wait_seq = 0;

  LeaseToken token;
  std::string worker_id;
  Uuid process;
  bool alone = false;
  std::string lease_key;
  Time leased_at{0};
  Time lease_until{0};
  std::optional<std::string> cancel_reason;

  std::string carry;
  std::vector<Ending> history;
  std::vector<Attempt> attempts;

  bool suspect() const { return suspects >= 3; }
  JobStatus status() const;
};

struct WorkerRow {
  std::string worker_id;
  Uuid process;
  std::string supervisor_id;
  Time lease{0};
  Time lease_until{0};
};

struct Batch {
  int total = 0;
  int completed = 0;
  int failed = 0;
  int cancelled = 0;
  bool sealed = false;
  bool finished = false;
  std::optional<JobSpec> callback;
};

// Who wants to know what happens, at the instant it happens.
class ModelWatch {
 public:
  virtual ~ModelWatch() = default;
  virtual void enqueued(const Job& /*job*/) {}
  virtual void leased(const Job& /*job*/) {}
  // The lease with this token is gone; `outcome` as in SQL ('ok', 'retry', 'handback', 'lost' …).
  virtual void unleased(const Job& /*job*/, LeaseToken /*token*/, std::string_view /*outcome*/) {}
  virtual void ended(const Job& /*job*/, const Ending& /*ending*/) {}
  virtual void redriven(const Job& /*job*/) {}
  virtual void granted(int /*provider*/) {}
  virtual void notified() {}  // A worker that waits for work would be woken.
};

class Model {
 public:
  Model(Policies policies, Random& random, ModelWatch& watch);

  void set_now(Time now) { now_ = now; }
  Time now() const { return now_; }
  // Share of the looks at a row, key or provider that find it held by somebody else.
  double hiccups = 0;

  // Producers and operators.
  bool enqueue(const JobSpec& spec);  // False: a job with this id exists.
  std::string cancel(JobId id, const std::string& reason);
  std::string redrive(JobId id);
  std::string run_now(JobId id);
  int open_batch(std::optional<JobSpec> callback);
  void seal_batch(int batch);

  // As in store::JobStore.
  Result<Uuid> register_worker(const std::string& worker_id, const store::WorkerInfo& info);
  store::BeatAnswer beat_worker(const store::WorkerKey& worker);
  int retire_worker(const store::WorkerKey& worker);
  std::vector<store::HeldLease> unheld_leases(const store::WorkerKey& worker,
                                              const std::vector<LeaseToken>& held) const;
  int hand_back_process(const std::string& supervisor_id, const std::string& worker_id);
  Result<std::vector<ClaimedJob>> claim_jobs(const store::ClaimRequest& request);
  std::vector<store::ExtendAnswer> extend_leases(const std::string& worker_id,
                                                 const std::vector<store::HeldLease>& leases,
                                                 Time extend);
  std::vector<JobAnswer> settle(const std::string& worker_id,
                                const std::vector<Settlement>& settlements);
  std::vector<store::ProgressAnswer> report_progress(const std::string& worker_id,
                                                     const std::vector<store::ProgressItem>& items);
  int append_logs(const std::string& worker_id, const std::vector<store::JobLogItem>& items);

  // As in store::KeeperStore.
  bool elect(const std::string& duty, const std::string& holder, Time ttl);
  void resign(const std::string& duty, const std::string& holder);
  int reclaim(int limit);
  int promote_due(int limit);
  int advance(int limit);
  int expire_waiting(int limit);
  int expire_slots(int limit);
  void recheck_blocked(int limit);

  // What there is.
  const Policies& policies() const { return policies_; }
  const std::deque<Job>& jobs() const { return jobs_; }
  const Job* find(JobId id) const;
  const std::vector<WorkerRow>& workers() const { return workers_; }
  const std::vector<Limiter>& limiters() const { return limiters_; }
  const std::vector<Batch>& batches() const { return batches_; }
  std::size_t notes() const { return handoffs_.size(); }
  bool lives(JobId id, LeaseToken token) const;
  void forget_wakes() { armed_.clear(); }  // Unlogged: a crash of the database empties it.
  // Jobs that came into ready together have no order of their own: take another database's.
  void order_ready(const std::vector<JobId>& ids);

 private:
  // A job on its way from one place to the next, as millrace.moving.
  struct Moving {
    Job* job = nullptr;
    Place from = Place::lease;
    LeaseToken token;
    std::string lease_key;
    std::optional<std::string> cancel_reason;
    std::string outcome;
    std::optional<Time> until;
    std::string reason;  // Of the end, if the outcome brings one.
    std::string carry;
    bool crash = false;
  };
  struct Group {
    int type = 0;
    int priority = 0;
    bool lane = false;
    std::int64_t mark = 0;
    Time ready_at{0};
    std::int64_t effective = 0;
    std::optional<std::int64_t> next_effective;
    bool dry = false;
  };
  struct Handoff {
    enum class Kind { dependency, key, batch } kind = Kind::key;
    int queue = 0;
    std::string wait_key;
    JobId job;
    int batch = 0;
    int completed = 0;
    int failed = 0;
    int cancelled = 0;
  };
  struct Dependency {
    JobId job;
    JobId depends_on;
    bool any = false;
    bool failure_runs = false;
  };
  struct Claim {
    const store::ClaimRequest* request;
    int queue;
    Time cutoff = kForever;
  };

  bool hiccup();
  Job* get(JobId id);
  Time backoff_delay(const QueuePolicy& queue, int failures);
  void make_ready(Job& job);
  bool fits_a_lane(const Job& job) const;
  void pin(Job& job);
  void promote(std::vector<Job*> jobs);
  void wake(int queue);

  // model_claim.cpp
  std::vector<Group> claim_groups(const store::ClaimRequest& request, int queue) const;
  std::vector<Job*> claim_group(const Claim& claim, const Group& group, int limit);
  std::vector<Job*> claim_candidates(const Claim& claim, const Group& group, std::int64_t mark,
                                     int limit);
  void lease_candidates(const std::vector<Job*>& candidates, const Claim& claim,
                        std::vector<Job*>& leased);
  void lease(Job& job, const std::string& key, const Claim& claim);
  enum class Verdict { run, park, skip };
  Verdict judge_key(const Job& job, const std::string& key);
  ClaimedJob claimed(const Job& job) const;

  // model_settle.cpp
  void settle_core(std::vector<Moving> rows);
  void resolve(Moving& row);
  void finish(Moving& row, JobStatus status, std::string reason);
  void wait(Moving& row, WaitReason reason, Time due_at);
  void release_claims(const std::vector<Moving>& rows);
  void advance_key(int queue, const std::string& key);
  std::optional<Moving> take_lease(const std::string& worker_id, const Settlement& settlement);
  Answer explain_stale(JobId id, LeaseToken token) const;
  Moving moving(Job& job, std::string outcome) const;
  int hand_back(const store::WorkerKey& worker);
  void note_death(const Uuid& process);
  std::ptrdiff_t recent_deaths() const;
  int reclaim_leases(const std::vector<Job*>& jobs, bool process_death, bool at_once = false);
  void end_unstarted(Job& job, std::string outcome, std::string reason);
  void apply_effects(const Settlement& settlement);

  // model_keeper.cpp
  void advance_dependent(JobId id);
  void advance_batch(const Handoff& note);
  bool live(JobId id) const;

  Policies policies_;
  Random& random_;
  ModelWatch& watch_;
  Time now_{0};
  std::deque<Job> jobs_;  // A reference stays valid while jobs are added.
  std::map<JobId, std::size_t> index_;
  std::int64_t next_seq_ = 1;
  std::int64_t next_ready_seq_ = 1;
  int last_claim_ = 0;
  std::uint64_t next_token_ = 1;
  std::vector<WorkerRow> workers_;
  std::vector<Time> deaths_;  // Of processes that did not run one job alone.
  std::vector<Limiter> limiters_;
  std::vector<Handoff> handoffs_;
  std::vector<Dependency> dependencies_;
  std::vector<Batch> batches_;
  // Live members of serial keys, in enqueue order: queue and key, then seq.
  std::map<std::pair<int, std::string>, std::map<std::int64_t, JobId>> members_;
  std::set<int> armed_;
  struct Duty {
    std::string holder;
    Time lease_until{0};
  };
  std::map<std::string, Duty> duties_;
};

// The number in an id or token that the simulation has made.
std::uint64_t number_of(const Uuid& uuid);
Uuid numbered(std::uint64_t space, std::uint64_t number);

}  // namespace millrace::sim
