// What must be true of the demo's jobs besides their number: order, limits, due times, endings.
#include "app/demo/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;

// Grants never exceed the limit; a job starts a little after its grant, so arrivals are looked at
// in a window that is shorter by the most this can take.
constexpr auto kWindow = 3s;
constexpr auto kMargin = 500ms;

// "key-3 7": within each key the numbers must come as 0, 1, 2 ...
DemoCheck check_order(const std::string& claim, const std::string& job_type,
                      const std::vector<LedgerLine>& ledger) {
  DemoCheck check{.claim = claim, .holds = true, .detail = {}};
  std::map<std::string, int> next;
  int seen = 0;
  for (const auto& line : ledger) {
    if (line.job_type != job_type || line.what != "done") continue;
    std::istringstream note(line.note);
    std::string key;
    int number = -1;
    note >> key >> number;
    ++seen;
    if (number != next[key]) {
      check.holds = false;
      check.detail = fmt::format("{} ran number {} when {} was next", key, number, next[key]);
    }
    next[key] = number + 1;
  }
  if (seen == 0) {
    check.holds = false;
    check.detail = "none ran";
  } else if (check.holds) {
    check.detail = fmt::format("{} keys, {} jobs", next.size(), seen);
  }
  return check;
}

DemoCheck check_endings(const std::string& claim, const std::string& job_type,
                        const std::string& status, const std::vector<store::JobState>& states) {
  const auto of_type = std::ranges::count(states, job_type, &store::JobState::job_type);
  const auto right = std::ranges::count_if(states, [&](const store::JobState& state) {
    return state.job_type == job_type && state.status == status;
  });
  return {.claim = claim,
          .holds = of_type > 0 && right == of_type,
          .detail = fmt::format("{} of {}", right, of_type)};
}

}  // namespace

std::vector<DemoCheck> Workload::checks(const std::vector<LedgerLine>& ledger,
                                        const std::vector<store::JobState>& states) const {
  std::vector<DemoCheck> all;
  all.push_back(check_order("serial keys ran in order", "demo.serial", ledger));
  all.push_back(
      check_order("dependent jobs ran after the ones they wait for", "demo.dependent", ledger));

  std::vector<Clock::Steady> starts;
  {
    const std::lock_guard lock(mutex_);
    starts = limited_at_;
  }
  std::ranges::sort(starts);
  std::size_t most = 0;
  for (std::size_t first = 0, last = 0; last < starts.size(); ++last) {
    while (starts[last] - starts[first] >= kWindow - kMargin) ++first;
    most = std::max(most, last - first + 1);
  }
  all.push_back({.claim = "the provider's limit of 40 in 3 s held",
                 .holds = !starts.empty() && most <= 40,
                 .detail = fmt::format("at most {} arrived within {} s", most,
                                       std::chrono::duration<double>(kWindow - kMargin).count())});

  std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
  for (const auto& line : ledger) {
    if (line.job_type != "demo.scheduled" || !line.note.starts_with("late_ms=")) continue;
    earliest = std::min<std::int64_t>(earliest, std::atoll(line.note.c_str() + 8));
  }
  all.push_back({.claim = "no scheduled job ran before its time",
                 .holds = earliest >= 0 && earliest < 60'000,
                 .detail = fmt::format("the most punctual was {} ms late", earliest)});

  all.push_back(
      check_endings("poison jobs ended as dead letters", "demo.poison", "failed", states));
  all.push_back(
      check_endings("cancelled jobs stopped half-way", "demo.cancelled", "cancelled", states));
  all.push_back(
      check_endings("flaky jobs completed all the same", "demo.flaky", "completed", states));
  all.push_back(
      check_endings("the batch's last job ran once", "demo.batch_end", "completed", states));
  return all;
}

}  // namespace millrace::app
