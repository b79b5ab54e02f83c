#include "provider/base64.h"

#include <openssl/evp.h>

#include <algorithm>

namespace millrace::provider {

std::string base64_encode(std::string_view bytes) {
  constexpr std::size_t kPiece = std::size_t{3} << 20;  // OpenSSL counts in int; no padding within.
  std::string out(base64_size(bytes.size()) + 1, '\0');  // It writes a NUL behind each piece.
  auto* to = reinterpret_cast<unsigned char*>(out.data());
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const auto piece = bytes.substr(at, kPiece);
    to += EVP_EncodeBlock(to, reinterpret_cast<const unsigned char*>(piece.data()),
                          static_cast<int>(piece.size()));
  }
  out.pop_back();
  return out;
}

}  // namespace millrace::provider
