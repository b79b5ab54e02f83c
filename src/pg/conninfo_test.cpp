#include "pg/conninfo.h"

#include <gtest/gtest.h>

namespace millrace::pg {
namespace {

TEST(ParseConninfo, TakesUrlsApart) {
  const auto info = parse_conninfo(
      connect_options("postgresql://u:p@a.example:1111,b.example:2222/db?sslmode=require"));
  ASSERT_TRUE(info);
  ASSERT_EQ(info->hosts.size(), 2U);
  EXPECT_EQ(info->hosts[0].host, "a.example");
  EXPECT_EQ(info->hosts[0].port, "1111");
  EXPECT_EQ(info->hosts[1].host, "b.example");
  EXPECT_EQ(info->hosts[1].port, "2222");
  EXPECT_EQ(info->keywords.at("dbname"), "db");
  EXPECT_EQ(info->keywords.at("sslmode"), "require");
  EXPECT_EQ(info->session_passes, std::vector<std::string>{"any"});
}

TEST(ParseConninfo, GivesOnePortToAllHostsAndAddressesToTheirs) {
  const auto one = parse_conninfo(connect_options("host=a,b,c port=7"));
  ASSERT_TRUE(one);
  EXPECT_EQ(one->hosts.size(), 3U);
  EXPECT_EQ(one->hosts[2].port, "7");
  const auto addresses = parse_conninfo(connect_options("host=a,b hostaddr=10.0.0.1,10.0.0.2"));
  ASSERT_TRUE(addresses);
  EXPECT_EQ(addresses->hosts[1].hostaddr, "10.0.0.2");
  EXPECT_EQ(parse_conninfo(connect_options("host=a,b,c port=1,2")).error().kind,
            ErrorKind::invalid_argument);
  EXPECT_EQ(parse_conninfo(connect_options("host=a,b hostaddr=10.0.0.1")).error().kind,
            ErrorKind::invalid_argument);
  EXPECT_EQ(parse_conninfo(connect_options("dbname=x"))->hosts.size(), 1U);
}

TEST(ParseConninfo, LetsOverridesWinAndDefaultsYield) {
  auto options = connect_options("host=a user=one keepalives_idle=7");
  options.overrides = {{"user", "two"}};
  options.application_name = "me";
  const auto info = parse_conninfo(options);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->keywords.at("user"), "two");
  EXPECT_EQ(info->keywords.at("keepalives_idle"), "7");
  EXPECT_EQ(info->keywords.at("client_encoding"), "UTF8");
  EXPECT_EQ(info->keywords.at("fallback_application_name"), "me");
}

TEST(ParseConninfo, TriesStandbysFirstWhenTheyArePreferred) {
  const auto info = parse_conninfo(connect_options("host=a target_session_attrs=prefer-standby"));
  EXPECT_EQ(info->session_passes, (std::vector<std::string>{"standby", "any"}));
}

TEST(ParseConninfo, NeverShowsThePassword) {
  for (const auto* url :
       {"postgresql://u:hunter2@[bad/db", "postgresql://u:hunter2@h:port x/db?nonsense=1",
        "host=a password=x hunter2", "host=a password='hunter2",
        "postgresql://u:hunter2@h/db?sslmode", "hunter2", "postgresql://u:hunter2%zz@h/db"}) {
    const auto info = parse_conninfo(connect_options(url));
    if (info) continue;  // Some are only refused later.
    EXPECT_EQ(info.error().kind, ErrorKind::invalid_argument);
    EXPECT_FALSE(info.error().message.contains("hunter2")) << info.error().message;
    EXPECT_TRUE(info.error().message.starts_with("the database URL")) << info.error().message;
  }
  EXPECT_FALSE(parse_conninfo(connect_options("postgresql://u:hunter2@[bad/db")));
}

TEST(NeedsLookup, IsForNamesOnly) {
  EXPECT_TRUE(needs_lookup({.host = "db.example"}));
  EXPECT_FALSE(needs_lookup({.host = "db.example", .hostaddr = "10.0.0.1"}));
  EXPECT_FALSE(needs_lookup({.host = "10.0.0.1"}));
  EXPECT_FALSE(needs_lookup({.host = "::1"}));
  EXPECT_FALSE(needs_lookup({.host = "/var/run/postgresql"}));
  EXPECT_FALSE(needs_lookup({}));
}

}  // namespace
}  // namespace millrace::pg
