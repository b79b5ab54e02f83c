#include "blob/blob_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::blob {
namespace {

using testing::HasSubstr;

constexpr std::string_view kAbc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(BlobKeyText, IsTheDigestBelowItsFirstTwoDigits) {
  const BlobKey key{sha256("abc")};
  EXPECT_EQ(key.text(), "sha256/ba/" + std::string(kAbc));
  EXPECT_EQ(key.shard(), "ba");
  EXPECT_EQ(BlobKey::parse(key.text()).value(), key);
}

// J06, I05: a key has no room for a path somebody chose.
TEST(BlobKeyText, NothingElseIsAKey) {
  const std::string hex(kAbc);
  for (const auto& text :
       {std::string(), hex, "sha256/" + hex, "sha256/bb/" + hex, "sha256/ba/" + hex + "/",
        "/sha256/ba/" + hex, "sha256/ba/../" + hex, "SHA256/ba/" + hex, "sha512/ba/" + hex,
        "sha256/ba." + hex, "sha256/BA/BA" + hex.substr(2), "sha256/ba/" + hex.substr(1) + "\n",
        "sha256/../" + std::string(64, '.')}) {
    const auto key = BlobKey::parse(text);
    ASSERT_FALSE(key.has_value()) << text;
    EXPECT_EQ(key.error().kind, ErrorKind::invalid_argument);
  }
}

TEST(BlobPrefix, EndsInASlashAndCannotLeaveItsPlace) {
  EXPECT_EQ(checked_prefix("", "prefix").value(), "");
  EXPECT_EQ(checked_prefix("exports", "prefix").value(), "exports/");
  EXPECT_EQ(checked_prefix("a/b-c_d.e/", "prefix").value(), "a/b-c_d.e/");
  std::vector<std::string> wrong = {"/", "/a",  "a//b", "..",       "a/../b",
                                    ".", "a b", "a%2f", "\xC3\xA4", "a\n"};
  wrong.emplace_back(201, 'a');
  for (const auto& text : wrong) {
    const auto prefix = checked_prefix(text, "storage.prefix");
    ASSERT_FALSE(prefix.has_value()) << text;
    EXPECT_THAT(prefix.error().message, HasSubstr("storage.prefix must be"));
  }
}

}  // namespace
}  // namespace millrace::blob
