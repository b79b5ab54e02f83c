// PieceTrie: the pieces of a vocabulary by their bytes, as a double array.
//
// A step is one addition and one comparison; all of it fits into a processor's second cache.
// Immutable after it was made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace millrace::embed {

class PieceTrie {
 public:
  static constexpr std::int32_t kNone = -1;
  static constexpr std::uint32_t kRoot = 0;

  struct Piece {
    std::string bytes;
    std::int32_t id = kNone;
  };

  PieceTrie() : PieceTrie(std::vector<Piece>{}) {}
  // Of equal pieces the one with the highest id counts.
  explicit PieceTrie(std::vector<Piece> pieces);

  // Goes on from `node` with a byte; false, and the node as it was, when no piece goes on so.
  bool step(std::uint32_t& node, char byte) const {
    const std::uint32_t next = nodes_[node].base + static_cast<unsigned char>(byte);
    if (nodes_[next].parent != node) return false;
    node = next;
    return true;
  }
  // The piece that ends here, or kNone.
  std::int32_t id(std::uint32_t node) const { return nodes_[node].id; }

 private:
  struct Node {
    std::uint32_t base = 0;
    std::uint32_t parent = 0xffffffff;
    std::int32_t id = kNone;
  };
  using Range = std::pair<std::size_t, std::size_t>;
  void place(const std::vector<Piece>& pieces, Range range, std::size_t depth, std::uint32_t node);

  std::vector<Node> nodes_;
  std::uint32_t first_free_ = 1;
};

}  // namespace millrace::embed
