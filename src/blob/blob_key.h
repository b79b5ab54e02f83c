// BlobKey: the name of a blob, which is the digest of its content.
//
// A key cannot name anything else: there is no text in it that a caller could choose, so it needs
// no escaping in a path or URL, and two writers of one key write the same bytes.
#pragma once

#include "blob/digest.h"

#include <compare>
#include <string>
#include <string_view>

namespace millrace::blob {

struct BlobKey {
  Digest sha256;

  // "sha256/ab/ab…", as text() writes it; invalid_argument for anything else.
  static Result<BlobKey> parse(std::string_view text);
  std::string text() const;

  // The first two digits, by which stores with folders spread their files.
  std::string shard() const { return sha256.hex().substr(0, 2); }

  friend auto operator<=>(const BlobKey&, const BlobKey&) = default;
};

inline constexpr std::string_view kKeyRoot = "sha256/";

// A prefix as stores put it before keys: empty, or names of A-Z a-z 0-9 . _ - that each end in "/".
// "exports" becomes "exports/"; invalid_argument names `field` and the rule ("." and ".." are no
// names, 200 characters at most).
Result<std::string> checked_prefix(std::string_view prefix, std::string_view field);

}  // namespace millrace::blob
