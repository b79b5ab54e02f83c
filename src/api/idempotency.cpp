#include "api/idempotency.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::api {
namespace {

std::unexpected<Error> malformed() {
  return fail(ErrorKind::invalid_argument,
              fmt::format("Idempotency-Key must be a text of 1 to {} visible ASCII characters",
                          kIdempotencyKeyMaxBytes));
}

// A String of RFC 8941: printable ASCII between quotes, where \ stands before " and \ only.
Result<std::string> unquote(std::string_view text) {
  std::string out;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    char c = text[i];
    if (c == '"') return malformed();
    if (c == '\\') {
      if (++i + 1 >= text.size()) return malformed();
      c = text[i];
      if (c != '"' && c != '\\') return malformed();
    }
    out += c;
  }
  return out;
}

}  // namespace

Result<std::string> parse_idempotency_key(std::string_view header) {
  std::string key(header);
  if (header.starts_with('"')) {
    if (header.size() < 2 || !header.ends_with('"')) return malformed();
    MR_TRY(key, unquote(header));
  }
  const bool visible = std::ranges::all_of(key, [](char c) { return c > 0x20 && c < 0x7F; });
  if (key.empty() || key.size() > kIdempotencyKeyMaxBytes || !visible) return malformed();
  return key;
}

identity::Digest fingerprint_of(const RequestParts& request) {
  // Lengths in front: no two requests give the same bytes.
  return identity::sha256(fmt::format("{}:{}{}:{}{}:{}{}", request.method.size(), request.method,
                                      request.path.size(), request.path, request.query.size(),
                                      request.query, request.body));
}

}  // namespace millrace::api
