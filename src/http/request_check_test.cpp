#include "http/request_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::http {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CheckRequest, GivesTheOriginWithoutSecrets) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"http://example.test", "http://example.test:80"},
      {"https://example.test/a?token=s", "https://example.test:443"},
      {"http://user:password@example.test:8080/x", "http://example.test:8080"},
      {"HTTP://127.0.0.1:9/", "http://127.0.0.1:9"},
      {"http://[::1]:8080/", "http://[::1]:8080"},
  };
  for (const auto& [url, origin] : cases) {
    EXPECT_EQ(check_request({.url = url}).value(), origin) << url;
  }
}

TEST(CheckRequest, RefusesBadUrlsWithoutRepeatingThem) {
  const std::vector<std::string> urls = {
      "",
      "secret",
      "//secret/",
      "http://",
      "http:///secret",
      "http://host:99999/secret",
      "http://host:port/secret",
      "http://ho st/secret",
      "http://host/se cret",
      "http://host/secret\r\nHost: other",
      "http://host/secret\n",
      std::string("http://host/secret\0", 19),
      "ftp://host/secret",
      "file:///etc/secret",
      "gopher://host/secret",
      "httpx://host/secret",
      "javascript:secret",
      "http://[::1/secret",
  };
  for (const auto& url : urls) {
    const auto checked = check_request({.url = url});
    ASSERT_FALSE(checked.has_value()) << url;
    EXPECT_EQ(checked.error().kind, ErrorKind::invalid_argument);
    EXPECT_THAT(checked.error().message, testing::StartsWith("url "));
    EXPECT_THAT(checked.error().message, Not(HasSubstr("secret")));
  }
}

TEST(CheckRequest, RefusesHeadersThatWouldChangeTheMessage) {
  const std::vector<Header> headers = {
      {"X-A", "value\r\nX-Injected: 1"},
      {"X-A", "value\n"},
      {"X-A", "value\r"},
      {"X-A", std::string("value\0", 6)},
      {"X-A", "\x7f"},
      {"X-A\r\nX-Injected", "1"},
      {"X-A:", "1"},
      {"X A", "1"},
      {"", "1"},
      {"X-\xc3\xa4", "1"},
      {"content-length", "5"},
      {"Transfer-Encoding", "chunked"},
      {"Connection", "close"},
      {"Expect", "100-continue"},
      {"Upgrade", "h2c"},
      {"TE", "trailers"},
  };
  for (const auto& header : headers) {
    const auto checked = check_request({.url = "http://host/", .headers = {header}});
    ASSERT_FALSE(checked.has_value()) << header.first << ": " << header.second;
    EXPECT_EQ(checked.error().kind, ErrorKind::invalid_argument);
    EXPECT_THAT(checked.error().message, HasSubstr("header"));
    EXPECT_THAT(checked.error().message, Not(HasSubstr("\n")));
  }
}

TEST(CheckRequest, TakesOrdinaryHeaders) {
  const Request request{.url = "http://host/",
                        .headers = {{"Content-Type", "application/json"},
                                    {"x-correlation-id", "a b\tc"},
                                    {"X-Empty", ""},
                                    {"X-Latin", "\xe4"},
                                    {"Host", "other.test"}}};
  EXPECT_TRUE(check_request(request).has_value());
}

TEST(CheckRequest, RefusesBadMethodsAndTimeouts) {
  using namespace std::chrono_literals;
  const auto refused = [](const Request& request) {
    const auto checked = check_request(request);
    return !checked.has_value() && checked.error().kind == ErrorKind::invalid_argument;
  };
  EXPECT_TRUE(refused({.method = "", .url = "http://host/"}));
  EXPECT_TRUE(refused({.method = "GET /other HTTP/1.1\r\nX:", .url = "http://host/"}));
  EXPECT_TRUE(refused({.method = "CONNECT", .url = "http://host/"}));
  EXPECT_TRUE(refused({.url = "http://host/", .connect_timeout = 0ms}));
  EXPECT_TRUE(refused({.url = "http://host/", .total_timeout = -1ms}));
}

}  // namespace
}  // namespace millrace::http
