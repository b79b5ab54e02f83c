// Refusal: why somebody is not let in, as a word that programs can act on.
//
// Flow: every check of this folder that says no returns an Error of kind invalid_argument whose
// message is for people and whose detail is the label of a Refusal; the API asks refusal_of() for
// the status and the code of its answer (401; 403 for `forbidden`). An Error without a Refusal is
// no verdict: it could not be found out who is calling (unavailable), or the configuration is bad.
// Messages never hold any part of a token, key or secret.
#pragma once

#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace millrace::identity {

enum class Refusal {
  missing,         // No credentials at all.
  malformed,       // Not a token or key by its form.
  unsupported,     // An algorithm, header parameter or scheme that is not accepted.
  unknown_key,     // Signed by a key that is not known, or an API key that does not exist.
  bad_signature,   // Altered, or made by somebody else.
  expired,         // Its time is over.
  not_yet_valid,   // Its time has not begun, or it was issued in the future.
  wrong_issuer,    // Not from whom we trust.
  wrong_audience,  // Made for somebody else.
  bad_claims,      // Signed, but what it says breaks a rule.
  wrong_resource,  // A ticket for something else.
  revoked,         // Taken back.
  misplaced,       // A good key in a place where it may not be sent.
  forbidden,       // We know who it is; it may not do this.
};

std::string_view to_string(Refusal refusal);

[[nodiscard]] std::unexpected<Error> refuse(Refusal refusal, std::string message);
// No verdict about a caller: what was configured, published or asked for cannot be used.
[[nodiscard]] std::unexpected<Error> invalid(std::string message);
// Nothing for an error that is no refusal.
std::optional<Refusal> refusal_of(const Error& error);

}  // namespace millrace::identity
