#include "http/server_utf8.h"

#include <algorithm>

namespace millrace::http {
namespace {

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

std::size_t utf8_sequence_bytes(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  // Longer than needed, surrogates, beyond the last code point.
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return size;
}

bool is_utf8(std::string_view text) {
  if (is_ascii(text)) return true;
  while (!text.empty()) {
    const auto size = utf8_sequence_bytes(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

void append_as_utf8(std::string& out, std::string_view text) {
  if (is_ascii(text)) {
    out.append(text);
    return;
  }
  while (!text.empty()) {
    const auto size = utf8_sequence_bytes(text);
    out.append(size == 0 ? "\xEF\xBF\xBD" : text.substr(0, size));
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
}

}  // namespace millrace::http
