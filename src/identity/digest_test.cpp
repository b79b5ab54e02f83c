#include "identity/digest.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::identity {
namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(c) >> 4U];
    text += kDigits[static_cast<unsigned char>(c) & 0xfU];
  }
  return text;
}

std::string counting(unsigned char from, unsigned char to) {
  std::string bytes;
  for (unsigned value = from; value <= to; ++value) bytes += static_cast<char>(value);
  return bytes;
}

TEST(Digest, AgreesWithTheVectorsOfFips180) {
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Digest, AgreesWithTheHmacVectorsOfRfc4231) {
  EXPECT_EQ(to_hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Digest, AgreesWithTheHkdfVectorsOfRfc5869) {
  const std::string secret(22, '\x0b');
  EXPECT_EQ(
      hex(hkdf_sha256(
          {.secret = secret, .salt = counting(0x00, 0x0c), .info = counting(0xf0, 0xf9)}, 42)),
      "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
  EXPECT_EQ(hex(hkdf_sha256({.secret = secret}, 42)),
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
}

TEST(Digest, AnotherPurposeGivesAnotherKey) {
  EXPECT_NE(hkdf_sha256({.secret = "s", .salt = "t", .info = "a"}, 32),
            hkdf_sha256({.secret = "s", .salt = "t", .info = "b"}, 32));
}

TEST(Digest, ComparesAllBytesAndTheLength) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("same", "same"));
  EXPECT_FALSE(equal_in_constant_time("same", "samf"));
  EXPECT_FALSE(equal_in_constant_time("same", "tame"));
  EXPECT_FALSE(equal_in_constant_time("same", "same "));
  EXPECT_FALSE(equal_in_constant_time("same", ""));
}

}  // namespace
}  // namespace millrace::identity
