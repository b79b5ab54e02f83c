// KeeperStore: what the keeper asks of the database. One call per SQL function, same names; each is
// a transaction of its own, bounded by `limit`, and safe when two keepers call it at once.
#pragma once

#include "base/task.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace millrace::store {

// Something that keeps dead rows from being removed.
struct HorizonHolder {
  std::string kind;  // session, replication slot, prepared transaction.
  std::string name;  // Of the application, the slot, the transaction.
  int pid = 0;       // 0: none.
  std::string state;
  std::chrono::seconds age{0};
  std::string hint;            // What would end it.
  std::int64_t dead_rows = 0;  // Of the engine, that are kept.
  std::string dead_table;      // Where most of them are.
};

class KeeperStore {
 public:
  virtual ~KeeperStore() = default;

  // True while `holder` has the duty; calling again renews.
  virtual Task<bool> elect(std::string duty, std::string holder, std::chrono::milliseconds ttl) = 0;
  virtual Task<void> resign(std::string duty, std::string holder) = 0;

  // Whether the frequent duties may find something within the next seconds.
  virtual Task<bool> work_at_hand() = 0;

  virtual Task<std::int64_t> reclaim(int limit) = 0;
  virtual Task<std::int64_t> promote_due(int limit) = 0;
  virtual Task<std::int64_t> advance(int limit) = 0;
  virtual Task<std::int64_t> expire_waiting(int limit) = 0;
  virtual Task<std::int64_t> run_cron(int limit) = 0;
  virtual Task<std::int64_t> fold_counters() = 0;
  virtual Task<std::string> reconcile(int limit) = 0;  // A JSON report.
  virtual Task<std::int64_t> empty_intake() = 0;
  virtual Task<std::int64_t> expire_keys(int limit) = 0;
  virtual Task<std::int64_t> expire_slots(int limit) = 0;
  virtual Task<std::string> maintain_partitions() = 0;  // A JSON report.
  virtual Task<std::int64_t> seal_audit(int limit) = 0;
  // What holds the horizon, the furthest back first.
  virtual Task<std::vector<HorizonHolder>> horizon() = 0;
};

}  // namespace millrace::store
