// CallMetrics: how often and how long this process asked other services: app servers, endpoints of
// handlers, blob stores in the network, issuers of keys.
//
// Flow: an http::Client tells of every request that has a service's name. Counted under the
// sources' external_api_calls_total{service,status}, where no answer is the status "none", and
// measured in millrace_external_call_seconds{service} (O-03, O-08, O-09). Threading: any. Lifetime:
// the registry outlives it, and it outlives the clients and what they have under way.
#pragma once

#include "base/metrics.h"
#include "http/client.h"

#include <chrono>
#include <string_view>

namespace millrace::app {

class CallMetrics final : public http::CallWatch {
 public:
  explicit CallMetrics(MetricRegistry& registry);
  void called(std::string_view service, int status, std::chrono::nanoseconds took) override;

 private:
  MetricFamily& calls_;
  MetricFamily& times_;
};

}  // namespace millrace::app
