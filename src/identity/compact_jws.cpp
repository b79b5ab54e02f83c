#include "identity/compact_jws.h"

#include "base/json.h"
#include "identity/base64url.h"
#include "identity/refusal.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace millrace::identity {
namespace {

struct Parts {
  std::string_view header;
  std::string_view payload;
  std::string_view signature;
};

std::optional<Parts> split(std::string_view token) {
  const auto first = token.find('.');
  if (first == token.npos) return std::nullopt;
  const auto second = token.find('.', first + 1);
  if (second == token.npos || token.find('.', second + 1) != token.npos) return std::nullopt;
  return Parts{.header = token.substr(0, first),
               .payload = token.substr(first + 1, second - first - 1),
               .signature = token.substr(second + 1)};
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// Media types leave "application/" out and are the same in upper and lower case (RFC 7515 §4.1.9).
bool is_token_type(std::string_view type) {
  auto name = lower(type);
  constexpr std::string_view kApplication = "application/";
  if (name.starts_with(kApplication)) name.erase(0, kApplication.size());
  return name == "jwt" || name == "at+jwt";
}

Result<Algorithm> read_algorithm(const json::Object& header) {
  const auto* value = header.if_contains("alg");
  if (value == nullptr || !value->is_string()) {
    return refuse(Refusal::malformed, "the token's header must name its algorithm in \"alg\"");
  }
  const auto algorithm = parse_algorithm(value->get_string());
  if (!algorithm) {
    return refuse(Refusal::unsupported,
                  "the token's \"alg\" must be one of HS256, RS256 and ES256");
  }
  return *algorithm;
}

Result<std::optional<std::string>> read_key_id(const json::Object& header) {
  const auto* value = header.if_contains("kid");
  if (value == nullptr) return std::nullopt;
  if (!value->is_string() || value->get_string().size() > kKeyIdMaxBytes) {
    return refuse(
        Refusal::malformed,
        fmt::format("the token's \"kid\" must be a string of at most {} bytes", kKeyIdMaxBytes));
  }
  return std::string(value->get_string());
}

Result<void> check_header(const json::Object& header) {
  for (const std::string_view name : {"crit", "b64", "zip", "enc"}) {
    if (header.contains(name)) {
      return refuse(Refusal::unsupported,
                    fmt::format("the token's header parameter \"{}\" is not supported", name));
    }
  }
  if (const auto* type = header.if_contains("typ")) {
    if (!type->is_string() || !is_token_type(type->get_string())) {
      return refuse(Refusal::unsupported, "the token's \"typ\" must be JWT or at+jwt");
    }
  }
  if (const auto* content = header.if_contains("cty")) {
    if (!content->is_string() || is_token_type(content->get_string())) {
      return refuse(Refusal::unsupported, "a token inside a token is not supported");
    }
  }
  return ok();
}

}  // namespace

std::string_view to_string(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::hs256:
      return "HS256";
    case Algorithm::rs256:
      return "RS256";
    case Algorithm::es256:
      return "ES256";
  }
  std::unreachable();
}

std::optional<Algorithm> parse_algorithm(std::string_view name) {
  for (const auto algorithm : {Algorithm::hs256, Algorithm::rs256, Algorithm::es256}) {
    if (name == to_string(algorithm)) return algorithm;
  }
  return std::nullopt;
}

Result<CompactJws> parse_compact_jws(std::string_view token) {
  if (token.size() > kTokenMaxBytes) {
    return refuse(Refusal::malformed,
                  fmt::format("the token is longer than {} bytes", kTokenMaxBytes));
  }
  const auto parts = split(token);
  if (!parts) return refuse(Refusal::malformed, "a token has three parts, separated by dots");
  auto header_text = base64url_decode(parts->header);
  auto payload = base64url_decode(parts->payload);
  auto signature = base64url_decode(parts->signature);
  if (!header_text || !payload || !signature) {
    return refuse(Refusal::malformed, "the token's parts must be base64url without padding");
  }
  // What the parser has to say may quote the token.
  const auto header =
      parse_json_object(*header_text, {.max_bytes = kTokenHeaderMaxBytes, .max_depth = 8});
  if (!header) {
    return refuse(Refusal::malformed,
                  fmt::format("the token's header must be a JSON object of at most {} bytes with "
                              "every name once",
                              kTokenHeaderMaxBytes));
  }
  MR_TRY_VOID(check_header(*header));
  MR_TRY(const auto algorithm, read_algorithm(*header));
  MR_TRY(auto key_id, read_key_id(*header));
  if (signature->empty() || signature->size() > kTokenSignatureMaxBytes) {
    return refuse(Refusal::malformed, fmt::format("the token's signature must have 1 to {} bytes",
                                                  kTokenSignatureMaxBytes));
  }
  return CompactJws{.algorithm = algorithm,
                    .key_id = std::move(key_id),
                    .signing_input = std::string(
                        token.substr(0, parts->header.size() + 1 + parts->payload.size())),
                    .payload = *std::move(payload),
                    .signature = *std::move(signature)};
}

}  // namespace millrace::identity
