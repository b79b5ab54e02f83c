#include "http/server_listen.h"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <charconv>
#include <sys/un.h>

namespace millrace::http {
namespace {

std::unexpected<Error> refuse(std::string_view text, std::string_view rule) {
  return fail(ErrorKind::invalid_argument, fmt::format("cannot listen on \"{}\": {}", text, rule));
}

bool is_address(int family, const std::string& host) {
  in6_addr address;  // Room for either kind.
  return ::inet_pton(family, host.c_str(), &address) == 1;
}

Result<ListenAddress> parse_unix(std::string_view text, std::string_view path) {
  if (!path.starts_with('/')) return refuse(text, "the path of a unix socket begins with /");
  if (path.contains('\0')) return refuse(text, "the path contains a zero byte");
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    return refuse(text, fmt::format("the path of a unix socket has at most {} bytes",
                                    sizeof(sockaddr_un::sun_path) - 1));
  }
  return ListenAddress{.host = {}, .port = 0, .path = std::string(path)};
}

}  // namespace

std::string ListenAddress::to_string() const {
  if (is_unix()) return "unix:" + path;
  return host.contains(':') ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Result<ListenAddress> parse_listen(std::string_view text) {
  if (text.starts_with("unix:")) return parse_unix(text, text.substr(5));
  const auto colon = text.rfind(':');
  auto host = colon == text.npos ? std::string_view("127.0.0.1") : text.substr(0, colon);
  const auto port = colon == text.npos ? text : text.substr(colon + 1);
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size()) {
    return refuse(text, "the port must be a number from 0 to 65535");
  }
  if (host.empty() || host == "*") host = "0.0.0.0";
  if (host == "localhost") host = "127.0.0.1";
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  ListenAddress address{.host = std::string(host), .port = number};
  const bool v6 = is_address(AF_INET6, address.host);
  if (v6 && !bracketed) return refuse(text, "an IPv6 address stands in brackets");
  if (!v6 && (bracketed || !is_address(AF_INET, address.host))) {
    return refuse(text, "the host must be an IP address or localhost");
  }
  return address;
}

}  // namespace millrace::http
