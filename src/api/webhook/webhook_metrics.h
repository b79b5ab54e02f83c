// WebhookMetrics: what came to the webhooks and what became of it (W-12). Alerts watch the answers
// that no honest sender gets. Threading: any. Lifetime: the registry outlives it.
#pragma once

#include "base/metrics.h"

#include <cstddef>
#include <string_view>

namespace millrace::api {

class WebhookMetrics {
 public:
  explicit WebhookMetrics(MetricRegistry& registry);

  // `answer`: processed, failed, woken, already, unknown, no_artifact, bad_artifact, bad_signature,
  // bad_time, bad_address, bad_message, disabled; no_room: no memory for the body, bad_body: it did
  // not come as announced, or not in time.
  void count(std::string_view source, std::string_view answer) {
    deliveries_.counter({source, answer}).add();
  }
  void add_bytes(std::size_t bytes) { bytes_.add(static_cast<double>(bytes)); }

 private:
  MetricFamily& deliveries_;
  Counter& bytes_;
};

}  // namespace millrace::api
