// CallContext: for whom a call to the database is made.
//
// Flow: the API server makes one of the caller that identity knows; every call that acts for
// somebody takes it. What it says is set for the one transaction of the call (SET LOCAL), so that
// grants and row security of the database decide, and a pooled connection forgets it. Threading: a
// value.
#pragma once

#include "base/uuid.h"

#include <optional>
#include <string>

namespace millrace::store {

struct CallContext {
  // anon, authenticated, service_role, millrace_reader or millrace_api.
  std::string role = "anon";
  std::optional<TenantId> tenant = {};  // Nothing: not confined to one.
  std::string claims_json = {};         // Becomes request.jwt.claims.
  std::string actor = {};               // Whom the audit names, where the claims name no user.

  // The same call made by the server itself, after it has made sure that the caller may: what no
  // client may do in the database (say which content was stored), for its tenant and in its name.
  CallContext by_server() const { return as("millrace_api"); }
  // A remote worker's verbs.
  CallContext by_worker() const { return as("millrace_worker"); }

  // The server on its own behalf.
  static CallContext server() { return {.role = "millrace_api"}; }

  friend bool operator==(const CallContext&, const CallContext&) = default;

 private:
  CallContext as(std::string other) const {
    auto copy = *this;
    copy.role = std::move(other);
    return copy;
  }
};

}  // namespace millrace::store
