#include "chunk/packer.h"

#include "chunk/unicode.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::chunk {
namespace {

constexpr std::size_t kCountedPartMax = 1024;  // What a tokenizer is asked to count in one go.

}  // namespace

Packer::Packer(const ChunkOptions& options, const TokenCounter& counter, Window& window,
               ChunkSink sink)
    : options_(options),
      counter_(counter),
      additive_(counter.additive()),
      bytes_max_(options.bytes_max()),
      window_(window),
      sink_(std::move(sink)),
      outline_(options.first_page) {
  chunk_.tokenizer = counter.name();
}

void Packer::add_marks(std::vector<Mark>& marks) {
  for (auto& mark : marks) {
    // Only a heading or a table that was a paragraph until now comes out of order.
    auto place = marks_.end();
    while (place != marks_.begin() && std::prev(place)->at > mark.at) --place;
    marks_.insert(place, std::move(mark));
  }
  marks.clear();
}

Result<void> Packer::add(const Line& line) {
  if (line.strength == Strength::section && !entries_.empty()) MR_TRY_VOID(begin_section(line));
  append(line);
  if (!opened_) open();
  const auto enough = [&] { return tokens_ - tokens_before(*parted_at_) >= options_.min_tokens; };
  if (parted_at_ && enough()) MR_TRY_VOID(hand_out_until(*parted_at_));
  while (!entries_.empty() && !fits(end_, room())) {
    if (parted_at_) {
      MR_TRY_VOID(hand_out_until(*parted_at_));
    } else {
      MR_TRY_VOID(hand_out(end_, false));
    }
  }
  return {};
}

Result<void> Packer::finish() {
  finishing_ = true;
  if (parted_at_ && !fits(end_, room())) MR_TRY_VOID(hand_out_until(*parted_at_));
  return hand_out_until(end_);
}

// Before a heading: what has gathered goes, stays to be joined, or waits for what comes.
Result<void> Packer::begin_section(const Line& line) {
  if (parted_at_ && line.level < parted_level_) {
    // Nothing can be joined to the small section any more but what stands before it.
    if (fits(end_, room())) {
      parted_at_.reset();
    } else {
      MR_TRY_VOID(hand_out_until(*parted_at_));
    }
  }
  if (line.level < root_level_) return hand_out_until(end_);
  const auto small = tokens_ - entries_.front().tokens < options_.min_tokens;
  if (!parted_at_ && !small) {
    parted_at_ = end_;
    parted_level_ = line.level;
  }
  return {};
}

void Packer::append(const Line& line) {
  // Blank lines are no places to cut: many are one entry.
  if (line.kind == BlockKind::blank && !entries_.empty() &&
      entries_.back().kind == BlockKind::blank &&
      line.end - entries_.back().begin <= kCountedPartMax) {
    tokens_ += counter_.count(window_.view(line.begin, line.end));
    end_ = line.end;
    return;
  }
  auto begin = line.begin;
  auto strength = line.strength;
  do {
    auto end = line.end;
    if (!additive_ && end - begin > kCountedPartMax) {
      const auto rest = window_.view(begin, end);
      end = begin + code_point_floor(rest, kCountedPartMax);
    }
    entries_.push_back({begin, tokens_, line.kind, strength, line.level});
    tokens_ += counter_.count(window_.view(begin, end));
    strength = Strength::none;
    begin = end;
  } while (begin < line.end);
  end_ = line.end;
}

Result<void> Packer::hand_out_until(std::uint64_t end) {
  while (start_ < end) MR_TRY_VOID(hand_out(end, true));
  return {};
}

std::uint64_t Packer::room() const {
  const auto taken = counter_.overhead() + prefix_tokens_;
  return options_.max_tokens > taken ? options_.max_tokens - taken : 1;
}

// The prefix depends on what stands before, and on whether a heading comes first.
void Packer::open() {
  opened_ = true;
  const auto& first = entries_.front();
  const auto& headings = outline_.headings();
  root_level_ = headings.empty() ? 0 : headings.back().level;
  if (first.strength == Strength::section) root_level_ = first.level;
  build_prefix();
}

void Packer::build_prefix() {
  const auto share = options_.max_tokens * options_.prefix_share_percent / 100;
  auto& prefix = chunk_.prefix;
  prefix.clear();
  chunk_.headings_dropped = 0;
  chunk_.table_header_dropped = chunk_.fence_dropped = false;
  const auto& first = entries_.front();
  const bool at_heading = first.strength == Strength::section;
  std::uint64_t used = 0;
  for (auto heading = outline_.headings().rbegin(); heading != outline_.headings().rend();
       ++heading) {
    if (at_heading && heading->level >= first.level) continue;
    scratch_ = std::string(heading->level, '#') + " " + heading->title + "\n";
    const auto cost = counter_.count(scratch_);
    // Once one has no room, those around it have none either: a path has no holes.
    if (chunk_.headings_dropped > 0 || used + cost > share) {
      ++chunk_.headings_dropped;
      continue;
    }
    used += cost;
    prefix.insert(0, scratch_);
  }
  if (const auto* table = outline_.table(); table != nullptr) {
    const auto cost = counter_.count(table->text);
    chunk_.table_header_dropped = table->text.empty() || cost > share;
    if (!chunk_.table_header_dropped) prefix += table->text;
    if (!chunk_.table_header_dropped) used += cost;
  }
  if (const auto* fence = outline_.fence(); fence != nullptr) {
    const auto cost = counter_.count(fence->text) + counter_.count(fence->closing) + 1;
    chunk_.fence_dropped = fence->text.empty() || cost > share;
    if (!chunk_.fence_dropped) prefix += fence->text;
    if (!chunk_.fence_dropped) used += counter_.count(fence->text);
  }
  prefix_tokens_ = used + (chunk_.overlap.empty() ? 0 : counter_.count(chunk_.overlap));
}

// What closes the fence that is open at `end`, if one is and can be closed.
std::string Packer::suffix_at(std::uint64_t end) const {
  const Mark* fence = outline_.fence();
  for (const auto& mark : marks_) {
    if (mark.at >= end) break;
    if (mark.kind == Mark::Kind::fence_open) fence = &mark;
    if (mark.kind == Mark::Kind::fence_close) fence = nullptr;
  }
  if (fence == nullptr || fence->closing.empty()) return {};
  // Nothing more comes in the fence: it ends here, or with the document.
  const auto closes_here = std::ranges::any_of(marks_, [&](const Mark& mark) {
    return mark.at == end && mark.kind == Mark::Kind::fence_close;
  });
  if (closes_here || (finishing_ && end == end_)) return {};
  const auto share = options_.max_tokens * options_.prefix_share_percent / 100;
  if (counter_.count(fence->text) + counter_.count(fence->closing) + 1 > share) return {};
  return window_.view(end - 1, end) == "\n" ? fence->closing : "\n" + fence->closing;
}

std::size_t Packer::exact_count(std::uint64_t end) {
  if (additive_) {
    return counter_.overhead() + prefix_tokens_ + counter_.count(window_.view(start_, end)) +
           counter_.count(chunk_.suffix);
  }
  scratch_.assign(chunk_.prefix).append(chunk_.overlap);
  scratch_.append(window_.view(start_, end)).append(chunk_.suffix);
  return counter_.overhead() + counter_.count(scratch_);
}

Result<void> Packer::hand_out(std::uint64_t end, bool all_must_go) {
  if (!opened_) open();
  Limits limits{.room = room(), .end = end, .all_must_go = all_must_go};
  std::uint64_t cut = 0;
  for (;;) {
    cut = choose(limits);
    chunk_.suffix = suffix_at(cut);
    chunk_.token_count = exact_count(cut);
    if (chunk_.token_count <= options_.max_tokens) break;
    // Estimates were too low: try with less room, down to a single code point.
    const auto over = chunk_.token_count - options_.max_tokens;
    if (limits.room <= 1) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("token counter {} counts {} tokens for {} bytes at byte {}: more "
                              "than max_tokens {}",
                              counter_.name(), chunk_.token_count, cut - start_, start_,
                              options_.max_tokens));
    }
    limits.room -= std::min(limits.room - 1, std::max<std::uint64_t>(over, limits.room / 32));
  }
  describe(cut);
  MR_TRY_VOID(sink_(chunk_));
  advance(cut);
  return {};
}

void Packer::describe(std::uint64_t end) {
  const auto text = window_.view(start_, end);
  chunk_.start_byte = start_;
  chunk_.end_byte = end;
  chunk_.start_code_point = start_code_point_;
  chunk_.end_code_point = start_code_point_ + count_code_points(text);
  chunk_.text = text;
  chunk_.overlap_bytes = chunk_.overlap.size();
  sha_.update(text);
  chunk_.sha256 = sha_.finish();

  chunk_.block_kinds.clear();
  unsigned seen = 1U << static_cast<unsigned>(BlockKind::blank);
  for (const auto& entry : entries_) {
    if (entry.begin >= end) break;
    const auto bit = 1U << static_cast<unsigned>(entry.kind);
    if ((seen & bit) == 0) chunk_.block_kinds.push_back(entry.kind);
    seen |= bit;
  }
  // A marker at the very beginning is where the slice's first page begins.
  chunk_.page_start = chunk_.page_end = outline_.page();
  for (const auto& mark : marks_) {
    if (mark.at >= end) break;
    if (mark.kind != Mark::Kind::page) continue;
    chunk_.page_end = Outline::next_page(chunk_.page_end, mark);
    if (mark.at == start_) chunk_.page_start = chunk_.page_end;
  }
  describe_path(end);
}

// The headings that all sections of the slice share; bare headings count only if there is nothing
// else.
void Packer::describe_path(std::uint64_t end) {
  auto path = outline_.headings();
  std::optional<std::vector<OpenHeading>> common;
  std::optional<std::vector<OpenHeading>> bare;
  const auto join = [](std::optional<std::vector<OpenHeading>>& all,
                       const std::vector<OpenHeading>& one) {
    if (!all) {
      all = one;
      return;
    }
    std::size_t same = 0;
    while (same < all->size() && same < one.size() && (*all)[same].at == one[same].at) ++same;
    all->resize(same);
  };
  auto mark = marks_.begin();
  bool counted = false;
  for (const auto& entry : entries_) {
    if (entry.begin >= end) break;
    if (entry.strength == Strength::section) {
      while (mark != marks_.end() &&
             (mark->at < entry.begin || mark->kind != Mark::Kind::heading)) {
        ++mark;
      }
      if (mark == marks_.end()) break;
      close_headings(path, mark->number);
      path.push_back({mark->at, mark->number, mark->text});
      ++mark;
      join(bare, path);
      counted = false;
    } else if (!counted && entry.kind != BlockKind::blank && entry.kind != BlockKind::heading) {
      join(common, path);
      counted = true;
    }
  }
  const auto& found = common ? *common : bare ? *bare : path;
  chunk_.heading_path.resize(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) chunk_.heading_path[i] = found[i].title;
}

void Packer::advance(std::uint64_t end) {
  chunk_.overlap = overlap_for(end);
  // What begins exactly at `end` belongs to the next chunk, what closes there to this one.
  const auto passed = [&](const Mark& mark) {
    const bool closes =
        mark.kind == Mark::Kind::fence_close || mark.kind == Mark::Kind::table_close;
    return mark.at < end || (mark.at == end && closes);
  };
  std::size_t kept = 0;
  for (auto& mark : marks_) {
    if (passed(mark)) {
      outline_.pass(mark);
    } else {
      if (&marks_[kept] != &mark) marks_[kept] = std::move(mark);
      ++kept;
    }
  }
  marks_.resize(kept, {.kind = Mark::Kind::page});

  const auto index = entry_at(end);
  if (index < entries_.size() && entries_[index].begin < end) {
    auto& entry = entries_[index];
    const auto next = entry_end(index);
    const auto after = index + 1 < entries_.size() ? entries_[index + 1].tokens : tokens_;
    entry.tokens = after - counter_.count(window_.view(end, next));
    entry.begin = end;
    entry.strength = Strength::none;
  }
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(index));
  ++chunk_.ordinal;
  start_code_point_ = chunk_.end_code_point;
  start_ = end;
  if (parted_at_ && *parted_at_ <= end) parted_at_.reset();
  window_.drop_before(end);
  opened_ = false;
  if (!entries_.empty()) open();
}

}  // namespace millrace::chunk
