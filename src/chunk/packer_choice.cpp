// Where Packer cuts.
#include "chunk/packer.h"
#include "chunk/text_break.h"
#include "chunk/unicode.h"

#include <algorithm>

namespace millrace::chunk {
namespace {

constexpr auto npos = std::string_view::npos;

bool is_prose(BlockKind kind) {
  return kind == BlockKind::paragraph || kind == BlockKind::list || kind == BlockKind::quote ||
         kind == BlockKind::blank || kind == BlockKind::heading;
}

}  // namespace

std::size_t Packer::entry_at(std::uint64_t offset) const {
  if (offset >= end_) return entries_.size();
  const auto after = std::ranges::upper_bound(entries_, offset, {}, &Entry::begin);
  return static_cast<std::size_t>(after - entries_.begin()) - 1;
}

std::uint64_t Packer::entry_end(std::size_t index) const {
  return index + 1 < entries_.size() ? entries_[index + 1].begin : end_;
}

// Exact at the beginning of a line and for an additive counter, else in proportion.
std::uint64_t Packer::tokens_before(std::uint64_t offset) const {
  const auto index = entry_at(offset);
  if (index >= entries_.size()) return tokens_;
  const auto& entry = entries_[index];
  if (offset == entry.begin) return entry.tokens;
  const auto after = index + 1 < entries_.size() ? entries_[index + 1].tokens : tokens_;
  const auto bytes = entry_end(index) - entry.begin;
  return entry.tokens + (after - entry.tokens) * (offset - entry.begin) / bytes;
}

// Where about `tokens` tokens of the chunk are before.
std::uint64_t Packer::place_of(std::uint64_t tokens) const {
  const auto wanted = entries_.front().tokens + tokens;
  if (wanted >= tokens_) return end_;
  const auto after = std::ranges::upper_bound(entries_, wanted, {}, &Entry::tokens);
  const auto index = static_cast<std::size_t>(after - entries_.begin()) - 1;
  const auto& entry = entries_[index];
  const auto next = index + 1 < entries_.size() ? entries_[index + 1].tokens : tokens_;
  const auto bytes = entry_end(index) - entry.begin;
  return entry.begin +
         bytes * (wanted - entry.tokens) / std::max<std::uint64_t>(next - entry.tokens, 1);
}

bool Packer::fits(std::uint64_t end, std::uint64_t room) const {
  return end - start_ <= bytes_max_ && tokens_before(end) - entries_.front().tokens <= room;
}

std::uint64_t Packer::choose(const Limits& limits) {
  if (limits.all_must_go && fits(limits.end, limits.room)) {
    return choose_soft(limits).value_or(limits.end);
  }
  if (const auto cut = choose_structure(limits)) return *cut;
  return choose_text(limits);
}

template <class IsBehind>
std::size_t Packer::first_entry(IsBehind&& is_behind) const {
  const auto found =
      std::ranges::partition_point(entries_, [&](const Entry& entry) { return !is_behind(entry); });
  return static_cast<std::size_t>(found - entries_.begin());
}

// All of it would fit; it is parted only if both parts are worth it: before the last section, or
// else before the first block after the target.
std::optional<std::uint64_t> Packer::choose_soft(const Limits& limits) const {
  const auto first = entries_.front().tokens;
  const auto all = tokens_before(limits.end);
  if (all - first <= options_.target_tokens) return std::nullopt;
  const auto reaches = [&](std::uint64_t tokens) {
    return first_entry([&](const Entry& entry) { return entry.tokens - first >= tokens; });
  };
  const auto end = first_entry([&](const Entry& entry) {
    return entry.begin >= limits.end || all - entry.tokens < options_.min_tokens;
  });
  const auto begin = std::max<std::size_t>(reaches(options_.min_tokens), 1);
  for (auto i = end; i-- > begin;) {
    if (entries_[i].strength == Strength::section) return entries_[i].begin;
  }
  for (auto i = std::max<std::size_t>(reaches(options_.target_tokens), 1); i < end; ++i) {
    if (entries_[i].strength == Strength::block) return entries_[i].begin;
  }
  return std::nullopt;
}

// The fence that a cut here leaves open has to be closed within the budget.
bool Packer::can_end_before(const Entry& entry, std::uint64_t room) {
  const auto size = entry.tokens - entries_.front().tokens;
  return entry.kind != BlockKind::code || size + BlockScanner::kFenceLineMax + 2 <= room ||
         size + suffix_tokens(entry.begin) <= room;
}

std::optional<std::uint64_t> Packer::choose_structure(const Limits& limits) {
  const auto first = entries_.front().tokens;
  const auto reaches = [&](std::uint64_t tokens) {
    return first_entry([&](const Entry& entry) { return entry.tokens - first >= tokens; });
  };
  const auto end = first_entry([&](const Entry& entry) {
    return entry.begin > limits.end || entry.begin - start_ > bytes_max_ ||
           entry.tokens - first > limits.room;
  });
  // Sections: the last one, however small what stands before it.
  for (auto i = end; i-- > 1;) {
    if (entries_[i].strength == Strength::section) return entries_[i].begin;
  }
  const auto low = std::max<std::size_t>(reaches(std::max<std::size_t>(options_.min_tokens, 1)), 1);
  const auto target = std::clamp(reaches(options_.target_tokens), low, std::max(low, end));
  auto best = Strength::none;
  std::optional<std::uint64_t> cut;
  const auto look_at = [&](const Entry& entry) {
    if (entry.strength <= best || !can_end_before(entry, limits.room)) return;
    best = entry.strength;
    cut = entry.begin;
  };
  for (auto i = target; i < end; ++i) look_at(entries_[i]);
  for (auto i = std::min(target, end); i-- > low;) look_at(entries_[i]);
  return cut;
}

// The furthest place that `room` tokens reach; at least one code point.
std::uint64_t Packer::reach(std::uint64_t room) const {
  auto to = std::min({place_of(room), start_ + bytes_max_, end_});
  const auto text = window_.view(start_, end_);
  if (!additive_) {
    const auto index = entry_at(std::min(to, end_ - 1));
    const auto begin = entries_[index].begin;
    const auto left = room - std::min(room, entries_[index].tokens - entries_.front().tokens);
    // In proportion is a guess: shrink it until the counter agrees.
    for (int i = 0; i < 8 && to > begin; ++i) {
      to = start_ + code_point_floor(text, to - start_);
      const auto count = counter_.count(window_.view(begin, to));
      if (count <= left) break;
      to = begin + (to - begin) * left / count;
    }
  }
  const auto floor = code_point_floor(text, to - start_);
  if (floor > 0) return start_ + floor;
  std::size_t one = 1;
  while (one < text.size() && one < 4 && is_continuation(text[one])) ++one;
  return start_ + one;
}

std::uint64_t Packer::choose_text(const Limits& limits) {
  auto high = std::min(reach(limits.room), limits.end);
  if (fence_to_close(high) != nullptr) {
    const auto cost = suffix_tokens(high) + 1;
    high = std::min(reach(limits.room > cost ? limits.room - cost : 1), limits.end);
  }
  const auto text = window_.view(start_, end_);
  const auto at = [&](std::uint64_t offset) {
    return static_cast<std::size_t>(std::clamp(offset, start_, high) - start_);
  };
  const BreakRange range{.low = at(place_of(options_.min_tokens)),
                         .target = at(place_of(options_.target_tokens)),
                         .high = at(high)};
  const auto index = std::min(entry_at(high), entries_.size() - 1);
  if (is_prose(entries_[index].kind) || entries_[index].kind == BlockKind::table) {
    if (const auto cut = find_text_break(text, range, TextBreak::sentence); cut != npos) {
      return start_ + cut;
    }
  }
  for (const auto kind : {TextBreak::line, TextBreak::word}) {
    if (const auto cut = find_text_break(text, range, kind); cut != npos) return start_ + cut;
  }
  return start_ + cluster_floor(text, 0, at(high));
}

// The last whole sentences of the slice that ends at `end`, where the text goes on as it was.
std::string Packer::overlap_for(std::uint64_t end) const {
  if (options_.overlap_tokens == 0 || end >= end_) return {};
  const auto next = entry_at(end);
  const auto last = entry_at(end - 1);
  if (!is_prose(entries_[next].kind) || entries_[next].strength == Strength::section) return {};
  if (!is_prose(entries_[last].kind) || entries_[last].kind == BlockKind::heading) return {};
  const auto text = window_.view(start_, end_);
  const auto used = tokens_before(end) - entries_.front().tokens;
  auto from = used > options_.overlap_tokens ? place_of(used - options_.overlap_tokens) : start_;
  const auto to = static_cast<std::size_t>(end - start_);
  for (auto at = static_cast<std::size_t>(from - start_); at < to; ++at) {
    const BreakRange range{.low = to, .target = at, .high = to - 1};
    at = find_text_break(text, range, TextBreak::sentence);
    if (at == npos) return {};
    const auto part = text.substr(at, to - at);
    const auto kind = entries_[entry_at(start_ + at)].kind;
    if (is_prose(kind) && counter_.count(part) <= options_.overlap_tokens) return std::string(part);
  }
  return {};
}

}  // namespace millrace::chunk
