#include "document/office/text_encoding.h"

#include <gtest/gtest.h>

namespace millrace::document {
namespace {

using namespace std::string_literals;

TEST(TextEncoding, IsJudgedByTheBytes) {
  EXPECT_EQ(detect_encoding("plain"), TextEncoding::utf8);
  EXPECT_EQ(detect_encoding("Gr\xc3\xb6\xc3\x9f"
                            "e"),
            TextEncoding::utf8);
  EXPECT_EQ(detect_encoding("Gr\xf6\xdf"
                            "e of the patient"),
            TextEncoding::latin1);
  EXPECT_EQ(detect_encoding("\xff\xfe"
                            "a\0b\0"s),
            TextEncoding::utf16_le);
  EXPECT_EQ(detect_encoding("\xfe\xff\0a\0b"s), TextEncoding::utf16_be);
  EXPECT_EQ(detect_encoding("a\0b\0c\0"s), TextEncoding::utf16_le) << "without a mark";
  EXPECT_EQ(detect_encoding("\0\x01\x02\x03"s), std::nullopt);
  EXPECT_EQ(detect_encoding("text with a \0 in it"s), std::nullopt);
  EXPECT_EQ(detect_encoding("\xf0\xf1\xf2\xf3\xf4\xf5"), std::nullopt) << "hardly any letters";
}

TEST(TextEncoding, BecomesUtf8) {
  EXPECT_EQ(to_utf8("\xef\xbb\xbfx", TextEncoding::utf8), "x");
  EXPECT_EQ(to_utf8("\xe9\x80", TextEncoding::latin1), "é€");
  EXPECT_EQ(to_utf8("\xff\xfe\xe9\0"s, TextEncoding::utf16_le), "é");
  EXPECT_EQ(to_utf8("\xd8\x3d\xde\x00"s, TextEncoding::utf16_be), "😀");
  EXPECT_EQ(to_utf8("\xd8\x3d\0a"s, TextEncoding::utf16_be),
            "\xef\xbf\xbd"
            "a");
}

}  // namespace
}  // namespace millrace::document
