#include "chunk/normalise.h"

#include "chunk/digest.h"
#include "chunk/nasty_markdown.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace millrace::chunk {
namespace {

using namespace std::string_literals;

std::string in_pieces(std::string_view text, SeededRandom& random, std::size_t size_max) {
  Normaliser normaliser;
  std::string out;
  while (!text.empty()) {
    const auto size = std::min<std::size_t>(random.below(size_max + 1), text.size());
    normaliser.feed(text.substr(0, size), out);
    text.remove_prefix(size);
  }
  normaliser.finish(out);
  return out;
}

// B-07: the rules of normal/1, one by one.
TEST(Normalise, DropsByteOrderMarksAtTheBeginningOnly) {
  EXPECT_EQ(normalise("\ufeff# Title"), "# Title");
  EXPECT_EQ(normalise("a\ufeffb"), "a\ufeffb");
  EXPECT_EQ(normalise("\ufeff\ufeffb"), "b");
  EXPECT_EQ(normalise("\ufeff\ufeffb\ufeff"), "b\ufeff");
  EXPECT_EQ(normalise("\ufeff\ufeff"), "");
  EXPECT_EQ(normalise("\ufeff"), "");
}

TEST(Normalise, MakesEveryLineEndOneLineFeed) {
  EXPECT_EQ(normalise("a\r\nb\rc\nd\r\n\r\n\r\re\n\r"), "a\nb\nc\nd\n\n\n\ne\n\n");
}

TEST(Normalise, ReplacesNulAndWhatIsNotUtf8) {
  EXPECT_EQ(normalise("a\0b"s), "a\ufffdb");
  EXPECT_EQ(normalise("a\xff\xfe"), "a\ufffd\ufffd");
  EXPECT_EQ(normalise("\xe2\x82"), "\ufffd");                  // Cut off: one.
  EXPECT_EQ(normalise("\xe2\x82x"), "\ufffdx");                // Maximal part: one.
  EXPECT_EQ(normalise("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");  // A surrogate.
  EXPECT_EQ(normalise("\xc0\xaf"), "\ufffd\ufffd");            // Overlong.
  EXPECT_EQ(normalise("\xf4\x90\x80\x80"), "\ufffd\ufffd\ufffd\ufffd");
  EXPECT_EQ(normalise("\xf0\x9f\x98\xf0\x9f\x98\x80"), "\ufffd😀");
}

TEST(Normalise, ComposesAndReorders) {
  EXPECT_EQ(normalise("e\u0301"), "é");
  EXPECT_EQ(normalise("\u00e9\u0323"), "\u1eb9\u0301");
  EXPECT_EQ(normalise("\u212b"), "\u00c5");
  EXPECT_EQ(normalise("\u1112\u1161\u11ab"), "한");
  EXPECT_EQ(normalise("\u0958"), "\u0915\u093c");  // Never composed again.
  EXPECT_EQ(normalise("\u0301"), "\u0301");
}

constexpr testing::CodePointRange kRanges[] = {
    {0x41, 0x5a},       {0x61, 0x7a},       {0xc0, 0x17f},      {0x300, 0x36f},
    {0x300, 0x345},     {0x5b0, 0x5c7},     {0x64b, 0x655},     {0x900, 0x9ff},
    {0xb47, 0xb57},     {0xdd9, 0xddf},     {0xdca, 0xdcf},     {0xf71, 0xf84},
    {0x1025, 0x102f},   {0x1100, 0x1112},   {0x1161, 0x1175},   {0x11a8, 0x11c2},
    {0x1b05, 0x1b44},   {0x1dc0, 0x1dff},   {0x1e00, 0x1fff},   {0x2126, 0x212b},
    {0x3041, 0x309a},   {0xac00, 0xad00},   {0xf900, 0xfa6d},   {0xfb1d, 0xfb4e},
    {0x11099, 0x110ba}, {0x114b9, 0x114bd}, {0x1d15e, 0x1d172}, {0x2f800, 0x2fa1d},
    {0x1f600, 0x1f64f}};

// The hashes are Python's, of unicodedata.normalize("NFC", …) over the same texts.
TEST(Normalise, AgreesWithAnotherImplementationOnRandomSequences) {
  testing::Congruential random;
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += (i > 0 ? "\n" : "") + random.text_of(kRanges);
  ASSERT_EQ(text.size(), 393'593U);
  EXPECT_EQ(to_hex(sha256_of(normalise(text))),
            "0b672f51cd65bbcd29b01f7c62533a8c618de036b482b5e21e4280453d391826");
}

TEST(Normalise, AgreesWithAnotherImplementationOnEveryCodePoint) {
  std::string text;
  for (char32_t c = 1; c < 0x110000; ++c) {
    if (c == '\r' || (c >= 0xd800 && c < 0xe000)) continue;
    append_utf8(text, c);
    text += '\n';
  }
  EXPECT_EQ(to_hex(sha256_of(normalise(text))),
            "76edbe8938f0ccb9bc63db66499bff2dfaff8ca7eb8da181ab5bf6771539df9c");
}

// B-25: pieces of any size, and a result that stays as it is.
TEST(Normalise, DoesNotDependOnPiecesAndChangesNothingTwice) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    auto text = testing::NastyMarkdown(seed).document();
    testing::Congruential more;
    for (auto skip = seed % 50; skip > 0; --skip) text += more.text_of(kRanges) + "\r\n";
    const auto whole = normalise(text);
    ASSERT_EQ(in_pieces(text, random, 1), whole);
    ASSERT_EQ(in_pieces(text, random, 50), whole);
    ASSERT_EQ(normalise(whole), whole);
  }
}

TEST(Normalise, HoldsBoundedMemoryForEndlessMarks) {
  Normaliser normaliser;
  std::string out;
  std::string piece;
  for (int i = 0; i < 1000; ++i) piece += "\u0301\u0323";
  normaliser.feed("a", out);
  std::size_t fed = 1;
  for (int i = 0; i < 100; ++i) {
    normaliser.feed(piece, out);
    fed += piece.size();
    ASSERT_LT(fed, out.size() + 2000) << "what is kept back does not grow";
  }
  normaliser.finish(out);
  EXPECT_EQ(normalise(out), out);
  // Up to 256 marks the result is plain NFC.
  std::string marks = "a";
  for (int i = 0; i < 255; ++i) marks += "\u0301";
  EXPECT_EQ(normalise(marks).find("\u034f"), std::string::npos);
  EXPECT_EQ(normalise(marks).substr(0, 2), "á");
}

}  // namespace
}  // namespace millrace::chunk
