// What every client of a service outside gives back: an answer, or a failure that says what to do.
//
// Flow: a client turns transport, status and the service's own error code into one CallFailure by
// its table (classify.h); the handler turns that into the job's Outcome. The engine, not the
// client, decides when to try again. Messages hold neither secrets nor text of documents.
#pragma once

#include "model/outcome.h"
#include "provider/rate_state.h"
#include "provider/usage.h"

#include <chrono>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::provider {

struct CallFailure {
  enum class Kind {
    throttled,  // Later, by the service's limits: nobody's fault, no attempt used up.
    blocked,    // Money or credentials: no call of this key will do until a person acts.
    retry,      // The service's or the network's trouble; certainly nothing was done.
    permanent,  // This request will never do.
    unknown,    // Sent, no whole answer: it may have been done, and charged.
    cancelled,  // We took it back.
  };

  Kind kind = Kind::retry;
  std::string error_type = {};  // "rate_limit", "truncated": one word for statistics.
  std::string message = {};
  std::optional<std::chrono::milliseconds> retry_after = {};  // A minimum.
  std::string provider_code = {};                             // The service's own word.
  bool maybe_charged = false;  // A reservation of money stays, settled by `usage` if that is known.
  int status = 0;              // 0: no answer came.
  std::optional<Usage> usage = {};  // Of answers that came whole and cannot be used.
  RateState rate = {};
  std::string response_id = {};
};

std::string_view to_string(CallFailure::Kind kind);

template <class T>
using Answer = std::expected<T, CallFailure>;

// `provider` as the limits of the database name it; `asked`: what the call was estimated to take,
// for a throttled one that says what is left and not how long to wait. An unknown end is a retry
// there: the caller has an idempotency key, or reads back first.
Outcome to_outcome(const CallFailure& failure, std::string_view provider, const Usage& asked = {});

}  // namespace millrace::provider
