#include "api/etag.h"

#include "identity/base64url.h"
#include "identity/digest.h"

#include <optional>

namespace millrace::api {
namespace {

constexpr std::size_t kTagBytes = 16;

std::string_view skip(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t,");
  return begin == text.npos ? std::string_view() : text.substr(begin);
}

struct ListedTag {
  std::string_view text;  // With its quotes.
  bool weak = false;
};

// The next tag of a list, which is taken off it; nothing at its end, and from where it is no list.
std::optional<ListedTag> take_tag(std::string_view& rest) {
  const bool weak = rest.starts_with("W/");
  if (weak) rest.remove_prefix(2);
  if (!rest.starts_with('"')) return std::nullopt;
  const auto end = rest.find('"', 1);
  if (end == rest.npos) return std::nullopt;
  const ListedTag tag{.text = rest.substr(0, end + 1), .weak = weak};
  rest = skip(rest.substr(end + 1));
  return tag;
}

}  // namespace

std::string etag_of(std::string_view body) { return etag_of(body, {}); }

std::string etag_of(std::string_view body, std::string_view version) {
  const auto digest = identity::sha256(body);
  const auto bytes = identity::bytes_of(digest).substr(0, kTagBytes);
  std::string tag;
  tag.reserve(version.size() + 2 * kTagBytes);
  tag += '"';
  if (!version.empty()) tag.append(version).push_back('.');
  tag.append(identity::base64url_encode(bytes)).push_back('"');
  return tag;
}

bool names_tag(std::string_view header, std::string_view tag, bool weak_counts) {
  auto rest = skip(header);
  if (rest == "*") return true;
  while (const auto next = take_tag(rest)) {
    if (next->text == tag && (weak_counts || !next->weak)) return true;
  }
  return false;
}

std::vector<std::string> versions_in(std::string_view header) {
  auto rest = skip(header);
  if (rest == "*") return {"*"};
  std::vector<std::string> out;
  while (const auto next = take_tag(rest)) {
    const auto inside = next->text.substr(1, next->text.size() - 2);
    const auto dot = inside.find('.');
    if (!next->weak && dot != inside.npos) out.emplace_back(inside.substr(0, dot));
  }
  return out;
}

}  // namespace millrace::api
