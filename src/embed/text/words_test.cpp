#include "embed/text/words.h"

#include "embed/text/utf8.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <vector>

namespace millrace::embed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> words(std::string_view text, WordForm form = WordForm::compatible) {
  std::vector<std::string> out;
  for_each_word(text, form, [&out](std::string_view word) { out.emplace_back(word); });
  return out;
}

TEST(Words, AreWhatStandsBetweenSpacesOfAnyKind) {
  EXPECT_THAT(words(" one\ttwo\r\n\n three "), ElementsAre("one", "two", "three"));
  EXPECT_THAT(words("no\u00a0break\u2003em\u3000wide\u2028line"),
              ElementsAre("no", "break", "em", "wide", "line"));
  EXPECT_THAT(words(" \n\t\u00a0\u200b"), IsEmpty());
  EXPECT_THAT(words(""), IsEmpty());
}

TEST(Words, AreInTheCompatibleForm) {
  EXPECT_THAT(words("\ufb01ne caf\u0065\u0301 \uff21\uff11 x\u00b2"),
              ElementsAre("fine", "caf\u00e9", "A1", "x2"));
  EXPECT_THAT(words("\u00bd"), ElementsAre("1\u20442"));
  EXPECT_THAT(words("\u00b4x"), ElementsAre("\u0301x"));  // Becomes a space and an accent.
}

// Every character by itself and among others: as if the whole text was normalised in one go.
TEST(Words, AreAsTheTablesOfUnicodeSay) {
  UErrorCode status = U_ZERO_ERROR;
  const auto& form = *icu::Normalizer2::getNFKCInstance(status);
  ASSERT_TRUE(U_SUCCESS(status));
  static constexpr UChar32 kOften[] = {'a', 0xe9, 0x301, 0x327, 0x1100, 0x1161, 0x11a8, 0x2126};
  for (UChar32 c = 0; c < 0x30000; ++c) {
    const auto type = u_charType(c);
    if (U_IS_SURROGATE(c) || u_isUWhiteSpace(c) || type == U_CONTROL_CHAR || type == U_FORMAT_CHAR)
      continue;
    icu::UnicodeString text(c);
    const auto before = kOften[static_cast<std::size_t>(c) % std::size(kOften)];
    const auto after = kOften[static_cast<std::size_t>(c) / 8 % std::size(kOften)];
    text.append(before).append(c).append(after).append(UChar32{0x302}).append(c);
    std::string utf8;
    std::string expected;
    std::string found;
    text.toUTF8String(utf8);
    form.normalize(text, status).toUTF8String(expected);
    append_normalised(utf8, WordForm::compatible, found);
    ASSERT_EQ(found, expected) << c;
  }
}

TEST(Words, LoseWhatHasNoAppearance) {
  EXPECT_THAT(words("hy\u00adphen zero\u200bwidth \ufeffmark \x01\x7f"),
              ElementsAre("hyphen", "zerowidth", "mark"));
}

TEST(Words, HaveAReplacementForBytesThatAreNoText) {
  EXPECT_THAT(words("a\xff\xfe"), ElementsAre("a\ufffd\ufffd"));
  EXPECT_THAT(words("a\xe2\x82"), ElementsAre("a\ufffd"));
}

TEST(Words, AreSmallAndWithoutAccentsWhenBare) {
  EXPECT_THAT(words("HELLO Wörld É\u0130 na\u0308ive plain", WordForm::bare),
              ElementsAre("hello", "world", "ei", "naive", "plain"));
  EXPECT_THAT(words("a\xff", WordForm::bare), ElementsAre("a"));
}

TEST(Utf8, SaysWhereATextBreaks) {
  EXPECT_EQ(utf8_prefix("plain"), 5U);
  EXPECT_EQ(utf8_prefix("gr\u00fc\u00df \U0001f600"), 11U);
  EXPECT_EQ(utf8_prefix("ab\xff"), 2U);
  EXPECT_EQ(utf8_prefix("ab\xc3"), 2U);
  EXPECT_EQ(utf8_prefix("\xed\xa0\x80"), 0U);  // A surrogate.
  EXPECT_EQ(utf8_prefix("\xc0\x80"), 0U);      // Longer than it need be.
  EXPECT_EQ(utf8_prefix(""), 0U);
}

TEST(Signs, AreThoseOfAsciiAndOfUnicode) {
  for (const char c : std::string_view("!$+<=>^`|~_-")) EXPECT_TRUE(is_punctuation(c)) << c;
  EXPECT_TRUE(is_punctuation(0x2014));
  EXPECT_TRUE(is_punctuation(0x3002));
  for (const char c : std::string_view("a0 Z")) EXPECT_FALSE(is_punctuation(c)) << c;
  EXPECT_FALSE(is_punctuation(0x20ac));  // Currency is no punctuation outside ASCII.
  EXPECT_TRUE(is_ideograph(0x65e5));
  EXPECT_FALSE(is_ideograph(0x3042));
}

}  // namespace
}  // namespace millrace::embed
