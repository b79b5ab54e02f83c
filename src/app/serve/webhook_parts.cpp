#include "app/serve/webhook_parts.h"

#include "identity/verify_key.h"

#include <utility>

namespace millrace::app {
namespace {

Result<api::WebhookOptions> webhook_options(const Settings& settings) {
  api::WebhookOptions options;
  options.enabled = settings.boolean("webhook.enabled");
  options.body_max_bytes = static_cast<std::uint64_t>(settings.integer("webhook.body_max_bytes"));
  options.bodies_max_bytes = std::max(options.bodies_max_bytes, 4 * options.body_max_bytes);
  for (const auto& text : settings.list("webhook.allowed_addresses")) {
    auto network = http::IpNetwork::parse(text);
    if (!network) return fail_with_context("webhook.allowed_addresses", network.error());
    options.allowed.push_back(*network);
  }
  MR_TRY(options.parser_keys.masters, webhook_masters(settings));
  options.parser_keys.global = Secret<std::string>(settings.text("webhook.global_secret"));
  if (!options.parser_keys.global.reveal().empty()) {
    auto good = identity::check_secret(options.parser_keys.global);
    if (!good) return fail_with_context("webhook.global_secret", good.error());
  }
  options.parser_keys.canonical_json = settings.boolean("webhook.canonical_json");
  std::vector<Secret<std::string>> keys;
  for (auto& key : settings.list("webhook.signing_keys")) keys.emplace_back(std::move(key));
  if (!keys.empty()) {
    auto made = identity::WebhookKeys::make(keys);
    if (!made) return fail_with_context("webhook.signing_keys", made.error());
    options.signing_keys = *std::move(made);
  }
  return options;
}

}  // namespace

Result<std::vector<Secret<std::string>>> webhook_masters(const Settings& settings) {
  std::vector<Secret<std::string>> masters;
  for (const char* name : {"webhook.secret", "webhook.previous_secret"}) {
    Secret<std::string> secret(settings.text(name));
    if (secret.reveal().empty()) continue;
    auto good = identity::check_secret(secret);
    if (!good) return fail_with_context(name, good.error());
    masters.push_back(std::move(secret));
  }
  return masters;
}

WebhookParts::WebhookParts(Context& context, store::ApiSession& session, blob::BlobStore& blobs)
    : context_(context),
      blobs_(blobs),
      store_(store::make_webhook_store(session)),
      metrics_(context.metrics) {}

Result<std::unique_ptr<WebhookParts>> WebhookParts::make(Context& context,
                                                         store::ApiSession& session,
                                                         blob::BlobStore& blobs) {
  std::unique_ptr<WebhookParts> made(new WebhookParts(context, session, blobs));
  MR_TRY(made->options_, webhook_options(context.settings));
  return made;
}

std::vector<api::Operation> WebhookParts::operations() {
  return api::webhook_operations(
      {.store = *store_, .blobs = blobs_, .clock = context_.clock, .metrics = metrics_}, options_);
}

}  // namespace millrace::app
