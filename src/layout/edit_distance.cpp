#include "layout/edit_distance.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace millrace::layout {
namespace {

constexpr std::size_t kBits = 64;

// The pattern's column of the table, as differences from cell to cell, moved along a text.
class Column {
 public:
  explicit Column(std::u32string_view pattern)
      : blocks_((pattern.size() + kBits - 1) / kBits),
        last_bit_(std::uint64_t{1} << ((pattern.size() - 1) % kBits)),
        score_(pattern.size()) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      auto& bits = where_.try_emplace(pattern[i], blocks_.size(), 0).first->second;
      bits[i / kBits] |= std::uint64_t{1} << (i % kBits);
    }
  }

  // The distance in the last cell after one more character of the text. `top` is how the cell above
  // the first one changes: 1 when the text must be matched from its beginning, 0 when anywhere.
  std::size_t advance(char32_t character, int top) {
    const auto found = where_.find(character);
    int carry = top;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const auto equal = found == where_.end() ? 0 : found->second[b];
      const auto high = b + 1 == blocks_.size() ? last_bit_ : std::uint64_t{1} << (kBits - 1);
      carry = step(blocks_[b], equal, high, carry);
    }
    if (carry > 0) {
      ++score_;
    } else if (carry < 0) {
      --score_;
    }
    return score_;
  }

 private:
  struct Block {
    std::uint64_t plus = ~std::uint64_t{0};
    std::uint64_t minus = 0;
  };

  static int step(Block& block, std::uint64_t equal, std::uint64_t high, int carry_in) {
    const auto vertical = equal | block.minus;
    if (carry_in < 0) equal |= 1;
    const auto horizontal = (((equal & block.plus) + block.plus) ^ block.plus) | equal;
    auto plus = block.minus | ~(horizontal | block.plus);
    auto minus = block.plus & horizontal;
    const int carry_out = (plus & high) != 0 ? 1 : (minus & high) != 0 ? -1 : 0;
    plus <<= 1U;
    minus <<= 1U;
    if (carry_in > 0) plus |= 1;
    if (carry_in < 0) minus |= 1;
    block.plus = minus | ~(vertical | plus);
    block.minus = plus & vertical;
    return carry_out;
  }

  std::unordered_map<char32_t, std::vector<std::uint64_t>> where_;
  std::vector<Block> blocks_;
  std::uint64_t last_bit_;
  std::size_t score_;
};

}  // namespace

std::size_t edit_distance(std::u32string_view a, std::u32string_view b) {
  const auto head = std::ranges::mismatch(a, b);
  const auto same = static_cast<std::size_t>(head.in1 - a.begin());
  a.remove_prefix(same);
  b.remove_prefix(same);
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a.remove_suffix(1);
    b.remove_suffix(1);
  }
  if (a.size() > b.size()) std::swap(a, b);
  if (a.empty()) return b.size();
  Column column(a);
  std::size_t distance = 0;
  for (const auto character : b) distance = column.advance(character, 1);
  return distance;
}

std::optional<ApproximateMatch> find_approximate(std::u32string_view pattern,
                                                 std::u32string_view text,
                                                 std::size_t distance_max) {
  if (pattern.empty()) return std::nullopt;
  ApproximateMatch best{.distance = pattern.size()};  // Matching nothing at all.
  Column forward(pattern);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto distance = forward.advance(text[i], 0);
    if (distance < best.distance) best = {.end = i + 1, .distance = distance};
  }
  if (best.distance > distance_max || best.end == 0) return std::nullopt;
  // Backwards from the end, the first place with the same distance is where it begins.
  const std::u32string reversed(pattern.rbegin(), pattern.rend());
  Column backward(reversed);
  best.begin = best.end;
  while (best.begin > 0) {
    --best.begin;
    if (backward.advance(text[best.begin], 1) == best.distance) break;
  }
  return best;
}

}  // namespace millrace::layout
