#include "keeper/duties.h"

#include "base/json.h"

#include <algorithm>
#include <utility>

namespace millrace::keeper {
namespace {

using namespace std::chrono_literals;
using store::KeeperStore;

Task<std::int64_t> reclaim(KeeperStore& store, Logger&, int batch_max) {
  return store.reclaim(batch_max);
}

Task<std::int64_t> promote_due(KeeperStore& store, Logger&, int batch_max) {
  return store.promote_due(batch_max);
}

Task<std::int64_t> advance(KeeperStore& store, Logger&, int batch_max) {
  return store.advance(batch_max);
}

Task<std::int64_t> expire_waiting(KeeperStore& store, Logger&, int batch_max) {
  return store.expire_waiting(batch_max);
}

Task<std::int64_t> run_cron(KeeperStore& store, Logger&, int batch_max) {
  return store.run_cron(batch_max);
}

Task<std::int64_t> fold_counters(KeeperStore& store, Logger&, int) { return store.fold_counters(); }

Task<std::int64_t> empty_intake(KeeperStore& store, Logger&, int) { return store.empty_intake(); }

Task<std::int64_t> expire_keys(KeeperStore& store, Logger&, int batch_max) {
  return store.expire_keys(batch_max);
}

Task<std::int64_t> expire_slots(KeeperStore& store, Logger&, int batch_max) {
  return store.expire_slots(batch_max);
}

Task<std::int64_t> seal_audit(KeeperStore& store, Logger&, int batch_max) {
  return store.seal_audit(batch_max);
}

// Store and log are services that outlive every duty.
// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)
Task<std::int64_t> reconcile(KeeperStore& store, Logger& log, int batch_max) {
  MR_CO_TRY(auto report, co_await store.reconcile(batch_max));
  log.debug("reconciled", {{"report", std::move(report)}});
  co_return 0;
}

// One partition a call and a transaction, until there is nothing left to do.
Task<std::int64_t> maintain_partitions(KeeperStore& store, Logger& log, int) {
  constexpr int kStepsMax = 1000;
  for (int step = 0; step < kStepsMax; ++step) {
    MR_CO_TRY(const auto report, co_await store.maintain_partitions());
    log.debug("partitions_maintained", {{"report", report}});
    MR_CO_TRY(const auto parsed, parse_json_object(report));
    const auto* more = parsed.if_contains("more");
    if (more == nullptr || !more->is_bool() || !more->as_bool()) break;
  }
  co_return 0;
}

Task<std::int64_t> watch_horizon(KeeperStore& store, Logger& log,
                                 std::chrono::milliseconds warning) {
  MR_CO_TRY(auto holders, co_await store.horizon());
  const auto oldest = std::ranges::max_element(holders, {}, &store::HorizonHolder::age);
  if (oldest == holders.end() || oldest->age < warning) co_return 0;
  log.warn("horizon_held", {{"kind", oldest->kind},
                            {"pid", oldest->pid},
                            {"application", oldest->name},
                            {"state", oldest->state},
                            {"age_seconds", oldest->age.count()},
                            {"dead_rows", oldest->dead_rows},
                            {"most_in", oldest->dead_table},
                            {"effect", "dead rows cannot be removed; claims get slower"},
                            {"hint", oldest->hint}});
  co_return 1;
}
// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace

// What would be late by this much if nothing told of it.
constexpr auto kQuiet = 60s;

std::vector<Duty> standard_duties(DutyOptions options) {
  const int many = options.batch_max;
  return {
      {.name = "reclaim",
       .interval = 200ms,
       .batch_max = many,
       .run = reclaim,
       .quiet_interval = kQuiet},
      {.name = "promote_due",
       .interval = 100ms,
       .batch_max = many,
       .run = promote_due,
       .quiet_interval = kQuiet},
      {.name = "advance",
       .interval = 200ms,
       .batch_max = many,
       .run = advance,
       .quiet_interval = kQuiet},
      {.name = "run_cron",
       .interval = 500ms,
       .batch_max = 100,
       .run = run_cron,
       .quiet_interval = kQuiet},
      {.name = "fold_counters",
       .interval = 1s,
       .batch_max = 0,
       .run = fold_counters,
       .quiet_interval = kQuiet},
      {.name = "seal_audit",
       .interval = 1s,
       .batch_max = many,
       .run = seal_audit,
       .quiet_interval = kQuiet},
      {.name = "expire_waiting",
       .interval = 1s,
       .batch_max = many,
       .run = expire_waiting,
       .quiet_interval = kQuiet},
      {.name = "expire_slots",
       .interval = 5s,
       .batch_max = many,
       .run = expire_slots,
       .quiet_interval = kQuiet},
      {.name = "horizon",
       .interval = 15s,
       .batch_max = 0,
       .run = [warning = options.horizon_warning](
                  KeeperStore& store, Logger& log,
                  int) { return watch_horizon(store, log, warning); }},
      {.name = "empty_intake",
       .interval = 5s,
       .batch_max = 0,
       .run = empty_intake,
       .quiet_interval = kQuiet},
      {.name = "reconcile", .interval = 30s, .batch_max = many, .run = reconcile},
      {.name = "expire_keys", .interval = 60s, .batch_max = many, .run = expire_keys},
      // Two of them are made ahead: often enough for partitions of a minute.
      {.name = "maintain_partitions", .interval = 1min, .batch_max = 0, .run = maintain_partitions},
  };
}

}  // namespace millrace::keeper
