// Azure Storage's Shared Key, in headers, and service SAS, in URLs that expire. Pure functions.
//
// The version of the protocol is pinned: what is signed, and in which order, depends on it.
#pragma once

#include "base/clock.h"
#include "base/secret.h"
#include "blob/url.h"
#include "http/message.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::blob {

inline constexpr std::string_view kAzureVersion = "2021-12-02";

struct AzureAccount {
  std::string name;
  Secret<std::string> key;  // Its bytes, no longer base64.
};

struct AzureRequest {
  std::string method;
  std::string path;                   // As sent: encoded, with the account if the URL has it there.
  Query query;                        // Not encoded.
  std::vector<http::Header> headers;  // Those that count are picked out.
  std::uint64_t body_bytes = 0;
};

std::string azure_string_to_sign(const AzureRequest& request, std::string_view account);

// The headers to send besides those of the request: x-ms-date, x-ms-version, Authorization.
std::vector<http::Header> azure_sign(const AzureRequest& request, const AzureAccount& account,
                                     Clock::Wall now);

// A right to read one blob for a while.
struct AzureSas {
  std::string container;
  std::string blob;
  Clock::Wall starts;
  Clock::Wall expires;
  bool https_only = true;
  std::string content_disposition = {};  // In place of the blob's own.
  std::string content_type = {};
};

std::string azure_sas_string_to_sign(const AzureSas& sas, std::string_view account);
Query azure_sas(const AzureSas& sas, const AzureAccount& account);

}  // namespace millrace::blob
