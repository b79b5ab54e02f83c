#include "identity/base64.h"

#include "identity/base64url.h"

#include <algorithm>

namespace millrace::identity {

std::string base64_encode(std::string_view bytes) {
  auto text = base64url_encode(bytes);
  std::ranges::replace(text, '-', '+');
  std::ranges::replace(text, '_', '/');
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0 || text.find_first_of("-_") != text.npos) return std::nullopt;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  std::string other(text);
  std::ranges::replace(other, '+', '-');
  std::ranges::replace(other, '/', '_');
  return base64url_decode(other);
}

}  // namespace millrace::identity
