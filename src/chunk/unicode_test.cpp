#include "chunk/unicode.h"

#include "chunk/digest.h"
#include "chunk/nasty_markdown.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::chunk {
namespace {

std::vector<std::size_t> clusters_of(std::string_view text) {
  std::vector<std::size_t> sizes;
  std::size_t begin = 0;
  for (std::size_t at = 1; at <= text.size(); ++at) {
    if (!is_cluster_boundary(text, at)) continue;
    sizes.push_back(count_code_points(text.substr(begin, at - begin)));
    begin = at;
  }
  return sizes;
}

TEST(Unicode, KeepsClustersTogether) {
  using Sizes = std::vector<std::size_t>;
  EXPECT_EQ(clusters_of("ab"), (Sizes{1, 1}));
  EXPECT_EQ(clusters_of("a\u0301b"), (Sizes{2, 1}));
  EXPECT_EQ(clusters_of("👩‍👩‍👧‍👦x"), (Sizes{7, 1}));
  EXPECT_EQ(clusters_of("👍🏽👍"), (Sizes{2, 1}));
  EXPECT_EQ(clusters_of("🇩🇪🇫🇷🇯"), (Sizes{2, 2, 1}));
  EXPECT_EQ(clusters_of("\u1112\u1161\u11ab한"), (Sizes{3, 1}));
  EXPECT_EQ(clusters_of("a\u200d👍"), (Sizes{2, 1}));  // A joiner without an emoji before it.
  EXPECT_EQ(clusters_of("\r\n\n"), (Sizes{2, 1}));
  EXPECT_EQ(clusters_of(" \u0301"), (Sizes{2}));
}

constexpr testing::CodePointRange kRanges[] = {
    {0x20, 0x7e},       {0xa, 0xa},         {0xd, 0xd},         {0x300, 0x36f},
    {0x600, 0x605},     {0x903, 0x903},     {0x93e, 0x940},     {0x1100, 0x1112},
    {0x1161, 0x1175},   {0x11a8, 0x11c2},   {0xac00, 0xac40},   {0x200d, 0x200d},
    {0x200d, 0x200d},   {0xfe0f, 0xfe0f},   {0x1f1e6, 0x1f1ff}, {0x1f1e6, 0x1f1ff},
    {0x1f3fb, 0x1f3ff}, {0x1f600, 0x1f64f}, {0x2764, 0x2764},   {0x4e00, 0x4e20},
    {0xe33, 0xe33},     {0x110bd, 0x110bd}, {0xad, 0xad}};

// The hash is Perl's: the lengths of what \X matches, over the same texts.
TEST(Unicode, AgreesWithAnotherImplementationOnClusters) {
  testing::Congruential random;
  std::string all;
  for (int i = 0; i < 4000; ++i) {
    std::string line;
    for (const auto size : clusters_of(random.text_of(kRanges))) {
      line += (line.empty() ? "" : ",") + std::to_string(size);
    }
    all += line + "\n";
  }
  EXPECT_EQ(to_hex(sha256_of(all)),
            "335ad8c1f06168b8bd45cbb65ad2e14bf3ab4711ab17fda875d22b6787b20de6");
}

TEST(Unicode, FloorsAtTheLastBoundaryAndCutsAnEndlessClusterAtACodePoint) {
  const std::string text = "ab🇩🇪🇫🇷";
  EXPECT_EQ(cluster_floor(text, 0, 17), 10U);
  EXPECT_EQ(cluster_floor(text, 0, 9), 2U);
  EXPECT_EQ(cluster_floor(text, 0, 18), 18U);
  std::string endless = "a";
  for (int i = 0; i < 100; ++i) endless += "\u0301";
  EXPECT_EQ(cluster_floor(endless, 0, 50), 49U);
}

TEST(Unicode, DecodesWhatIsValidAndNothingElse) {
  EXPECT_EQ(decode("€").c, 0x20acU);
  EXPECT_FALSE(decode("\xc1\x80").valid);
  EXPECT_EQ(decode("\xf0\x9f\x98").size, 3U);
  EXPECT_EQ(unfinished_tail("a\xf0\x9f\x98"), 3U);
  EXPECT_EQ(unfinished_tail("a\xf4\x90"), 0U);
  EXPECT_EQ(unfinished_tail("€"), 0U);
  EXPECT_EQ(unfinished_tail("\x80\x80\x80"), 0U);
}

}  // namespace
}  // namespace millrace::chunk
