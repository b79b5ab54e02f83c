// HealthStore: numbers for health checks, scalers and metrics. From counters; nothing here counts
// jobs. Threading and lifetime: as ApiSession, which outlives it.
#pragma once

#include "base/task.h"
#include "store/api/session.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::store {

struct HealthCounts {
  std::int64_t queue_depth = 0;  // Waiting jobs of all queues.
  std::int64_t workers = 0;
  std::int64_t workers_silent = 0;  // Their lease has ended, and nobody took them out yet.
  bool keeper = false;
  bool maintenance = false;
  bool enqueue_enabled = true;
  std::int64_t schema_version = 0;
};

struct QueueLoad {
  std::string queue;
  std::int64_t ready = 0;
  std::int64_t delayed = 0;
  std::int64_t leased = 0;
  std::int64_t demand = 0;        // Ready and running.
  double oldest_age_s = 0;        // Of the ready ones.
  double per_second = 0;          // How fast they end.
  std::optional<double> drain_s;  // Nothing: not known.
  bool paused = false;
};

struct MetricSample {
  std::string metric;       // "queue_ready", without the program's prefix.
  std::string label;        // queue, provider, state; empty: none.
  std::string label_value;  // What operators named; bounded.
  double value = 0;
};

class HealthStore {
 public:
  virtual ~HealthStore() = default;

  virtual Task<HealthCounts> health_counts() = 0;
  // All queues, or one: empty where there is none of that name.
  virtual Task<std::vector<QueueLoad>> queue_load(CallContext caller,
                                                  std::optional<std::string> queue) = 0;
  virtual Task<std::vector<MetricSample>> metrics_snapshot() = 0;
};

std::unique_ptr<HealthStore> make_health_store(ApiSession& session);

}  // namespace millrace::store
