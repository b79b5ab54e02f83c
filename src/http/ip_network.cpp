#include "http/ip_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <netinet/in.h>

namespace millrace::http {
namespace {

constexpr std::array<unsigned char, 12> kV4Prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr unsigned kV4PrefixBits = 96;

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// "[2001:db8::1]:443" and "203.0.113.7:443" without what is around the address.
std::string_view without_port(std::string_view text) {
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    return end == text.npos ? std::string_view() : text.substr(1, end - 1);
  }
  const auto colon = text.find(':');
  const bool one_colon = colon != text.npos && text.find(':', colon + 1) == text.npos;
  return one_colon ? text.substr(0, colon) : text;
}

std::unexpected<Error> refuse(std::string_view text) {
  return fail(
      ErrorKind::invalid_argument,
      fmt::format("\"{}\" must be an address, a network such as 10.0.0.0/8, or unix", text));
}

}  // namespace

bool IpAddress::is_v4() const { return std::ranges::equal(kV4Prefix, std::span(bytes).first(12)); }

std::string IpAddress::to_string() const {
  char text[INET6_ADDRSTRLEN] = {};
  if (is_v4()) {
    ::inet_ntop(AF_INET, bytes.data() + kV4Prefix.size(), text, sizeof text);
  } else {
    ::inet_ntop(AF_INET6, bytes.data(), text, sizeof text);
  }
  return text;
}

std::optional<IpAddress> parse_ip(std::string_view text) {
  const std::string host(without_port(trimmed(text)));
  IpAddress address;
  if (::inet_pton(AF_INET6, host.c_str(), address.bytes.data()) == 1) return address;
  std::ranges::copy(kV4Prefix, address.bytes.begin());
  if (::inet_pton(AF_INET, host.c_str(), address.bytes.data() + kV4Prefix.size()) == 1) {
    return address;
  }
  return std::nullopt;
}

Result<IpNetwork> IpNetwork::parse(std::string_view text) {
  IpNetwork network;
  if (text == "unix") {
    network.unix_ = true;
    return network;
  }
  const auto slash = text.find('/');
  const auto host = text.substr(0, slash);
  const auto address = parse_ip(host);
  if (!address || host.contains('[') || without_port(host) != host) return refuse(text);
  network.base_ = *address;
  if (slash == text.npos) return network;
  const auto digits = text.substr(slash + 1);
  const unsigned most = address->is_v4() ? 32 : 128;
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (!whole || bits > most) return refuse(text);
  network.bits_ = address->is_v4() ? kV4PrefixBits + bits : bits;
  return network;
}

bool IpNetwork::contains(const IpAddress& address) const {
  if (unix_) return false;
  for (unsigned bit = 0; bit < bits_; bit += 8) {
    const auto left = std::min(bits_ - bit, 8U);
    const auto mask = static_cast<unsigned char>(0xffU << (8 - left));
    const auto i = bit / 8;
    if (((base_.bytes[i] ^ address.bytes[i]) & mask) != 0) return false;
  }
  return true;
}

bool is_trusted(std::string_view host, std::span<const IpNetwork> trusted) {
  if (trusted.empty()) return false;
  if (host.empty()) return std::ranges::any_of(trusted, &IpNetwork::is_unix);
  const auto address = parse_ip(host);
  return address && std::ranges::any_of(trusted, [&](const IpNetwork& network) {
           return network.contains(*address);
         });
}

std::optional<std::string> forwarded_client(std::span<const std::string_view> lists,
                                            std::span<const IpNetwork> trusted) {
  std::optional<std::string> seen;
  for (std::size_t i = lists.size(); i > 0; --i) {
    auto list = lists[i - 1];
    for (;;) {
      const auto comma = list.rfind(',');
      const auto entry = trimmed(comma == list.npos ? list : list.substr(comma + 1));
      const auto address = parse_ip(entry);
      if (!address) return seen;
      seen = address->to_string();
      if (!is_trusted(*seen, trusted)) return seen;
      if (comma == list.npos) break;
      list = list.substr(0, comma);
    }
  }
  return seen;
}

std::string household_of(std::string_view host) {
  auto address = parse_ip(host);
  if (!address) return std::string(host);
  if (address->is_v4()) return address->to_string();
  std::ranges::fill(std::span(address->bytes).last(8), static_cast<unsigned char>(0));
  return address->to_string() + "/64";
}

}  // namespace millrace::http
