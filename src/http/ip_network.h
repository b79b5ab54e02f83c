// IpNetwork: a range of addresses as people write it, and who a request came from behind proxies.
//
// A client can write what it likes into X-Forwarded-For; only what a trusted proxy added counts.
// The list is therefore read from its end: past the proxies we trust stands whoever they saw.
// Threading: values.
#pragma once

#include "base/result.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace millrace::http {

// IPv4 addresses are kept as IPv6 has them (::ffff:a.b.c.d), so that both forms of one are equal.
struct IpAddress {
  std::array<unsigned char, 16> bytes{};

  bool is_v4() const;
  std::string to_string() const;
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

// "203.0.113.7", "2001:db8::1", also in brackets or with a port behind it, as proxies write them.
std::optional<IpAddress> parse_ip(std::string_view text);

class IpNetwork {
 public:
  // "10.0.0.0/8", "2001:db8::/32", a single address, or "unix" for all unix sockets.
  // invalid_argument says what is wrong.
  static Result<IpNetwork> parse(std::string_view text);

  bool contains(const IpAddress& address) const;
  bool is_unix() const { return unix_; }

 private:
  IpAddress base_;
  unsigned bits_ = 128;  // How many of the first bits count.
  bool unix_ = false;
};

// `host` as PeerAddress has it; empty: a unix socket.
bool is_trusted(std::string_view host, std::span<const IpNetwork> trusted);

// The client that proxies forwarded for: the last entry of X-Forwarded-For that is no trusted
// proxy. Nothing where that entry is no address: whoever wrote it is not known. `lists` are the
// values of the header in their order.
std::optional<std::string> forwarded_client(std::span<const std::string_view> lists,
                                            std::span<const IpNetwork> trusted);

// What one household or machine has: an IPv4 address, or the /64 of an IPv6 address. Other texts
// are given back as they are.
std::string household_of(std::string_view host);

}  // namespace millrace::http
