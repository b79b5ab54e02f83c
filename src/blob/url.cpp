#include "blob/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace millrace::blob {
namespace {

bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

bool is_host_char(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '[' || c == ']' || c == ':';
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

bool good_port(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port > 0 && port < 65536;
}

// Where the port begins in "host:port" or "[::1]:port".
std::size_t port_colon(std::string_view host) {
  const auto bracket = host.rfind(']');
  return host.find(':', bracket == std::string_view::npos ? 0 : bracket);
}

}  // namespace

std::string percent_encode(std::string_view text, std::string_view keep) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c) || keep.contains(c)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool code = text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
                      hex_value(text[i + 2]) >= 0;
    if (!code) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
    i += 2;
  }
  return out;
}

std::string to_query(const Query& query) {
  std::string out;
  for (const auto& [name, value] : query) {
    if (!out.empty()) out += '&';
    out += percent_encode(name) + '=' + percent_encode(value);
  }
  return out;
}

Result<Endpoint> Endpoint::parse(std::string_view url, std::string_view field) {
  const auto refuse = [field](std::string_view rule) {
    return fail(ErrorKind::invalid_argument, fmt::format("{} {}", field, rule));
  };
  Endpoint endpoint;
  for (const std::string_view scheme : {"http", "https"}) {
    const auto start = fmt::format("{}://", scheme);
    if (!url.starts_with(start)) continue;
    endpoint.scheme = scheme;
    url.remove_prefix(start.size());
    break;
  }
  if (endpoint.scheme.empty()) return refuse("must begin with http:// or https://");
  const auto slash = std::min(url.find('/'), url.size());
  auto host = url.substr(0, slash);
  auto path = url.substr(slash);
  while (path.ends_with('/')) path.remove_suffix(1);
  const bool good_path =
      std::ranges::all_of(path, [](char c) { return c == '/' || is_unreserved(c); });
  if (!good_path) return refuse("has characters in its path that are not A-Z a-z 0-9 - . _ ~ /");
  const auto colon = port_colon(host);
  const auto port = colon == std::string_view::npos ? std::string_view() : host.substr(colon + 1);
  if (host.empty() || colon == 0 || !std::ranges::all_of(host, is_host_char)) {
    return refuse("has no valid host name");
  }
  if (colon != std::string_view::npos && !good_port(port)) return refuse("has no valid port");
  if (port == (endpoint.secure() ? "443" : "80")) host = host.substr(0, colon);
  endpoint.host = host;
  std::ranges::transform(endpoint.host, endpoint.host.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  endpoint.path = path;
  return endpoint;
}

}  // namespace millrace::blob
