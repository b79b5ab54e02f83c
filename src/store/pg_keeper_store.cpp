#include "store/pg_keeper_store.h"

#include "base/history.h"
#include "store/sqlstate.h"

#include <utility>

namespace millrace::store {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAcquire{5'000};
constexpr milliseconds kElectMin{1'000};

}  // namespace

Task<pg::ResultSet> PgKeeperStore::call(fault::Point point, std::string sql, pg::Params params,
                                        milliseconds timeout) {
  const history::Call record(point.name, {});
  auto name = "mr_keep_" + std::string(point.name);
  MR_CO_TRY(auto connection, co_await pool_.acquire(kAcquire, name));
  auto rows = translate(co_await connection->prepared(std::move(name), std::move(sql),
                                                      std::move(params), {timeout, point}));
  if (!rows) {
    record.failed(rows.error());
  } else {
    record.ok({});
  }
  co_return rows;
}

Task<std::int64_t> PgKeeperStore::count(fault::Point point, std::string sql, pg::Params params) {
  MR_CO_TRY(auto rows, co_await call(point, std::move(sql), std::move(params)));
  co_return rows[0].opt_i64(0).value_or(0);
}

Task<bool> PgKeeperStore::elect(std::string duty, std::string holder, milliseconds ttl) {
  pg::Params params;
  params.add(duty).add(holder).add(std::chrono::microseconds(ttl));
  // An answer that comes after the term has ended is of no use, so nobody waits for it: the next
  // attempt may find a line that is not dead.
  MR_CO_TRY(auto rows, co_await call(MR_POINT("elect"), "select millrace.elect($1, $2, $3)",
                                     std::move(params), std::max(ttl, kElectMin)));
  co_return rows[0].boolean(0);
}

Task<void> PgKeeperStore::resign(std::string duty, std::string holder) {
  MR_CO_TRY_VOID(co_await call(MR_POINT("resign"), "select millrace.resign($1, $2)",
                               pg::params(duty, holder)));
  co_return ok();
}

Task<bool> PgKeeperStore::work_at_hand() {
  MR_CO_TRY(auto rows, co_await call(MR_POINT("at_hand"), "select millrace.work_at_hand()", {}));
  co_return rows[0].boolean(0);
}

Task<std::int64_t> PgKeeperStore::reclaim(int limit) {
  co_return co_await count(MR_POINT("reclaim"), "select millrace.reclaim($1)", pg::params(limit));
}

Task<std::int64_t> PgKeeperStore::promote_due(int limit) {
  co_return co_await count(MR_POINT("promote"), "select millrace.promote_due($1)",
                           pg::params(limit));
}

Task<std::int64_t> PgKeeperStore::advance(int limit) {
  co_return co_await count(MR_POINT("advance"), "select millrace.advance($1)", pg::params(limit));
}

Task<std::int64_t> PgKeeperStore::expire_waiting(int limit) {
  co_return co_await count(MR_POINT("expire_waiting"), "select millrace.expire_waiting($1)",
                           pg::params(limit));
}

Task<std::int64_t> PgKeeperStore::run_cron(int limit) {
  co_return co_await count(MR_POINT("run_cron"), "select millrace.run_cron($1)", pg::params(limit));
}

Task<std::int64_t> PgKeeperStore::fold_counters() {
  co_return co_await count(MR_POINT("fold_counters"), "select millrace.fold_counters()", {});
}

Task<std::string> PgKeeperStore::reconcile(int limit) {
  MR_CO_TRY(auto rows, co_await call(MR_POINT("reconcile"), "select millrace.reconcile($1)",
                                     pg::params(limit)));
  co_return rows[0].opt_text(0).value_or("{}");
}

Task<std::int64_t> PgKeeperStore::empty_intake() {
  co_return co_await count(MR_POINT("empty_intake"), "select millrace.empty_intake()", {});
}

Task<std::int64_t> PgKeeperStore::expire_keys(int limit) {
  co_return co_await count(MR_POINT("expire_keys"), "select millrace.expire_keys($1)",
                           pg::params(limit));
}

Task<std::int64_t> PgKeeperStore::expire_slots(int limit) {
  co_return co_await count(MR_POINT("expire_slots"), "select millrace.expire_slots($1)",
                           pg::params(limit));
}

Task<std::string> PgKeeperStore::maintain_partitions() {
  MR_CO_TRY(auto rows,
            co_await call(MR_POINT("partitions"), "select millrace.maintain_partitions()", {}));
  co_return rows[0].opt_text(0).value_or("{}");
}

Task<std::int64_t> PgKeeperStore::seal_audit(int limit) {
  co_return co_await count(MR_POINT("seal_audit"), "select millrace.seal_audit($1)",
                           pg::params(limit));
}

Task<std::vector<HorizonHolder>> PgKeeperStore::horizon() {
  MR_CO_TRY(auto rows, co_await call(MR_POINT("horizon"), "select * from millrace.horizon()", {}));
  std::vector<HorizonHolder> holders;
  for (const auto row : rows) {
    holders.push_back({.kind = std::string(row.text("kind")),
                       .name = row.opt_text("name").value_or(""),
                       .pid = static_cast<int>(row.opt_i64("pid").value_or(0)),
                       .state = row.opt_text("state").value_or(""),
                       .age = std::chrono::seconds(row.opt_i64("age_seconds").value_or(0)),
                       .hint = row.opt_text("hint").value_or(""),
                       .dead_rows = row.opt_i64("dead_rows").value_or(0),
                       .dead_table = row.opt_text("dead_table").value_or("")});
  }
  co_return holders;
}

}  // namespace millrace::store
