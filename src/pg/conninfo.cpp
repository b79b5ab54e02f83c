#include "pg/conninfo.h"

#include "pg/errors.h"

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <array>
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

// The beginning of libpq's message. It quotes what it could not read, as it stands or decoded, and
// that may be part of a password; of what is quoted only the signs that it missed are its own
// words.
std::string without_secrets(std::string_view message) {
  constexpr std::array<std::string_view, 5> kBefore = {"missing ", "separator ", "matching ",
                                                       "(expected ", "or "};
  std::string out;
  for (;;) {
    const auto open = message.find('"');
    out += message.substr(0, open);
    if (open == std::string_view::npos) return out;
    message.remove_prefix(open);
    const bool own = message.size() >= 3 && message[2] == '"' &&
                     std::ranges::any_of(kBefore, [&](auto word) { return out.ends_with(word); });
    if (!own) return out + "…";
    out += message.substr(0, 3);
    message.remove_prefix(3);
  }
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
                    message ? without_secrets(first_line(message.get())) : "out of memory"));
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
  // A peer that vanished without a word is noticed within seconds: while a statement is on its way,
  // because nobody acknowledges it, and while we wait for its answer, because nobody answers the
  // probes. A server that is merely slow does both.
  set_default("keepalives_idle", "5");
  set_default("keepalives_interval", "2");
  set_default("keepalives_count", "3");
  set_default("tcp_user_timeout", "5000");

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
