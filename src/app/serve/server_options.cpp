#include "app/serve/server_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace millrace::app {
namespace {

// What clients of Supabase and of tus send besides the usual.
const std::vector<std::string> kRequestHeaders = {"accept-profile",
                                                  "apikey",
                                                  "authorization",
                                                  "cache-control",
                                                  "content-digest",
                                                  "content-disposition",
                                                  "content-profile",
                                                  "content-type",
                                                  "idempotency-key",
                                                  "if-match",
                                                  "if-none-match",
                                                  "if-range",
                                                  "last-event-id",
                                                  "prefer",
                                                  "range",
                                                  "range-unit",
                                                  "repr-digest",
                                                  "traceparent",
                                                  "tracestate",
                                                  "tus-resumable",
                                                  "upload-checksum",
                                                  "upload-concat",
                                                  "upload-defer-length",
                                                  "upload-length",
                                                  "upload-metadata",
                                                  "upload-offset",
                                                  "x-client-info",
                                                  "x-correlation-id",
                                                  "x-metadata",
                                                  "x-millrace-tenant",
                                                  "x-retry-count",
                                                  "x-supabase-api-version",
                                                  "x-upsert"};
const std::vector<std::string> kResponseHeaders = {"accept-ranges",
                                                   "content-disposition",
                                                   "content-location",
                                                   "content-range",
                                                   "etag",
                                                   "idempotent-replayed",
                                                   "location",
                                                   "preference-applied",
                                                   "ratelimit",
                                                   "ratelimit-policy",
                                                   "repr-digest",
                                                   "retry-after",
                                                   "traceparent",
                                                   "tus-checksum-algorithm",
                                                   "tus-extension",
                                                   "tus-max-size",
                                                   "tus-resumable",
                                                   "tus-version",
                                                   "upload-defer-length",
                                                   "upload-expires",
                                                   "upload-length",
                                                   "upload-metadata",
                                                   "upload-offset",
                                                   "x-correlation-id"};

Result<std::vector<http::ListenAddress>> listen_addresses(const Settings& settings) {
  std::vector<http::ListenAddress> out;
  for (const auto& text : settings.list("server.listen")) {
    auto address = http::parse_listen(text);
    if (!address) return fail_with_context("server.listen", address.error());
    out.push_back(*std::move(address));
  }
  if (out.empty()) return fail(ErrorKind::invalid_argument, "server.listen must not be empty");
  return out;
}

Result<std::vector<http::IpNetwork>> trusted_proxies(const Settings& settings) {
  std::vector<http::IpNetwork> out;
  for (const auto& text : settings.list("server.trusted_proxies")) {
    auto network = http::IpNetwork::parse(text);
    if (!network) return fail_with_context("server.trusted_proxies", network.error());
    out.push_back(*network);
  }
  return out;
}

}  // namespace

Result<http::ServerOptions> server_options(const Settings& settings) {
  http::ServerOptions options;
  MR_TRY(options.listen, listen_addresses(settings));
  const auto& certificate = settings.text("server.tls_certificate");
  const auto& key = settings.text("server.tls_key");
  if (certificate.empty() != key.empty()) {
    return fail(ErrorKind::invalid_argument,
                "server.tls_certificate and server.tls_key go together; one of them is not set");
  }
  if (!certificate.empty()) options.tls = http::TlsFiles{.certificate = certificate, .key = key};
  auto& limits = options.limits;
  limits.header_time_max = settings.duration("server.header_timeout");
  limits.idle_time_max = settings.duration("server.idle_timeout");
  limits.request_time_max = settings.duration("server.request_timeout");
  limits.body_stall_max = settings.duration("server.stall_timeout");
  limits.write_stall_max = limits.body_stall_max;
  limits.connections_max = static_cast<std::size_t>(settings.integer("server.connections_max"));
  limits.connections_per_peer_max =
      static_cast<std::size_t>(settings.integer("server.connections_per_address_max"));
  MR_TRY(options.trusted_proxies, trusted_proxies(settings));
  options.cors.origins = settings.list("server.cors_origins");
  options.cors.request_headers = kRequestHeaders;
  options.cors.response_headers = kResponseHeaders;
  return options;
}

api::PipelineOptions pipeline_options(const Settings& settings) {
  const auto number = [&](const char* name) {
    return static_cast<std::uint64_t>(settings.integer(name));
  };
  return {.tenant_requests_per_minute = number("server.requests_per_minute"),
          .refusals_per_minute = number("server.refusals_per_minute")};
}

std::size_t server_threads(const Settings& settings) {
  const auto chosen = settings.integer("server.threads");
  if (chosen > 0) return static_cast<std::size_t>(chosen);
  return std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

std::string http_url(const std::vector<http::ListenAddress>& endpoints, bool tls) {
  for (auto endpoint : endpoints) {
    if (endpoint.is_unix()) continue;
    if (endpoint.host == "0.0.0.0") endpoint.host = "127.0.0.1";
    if (endpoint.host == "::") endpoint.host = "::1";
    return fmt::format("{}://{}", tls ? "https" : "http", endpoint.to_string());
  }
  return endpoints.empty() ? std::string() : endpoints.front().to_string();
}

}  // namespace millrace::app
