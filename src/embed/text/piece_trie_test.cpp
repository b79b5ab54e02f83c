#include "embed/text/piece_trie.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace millrace::embed {
namespace {

std::int32_t find(const PieceTrie& trie, std::string_view word) {
  std::uint32_t node = PieceTrie::kRoot;
  for (const char c : word) {
    if (!trie.step(node, c)) return PieceTrie::kNone;
  }
  return trie.id(node);
}

TEST(PieceTrie, FindsWholePiecesAndNoOthers) {
  const PieceTrie trie({{"a", 1}, {"ab", 2}, {"abcd", 3}, {"\xff\xfe", 4}, {"b", 5}});
  EXPECT_EQ(find(trie, "a"), 1);
  EXPECT_EQ(find(trie, "ab"), 2);
  EXPECT_EQ(find(trie, "abc"), PieceTrie::kNone);
  EXPECT_EQ(find(trie, "abcd"), 3);
  EXPECT_EQ(find(trie, "abcde"), PieceTrie::kNone);
  EXPECT_EQ(find(trie, "\xff\xfe"), 4);
  EXPECT_EQ(find(trie, "c"), PieceTrie::kNone);
  EXPECT_EQ(find(trie, ""), PieceTrie::kNone);
}

TEST(PieceTrie, HasNothingWhenItIsEmpty) {
  const PieceTrie trie;
  for (int byte = 0; byte < 256; ++byte) {
    EXPECT_EQ(find(trie, std::string(1, static_cast<char>(byte))), PieceTrie::kNone);
  }
}

TEST(PieceTrie, TakesTheHighestIdOfEqualPieces) {
  const PieceTrie trie({{"x", 9}, {"x", 230}, {"x", 4}});
  EXPECT_EQ(find(trie, "x"), 230);
}

TEST(PieceTrie, AgreesWithAMapOnRandomWords) {
  std::mt19937 random(20240817);
  const auto word = [&random] {
    std::string out;
    const auto length = random() % 6;
    for (std::size_t i = 0; i <= length; ++i) {
      out += static_cast<char>(random() % 4 == 0 ? random() % 256 : 'a' + random() % 5);
    }
    return out;
  };
  std::map<std::string, std::int32_t> known;
  for (std::int32_t i = 0; i < 4000; ++i) known[word()] = i;
  std::vector<PieceTrie::Piece> pieces;
  for (const auto& [bytes, id] : known) pieces.push_back({bytes, id});
  const PieceTrie trie(pieces);
  for (const auto& [bytes, id] : known) ASSERT_EQ(find(trie, bytes), id);
  for (int i = 0; i < 20000; ++i) {
    const auto other = word();
    const auto found = known.find(other);
    ASSERT_EQ(find(trie, other), found == known.end() ? PieceTrie::kNone : found->second);
  }
}

}  // namespace
}  // namespace millrace::embed
