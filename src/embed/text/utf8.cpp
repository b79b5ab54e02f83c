#include "embed/text/utf8.h"

#include <unicode/utf8.h>

namespace millrace::embed {

std::size_t utf8_prefix(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    UChar32 c = 0;
    U8_NEXT(text.data(), at, text.size(), c);
    if (c < 0) return begin;
  }
  return text.size();
}

}  // namespace millrace::embed
