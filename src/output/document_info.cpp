#include "output/document_info.h"

#include <algorithm>

namespace millrace::output {

bool is_language_tag(std::string_view text) {
  constexpr std::size_t kPartMax = 8;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  bool first = true;
  for (;;) {
    const auto end = std::min(text.find('-'), text.size());
    const auto part = text.substr(0, end);
    if (part.empty() || part.size() > kPartMax) return false;
    const bool fits = std::ranges::all_of(
        part, [&](char c) { return is_letter(c) || (!first && c >= '0' && c <= '9'); });
    if (!fits) return false;
    if (end == text.size()) return true;
    text.remove_prefix(end + 1);
    first = false;
  }
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace millrace::output
