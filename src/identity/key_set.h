// KeySet: the keys that tokens of one issuer may be signed with.
//
// Flow: made at start-up from secrets and PEM keys, or read from a published JSON Web Key Set
// (RFC 7517); TokenVerifier asks it which keys to try for a token. Keys that are for something
// else, or of a kind we do not know, are skipped and said so: a publisher may add kinds any time.
// Threading: immutable once built; share it as shared_ptr<const KeySet>.
#pragma once

#include "base/result.h"
#include "identity/compact_jws.h"
#include "identity/verify_key.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::identity {

inline constexpr std::size_t kKeySetMaxBytes = 256 * 1024;
inline constexpr std::size_t kKeySetMaxKeys = 64;
inline constexpr std::size_t kKeysTriedMax = 16;  // For one token: each costs a signature check.

class KeySet {
 public:
  // {"keys": [...]}; anything else, or too much of it, is invalid_argument.
  static Result<KeySet> parse_jwks(std::string_view text);

  Result<void> add(VerifyKey key);  // invalid_argument past kKeySetMaxKeys.

  struct Selection {
    std::vector<const VerifyKey*> keys;  // All for the token's algorithm; live as long as the set.
    bool key_id_known = false;           // The set has a key of that id, whatever its algorithm.
  };
  // By id where the token names one that the set has; else the keys without an id. All keys of the
  // algorithm for a token that names none. At most kKeysTriedMax.
  Selection select(Algorithm algorithm, const std::optional<std::string>& key_id) const;

  std::size_t size() const { return keys_.size(); }
  bool empty() const { return keys_.empty(); }
  // "key 2: \"crv\" must be P-256": why keys of the text are not in the set.
  const std::vector<std::string>& skipped() const { return skipped_; }

 private:
  std::vector<VerifyKey> keys_;
  std::vector<std::string> skipped_;
};

}  // namespace millrace::identity
