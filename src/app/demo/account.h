// Account: do the engine, its counters and the ledger tell the same story, to the job?
#pragma once

#include "app/demo/ledger.h"
#include "store/admin_store.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace millrace::app {

struct AccountRow {
  std::string job_type;
  std::int64_t enqueued = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t cancelled = 0;
  std::int64_t live = 0;
  std::int64_t ledger_done = 0;  // Distinct jobs the handlers report as done.
  bool balanced() const { return enqueued == completed + failed + cancelled + live; }
};

struct Account {
  std::vector<AccountRow> rows;
  AccountRow total;
  std::vector<std::string> problems;  // None: it balances.
};

// `enqueued`: what was put in, by type, as the one who enqueued counted it; types that are not in
// it (cron runs) are counted from the database. `no_ledger`: types whose handlers cannot write
// (they crash).
struct AccountInput {
  std::map<std::string, std::int64_t> enqueued;
  std::vector<std::string> no_ledger;
  std::vector<store::JobState> states;
  std::vector<LedgerLine> ledger;
  store::Counts counters;
};

Account balance(const AccountInput& input);

}  // namespace millrace::app
