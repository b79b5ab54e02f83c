// Callback: the thin message of a parser that keeps its result until it is fetched.
//
// POST /webhooks/parse/{capability}: an unguessable text per parse, of which we keep the hash only,
// and a header that only we can make of it. It wakes the job that waits, and nothing more: what the
// parser says happened is not believed, the job asks (INTEGRATIONS §2).
// Threading: values.
#pragma once

#include "base/json.h"
#include "base/random.h"
#include "base/secret.h"

#include <optional>
#include <string>
#include <string_view>

namespace millrace::api {

inline constexpr std::string_view kCallbackHeader = "X-Millrace-Callback";
inline constexpr std::string_view kCallbackPath = "/webhooks/parse/";

// 32 random bytes, as a text that fits a path.
std::string new_capability(Random& random);
// In hexadecimal: what is kept of it.
std::string capability_sha256(std::string_view capability);
// What must come in kCallbackHeader: hex HMAC-SHA256 of the capability with our master secret. A
// URL that was seen in somebody's log is of no use without it.
std::string callback_token(const Secret<std::string>& master, std::string_view capability);

// The id of the event: of its header, or of the body, or else the hash of the body. Nothing: it is
// no event of a parse.
struct CallbackEvent {
  std::string id;
  std::string type;  // "parse.success", whichever of its names the service uses.
};
std::optional<CallbackEvent> read_callback(std::string_view id_header, std::string_view type_header,
                                           std::string_view raw);

}  // namespace millrace::api
