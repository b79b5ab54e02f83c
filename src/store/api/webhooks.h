// WebhookStore: what services outside bring, taken in once each. One call per SQL function; each is
// a transaction of its own, so that a delivery is on record exactly when its effect is.
// Threading and lifetime: as ApiSession, which outlives it.
#pragma once

#include "base/json.h"
#include "base/task.h"
#include "base/uuid.h"
#include "store/api/session.h"
#include "store/api/uploads.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace millrace::store {

// Which of all deliveries it is.
struct WebhookDelivery {
  std::string source;  // "llamaparse"
  std::string id;
  JobId job;
};

struct ParseFailed {
  std::string reason;
};

// What became of it.
enum class WebhookEffect {
  done,     // The first time, and somebody waited for it.
  already,  // Seen before, or nobody waits any more.
  unknown,  // Nobody ever asked for it.
};

class WebhookStore {
 public:
  virtual ~WebhookStore() = default;

  // asked, waiting, arrived, failed; nothing: this job never asked for a parse.
  virtual Task<std::optional<std::string>> parse_awaited(JobId job) = 0;
  virtual Task<WebhookEffect> receive_parse(WebhookDelivery delivery,
                                            std::variant<StoredBlob, ParseFailed> result) = 0;
  // `capability_sha256` in hexadecimal.
  virtual Task<WebhookEffect> wake_parse(std::string capability_sha256, std::string id) = 0;
};

std::unique_ptr<WebhookStore> make_webhook_store(ApiSession& session);

}  // namespace millrace::store
