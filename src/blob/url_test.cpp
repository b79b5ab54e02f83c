#include "blob/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::blob {
namespace {

using testing::StartsWith;

TEST(BlobUrl, EncodesEverythingThatIsNotUnreserved) {
  EXPECT_EQ(percent_encode("AZaz09-._~"), "AZaz09-._~");
  EXPECT_EQ(percent_encode("a b+c/d%\xC3\xA4\n"), "a%20b%2Bc%2Fd%25%C3%A4%0A");
  EXPECT_EQ(percent_encode("a/b c", "/"), "a/b%20c");
  EXPECT_EQ(to_query({{"x", "1 2"}, {"y&", "="}, {"z", ""}}), "x=1%202&y%26=%3D&z=");
  EXPECT_EQ(percent_decode("a%20b%2Bc%C3%A4%4"), "a b+c\xC3\xA4%4");
}

TEST(BlobUrl, TakesEndpointsApart) {
  const auto plain = Endpoint::parse("https://S3.Example.COM", "endpoint").value();
  EXPECT_EQ(plain.scheme, "https");
  EXPECT_EQ(plain.host, "s3.example.com");
  EXPECT_EQ(plain.path, "");
  EXPECT_TRUE(plain.secure());
  const auto deep = Endpoint::parse("http://127.0.0.1:10000/devstoreaccount1/", "endpoint").value();
  EXPECT_EQ(deep.host, "127.0.0.1:10000");
  EXPECT_EQ(deep.path, "/devstoreaccount1");
  EXPECT_EQ(deep.url(), "http://127.0.0.1:10000/devstoreaccount1");
  // The Host header, which is signed, leaves the default port out.
  EXPECT_EQ(Endpoint::parse("https://h:443/", "e")->host, "h");
  EXPECT_EQ(Endpoint::parse("http://h:80", "e")->host, "h");
  EXPECT_EQ(Endpoint::parse("http://h:443", "e")->host, "h:443");
  EXPECT_EQ(Endpoint::parse("http://[::1]:9000", "e")->host, "[::1]:9000");
  EXPECT_EQ(Endpoint::parse("https://[::1]", "e")->host, "[::1]");
}

TEST(BlobUrl, RefusesEndpointsThatAreNone) {
  for (const std::string url :
       {"", "h", "ftp://h", "https://", "https:///p", "https://:1", "https://h:0", "https://h:x",
        "https://h:99999", "https://user@h", "https://h/p?x=1", "https://h/p#f", "https://h/a b",
        "https://h/%2f", "HTTPS://h"}) {
    const auto endpoint = Endpoint::parse(url, "storage.s3.endpoint");
    ASSERT_FALSE(endpoint.has_value()) << url;
    EXPECT_EQ(endpoint.error().kind, ErrorKind::invalid_argument);
    EXPECT_THAT(endpoint.error().message, StartsWith("storage.s3.endpoint "));
  }
}

}  // namespace
}  // namespace millrace::blob
