// CallerClaims: what a caller's credentials claim, as the database gets it.
//
// Written once and never changed: copies share it, and its JSON text is made when it is asked for
// the first time. So a token that was verified once costs no JSON per request.
// Threading: any. A value.
#pragma once

#include "base/json.h"
#include "identity/role.h"

#include <memory>
#include <string>

namespace millrace::identity {

class CallerClaims {
 public:
  CallerClaims();
  CallerClaims(json::Object claims);  // NOLINT(google-explicit-constructor): it is what they are.

  const json::Object& object() const;
  // With the role that counts in place of any that they name.
  std::string text(Role role) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;  // Shared by copies; null: no claims.
};

}  // namespace millrace::identity
