// Call: one request that has passed the guard and all checks, as its handler sees it.
//
// Lifetime: of the request; handlers keep nothing of it. Threading: the connection's executor.
#pragma once

#include "api/byte_budget.h"
#include "api/idempotency.h"
#include "api/operation.h"
#include "api/parameters.h"
#include "base/json.h"
#include "base/log.h"
#include "http/response.h"
#include "http/server_request.h"
#include "identity/caller.h"
#include "store/api/call_context.h"
#include "store/api/requests.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {

class Call {
 public:
  Call(const CheckedOperation& of, http::ServerRequest& in, http::ResponseWriter& out)
      : checked(of), request(in), response(out) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const CheckedOperation& checked;
  http::ServerRequest& request;
  http::ResponseWriter& response;  // For streams; others return a Reply.
  identity::Caller caller;         // Nobody's, for open operations.
  Parameters parameters;
  std::string body_text;         // As it came; empty without a body.
  json::Value body;              // Of a JSON body, which its schema allows.
  bool body_failed = false;      // Reading it as a stream failed: the client's doing, or its end.
  ByteBudget::Share body_share;  // Of what all bodies may take.
  // The versions that a change may replace (Operation::guards_change); nothing: any, or none yet.
  std::optional<std::vector<std::string>> if_match;
  std::optional<IdempotencyKey> key;
  // Under which a call of the database keeps its answer; keeps nothing without Idempotency-Key.
  store::RequestKey request_key;

  const Operation& operation() const { return checked.operation; }

  // For whom the database is asked: role, tenant, claims. Row security and the functions of the
  // database keep away what belongs to others; people see their own rows only.
  store::CallContext context() const;

  // Into the line of the access log: ids, never content.
  void note(std::string name, LogValue value) const {
    request.log_fields.push_back({std::move(name), std::move(value)});
  }

  // Members of a body that is an object.
  const json::Value* member(std::string_view name) const;
  std::optional<std::string> text(std::string_view name) const;
  std::optional<std::int64_t> integer(std::string_view name) const;
  // The JSON text of a member, as it was written; nothing when it is not there.
  std::optional<std::string> json(std::string_view name) const;
};

}  // namespace millrace::api
