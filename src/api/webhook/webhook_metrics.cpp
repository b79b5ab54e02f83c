#include "api/webhook/webhook_metrics.h"

namespace millrace::api {

WebhookMetrics::WebhookMetrics(MetricRegistry& registry)
    : deliveries_(registry.family({.name = "millrace_webhooks_total",
                                   .help = "Deliveries of services outside, by what became of "
                                           "them.",
                                   .labels = {"source", "answer"}})),
      bytes_(registry
                 .family({.name = "millrace_webhook_bytes_total",
                          .help = "Bytes of bodies that services outside sent."})
                 .counter()) {}

}  // namespace millrace::api
