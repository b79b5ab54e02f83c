#include "identity/digest.h"

#include "base/assert.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <climits>
#include <memory>

namespace millrace::identity {
namespace {

const unsigned char* data_of(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

// Looked up once: OpenSSL's own short ways search for it by name each time.
const EVP_MD* algorithm() {
  static const EVP_MD* const found = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  MR_ASSERT(found != nullptr);
  return found;
}

// One per thread, begun anew for every digest: making one takes longer than a short digest does.
EVP_MD_CTX* own_context() {
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  thread_local const std::unique_ptr<EVP_MD_CTX, Free> made(EVP_MD_CTX_new());
  MR_ASSERT(made != nullptr);
  return made.get();
}

}  // namespace

Digest sha256(std::string_view bytes) {
  auto* context = own_context();
  Digest digest;
  unsigned size = digest.size();
  // Fails only when OpenSSL itself is unusable; a wrong digest must not pass for a right one.
  MR_ASSERT(EVP_DigestInit_ex(context, algorithm(), nullptr) == 1);
  MR_ASSERT(EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1);
  MR_ASSERT(EVP_DigestFinal_ex(context, digest.data(), &size) == 1);
  MR_ASSERT(size == digest.size());
  return digest;
}

Digest hmac_sha256(std::string_view key, std::string_view bytes) {
  static constexpr char kEmpty = 0;  // OpenSSL takes a null key for "the one of last time".
  MR_ASSERT(key.size() <= INT_MAX);
  Digest digest;
  unsigned size = digest.size();
  const void* key_data = key.empty() ? &kEmpty : key.data();
  MR_ASSERT(HMAC(EVP_sha256(), key_data, static_cast<int>(key.size()), data_of(bytes), bytes.size(),
                 digest.data(), &size) != nullptr);
  MR_ASSERT(size == digest.size());
  return digest;
}

std::string hkdf_sha256(const HkdfInput& input, std::size_t size_bytes) {
  MR_ASSERT(size_bytes <= std::size_t{255} * std::tuple_size_v<Digest>);
  const auto extracted = hmac_sha256(input.salt, input.secret);
  std::string key;
  std::string block;
  for (unsigned char count = 1; key.size() < size_bytes; ++count) {
    block += input.info;
    block += static_cast<char>(count);
    block = bytes_of(hmac_sha256(bytes_of(extracted), block));
    key += block;
  }
  key.resize(size_bytes);
  return key;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string to_hex(const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(digest.size() * 2);
  for (const auto byte : digest) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xfU];
  }
  return text;
}

}  // namespace millrace::identity
