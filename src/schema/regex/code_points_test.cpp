#include "schema/regex/code_points.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::schema {
namespace {

int count(std::string_view expression) {
  const auto set = unicode_set(expression);
  if (!set) return -1;
  int members = 0;
  for (CodePoint code = 0; code <= kCodePointMax; ++code) members += set->contains(code) ? 1 : 0;
  return members;
}

// The numbers of code points in Unicode 14, as Python's unicodedata counts them.
TEST(UnicodeSets, HaveAllTheirMembers) {
  EXPECT_EQ(count("Lu"), 1831);
  EXPECT_EQ(count("Ll"), 2227);
  EXPECT_EQ(count("Decimal_Number"), 660);
  EXPECT_EQ(count("gc=Zs"), 17);
  EXPECT_EQ(count("General_Category=Currency_Symbol"), 63);
  EXPECT_EQ(count("Letter"), 131756);
  EXPECT_EQ(count("Cn"), 829834);
  EXPECT_EQ(count("Assigned"), 0x110000 - 829834);
  EXPECT_EQ(count("Any"), 0x110000);
  EXPECT_EQ(count("ASCII"), 128);
  EXPECT_EQ(count("Cased_Letter"), 1831 + 2227 + 31);
  EXPECT_EQ(count("Other"), 829834 + count("Cc") + count("Cf") + count("Co") + count("Cs"));
}

TEST(UnicodeSets, AreNamedExactlyAsInEcma262) {
  for (const auto* name : {"L", "Letter", "Lu", "Uppercase_Letter", "punct", "Script=Latin",
                           "sc=Latn", "scx=Zinh", "Script_Extensions=Greek", "Alphabetic", "Alpha",
                           "Emoji", "White_Space", "space", "gc=Nd"}) {
    EXPECT_GT(count(name), 0) << name;
  }
  for (const auto* name :
       {"", "letter", "LETTER", "Latin", "Script=latin", "Script=", "gc=Latin", "IsL", "In",
        "Block=Latin", "gc", "L,Letter", "Lu,Uppercase_Letter", "="}) {
    EXPECT_EQ(count(name), -1) << name;
  }
}

TEST(CodePointSet, JoinsAndInverts) {
  CodePointSet set;
  set.add('d', 'f');
  set.add('a', 'c');
  set.add(0x1f432);
  set.add('e', 'z');
  set.seal();
  EXPECT_EQ(set.range_count(), 2U);
  EXPECT_TRUE(set.contains('m'));
  EXPECT_TRUE(set.contains(0x1f432));
  EXPECT_FALSE(set.contains('A'));
  set.invert();
  EXPECT_FALSE(set.contains('m'));
  EXPECT_TRUE(set.contains('A'));
  EXPECT_TRUE(set.contains(kCodePointMax));
  EXPECT_FALSE(set.contains(0x1f432));
}

TEST(Utf8, IsReadForwardsAndBackwards) {
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xb2";
  const CodePoint codes[] = {'a', 0xe9, 0x20ac, 0x1f432};
  std::size_t at = 0;
  for (const auto code : codes) {
    EXPECT_EQ(decode_at(text, at).code, code);
    at += decode_at(text, at).bytes;
    EXPECT_EQ(decode_before(text, at).code, code);
  }
  EXPECT_EQ(at, text.size());
  EXPECT_EQ(count_code_points(text), 4U);
  EXPECT_TRUE(is_utf8(text));
}

TEST(Utf8, TakesBrokenBytesOneByOne) {
  for (const std::string text : {"\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x90", "\xc0\xaf",
                                 "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"}) {
    EXPECT_FALSE(is_utf8(text));
    EXPECT_EQ(count_code_points(text), text.size());
    std::size_t at = text.size();
    while (at > 0) {
      EXPECT_EQ(decode_before(text, at).code, 0xfffdU);
      EXPECT_EQ(decode_before(text, at).bytes, 1U);
      at -= 1;
    }
  }
}

}  // namespace
}  // namespace millrace::schema
