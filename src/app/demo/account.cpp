#include "app/demo/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace millrace::app {
namespace {

constexpr std::size_t kProblemsMax = 10;

using Jobs = std::map<std::string, const store::JobState*>;

void compare_with_ledger(const AccountInput& input, const Jobs& jobs,
                         std::map<std::string, AccountRow>& rows, Account& account) {
  const auto problem = [&](std::string text) {
    if (account.problems.size() < kProblemsMax) account.problems.push_back(std::move(text));
  };
  std::map<std::string, int> done;
  for (const auto& line : input.ledger) {
    if (line.what != "done") continue;
    ++done[line.job_id];
    const auto job = jobs.find(line.job_id);
    if (job == jobs.end()) {
      problem(fmt::format("the ledger has job {}, which the engine does not know", line.job_id));
    } else if (job->second->status != "completed") {
      problem(fmt::format("job {} is done by the ledger but {} in the engine", line.job_id,
                          job->second->status));
    }
  }
  for (const auto& [id, count] : done) {
    if (count > 1) problem(fmt::format("job {} was done {} times", id, count));
    const auto job = jobs.find(id);
    if (job != jobs.end()) ++rows[job->second->job_type].ledger_done;
  }
  for (const auto& [id, state] : jobs) {
    const bool silent =
        std::ranges::find(input.no_ledger, state->job_type) != input.no_ledger.end();
    if (state->status == "completed" && !silent && !done.contains(id)) {
      problem(fmt::format("job {} ({}) is completed but not in the ledger", id, state->job_type));
    }
  }
}

}  // namespace

Account balance(const AccountInput& input) {
  Account account;
  std::map<std::string, AccountRow> rows;
  Jobs jobs;
  for (const auto& state : input.states) {
    jobs[state.id.to_string()] = &state;
    auto& row = rows[state.job_type];
    ++(state.status == "completed"   ? row.completed
       : state.status == "failed"    ? row.failed
       : state.status == "cancelled" ? row.cancelled
                                     : row.live);
  }
  for (const auto& [job_type, count] : input.enqueued) rows[job_type].enqueued = count;
  for (auto& [job_type, row] : rows) {
    row.job_type = job_type;
    if (!input.enqueued.contains(job_type)) {
      row.enqueued = row.completed + row.failed + row.cancelled + row.live;
    }
  }
  compare_with_ledger(input, jobs, rows, account);

  for (const auto& [job_type, row] : rows) {
    if (!row.balanced()) {
      account.problems.push_back(
          fmt::format("{}: {} enqueued, but {} completed + {} failed + {} cancelled + {} live",
                      job_type, row.enqueued, row.completed, row.failed, row.cancelled, row.live));
    }
    account.total.enqueued += row.enqueued;
    account.total.completed += row.completed;
    account.total.failed += row.failed;
    account.total.cancelled += row.cancelled;
    account.total.live += row.live;
    account.total.ledger_done += row.ledger_done;
    account.rows.push_back(row);
  }
  account.total.job_type = "total";
  const auto& counters = input.counters;
  const bool counters_agree =
      counters.enqueued == account.total.enqueued &&
      counters.completed == account.total.completed && counters.failed == account.total.failed &&
      counters.cancelled == account.total.cancelled && counters.live() == account.total.live;
  if (!counters_agree) {
    account.problems.push_back(fmt::format(
        "the engine's counters say {} = {} + {} + {} + {}, counted are {} = {} + {} + {} + {}",
        counters.enqueued, counters.completed, counters.failed, counters.cancelled, counters.live(),
        account.total.enqueued, account.total.completed, account.total.failed,
        account.total.cancelled, account.total.live));
  }
  return account;
}

}  // namespace millrace::app
