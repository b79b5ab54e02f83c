// ContentSigner: signatures of content that is handed out, so that others can tell that this
// installation handed it out, and that no byte has changed since.
//
// Ed25519. The key is derived from the signing secret (HKDF, with a purpose of its own): there is
// no other to keep, and whoever has the public one can check a signature, and make none. A
// signature is an object of JSON ("signature/1") that lies beside the content and names the file,
// its digest and the key; what is signed are the bytes of the content. The key that it names says
// nothing by itself: whoever checks must know from elsewhere whose it is.
// Threading: immutable, any thread.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"

#include <span>
#include <string>
#include <string_view>

namespace millrace::identity {

inline constexpr std::string_view kSignatureSchema = "signature/1";

class ContentSigner {
 public:
  // invalid_argument for a secret that is none.
  static Result<ContentSigner> make(const Secret<std::string>& secret);

  // Base64 of the key as X.509 has it: the middle of a PEM file.
  const std::string& public_key() const { return public_key_; }
  Result<json::Object> sign(std::string_view file_name, std::string_view bytes) const;

 private:
  ContentSigner(Secret<std::string> seed, std::string public_key)
      : seed_(std::move(seed)), public_key_(std::move(public_key)) {}

  Secret<std::string> seed_;
  std::string public_key_;
};

// What names a key in lists and messages: the beginning of its digest.
std::string content_key_id(std::string_view public_key);

// conflict that says why not: another schema or file, a key that is none of these, bytes that were
// not signed by it.
Result<void> check_signature(const json::Object& signature, std::string_view file_name,
                             std::string_view bytes, std::span<const std::string> public_keys);

}  // namespace millrace::identity
