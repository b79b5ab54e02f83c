#include "http/server_listen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::http {
namespace {

using testing::HasSubstr;

TEST(ListenAddress, IsReadAsPeopleWriteIt) {
  const std::vector<std::pair<std::string, ListenAddress>> cases = {
      {"127.0.0.1:8080", {.host = "127.0.0.1", .port = 8080}},
      {"0.0.0.0:0", {.host = "0.0.0.0", .port = 0}},
      {"[::1]:65535", {.host = "::1", .port = 65535}},
      {"[::]:80", {.host = "::", .port = 80}},
      {"localhost:9000", {.host = "127.0.0.1", .port = 9000}},
      {":9000", {.host = "0.0.0.0", .port = 9000}},
      {"*:9000", {.host = "0.0.0.0", .port = 9000}},
      {"9000", {.host = "127.0.0.1", .port = 9000}},
      {"unix:/run/a.sock", {.host = "", .port = 0, .path = "/run/a.sock"}},
  };
  for (const auto& [text, expected] : cases) {
    const auto address = parse_listen(text);
    ASSERT_TRUE(address.has_value()) << text << ": " << address.error().message;
    EXPECT_EQ(*address, expected) << text;
    EXPECT_EQ(parse_listen(address->to_string()).value(), expected) << address->to_string();
  }
}

TEST(ListenAddress, MalformedOnesAreRefusedWithTheRule) {
  for (const auto* text :
       {"", ":", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80x", "127.0.0.1: 80",
        "::1:80", "[::1]", "[::1:80", "example.test:80", "1.2.3:80", "[127.0.0.1]:80",
        "unix:", "unix:a.sock", "a b:80"}) {
    const auto address = parse_listen(text);
    ASSERT_FALSE(address.has_value()) << text;
    EXPECT_EQ(address.error().kind, ErrorKind::invalid_argument);
    EXPECT_THAT(address.error().message, HasSubstr("cannot listen on \"" + std::string(text)));
  }
  EXPECT_FALSE(parse_listen("unix:/" + std::string(200, 'a')).has_value());
}

}  // namespace
}  // namespace millrace::http
