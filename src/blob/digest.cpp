#include "blob/digest.h"

#include "base/assert.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>

namespace millrace::blob {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

// Failure means no memory or a broken OpenSSL: nothing sensible can be stored then.
Context start(const EVP_MD* algorithm) {
  Context context(EVP_MD_CTX_new());
  MR_ASSERT(context != nullptr);
  MR_ASSERT(EVP_DigestInit_ex(context.get(), algorithm, nullptr) == 1);
  return context;
}

void add(EVP_MD_CTX* context, std::span<const std::byte> bytes) {
  MR_ASSERT(context != nullptr);
  MR_ASSERT(EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1);
}

template <std::size_t N>
void end(Context& context, std::array<std::uint8_t, N>& out) {
  unsigned size = 0;
  MR_ASSERT(context != nullptr);
  MR_ASSERT(EVP_DigestFinal_ex(context.get(), out.data(), &size) == 1);
  MR_ASSERT(size == N);
  context.reset();
}

constexpr std::string_view kHexDigits = "0123456789abcdef";

int hex_value(char c) {
  const auto found = kHexDigits.find(c);
  return found == std::string_view::npos ? -1 : static_cast<int>(found);
}

}  // namespace

struct Sha256Stream::State {
  Context context = start(EVP_sha256());
};
Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {}
Sha256Stream::~Sha256Stream() = default;
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;

void Sha256Stream::update(std::span<const std::byte> bytes) { add(state_->context.get(), bytes); }

Digest Sha256Stream::finish() {
  Digest digest;
  end(state_->context, digest.bytes);
  return digest;
}

struct Md5Stream::State {
  Context context = start(EVP_md5());
};
Md5Stream::Md5Stream() : state_(std::make_unique<State>()) {}
Md5Stream::~Md5Stream() = default;
Md5Stream::Md5Stream(Md5Stream&&) noexcept = default;
Md5Stream& Md5Stream::operator=(Md5Stream&&) noexcept = default;

void Md5Stream::update(std::span<const std::byte> bytes) { add(state_->context.get(), bytes); }

Md5 Md5Stream::finish() {
  Md5 digest;
  end(state_->context, digest);
  return digest;
}

Result<Digest> Digest::parse(std::string_view hex) {
  Digest digest;
  if (hex.size() != 2 * digest.bytes.size()) {
    return fail(ErrorKind::invalid_argument, "a SHA-256 digest has 64 hexadecimal digits");
  }
  for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
    const int high = hex_value(hex[2 * i]);
    const int low = hex_value(hex[2 * i + 1]);
    if (high < 0 || low < 0) {
      return fail(ErrorKind::invalid_argument,
                  "a SHA-256 digest is written with the digits 0-9 and a-f");
    }
    digest.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return digest;
}

std::string Digest::hex() const { return to_hex(bytes); }
std::string Digest::base64() const { return to_base64(bytes); }

Digest sha256(std::string_view text) {
  Sha256Stream stream;
  stream.update(std::as_bytes(std::span(text)));
  return stream.finish();
}

Digest hmac_sha256(std::string_view key, std::string_view text) {
  Digest digest;
  unsigned size = 0;
  const auto* made = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                          digest.bytes.data(), &size);
  MR_ASSERT(made != nullptr);
  MR_ASSERT(size == digest.bytes.size());
  return digest;
}

std::string_view text_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const auto byte : bytes) {
    text += kHexDigits[byte >> 4];
    text += kHexDigits[byte & 15];
  }
  return text;
}

std::string to_base64(std::span<const std::uint8_t> bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::string to_base64(std::string_view text) {
  return to_base64(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

Result<std::string> from_base64(std::string_view text) {
  const auto refused = [] { return fail(ErrorKind::invalid_argument, "not base64 with padding"); };
  const auto is_digit = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
  };
  if (text.size() % 4 != 0) return refused();
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const auto digits = text.substr(0, text.size() - padding);
  if (!std::ranges::all_of(digits, is_digit)) return refused();
  std::string out(3 * (text.size() / 4) + 1, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return refused();
  out.resize(static_cast<std::size_t>(size) - padding);  // OpenSSL counts the padding as zeros.
  return out;
}

}  // namespace millrace::blob
