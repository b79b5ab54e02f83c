// WorldPlan: what one seed means. Everything that is chosen before the world starts: how many
// processes and jobs, the policies, what each job will do, which faults there are and how many.
#pragma once

#include "model/outcome.h"
#include "sim/model.h"
#include "worker/options.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace millrace::sim {

// What the handler of a job does. The first `times` runs end as `first`, later ones are successes.
struct Script {
  enum class End { ok, retry, throttled, blocked, permanent, partial, crash, hang, thrown };
  End first = End::ok;
  int times = 0;
  Time run{0};
  Time retry_after{0};
  bool stubborn = false;           // Ignores being told to stop.
  bool statement = false;          // Writes to the ledger in the settling transaction.
  bool statement_fails = false;    // The first time.
  bool unstorable = false;         // The database refuses its success.
  bool talks = false;              // Progress and log lines.
  std::optional<JobId> follow_up;  // Enqueued with its success.
};

struct PlannedJob {
  JobSpec spec;
  Time at{0};
  bool repeated = false;  // Its producer got no answer and says it again.
  Script script;
};

// Chances of one call to the database.
struct Weather {
  double refused = 0;  // Not done, and said so.
  double lost = 0;     // Done, the answer is lost.
  double cut = 0;      // Not done, and nobody says so.
  double late = 0;     // Done long after the caller has given up.
  double slow = 0;     // Takes a good part of the lease.
  double hiccups = 0;
  double slowness = 0;
  Time latency_max = std::chrono::milliseconds(2);
};

struct Fault {
  enum class Kind {
    kill_worker,
    pause_worker,
    freeze_worker,
    drain_worker,
    kill_politely,
    kill_keeper,
    pause_keeper,
    stop_keeper,
    restart_database,
    stall_database,
    step_wall,
    cancel_job,
    redrive_job,
    run_job_now,
  };
  Kind kind = Kind::kill_worker;
  Time at{0};
  Time duration{0};
  std::uint64_t which = 0;
};

struct WorldPlan {
  std::uint64_t seed = 0;
  int workers = 1;
  int keepers = 1;
  bool supervised = false;
  bool hints = false;
  bool crashers = false;  // Some jobs kill their process.
  worker::Options options;
  Time call_timeout{0};
  Time keeper_ttl{0};
  int keeper_pace = 1;  // Intervals of the keeper's duties are this many times the usual ones.
  Policies policies;
  std::vector<PlannedJob> jobs;  // In the order of their ids; follow-ups and callbacks at the end.
  std::optional<std::size_t> batch_size;  // The first jobs are a batch.
  std::optional<std::size_t> callback;    // Index of its callback job.
  Weather weather;
  std::vector<Fault> faults;
  Time calm_from{0};  // From then on nothing goes wrong.
  Time patience{0};   // Everything must have ended this long after that.
};

WorldPlan make_plan(std::uint64_t seed);

inline JobId job_id(std::size_t index) { return JobId{numbered(1, index)}; }
inline std::size_t job_index(JobId id) { return static_cast<std::size_t>(number_of(id.value)); }

}  // namespace millrace::sim
