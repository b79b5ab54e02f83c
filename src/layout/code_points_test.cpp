#include "layout/code_points.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::layout {
namespace {

TEST(CodePoints, EveryCodePointReadsBackAsItself) {
  for (char32_t code = 0; code <= 0x10ffff; code += 7) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    std::string text;
    append_utf8(text, code);
    const auto decoded = decode_at(text, 0);
    ASSERT_TRUE(decoded.valid) << std::hex << static_cast<std::uint32_t>(code);
    ASSERT_EQ(decoded.code, code);
    ASSERT_EQ(decoded.bytes, text.size());
  }
}

TEST(CodePoints, WhatIsNotUtf8CountsAsOneReplacementPerByte) {
  for (const std::string text : {"\xff", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                                 "\xf4\x90\x80\x80", "\xc3", "\xe2\x82", "\x80"}) {
    EXPECT_FALSE(is_utf8(text));
    EXPECT_EQ(count_code_points(text), text.size());
    for (const auto code : to_code_points(text)) EXPECT_EQ(code, kReplacement);
  }
  EXPECT_TRUE(is_utf8("aä€😀"));
  EXPECT_EQ(count_code_points("aä€😀"), 4U);
}

TEST(CodePoints, CaseIsFoldedForLatinGreekAndCyrillic) {
  EXPECT_EQ(to_lower("ÀÉÖØÞ ŠŽŁĐ ΑΩ ЖЁ ABC"), "àéöøþ šžłđ αω жё abc");
  EXPECT_EQ(to_lower("×÷ß 123"), "×÷ß 123");
  EXPECT_TRUE(is_upper(U'Ÿ'));
  EXPECT_FALSE(is_upper(U'ÿ'));
}

TEST(CodePoints, AWordHasNoSpaceAndNoControl) {
  EXPECT_TRUE(is_word_text("naïve-5%"));
  for (const std::string text : {"", "a b", "a\tb", "a\xc2\xa0", "\x01", "a\xe2\x80\x8b", "\xff"}) {
    EXPECT_FALSE(is_word_text(text)) << text;
  }
}

TEST(OffsetIndex, TranslatesEveryOffsetThereAndBack) {
  SeededRandom random(5);
  const std::u32string alphabet = U"ab \näé€中😀";
  for (int round = 0; round < 50; ++round) {
    std::string text;
    for (auto n = random.below(300); n > 0; --n) {
      append_utf8(text, alphabet[random.below(alphabet.size())]);
    }
    const OffsetIndex index(text);
    EXPECT_EQ(index.code_point_count(), count_code_points(text));
    std::uint32_t number = 0;
    for (std::uint32_t at = 0; at < text.size(); at += decode_at(text, at).bytes) {
      ASSERT_EQ(index.code_points_before(at), number);
      ASSERT_EQ(index.byte_of(number), at);
      for (std::uint32_t inside = 1; inside < decode_at(text, at).bytes; ++inside) {
        ASSERT_EQ(index.code_points_before(at + inside), number);
      }
      ++number;
    }
    EXPECT_EQ(index.byte_of(number), text.size());
    EXPECT_EQ(index.code_points_before(static_cast<std::uint32_t>(text.size())), number);
    EXPECT_EQ(index.byte_of(number + 1), std::nullopt);
  }
}

}  // namespace
}  // namespace millrace::layout
