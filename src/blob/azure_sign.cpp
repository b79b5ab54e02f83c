#include "blob/azure_sign.h"

#include "blob/digest.h"
#include "blob/wire_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace millrace::blob {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

std::string_view header(const AzureRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.headers) {
    if (http::same_name(key, name)) return value;
  }
  return {};
}

std::string canonical_headers(const AzureRequest& request) {
  std::vector<http::Header> ours;
  for (const auto& [name, value] : request.headers) {
    if (lower(name).starts_with("x-ms-")) ours.emplace_back(lower(name), value);
  }
  std::ranges::sort(ours);
  std::string out;
  for (const auto& [name, value] : ours) out += fmt::format("{}:{}\n", name, value);
  return out;
}

std::string canonical_resource(const AzureRequest& request, std::string_view account) {
  Query query;
  for (const auto& [name, value] : request.query) query.emplace_back(lower(name), value);
  std::ranges::sort(query);
  std::string out = fmt::format("/{}{}", account, request.path);
  for (const auto& [name, value] : query) out += fmt::format("\n{}:{}", name, value);
  return out;
}

}  // namespace

std::string azure_string_to_sign(const AzureRequest& request, std::string_view account) {
  // The date is in x-ms-date, so its own line stays empty.
  constexpr std::array kBefore = {"Content-Encoding", "Content-Language"};
  constexpr std::array kAfter = {"Content-MD5",         "Content-Type", "Date",
                                 "If-Modified-Since",   "If-Match",     "If-None-Match",
                                 "If-Unmodified-Since", "Range"};
  std::string out = request.method + "\n";
  for (const auto* name : kBefore) out += fmt::format("{}\n", header(request, name));
  out += request.body_bytes == 0 ? "\n" : fmt::format("{}\n", request.body_bytes);
  for (const auto* name : kAfter) out += fmt::format("{}\n", header(request, name));
  return out + canonical_headers(request) + canonical_resource(request, account);
}

std::vector<http::Header> azure_sign(const AzureRequest& request, const AzureAccount& account,
                                     Clock::Wall now) {
  std::vector<http::Header> added = {{"x-ms-date", to_http_date(now)},
                                     {"x-ms-version", std::string(kAzureVersion)}};
  auto whole = request;
  whole.headers.insert(whole.headers.end(), added.begin(), added.end());
  const auto signature =
      hmac_sha256(account.key.reveal(), azure_string_to_sign(whole, account.name));
  added.emplace_back("Authorization",
                     fmt::format("SharedKey {}:{}", account.name, signature.base64()));
  return added;
}

std::string azure_sas_string_to_sign(const AzureSas& sas, std::string_view account) {
  // sp, st, se, resource, si, sip, spr, sv, sr, snapshot, ses, rscc, rscd, rsce, rscl, rsct
  return fmt::format("r\n{}\n{}\n/blob/{}/{}/{}\n\n\n{}\n{}\nb\n\n\n\n{}\n\n\n{}",
                     to_iso_time(sas.starts), to_iso_time(sas.expires), account, sas.container,
                     sas.blob, sas.https_only ? "https" : "", kAzureVersion,
                     sas.content_disposition, sas.content_type);
}

Query azure_sas(const AzureSas& sas, const AzureAccount& account) {
  Query query = {{"sv", std::string(kAzureVersion)},
                 {"sp", "r"},
                 {"st", to_iso_time(sas.starts)},
                 {"se", to_iso_time(sas.expires)},
                 {"sr", "b"}};
  if (sas.https_only) query.emplace_back("spr", "https");
  if (!sas.content_disposition.empty()) query.emplace_back("rscd", sas.content_disposition);
  if (!sas.content_type.empty()) query.emplace_back("rsct", sas.content_type);
  const auto signature =
      hmac_sha256(account.key.reveal(), azure_sas_string_to_sign(sas, account.name));
  query.emplace_back("sig", signature.base64());
  return query;
}

}  // namespace millrace::blob
