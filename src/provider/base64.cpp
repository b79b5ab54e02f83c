#include "provider/base64.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdint>

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

namespace {

constexpr std::uint8_t kNone = 0xff;

constexpr auto kValues = [] {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    values[static_cast<unsigned char>(kLetters[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

}  // namespace

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  std::string out;
  out.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : text) {
    const auto value = kValues[static_cast<unsigned char>(c)];
    if (value == kNone) return std::nullopt;
    bits = bits << 6U | value;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> held & 0xffU);
  }
  return out;
}

}  // namespace millrace::provider
