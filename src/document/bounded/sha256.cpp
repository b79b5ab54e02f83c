#include "document/bounded/sha256.h"

#include "base/assert.h"

#include <openssl/evp.h>

namespace millrace::document {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  MR_ASSERT(state_->context != nullptr);
  MR_ASSERT(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1);
}

Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) {
  MR_ASSERT(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

void Sha256::add_piece(std::string_view bytes) {
  add_number(bytes.size());
  add(bytes);
}

void Sha256::add_number(std::uint64_t value) {
  std::array<char, 8> bytes;
  for (auto& byte : bytes) {
    byte = static_cast<char>(value & 0xff);
    value >>= 8;
  }
  add({bytes.data(), bytes.size()});
}

Sha256Value Sha256::value() {
  Sha256Value digest{};
  MR_ASSERT(EVP_DigestFinal_ex(state_->context, digest.data(), nullptr) == 1);
  return digest;
}

std::string Sha256::hex() {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const auto byte : value()) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace millrace::document
