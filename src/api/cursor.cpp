#include "api/cursor.h"

#include "identity/base64url.h"

#include <algorithm>

namespace millrace::api {

std::string make_cursor(std::string_view kind, std::string_view key) {
  std::string text(kind);
  text += ':';
  text += key;
  return identity::base64url_encode(text);
}

Result<std::string> read_cursor(std::string_view kind, std::string_view cursor) {
  const auto text = identity::base64url_decode(cursor);
  const bool fits = text && text->size() > kind.size() && text->starts_with(kind) &&
                    (*text)[kind.size()] == ':' && text->size() <= 512 &&
                    std::ranges::all_of(*text, [](char c) { return c >= 0x20 && c < 0x7F; });
  if (!fits) {
    return fail(ErrorKind::invalid_argument,
                "cursor must be the next_cursor of a page of this list");
  }
  return text->substr(kind.size() + 1);
}

}  // namespace millrace::api
