// Matchers for tests: a Result that was refused, and why. For tests only.
#pragma once

#include "identity/refusal.h"

#include <gmock/gmock.h>

#include <string>

namespace millrace::identity {

// EXPECT_THAT(result, RefusedAs(Refusal::expired))
MATCHER_P(RefusedAs, refusal, "refused as " + std::string(to_string(refusal))) {
  if (arg.has_value()) {
    *result_listener << "which was accepted";
    return false;
  }
  *result_listener << "which says: " << arg.error().describe();
  const bool one_line = !arg.error().message.empty() && !arg.error().message.contains('\n');
  return refusal_of(arg.error()) == refusal && one_line;
}

MATCHER(Accepted, "accepted") {
  if (!arg.has_value()) *result_listener << "which says: " << arg.error().describe();
  return arg.has_value();
}

// invalid_argument that is no verdict about a caller, with a text in it.
MATCHER_P(Invalid, text, "invalid because of: " + std::string(text)) {
  if (arg.has_value()) return false;
  *result_listener << "which says: " << arg.error().describe();
  return arg.error().kind == ErrorKind::invalid_argument && !refusal_of(arg.error()) &&
         arg.error().message.contains(text);
}

}  // namespace millrace::identity
