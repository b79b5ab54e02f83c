#include "identity/base64url.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace millrace::identity {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t kNone = 0xff;

constexpr auto kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

}  // namespace

std::string base64url_encode(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : bytes) {
    bits = bits << 8U | static_cast<unsigned char>(c);
    for (held += 8; held >= 6; held -= 6) text += kAlphabet[bits >> (held - 6U) & 0x3fU];
  }
  if (held > 0) text += kAlphabet[bits << (6U - held) & 0x3fU];
  return text;
}

std::optional<std::string> base64url_decode(std::string_view text) {
  if (text.size() % 4 == 1) return std::nullopt;  // Six bits are no byte.
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : text) {
    const auto value = kValues[static_cast<unsigned char>(c)];
    if (value == kNone) return std::nullopt;
    bits = bits << 6U | value;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xffU);
  }
  const auto unused = bits & ((1U << held) - 1U);
  if (unused != 0) return std::nullopt;  // Another spelling of the same bytes.
  return bytes;
}

}  // namespace millrace::identity
