#include "chunk/unicode.h"

#include <algorithm>
#include <span>

namespace millrace::chunk {
namespace {

constexpr char32_t kHangulBase = 0xac00;
constexpr char32_t kHangulCount = 11172;
constexpr char32_t kBaseL = 0x1100;
constexpr char32_t kBaseV = 0x1161;
constexpr char32_t kBaseT = 0x11a7;
constexpr char32_t kCountL = 19;
constexpr char32_t kCountV = 21;
constexpr char32_t kCountT = 28;

// Where decompositions() has an entry, by a key of it: texts full of accents ask for each letter.
class DecompositionIndex {
 public:
  void put(std::uint64_t key, std::size_t entry) {
    auto slot = slot_of(key);
    while (slots_[slot] != 0) slot = (slot + 1) % kSlots;
    slots_[slot] = static_cast<std::uint16_t>(entry + 1);
  }
  template <class Matches>
  const Decomposition* find(std::uint64_t key, Matches&& matches) const {
    for (auto slot = slot_of(key); slots_[slot] != 0; slot = (slot + 1) % kSlots) {
      const auto& entry = decompositions()[slots_[slot] - 1U];
      if (matches(entry)) return &entry;
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t kSlotBits = 13;  // Four for each of the 2000 entries.
  static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;
  static std::size_t slot_of(std::uint64_t key) {
    return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15ULL >> (64 - kSlotBits));
  }
  std::array<std::uint16_t, kSlots> slots_{};
};

std::uint64_t pair_key(char32_t first, char32_t second) {
  return std::uint64_t{first} << 32U | second;
}

const DecompositionIndex& by_whole() {
  static const DecompositionIndex made = [] {
    DecompositionIndex out;
    for (std::size_t i = 0; i < decompositions().size(); ++i) out.put(decompositions()[i].whole, i);
    return out;
  }();
  return made;
}

const DecompositionIndex& by_parts() {
  static const DecompositionIndex made = [] {
    DecompositionIndex out;
    for (std::size_t i = 0; i < decompositions().size(); ++i) {
      const auto& entry = decompositions()[i];
      if (entry.composes != 0) out.put(pair_key(entry.first, entry.second), i);
    }
    return out;
  }();
  return made;
}

bool is_hangul_join(ClusterBreak a, ClusterBreak b) {
  using enum ClusterBreak;
  if (a == hangul_l) return b == hangul_l || b == hangul_v || b == hangul_lv || b == hangul_lvt;
  if (a == hangul_lv || a == hangul_v) return b == hangul_v || b == hangul_t;
  return (a == hangul_lvt || a == hangul_t) && b == hangul_t;
}

bool is_hard(ClusterBreak c) {
  return c == ClusterBreak::control || c == ClusterBreak::cr || c == ClusterBreak::lf;
}

// GB3 to GB9b: what two neighbours tell. Joined emoji and flags need a look further back.
bool may_part(ClusterBreak a, ClusterBreak b) {
  using enum ClusterBreak;
  if (a == cr && b == lf) return false;
  if (is_hard(a) || is_hard(b)) return true;
  if (is_hangul_join(a, b)) return false;
  return b != extend && b != zwj && b != spacing_mark && a != prepend;
}

// GB11: whether the joiner that begins at `joiner` follows an emoji and marks upon it.
bool joins_emoji(std::string_view text, std::size_t joiner) {
  for (auto at = joiner; at > 0;) {
    const auto earlier = before(text, at);
    const auto cluster = cluster_break_of(earlier.c);
    if (cluster != ClusterBreak::extend) return cluster == ClusterBreak::pictographic;
    at = earlier.at;
  }
  return false;
}

// GB12: an odd number of letters before the second one is half a flag.
bool halves_flag(std::string_view text, std::size_t last_letter) {
  std::size_t letters = 1;
  for (auto at = last_letter; at > 0; ++letters) {
    const auto earlier = before(text, at);
    if (cluster_break_of(earlier.c) != ClusterBreak::regional) break;
    at = earlier.at;
  }
  return letters % 2 == 1;
}

}  // namespace

namespace tables {

Near make_near() {
  auto near = std::make_unique<std::array<std::uint16_t, kNearSize>>();
  for (const auto& run : property_runs()) {
    for (auto c = run.first; c <= run.last && c < kNearSize; ++c) (*near)[c] = run.bits;
  }
  return near;
}

// There are only a few.
std::uint16_t far_bits(char32_t c) {
  static const auto far = [] {
    const auto runs = property_runs();
    const auto first = std::ranges::lower_bound(runs, kNearSize, {}, &PropertyRun::last);
    return std::span(first, runs.end());
  }();
  const auto run = std::ranges::find_if(far, [c](const PropertyRun& one) { return c <= one.last; });
  return run != far.end() && run->first <= c ? run->bits : std::uint16_t{0};
}

}  // namespace tables

ClusterBreak cluster_break_of(char32_t c) {
  if (c - kHangulBase < kHangulCount) {
    return (c - kHangulBase) % kCountT == 0 ? ClusterBreak::hangul_lv : ClusterBreak::hangul_lvt;
  }
  return properties_of(c).cluster();
}

const Decomposition* decomposition_of(char32_t c) {
  return by_whole().find(c, [&](const Decomposition& entry) { return entry.whole == c; });
}

char32_t composite_of(char32_t first, char32_t second) {
  if (first - kBaseL < kCountL && second - kBaseV < kCountV) {
    return kHangulBase + ((first - kBaseL) * kCountV + (second - kBaseV)) * kCountT;
  }
  const auto syllable = first - kHangulBase;
  if (syllable < kHangulCount && syllable % kCountT == 0 && second > kBaseT &&
      second - kBaseT < kCountT) {
    return first + (second - kBaseT);
  }
  const auto* found = by_parts().find(pair_key(first, second), [&](const Decomposition& entry) {
    return entry.first == first && entry.second == second;
  });
  return found != nullptr ? found->whole : 0;
}

std::size_t unfinished_tail(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto at = text.size() - back;
    if (is_continuation(text[at])) continue;
    const auto lead = static_cast<unsigned char>(text[at]);
    if (utf8::sequence_size(lead) <= back) return 0;
    const bool fits =
        back == 1 || utf8::second_fits(lead, static_cast<unsigned char>(text[at + 1]));
    return fits ? back : 0;
  }
  return 0;
}

std::size_t code_point_floor(std::string_view text, std::size_t position) {
  if (position >= text.size()) return text.size();
  std::size_t floor = position;
  for (int i = 0; i < 3 && floor > 0 && is_continuation(text[floor]); ++i) --floor;
  // What looks like the rest of a sequence may be no part of one.
  const bool inside = floor < position && decode(text.substr(floor)).size > position - floor;
  return inside ? floor : position;
}

std::uint64_t count_code_points(std::string_view text) {
  std::uint64_t count = 0;
  for (const char byte : text) count += is_continuation(byte) ? 0U : 1U;
  return count;
}

namespace {

// Whether a cluster ends between characters of two classes; the first begins at `begin`.
bool is_boundary(std::string_view text, std::size_t begin, ClusterBreak a, ClusterBreak b) {
  if (!may_part(a, b)) return false;
  if (a == ClusterBreak::zwj && b == ClusterBreak::pictographic) return !joins_emoji(text, begin);
  if (a == ClusterBreak::regional && b == a) return !halves_flag(text, begin);
  return true;
}

}  // namespace

bool is_cluster_boundary(std::string_view text, std::size_t position) {
  if (position == 0 || position >= text.size()) return true;
  const auto next = static_cast<unsigned char>(text[position]);
  const auto last = static_cast<unsigned char>(text[position - 1]);
  if (next < 0x80 && last < 0x80) return !(last == '\r' && next == '\n');
  if (is_continuation(text[position]) && code_point_floor(text, position) != position) return false;
  const auto [c, begin] = before(text, position);
  const auto b = cluster_break_of(decode(text.substr(position)).c);
  return is_boundary(text, begin, cluster_break_of(c), b);
}

std::size_t cluster_floor(std::string_view text, std::size_t low, std::size_t position) {
  const auto whole = std::max(code_point_floor(text, position), low);
  if (whole <= low || whole >= text.size()) return whole;
  auto b = cluster_break_of(decode(text.substr(whole)).c);
  for (auto at = whole; at > low;) {
    const auto [c, begin] = before(text, at);
    const auto a = cluster_break_of(c);
    if (is_boundary(text, begin, a, b)) return at;
    b = a;
    at = begin;
  }
  return whole;
}

}  // namespace millrace::chunk
