#include "blob/sigv4.h"

#include "blob/digest.h"
#include "blob/wire_time.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::blob {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

// Blanks around it gone, several in a row one.
std::string squeezed(std::string_view text) {
  std::string out;
  bool blank = false;
  for (const char c : text) {
    if (c == ' ' || c == '\t') {
      blank = !out.empty();
      continue;
    }
    if (blank) out += ' ';
    blank = false;
    out += c;
  }
  return out;
}

std::string canonical_query(const Query& query) {
  Query encoded;
  for (const auto& [name, value] : query) {
    encoded.emplace_back(percent_encode(name), percent_encode(value));
  }
  std::ranges::sort(encoded);
  std::string out;
  for (const auto& [name, value] : encoded) {
    if (!out.empty()) out += '&';
    out += name + '=' + value;
  }
  return out;
}

struct CanonicalHeaders {
  std::string lines;
  std::string names;  // "host;x-amz-date"
};

CanonicalHeaders canonical_headers(const std::vector<http::Header>& headers,
                                   std::string_view host) {
  std::vector<http::Header> sorted = {{"host", std::string(host)}};
  for (const auto& [name, value] : headers) sorted.emplace_back(lower(name), squeezed(value));
  std::ranges::sort(sorted);
  CanonicalHeaders out;
  for (const auto& [name, value] : sorted) {
    out.lines += fmt::format("{}:{}\n", name, value);
    if (!out.names.empty()) out.names += ';';
    out.names += name;
  }
  return out;
}

std::string credential_scope(const AwsScope& scope, Clock::Wall now) {
  return fmt::format("{}/{}/{}/aws4_request", to_compact_date(now), scope.region, scope.service);
}

std::string signature(const AwsCredentials& credentials, const AwsScope& scope, Clock::Wall now,
                      std::string_view canonical_request) {
  const auto to_sign = fmt::format("{}\n{}\n{}\n{}", kAlgorithm, to_compact_time(now),
                                   credential_scope(scope, now), sha256(canonical_request).hex());
  auto key = hmac_sha256("AWS4" + credentials.secret_access_key.reveal(), to_compact_date(now));
  for (const std::string_view part :
       {std::string_view(scope.region), std::string_view(scope.service),
        std::string_view("aws4_request")}) {
    key = hmac_sha256(text_of(key), part);
  }
  return hmac_sha256(text_of(key), to_sign).hex();
}

std::string canonical_request(const AwsRequest& request, const Query& query,
                              const CanonicalHeaders& headers, std::string_view payload) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, request.path, canonical_query(query),
                     headers.lines, headers.names, payload);
}

}  // namespace

std::vector<http::Header> aws_sign(const AwsRequest& request, const AwsCredentials& credentials,
                                   const AwsScope& scope, Clock::Wall now) {
  std::vector<http::Header> added = {{"x-amz-content-sha256", request.payload_sha256},
                                     {"x-amz-date", to_compact_time(now)}};
  if (!credentials.session_token.reveal().empty()) {
    added.emplace_back("x-amz-security-token", credentials.session_token.reveal());
  }
  auto all = request.headers;
  all.insert(all.end(), added.begin(), added.end());
  const auto headers = canonical_headers(all, request.host);
  const auto canonical = canonical_request(request, request.query, headers, request.payload_sha256);
  added.emplace_back("Authorization",
                     fmt::format("{} Credential={}/{},SignedHeaders={},Signature={}", kAlgorithm,
                                 credentials.access_key_id, credential_scope(scope, now),
                                 headers.names, signature(credentials, scope, now, canonical)));
  return added;
}

std::string aws_presign(const AwsRequest& request, const AwsCredentials& credentials,
                        const AwsScope& scope, Clock::Wall now, std::chrono::seconds ttl) {
  auto query = request.query;
  query.emplace_back("X-Amz-Algorithm", kAlgorithm);
  query.emplace_back("X-Amz-Credential",
                     fmt::format("{}/{}", credentials.access_key_id, credential_scope(scope, now)));
  query.emplace_back("X-Amz-Date", to_compact_time(now));
  query.emplace_back("X-Amz-Expires", fmt::format("{}", ttl.count()));
  query.emplace_back("X-Amz-SignedHeaders", "host");
  if (!credentials.session_token.reveal().empty()) {
    query.emplace_back("X-Amz-Security-Token", credentials.session_token.reveal());
  }
  const auto canonical =
      canonical_request(request, query, canonical_headers({}, request.host), "UNSIGNED-PAYLOAD");
  return fmt::format("{}&X-Amz-Signature={}", canonical_query(query),
                     signature(credentials, scope, now, canonical));
}

}  // namespace millrace::blob
