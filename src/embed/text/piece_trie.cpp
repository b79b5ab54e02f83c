#include "embed/text/piece_trie.h"

#include <algorithm>

namespace millrace::embed {
namespace {

constexpr std::uint32_t kFree = 0xffffffff;
constexpr std::size_t kBytes = 256;
constexpr std::size_t kTriesMax = 256;

}  // namespace

PieceTrie::PieceTrie(std::vector<Piece> pieces) {
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.id < b.id;
  });
  nodes_.resize(2 * kBytes);
  nodes_[kRoot].parent = kFree - 1;  // Taken, and nobody's child.
  place(pieces, {0, pieces.size()}, 0, kRoot);
  // Whatever the byte, a step stays inside the array.
  std::uint32_t highest = 0;
  for (const auto& node : nodes_) highest = std::max(highest, node.base);
  nodes_.resize(highest + kBytes);
  nodes_.shrink_to_fit();
}

void PieceTrie::place(const std::vector<Piece>& pieces, Range range, std::size_t depth,
                      std::uint32_t node) {
  auto [begin, end] = range;
  for (; begin < end && pieces[begin].bytes.size() == depth; ++begin) {
    nodes_[node].id = pieces[begin].id;
  }
  if (begin == end) return;
  std::vector<std::pair<unsigned char, Range>> children;
  for (std::size_t i = begin; i < end; ++i) {
    const auto byte = static_cast<unsigned char>(pieces[i].bytes[depth]);
    if (children.empty() || children.back().first != byte) children.push_back({byte, {i, i}});
    children.back().second.second = i + 1;
  }

  while (first_free_ < nodes_.size() && nodes_[first_free_].parent != kFree) ++first_free_;
  std::uint32_t base = first_free_ > children[0].first ? first_free_ - children[0].first : 1;
  for (std::size_t tries = 0;; ++base, ++tries) {
    // Where so little is free that nothing fits, nobody needs to look again.
    if (tries == kTriesMax) first_free_ = std::max(first_free_, base);
    if (nodes_.size() < base + 2 * kBytes) nodes_.resize(base + 2 * kBytes);
    const bool fits = std::all_of(children.begin(), children.end(), [&](const auto& child) {
      return nodes_[base + child.first].parent == kFree;
    });
    if (fits) break;
  }
  nodes_[node].base = base;
  for (const auto& child : children) nodes_[base + child.first].parent = node;
  for (const auto& child : children) place(pieces, child.second, depth + 1, base + child.first);
}

}  // namespace millrace::embed
