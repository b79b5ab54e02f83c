// Operations for machines that watch: /metrics and /v1/scale/{queue}.
#pragma once

#include "api/keyed_cache.h"
#include "api/operation.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "store/api/health.h"

#include <functional>
#include <string>
#include <vector>

namespace millrace::api {

// Metrics: what this process counted, and what the database holds, read at most once a second
// however many scrape. Lifetime: registry, store and clock outlive it; it outlives its operations.
class MetricsPage {
 public:
  // `before` is called before every page, to set gauges that are read from elsewhere.
  MetricsPage(MetricRegistry& registry, store::HealthStore& health, const Clock& clock,
              std::function<void()> before);

  std::vector<Operation> operations();

 private:
  Task<std::string> read_database();
  Task<Reply> page();

  MetricRegistry& registry_;
  store::HealthStore& health_;
  std::function<void()> before_;
  MetricFamily& up_;
  KeyedCache<int, std::string> database_;
};

std::vector<Operation> scale_operations(store::HealthStore& health);

// Samples of the database as Prometheus reads them, families together and in order.
std::string render_samples(std::vector<store::MetricSample> samples);

}  // namespace millrace::api
