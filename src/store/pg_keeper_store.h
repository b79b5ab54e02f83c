// PgKeeperStore: KeeperStore on PostgreSQL. Threading: as pg::Pool. Lifetime: the pool outlives it.
#pragma once

#include "pg/pool.h"
#include "store/keeper_store.h"

#include <chrono>

namespace millrace::store {

class PgKeeperStore final : public KeeperStore {
 public:
  explicit PgKeeperStore(pg::Pool& pool) : pool_(pool) {}

  Task<bool> elect(std::string duty, std::string holder, std::chrono::milliseconds ttl) override;
  Task<bool> work_at_hand() override;
  Task<void> resign(std::string duty, std::string holder) override;
  Task<std::int64_t> reclaim(int limit) override;
  Task<std::int64_t> promote_due(int limit) override;
  Task<std::int64_t> advance(int limit) override;
  Task<std::int64_t> expire_waiting(int limit) override;
  Task<std::int64_t> run_cron(int limit) override;
  Task<std::int64_t> fold_counters() override;
  Task<std::string> reconcile(int limit) override;
  Task<std::int64_t> empty_intake() override;
  Task<std::int64_t> expire_keys(int limit) override;
  Task<std::int64_t> expire_slots(int limit) override;
  Task<std::string> maintain_partitions() override;
  Task<std::int64_t> seal_audit(int limit) override;
  Task<std::vector<HorizonHolder>> horizon() override;

 private:
  Task<pg::ResultSet> call(fault::Point point, std::string sql, pg::Params params,
                           std::chrono::milliseconds timeout = std::chrono::minutes(1));
  Task<std::int64_t> count(fault::Point point, std::string sql, pg::Params params);

  pg::Pool& pool_;
};

}  // namespace millrace::store
