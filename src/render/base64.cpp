#include "render/base64.h"

#include <array>
#include <cstdint>

namespace millrace::render {
namespace {

constexpr std::uint8_t kNone = 255;

constexpr std::array<std::uint8_t, 256> kValues = [] {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::string out;
  out.resize_and_overwrite(text.size() * 3 / 4, [&](char* to, std::size_t) {
    char* at = to;
    std::uint32_t bits = 0;
    unsigned have = 0;
    for (const char c : text) {
      const std::uint8_t value = kValues[static_cast<unsigned char>(c)];
      if (value == kNone) return std::size_t{0};
      bits = (bits << 6U) | value;
      have += 6;
      if (have >= 8) {
        have -= 8;
        *at++ = static_cast<char>((bits >> have) & 0xFFU);
      }
    }
    return static_cast<std::size_t>(at - to);
  });
  if (out.empty() && !text.empty()) return std::nullopt;
  return out;
}

}  // namespace millrace::render
