#include "api/upload/checksum.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::api {
namespace {

std::string checksum_of(ChecksumKind kind, std::string_view text) {
  ChecksumStream stream(kind);
  for (const char& c : text) {
    stream.update({reinterpret_cast<const std::byte*>(&c), 1});
  }
  return stream.finish();
}

TEST(Checksum, OfKnownTextsIsAsPublished) {  // RFC 3174, RFC 1321, FIPS 180-4
  const auto sha1 = parse_upload_checksum("sha1 qZk+NkcGgWq6PiVxeFDCbJzQ2J0=");
  ASSERT_TRUE(sha1) << sha1.error().message;
  EXPECT_EQ(checksum_of(ChecksumKind::sha1, "abc"), sha1->bytes);
  const auto md5 = parse_upload_checksum("md5 kAFQmDzST7DWlj99KOF/cg==");
  ASSERT_TRUE(md5);
  EXPECT_EQ(checksum_of(ChecksumKind::md5, "abc"), md5->bytes);
  const auto sha256 = parse_upload_checksum("sha256 ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
  ASSERT_TRUE(sha256);
  EXPECT_EQ(checksum_of(ChecksumKind::sha256, "abc"), sha256->bytes);
  EXPECT_NE(checksum_of(ChecksumKind::sha256, "abd"), sha256->bytes);
}

TEST(Checksum, OfAnotherFormIsRefused) {
  for (const auto* text : {"", "sha1", "sha1 ", "sha1 abc", "sha512 qZk+NkcGgWq6PiVxeFDCbJzQ2J0=",
                           "SHA1 qZk+NkcGgWq6PiVxeFDCbJzQ2J0=", "md5 qZk+NkcGgWq6PiVxeFDCbJzQ2J0=",
                           "qZk+NkcGgWq6PiVxeFDCbJzQ2J0="}) {
    EXPECT_FALSE(parse_upload_checksum(text)) << text;
  }
}

TEST(ContentDigest, GivesTheSha256AmongOthers) {  // RFC 9530
  const auto digest = parse_content_digest(
      "md5=:kAFQmDzST7DWlj99KOF/cg==:, sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:");
  ASSERT_TRUE(digest) << digest.error().message;
  ASSERT_TRUE(digest->has_value());
  EXPECT_EQ(**digest, blob::sha256("abc"));
  EXPECT_EQ(content_digest((*digest)->hex()),
            "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:");
  const auto none = parse_content_digest("sha-512=:YQ==:");
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->has_value());
}

TEST(ContentDigest, OfAnotherFormIsRefused) {
  for (const auto* text : {"sha-256", "sha-256=abc", "sha-256=:YQ==:", "sha-256=::", "sha-256=:"}) {
    EXPECT_FALSE(parse_content_digest(text)) << text;
  }
  EXPECT_EQ(content_digest("no digest"), "");
}

}  // namespace
}  // namespace millrace::api
