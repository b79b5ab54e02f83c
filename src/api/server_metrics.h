// ServerMetrics: what the server counts, under the names that dashboards and alerts use.
//
// The sources' names stand as they are (O-03); everything else begins with millrace_. Counts of
// requests are this process's own; counts of jobs come from the database and are read anew for
// every scrape. Threading: any. Lifetime: the registry outlives it.
#pragma once

#include "base/metrics.h"
#include "http/access_log.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <string_view>

namespace millrace::api {

class ServerMetrics {
 public:
  explicit ServerMetrics(MetricRegistry& registry);
  ~ServerMetrics();
  ServerMetrics(const ServerMetrics&) = delete;
  ServerMetrics& operator=(const ServerMetrics&) = delete;

  void note_request(const http::AccessRecord& record);
  void count_refusal(std::string_view reason);
  void count_rate_limited() { rate_limited_.counter().add(); }
  void count_error(std::string_view kind);
  void set_connections(std::size_t connections);

 private:
  // Where the requests of one route are counted, so that they need not be looked for by name.
  struct RouteCounts;
  static constexpr std::size_t kPlaces = 512;

  RouteCounts* counts_of(std::string_view method, std::string_view route);

  MetricFamily& requests_;
  MetricFamily& durations_;
  Counter& received_;
  Counter& sent_;
  MetricFamily& refusals_;
  MetricFamily& rate_limited_;
  MetricFamily& errors_;
  MetricFamily& connections_;
  // By where a route's pattern lies in memory. Filled as requests come, and owned.
  std::array<std::atomic<RouteCounts*>, kPlaces> routes_{};
};

// The sources' families, for whoever runs stages: declared in one place, so that all agree on
// labels and bounds. The fifth of them, buffer_table_sizes{table}, comes with the database's
// counts.
struct StageMetrics {
  explicit StageMetrics(MetricRegistry& registry);

  MetricFamily& durations;       // processing_stage_duration_seconds{stage,status}
  MetricFamily& errors;          // processing_stage_errors_total{stage,error_type}
  MetricFamily& external_calls;  // external_api_calls_total{service,status}
  MetricFamily& costs;           // processing_costs_total{service}, in cents
};

}  // namespace millrace::api
