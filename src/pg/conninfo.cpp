#include "pg/conninfo.h"

#include "pg/errors.h"

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <memory>

namespace millrace::pg {
namespace {

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  for (;;) {
    const auto comma = list.find(',');
    parts.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    list.remove_prefix(comma + 1);
  }
}

// libpq quotes what it could not parse; if that comes from the url it may be part of a password.
std::string without_secrets(std::string_view message, std::string_view url) {
  std::string out;
  for (std::size_t at = 0; at < message.size();) {
    const auto open = message.find('"', at);
    const auto close = open == std::string_view::npos ? open : message.find('"', open + 1);
    if (close == std::string_view::npos) {
      // A quote that is not closed on this line belongs to a quoted url with quotes in it.
      out += message.substr(at, open == std::string_view::npos ? open : open - at);
      break;
    }
    out += message.substr(at, open - at);
    const auto quoted = message.substr(open + 1, close - open - 1);
    out += quoted.size() > 1 && url.contains(quoted) ? std::string("\"…\"")
                                                     : fmt::format("\"{}\"", quoted);
    at = close + 1;
  }
  return out;
}

Result<std::map<std::string, std::string>> parse_keywords(const std::string& url) {
  struct Free {
    void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
    void operator()(char* text) const { PQfreemem(text); }
  };
  char* raw_message = nullptr;
  const std::unique_ptr<PQconninfoOption, Free> parsed(PQconninfoParse(url.c_str(), &raw_message));
  const std::unique_ptr<char, Free> message(raw_message);
  if (!parsed) {
    return fail(
        ErrorKind::invalid_argument,
        fmt::format("the database URL is malformed: {}",
                    message ? without_secrets(first_line(message.get()), url) : "out of memory"));
  }
  std::map<std::string, std::string> keywords;
  for (const auto* option = parsed.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) keywords[option->keyword] = option->val;
  }
  return keywords;
}

std::string take(std::map<std::string, std::string>& keywords, const std::string& name) {
  const auto node = keywords.extract(name);
  return node.empty() ? std::string() : node.mapped();
}

Result<std::vector<HostSpec>> split_hosts(std::map<std::string, std::string>& keywords) {
  const auto hosts = split(take(keywords, "host"));
  const auto addresses = split(take(keywords, "hostaddr"));
  const auto ports = split(take(keywords, "port"));
  const auto count = std::max(hosts.size(), addresses.size());
  const auto fits = [&](const auto& list, bool one_for_all) {
    return list.size() == count || (list.size() == 1 && (one_for_all || list[0].empty()));
  };
  if (!fits(hosts, false) || !fits(addresses, false)) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the database URL names {} hosts but {} addresses", hosts.size(),
                            addresses.size()));
  }
  if (!fits(ports, true)) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the database URL names {} hosts but {} ports", count, ports.size()));
  }
  std::vector<HostSpec> result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back({.host = hosts.size() == count ? hosts[i] : hosts[0],
                      .hostaddr = addresses.size() == count ? addresses[i] : addresses[0],
                      .port = ports.size() == count ? ports[i] : ports[0]});
  }
  return result;
}

}  // namespace

Result<ConnInfo> parse_conninfo(const ConnectOptions& options) {
  const auto& url = options.url.reveal();
  if (url.contains('\0'))
    return fail(ErrorKind::invalid_argument, "the database URL contains a NUL byte");
  ConnInfo info;
  MR_TRY(info.keywords, parse_keywords(url));
  for (const auto& [keyword, value] : options.overrides) info.keywords[keyword] = value;

  const auto set_default = [&](const char* keyword, const char* value) {
    info.keywords.try_emplace(keyword, value);
  };
  info.keywords["client_encoding"] = "UTF8";
  info.keywords["fallback_application_name"] = options.application_name;
  set_default("gssencmode", "disable");  // Negotiating it can block.
  set_default("keepalives_idle", "30");  // A peer that vanished is noticed within a minute.
  set_default("keepalives_interval", "10");
  set_default("keepalives_count", "3");
  set_default("tcp_user_timeout", "60000");

  MR_TRY(info.hosts, split_hosts(info.keywords));
  const auto attrs = take(info.keywords, "target_session_attrs");
  if (attrs == "prefer-standby") {  // libpq makes two passes over its list; we hold the list.
    info.session_passes = {"standby", "any"};
  } else {
    info.session_passes = {attrs.empty() ? "any" : attrs};
  }
  return info;
}

bool needs_lookup(const HostSpec& host) {
  if (!host.hostaddr.empty() || host.host.empty()) return false;
  if (host.host.front() == '/' || host.host.front() == '@') return false;  // A unix socket.
  boost::system::error_code code;
  boost::asio::ip::make_address(host.host, code);
  return static_cast<bool>(code);
}

}  // namespace millrace::pg
