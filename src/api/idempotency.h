// Idempotency-Key as the IETF draft has it: a key that a client chooses makes a POST repeatable.
//
// Flow: the pipeline reads the header of operations that take one and puts the key, with a
// fingerprint of the request, into the Call; the handler hands both to the database, where key,
// effect and answer are written in one transaction. The draft's form is a quoted text; clients that
// send it bare are common and are understood too.
#pragma once

#include "base/result.h"
#include "identity/digest.h"

#include <optional>
#include <string>
#include <string_view>

namespace millrace::api {

inline constexpr std::size_t kIdempotencyKeyMaxBytes = 255;

struct IdempotencyKey {
  std::string key;
  identity::Digest fingerprint{};  // Of method, path, query and body: another request, another one.
};

// invalid_argument with the rule. Visible ASCII, 1 to 255 characters.
Result<std::string> parse_idempotency_key(std::string_view header);

struct RequestParts {
  std::string_view method;
  std::string_view path;
  std::string_view query;
  std::string_view body;
};
identity::Digest fingerprint_of(const RequestParts& request);

}  // namespace millrace::api
