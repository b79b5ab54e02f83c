#include "base/uuid.h"

namespace millrace {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_dash(std::size_t position) {
  return position == 8 || position == 13 || position == 18 || position == 23;
}

std::string shown(std::string_view text) {
  constexpr std::size_t kShownMax = 60;
  return text.size() <= kShownMax ? std::string(text)
                                  : std::string(text.substr(0, kShownMax)) + "…";
}

}  // namespace

Result<Uuid> Uuid::parse(std::string_view text) {
  const auto invalid = [&] {
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is not a UUID", shown(text)));
  };
  if (text.size() != 36) return invalid();
  Uuid uuid;
  std::size_t byte = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (is_dash(i)) {
      if (text[i] != '-') return invalid();
      ++i;
      continue;
    }
    const int high = digit(text[i]);
    const int low = digit(text[i + 1]);
    if (high < 0 || low < 0) return invalid();
    uuid.bytes[byte++] = static_cast<std::uint8_t>(high * 16 + low);
    i += 2;
  }
  return uuid;
}

std::string Uuid::to_string() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(36);
  for (const auto byte : bytes) {
    if (is_dash(text.size())) text += '-';
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

}  // namespace millrace
