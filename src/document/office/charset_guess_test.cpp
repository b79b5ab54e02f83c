#include "document/office/charset_guess.h"

#include <gtest/gtest.h>

namespace millrace::document {
namespace {

TEST(CharsetGuess, ShortTextsOfTheWestAreNotTakenForOthers) {
  EXPECT_EQ(guess_charset("<p>Gr\xfc\xdf"
                          "e</p>"),
            "");
  EXPECT_EQ(guess_charset("The temperature was 38\xb0"
                          "C at 9.30, dose 5 \xb5g."),
            "ISO-8859-1");
}

TEST(CharsetGuess, BytesThatAreNoTextStayNone) {
  EXPECT_FALSE(is_text("\xf0\xf1\xf2\xf3\xf4\xf5"));
  EXPECT_FALSE(is_text(std::string("\0\x01\x02\x03", 4)));
  EXPECT_FALSE(is_text(std::string(300, '\1')));
}

TEST(CharsetGuess, LooksAtTheFirstLineThatIsNotAscii) {
  std::string text;
  while (text.size() < 300'000) text += "All of this is plain and says nothing.\n";
  text +=
      "\xed\xc5\xcc\xd8\xce\xc9\xc3\xc1 \xd3\xd4\xcf\xc9\xd4 \xce\xc1 \xc2\xc5\xd2\xc5\xc7\xd5 "
      "\xd2\xc5\xcb\xc9, \xc9 \xcb\xcf\xcc\xc5\xd3\xcf \xc9\xcd\xc5\xc5\xd4 "
      "\xcc\xcf\xd0\xc1\xd3\xd4\xc9.";
  EXPECT_EQ(guess_charset(text), "KOI8-R");
}

}  // namespace
}  // namespace millrace::document
