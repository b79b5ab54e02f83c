// URLs for signing: parts that are encoded once, in the one way that both sides of a signature use.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::blob {

// RFC 3986: everything but A-Z a-z 0-9 - . _ ~ becomes %XX in upper case. `keep` names characters
// that stay as they are, "/" in paths.
std::string percent_encode(std::string_view text, std::string_view keep = {});
// The reverse; a % without two digits stays. For reading URLs that a store gives.
std::string percent_decode(std::string_view text);

using Query = std::vector<std::pair<std::string, std::string>>;

// "a=1&b=2", each part encoded, in the order given.
std::string to_query(const Query& query);

// Where a store is: "https://host:8443/base/path" taken apart.
struct Endpoint {
  std::string scheme;  // http or https.
  std::string host;    // As the Host header has it: with the port unless it is the default one.
  std::string path;    // Empty, or "/base/path" without a slash at the end.

  bool secure() const { return scheme == "https"; }
  std::string url() const { return scheme + "://" + host + path; }

  // invalid_argument names `field`: no user, query or fragment is allowed. The path must be free of
  // characters that would have to be encoded.
  static Result<Endpoint> parse(std::string_view url, std::string_view field);
};

}  // namespace millrace::blob
