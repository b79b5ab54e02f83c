// Coverage: which of the interesting paths the seeds have reached. A path that no seed reaches is a
// hole in the simulation and fails the run.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::sim {

// Named by what happened; one line each, so that a hole names itself.
#define MILLRACE_SIM_PATHS(path)                                                                   \
  path(claim_answer_lost) path(unheld_found) path(claim_done_after_giving_up) path(                \
      settle_answer_lost) path(settle_found_already_settled) path(settle_fenced)                   \
      path(zombie_fenced) path(frozen_process_fenced) path(process_reclaimed) path(                \
          deadline_reclaimed) path(handed_back_by_supervisor) path(declared_dead)                  \
          path(lost_by_own_clock) path(registered_again) path(register_answer_lost) path(          \
              drain_handed_back) path(drain_stopped_handler) path(drain_finished_calmly)           \
              path(killed_with_goodbye) path(claim_under_way_at_drain) path(retire_handed_back)    \
                  path(prefetched) path(prefetch_returned) path(lease_extended) path(              \
                      run_timed_out) path(handler_ignored_stop) path(handler_threw)                \
                      path(cancelled_while_waiting) path(cancelled_while_running) path(            \
                          cancelled_while_prefetched) path(outcome_retry) path(outcome_throttled)  \
                          path(outcome_blocked) path(outcome_permanent) path(outcome_partial)      \
                              path(carry_delivered) path(attempts_used_up) path(expired) path(     \
                                  redriven) path(redriven_completed) path(suspect_ran_alone)       \
                                  path(poisoned) path(innocent_suspect_completed) path(            \
                                      serial_parked) path(key_concurrency_parked)                  \
                                      path(queue_concurrency_full) path(limit_refused) path(       \
                                          concurrent_limit_full) path(breaker_opened)              \
                                          path(breaker_probed) path(provider_throttled) path(      \
                                              statements_committed) path(statements_failed)        \
                                              path(outcome_refused) path(settled_in_a_batch) path( \
                                                  follow_up_enqueued) path(dependent_released)     \
                                                  path(dependent_cancelled) path(batch_finished)   \
                                                      path(enqueue_repeated) path(                 \
                                                          keeper_took_over) path(keeper_resigned)  \
                                                          path(zombie_keeper_worked) path(         \
                                                              database_restarted)                  \
                                                              path(database_stalled) path(         \
                                                                  wall_clock_stepped)              \
                                                                  path(woken_by_hint) path(        \
                                                                      progress_of_stale_delivery)

enum class Path : std::uint8_t {
#define MILLRACE_SIM_NAME(name) name,
  MILLRACE_SIM_PATHS(MILLRACE_SIM_NAME)
#undef MILLRACE_SIM_NAME
};

inline constexpr std::array kPathNames{
#define MILLRACE_SIM_NAME(name) std::string_view(#name),
    MILLRACE_SIM_PATHS(MILLRACE_SIM_NAME)
#undef MILLRACE_SIM_NAME
};

class Coverage {
 public:
  void reach(Path path) { ++counts_[static_cast<std::size_t>(path)]; }
  std::uint64_t count(Path path) const { return counts_[static_cast<std::size_t>(path)]; }
  void add(const Coverage& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }
  std::vector<std::string> holes() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] == 0) names.emplace_back(kPathNames[i]);
    }
    return names;
  }

 private:
  std::array<std::uint64_t, kPathNames.size()> counts_{};
};

}  // namespace millrace::sim
