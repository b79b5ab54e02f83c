// RequestStore: requests with an Idempotency-Key, done once (IETF draft: 409 while running, 422 for
// another request, the same answer afterwards, for a day).
//
// Flow: begin_request before anything is done. `started` gives a token: either the effect is one
// SQL call that takes the RequestKey, and its answer is kept in its own transaction; or the server
// does what is to be done and calls finish_request. release_request where nothing was done. A
// server that dies leaves a lease that ends: the next one who asks starts anew, and whatever the
// first would still commit under its token is undone (MR033). Keys belong to a tenant, a user and a
// route. Threading and lifetime: as ApiSession, which outlives it.
#pragma once

#include "base/task.h"
#include "store/api/session.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace millrace::store {

// Names the kept answer of a request; without a token there is nothing to keep.
struct RequestKey {
  std::string scope;  // The route: "POST /api/v1/jobs".
  std::string key;
  std::optional<Uuid> token = {};

  bool keeps() const { return token.has_value(); }
};

struct KeptAnswer {
  std::optional<int> status;  // Nothing: effect_json is what the SQL call answered.
  std::string headers_json;
  std::string body;
  std::string effect_json;
};

struct RequestBegun {
  enum class State { started, running, mismatch, done };
  State state = State::started;
  std::optional<Uuid> token = {};  // Of one that was started.
  KeptAnswer answer = {};          // Of one that is done.
  // Of one that runs: when to ask again. As long as it has run already, and not past its lease.
  std::chrono::seconds retry_after{1};
};

struct RequestTimes {
  std::chrono::seconds lease{60};
  std::chrono::seconds keep = std::chrono::hours(24);
};

class RequestStore {
 public:
  virtual ~RequestStore() = default;

  virtual Task<RequestBegun> begin_request(CallContext caller, std::string scope, std::string key,
                                           std::string fingerprint, RequestTimes times) = 0;
  // `answer.status` must be there; the body has 256 KiB at most.
  virtual Task<void> finish_request(CallContext caller, RequestKey key, KeptAnswer answer) = 0;
  virtual Task<void> release_request(CallContext caller, RequestKey key) = 0;
};

std::unique_ptr<RequestStore> make_request_store(ApiSession& session);

// The statement `select <effect>` with its answer kept under the key, or nowhere without a token.
// `params` begin with key_params(key): the effect's own are $4 and up.
pg::Params key_params(const RequestKey& key);
pg::Statement kept_effect(std::string name, std::string_view effect, pg::Params params);

}  // namespace millrace::store
