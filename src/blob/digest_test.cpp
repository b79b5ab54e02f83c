#include "blob/digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::blob {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(BlobDigest, HasTheValuesOfThePublishedExamples) {
  EXPECT_EQ(sha256("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc").hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // RFC 4231, cases 2 and 6.
  EXPECT_EQ(hmac_sha256("Jefe", "what do ya want for nothing?").hex(),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hmac_sha256(std::string(131, '\xaa'),
                        "Test Using Larger Than Block-Size Key - Hash Key First")
                .hex(),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  Md5Stream md5;
  md5.update(bytes_of("message digest"));
  EXPECT_EQ(to_hex(md5.finish()), "f96b697d7cb7938d525a2f31aaf161d0");
}

TEST(BlobDigest, PiecesGiveTheDigestOfTheWhole) {
  const std::string text(100'003, 'q');
  Sha256Stream stream;
  for (std::size_t i = 0; i < text.size(); i += 777) {
    stream.update(bytes_of(std::string_view(text).substr(i, 777)));
  }
  EXPECT_EQ(stream.finish(), sha256(text));
}

TEST(BlobDigest, ReadsBackWhatItWritesAndNothingElse) {
  const auto digest = sha256("abc");
  EXPECT_EQ(Digest::parse(digest.hex()).value(), digest);
  auto upper = digest.hex();
  upper[0] = 'B';
  for (const auto& text : {std::string(), std::string("ba78"), upper, digest.hex() + "0",
                           std::string(64, 'g'), std::string(64, ' ')}) {
    EXPECT_EQ(Digest::parse(text).error().kind, ErrorKind::invalid_argument) << text;
  }
}

TEST(BlobDigest, Base64IsReadStrictly) {
  for (const std::string text : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
    EXPECT_EQ(from_base64(to_base64(text)).value(), text);
  }
  EXPECT_EQ(to_base64(std::string_view("foob")), "Zm9vYg==");
  EXPECT_EQ(to_base64(std::string_view("\0\xff", 2)), "AP8=");
  for (const std::string text :
       {"Zg", "Zg=", "Z===", "=Zg=", "Zm9v\n", "Zm 9v", "Zg==Zg==", "Zm9-"}) {
    EXPECT_FALSE(from_base64(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace millrace::blob
