#include "blob/blob_key.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::blob {
namespace {

constexpr std::size_t kPrefixMax = 200;

bool is_name_char(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

bool is_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && std::ranges::all_of(name, is_name_char);
}

}  // namespace

Result<BlobKey> BlobKey::parse(std::string_view text) {
  const auto refused = [] {
    return fail(ErrorKind::invalid_argument,
                "a blob key is sha256/, two hexadecimal digits, / and the 64 of the digest");
  };
  if (text.size() != kKeyRoot.size() + 3 + 64 || !text.starts_with(kKeyRoot)) return refused();
  const auto shard = text.substr(kKeyRoot.size(), 2);
  const auto hex = text.substr(kKeyRoot.size() + 3);
  if (text[kKeyRoot.size() + 2] != '/' || !hex.starts_with(shard)) return refused();
  const auto digest = Digest::parse(hex);
  if (!digest) return refused();
  return BlobKey{*digest};
}

std::string BlobKey::text() const {
  const auto hex = sha256.hex();
  return fmt::format("{}{}/{}", kKeyRoot, std::string_view(hex).substr(0, 2), hex);
}

Result<std::string> checked_prefix(std::string_view prefix, std::string_view field) {
  if (prefix.empty()) return std::string();
  std::string whole(prefix);
  if (!whole.ends_with('/')) whole += '/';
  bool good = whole.size() <= kPrefixMax;
  for (std::string_view rest = whole; good && !rest.empty();) {
    const auto slash = rest.find('/');
    good = is_name(rest.substr(0, slash));
    rest.remove_prefix(slash + 1);
  }
  if (good) return whole;
  return fail(ErrorKind::invalid_argument,
              fmt::format("{} must be names of A-Z a-z 0-9 . _ - with / between them, {} "
                          "characters at most",
                          field, kPrefixMax));
}

}  // namespace millrace::blob
