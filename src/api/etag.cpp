#include "api/etag.h"

#include "identity/base64url.h"
#include "identity/digest.h"

#include <algorithm>

namespace millrace::api {
namespace {

constexpr std::size_t kTagBytes = 16;

std::string_view skip(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t,");
  return begin == text.npos ? std::string_view() : text.substr(begin);
}

}  // namespace

std::string etag_of(std::string_view body) {
  const auto digest = identity::sha256(body);
  const auto bytes = identity::bytes_of(digest).substr(0, kTagBytes);
  return "\"" + identity::base64url_encode(bytes) + "\"";
}

bool names_tag(std::string_view header, std::string_view tag, bool weak_counts) {
  auto rest = skip(header);
  if (rest == "*") return true;
  while (!rest.empty()) {
    const bool weak = rest.starts_with("W/");
    if (weak) rest.remove_prefix(2);
    if (!rest.starts_with('"')) return false;  // Not a list of tags: it names nothing.
    const auto end = rest.find('"', 1);
    if (end == rest.npos) return false;
    if (rest.substr(0, end + 1) == tag && (weak_counts || !weak)) return true;
    rest = skip(rest.substr(end + 1));
  }
  return false;
}

}  // namespace millrace::api
