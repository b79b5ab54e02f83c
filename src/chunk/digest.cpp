#include "chunk/digest.h"

#include "base/assert.h"

#include <fmt/format.h>
#include <openssl/evp.h>

namespace millrace::chunk {

// OpenSSL fails here only without memory or when it is broken: no id can be right then.
struct Sha256::State {
  State() : algorithm(EVP_MD_fetch(nullptr, "SHA256", nullptr)), context(EVP_MD_CTX_new()) {
    MR_ASSERT(algorithm != nullptr);
    MR_ASSERT(context != nullptr);
    begin();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    EVP_MD_CTX_free(context);
    EVP_MD_free(algorithm);
  }
  void begin() const { MR_ASSERT(EVP_DigestInit_ex(context, algorithm, nullptr) == 1); }

  EVP_MD* algorithm;
  EVP_MD_CTX* context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;

void Sha256::update(std::string_view text) {
  MR_ASSERT(EVP_DigestUpdate(state_->context, text.data(), text.size()) == 1);
}

Sha256Digest Sha256::finish() {
  Sha256Digest digest{};
  unsigned size = 0;
  MR_ASSERT(EVP_DigestFinal_ex(state_->context, digest.data(), &size) == 1);
  MR_ASSERT(size == digest.size());
  state_->begin();
  return digest;
}

Sha256Digest sha256_of(std::string_view text) {
  Sha256 sha;
  sha.update(text);
  return sha.finish();
}

Sha1Digest sha1_of(std::string_view text) {
  Sha1Digest digest{};
  unsigned size = 0;
  MR_ASSERT(EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) == 1);
  MR_ASSERT(size == digest.size());
  return digest;
}

std::string to_hex(const Sha256Digest& digest) {
  std::string out;
  for (const auto byte : digest) fmt::format_to(std::back_inserter(out), "{:02x}", byte);
  return out;
}

}  // namespace millrace::chunk
