#include "store/api/health.h"

#include <utility>

namespace millrace::store {
namespace {

class PgHealthStore final : public HealthStore {
 public:
  explicit PgHealthStore(ApiSession& session) : session_(session) {}

  Task<HealthCounts> health_counts() override {
    MR_CO_TRY(const auto rows,
              co_await session_.own(
                  MR_POINT("api_health"), Access::read,
                  {.sql = "select h.* from jsonb_to_record(millrace.health_counts()) as"
                          " h(queue_depth bigint, workers bigint, workers_silent bigint,"
                          " keeper boolean, maintenance boolean, enqueue_enabled boolean,"
                          " schema_version bigint)",
                   .name = "mr_api_health"}));
    const auto row = rows[0];
    co_return HealthCounts{.queue_depth = row.opt_i64("queue_depth").value_or(0),
                           .workers = row.opt_i64("workers").value_or(0),
                           .workers_silent = row.opt_i64("workers_silent").value_or(0),
                           .keeper = row.boolean("keeper"),
                           .maintenance = row.boolean("maintenance"),
                           .enqueue_enabled = row.boolean("enqueue_enabled"),
                           .schema_version = row.opt_i64("schema_version").value_or(0)};
  }

  Task<std::vector<QueueLoad>> queue_load(CallContext caller,
                                          std::optional<std::string> queue) override {
    MR_CO_TRY(const auto rows,
              co_await session_.as(std::move(caller), MR_POINT("api_queue_load"), Access::read,
                                   {.sql = "select * from millrace.queue_load($1)",
                                    .params = pg::params(queue),
                                    .name = "mr_api_queue_load"}));
    std::vector<QueueLoad> loads;
    for (const auto row : rows) {
      loads.push_back({.queue = std::string(row.text("queue")),
                       .ready = row.i64("ready"),
                       .delayed = row.i64("delayed"),
                       .leased = row.i64("leased"),
                       .demand = row.i64("demand"),
                       .oldest_age_s = row.f64("oldest_age_s"),
                       .per_second = row.f64("per_second"),
                       .drain_s = row.opt_f64("drain_s"),
                       .paused = row.boolean("paused")});
    }
    co_return loads;
  }

  Task<std::vector<MetricSample>> metrics_snapshot() override {
    MR_CO_TRY(const auto rows,
              co_await session_.own(MR_POINT("api_metrics"), Access::read,
                                    {.sql = "select metric, label, label_value, value"
                                            " from millrace.metrics_snapshot()",
                                     .name = "mr_api_metrics"}));
    std::vector<MetricSample> samples;
    for (const auto row : rows) {
      samples.push_back({.metric = std::string(row.text("metric")),
                         .label = row.opt_text("label").value_or(""),
                         .label_value = row.opt_text("label_value").value_or(""),
                         .value = row.opt_f64("value").value_or(0)});
    }
    co_return samples;
  }

 private:
  ApiSession& session_;
};

}  // namespace

std::unique_ptr<HealthStore> make_health_store(ApiSession& session) {
  return std::make_unique<PgHealthStore>(session);
}

}  // namespace millrace::store
