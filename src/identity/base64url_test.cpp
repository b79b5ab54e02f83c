#include "identity/base64url.h"

#include "base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace millrace::identity {
namespace {

using testing::Optional;

TEST(Base64url, AgreesWithTheVectorsOfRfc4648AndRfc7515) {
  EXPECT_EQ(base64url_encode(""), "");
  EXPECT_EQ(base64url_encode("f"), "Zg");
  EXPECT_EQ(base64url_encode("fo"), "Zm8");
  EXPECT_EQ(base64url_encode("foo"), "Zm9v");
  EXPECT_EQ(base64url_encode("foob"), "Zm9vYg");
  EXPECT_EQ(base64url_encode("fooba"), "Zm9vYmE");
  EXPECT_EQ(base64url_encode("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64url_encode("\x03\xec\xff\xe0\xc1"), "A-z_4ME");  // RFC 7515 appendix C.
  EXPECT_THAT(base64url_decode("A-z_4ME"), Optional(std::string("\x03\xec\xff\xe0\xc1")));
  EXPECT_THAT(base64url_decode(""), Optional(std::string()));
}

TEST(Base64url, RefusesPaddingBlanksAndTheOtherAlphabet) {
  for (const auto* text :
       {"Zg==", "Zm8=", "Zm9v=", "Zm 9v", "Zm9v\n", "A+z/4ME", "Zm9.", "Zm9v\xff"}) {
    EXPECT_EQ(base64url_decode(text), std::nullopt) << text;
  }
  EXPECT_EQ(base64url_decode(std::string_view("Zm\0v", 4)), std::nullopt);
}

TEST(Base64url, RefusesALengthThatHoldsNoWholeByte) {
  EXPECT_EQ(base64url_decode("Z"), std::nullopt);
  EXPECT_EQ(base64url_decode("Zm9vY"), std::nullopt);
}

TEST(Base64url, EveryByteStringHasOneSpelling) {
  // "Zg" is "f"; the three other last characters differ only in bits that belong to no byte.
  std::set<std::string> read;
  for (const char last : std::string("ghijklmnopqrstuv")) {
    if (const auto bytes = base64url_decode(std::string("Z") + last)) read.insert(*bytes);
  }
  EXPECT_THAT(read, testing::ElementsAre("f"));
  EXPECT_EQ(base64url_decode("Zm9"), std::nullopt);  // "Zm8" with a bit too many.
}

TEST(Base64url, ReadsBackWhatItWrote) {
  SeededRandom random(7);
  for (std::size_t size = 0; size < 200; ++size) {
    std::string bytes;
    while (bytes.size() < size) bytes += static_cast<char>(random.below(256));
    EXPECT_THAT(base64url_decode(base64url_encode(bytes)), Optional(bytes));
  }
}

}  // namespace
}  // namespace millrace::identity
