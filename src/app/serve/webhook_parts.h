// WebhookParts: the webhooks of the API server, made of webhook.*.
//
// Lifetime: the services outlive it, and it outlives the operations. Threading: made by its owner,
// used by all threads of the server.
#pragma once

#include "api/routes/webhooks.h"
#include "app/context.h"
#include "store/api/session.h"

#include <memory>
#include <vector>

namespace millrace::app {

// webhook.secret and webhook.previous_secret, those that are set. invalid_argument names the one
// that is too weak.
Result<std::vector<Secret<std::string>>> webhook_masters(const Settings& settings);

class WebhookParts {
 public:
  static Result<std::unique_ptr<WebhookParts>> make(Context& context, store::ApiSession& session,
                                                    blob::BlobStore& blobs);

  std::vector<api::Operation> operations();

 private:
  WebhookParts(Context& context, store::ApiSession& session, blob::BlobStore& blobs);

  Context& context_;
  blob::BlobStore& blobs_;
  std::unique_ptr<store::WebhookStore> store_;
  api::WebhookMetrics metrics_;
  api::WebhookOptions options_;
};

}  // namespace millrace::app
