#include "http/ip_network.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::http {
namespace {

std::vector<IpNetwork> networks(const std::vector<std::string>& texts) {
  std::vector<IpNetwork> out;
  for (const auto& text : texts) {
    auto network = IpNetwork::parse(text);
    if (!network) ADD_FAILURE() << network.error().message;
    if (network) out.push_back(*network);
  }
  return out;
}

bool holds(const std::string& network, const std::string& address) {
  return networks({network}).front().contains(*parse_ip(address));
}

std::string client(std::vector<std::string_view> lists,
                   const std::vector<std::string>& trusted = {"10.0.0.0/8"}) {
  return forwarded_client(lists, networks(trusted)).value_or("nobody");
}

TEST(IpNetwork, HoldsTheAddressesItNames) {
  EXPECT_TRUE(holds("10.0.0.0/8", "10.255.3.4"));
  EXPECT_FALSE(holds("10.0.0.0/8", "11.0.0.1"));
  EXPECT_TRUE(holds("192.0.2.128/25", "192.0.2.200"));
  EXPECT_FALSE(holds("192.0.2.128/25", "192.0.2.127"));
  EXPECT_TRUE(holds("203.0.113.7", "203.0.113.7"));
  EXPECT_FALSE(holds("203.0.113.7", "203.0.113.8"));
  EXPECT_TRUE(holds("0.0.0.0/0", "198.51.100.1"));
  EXPECT_FALSE(holds("0.0.0.0/0", "2001:db8::1"));
  EXPECT_TRUE(holds("2001:db8::/32", "2001:db8:ffff::1"));
  EXPECT_FALSE(holds("2001:db8::/32", "2001:db9::1"));
  EXPECT_TRUE(holds("10.0.0.0/8", "::ffff:10.1.2.3")) << "the same address in its other form";
}

TEST(IpNetwork, RefusesWhatIsNoNetwork) {
  for (const auto* bad : {"", "proxy.example", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "10.0.0",
                          "2001:db8::/129", "10.0.0.1:80", "[::1]", "10.0.0.0/8/8", "unix:/a"}) {
    EXPECT_FALSE(IpNetwork::parse(bad).has_value()) << bad;
  }
  EXPECT_TRUE(IpNetwork::parse("unix")->is_unix());
}

TEST(IpNetwork, UnixSocketsAreTrustedWhenTheyAreNamed) {
  EXPECT_FALSE(is_trusted("", networks({"10.0.0.0/8"})));
  EXPECT_TRUE(is_trusted("", networks({"unix"})));
  EXPECT_FALSE(is_trusted("10.0.0.1", networks({"unix"})));
}

TEST(ForwardedClient, IsTheLastOneThatNoTrustedProxyIs) {
  EXPECT_EQ(client({"203.0.113.7"}), "203.0.113.7");
  EXPECT_EQ(client({"198.51.100.1, 203.0.113.7, 10.0.0.5"}), "203.0.113.7")
      << "what a client wrote in front counts for nothing";
  EXPECT_EQ(client({"198.51.100.1", "203.0.113.7,10.0.0.5"}), "203.0.113.7");
  EXPECT_EQ(client({"[2001:db8::1]:4711"}), "2001:db8::1");
  EXPECT_EQ(client({"203.0.113.7:4711"}), "203.0.113.7");
  EXPECT_EQ(client({"10.0.0.9, 10.0.0.5"}), "10.0.0.9") << "all of them ours: the first of them";
}

TEST(ForwardedClient, IsNobodyWhereNoAddressStands) {
  EXPECT_EQ(client({}), "nobody");
  EXPECT_EQ(client({""}), "nobody");
  EXPECT_EQ(client({"unknown"}), "nobody");
  EXPECT_EQ(client({"203.0.113.7, _hidden"}), "nobody");
  EXPECT_EQ(client({"_hidden, 10.0.0.5"}), "10.0.0.5");
}

TEST(Household, IsAnAddressOrAnIpv6Network) {
  EXPECT_EQ(household_of("203.0.113.7"), "203.0.113.7");
  EXPECT_EQ(household_of("2001:db8:1:2:3:4:5:6"), household_of("2001:db8:1:2:ffff::1"));
  EXPECT_NE(household_of("2001:db8:1:2::1"), household_of("2001:db8:1:3::1"));
  EXPECT_EQ(household_of("::ffff:203.0.113.7"), "203.0.113.7");
  EXPECT_EQ(household_of(""), "");
}

}  // namespace
}  // namespace millrace::http
