// Webhooks: what services outside bring. Nobody is asked for a token; what is signed is believed.
//
// Order of every delivery: the switch, the address, the size, the signature, the time, and then one
// transaction that takes the id and its effect together. Every authentic message that was stored
// is answered 2xx, also one that says that a parse failed (H05); a repeat is answered like the
// first. What was not understood changes nothing. Threading: the connection's executor.
#pragma once

#include "api/byte_budget.h"
#include "api/operation.h"
#include "api/webhook/parser_signature.h"
#include "api/webhook/webhook_metrics.h"
#include "base/clock.h"
#include "blob/blob_store.h"
#include "http/ip_network.h"
#include "identity/standard_webhook.h"
#include "store/api/webhooks.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace millrace::api {

struct WebhookOptions {
  bool enabled = true;  // W-11
  // Whoever is in none is refused; empty: anybody may try (W-06).
  std::vector<http::IpNetwork> allowed = {};
  ParserKeyOptions parser_keys = {};
  std::optional<identity::WebhookKeys> signing_keys = {};  // Standard Webhooks.
  std::uint64_t body_max_bytes = std::uint64_t{32} * 1024 * 1024;
  std::uint64_t bodies_max_bytes = std::uint64_t{256} * 1024 * 1024;  // Of all at once.
};

struct WebhookServices {
  store::WebhookStore& store;
  blob::BlobStore& blobs;
  const Clock& clock;
  WebhookMetrics& metrics;
};

// The services outlive the operations.
std::vector<Operation> webhook_operations(WebhookServices services, WebhookOptions options);

}  // namespace millrace::api
