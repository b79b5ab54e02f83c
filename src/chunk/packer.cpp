#include "chunk/packer.h"

#include "chunk/heading_path.h"
#include "chunk/unicode.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace millrace::chunk {
namespace {

constexpr std::size_t kCountedPartMax = 1024;  // What a tokenizer is asked to count in one go.

}  // namespace

Packer::Packer(const ChunkOptions& options, const TokenCounter& counter, Source source,
               ChunkSink sink)
    : options_(options),
      counter_(counter),
      additive_(counter.additive()),
      overhead_(counter.overhead()),
      share_(options.max_tokens * options.prefix_share_percent / 100),
      bytes_max_(options.bytes_max()),
      window_(source.window),
      marks_(source.marks),
      sink_(std::move(sink)),
      outline_(options.first_page) {
  chunk_.tokenizer = counter.name();
}

bool Packer::take(const Line& line) {
  if (line.end > quiet_end_ || line.empty_lines) return false;
  if (!additive_ && line.end - line.begin > kCountedPartMax) return false;
  if (line.strength == Strength::section && !take_section(line)) return false;
  const auto tokens = tokens_ + counter_.count(window_.view(line.begin, line.end));
  if (tokens > quiet_tokens_) return false;
  if (!joins_blanks(line)) {
    entries_.emplace_back(line.begin, tokens_, line.kind, line.strength, line.level);
  }
  tokens_ = tokens;
  end_ = line.end;
  return true;
}

// Whether nothing goes before the section. What is noted of it here, begin_section() would note.
bool Packer::take_section(const Line& line) {
  if (line.level < root_level_ || (parted_at_ && line.level < parted_level_)) return false;
  if (!parted_at_ && tokens_ - entries_.front().tokens >= options_.min_tokens) {
    part_at_end(line.level);
  }
  return true;
}

void Packer::part_at_end(std::uint32_t level) {
  parted_at_ = end_;
  parted_tokens_ = tokens_;
  parted_level_ = level;
  find_limits();
}

void Packer::find_limits() {
  quiet_end_ = opened_ ? start_ + bytes_max_ : 0;
  if (!opened_) return;
  quiet_tokens_ = entries_.front().tokens + room();
  if (parted_at_) quiet_tokens_ = std::min(quiet_tokens_, parted_tokens_ + options_.min_tokens - 1);
}

Result<void> Packer::add(const Line& line) {
  if (line.empty_lines) return add_empty_lines(line);
  if (line.strength == Strength::section && !entries_.empty()) MR_TRY_VOID(begin_section(line));
  append(line);
  if (!opened_) open();
  const auto enough = [&] { return tokens_ - parted_tokens_ >= options_.min_tokens; };
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

// As if each was added by itself.
Result<void> Packer::add_empty_lines(const Line& line) {
  const auto line_tokens = counter_.count("\n");
  for (auto at = line.begin; at < line.end;) {
    MR_TRY_VOID(add({.begin = at, .end = at + 1}));
    ++at;
    const auto quiet = std::min(quiet_lines_max(line_tokens), line.end - at);
    tokens_ += quiet * line_tokens;
    end_ += quiet;
    at += quiet;
  }
  return {};
}

// How many empty lines can follow the last one before anything has to be handed out or noted.
std::uint64_t Packer::quiet_lines_max(std::uint64_t line_tokens) const {
  if (entries_.empty()) return 0;
  const auto left = [](std::uint64_t most, std::uint64_t used) {
    return most > used ? most - used : 0;
  };
  auto lines = std::min(left(kCountedPartMax, end_ - entries_.back().begin),
                        left(bytes_max_, end_ - start_));
  if (line_tokens == 0) return lines;
  lines = std::min(lines, left(room(), tokens_ - entries_.front().tokens) / line_tokens);
  if (!parted_at_) return lines;
  // One token less than what would be enough.
  const auto most = left(options_.min_tokens, 1);
  return std::min(lines, left(most, tokens_ - parted_tokens_) / line_tokens);
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
      find_limits();
    } else {
      MR_TRY_VOID(hand_out_until(*parted_at_));
    }
  }
  if (line.level < root_level_) return hand_out_until(end_);
  const auto small = tokens_ - entries_.front().tokens < options_.min_tokens;
  if (!parted_at_ && !small) part_at_end(line.level);
  return {};
}

// Blank lines are no places to cut: many are one entry.
bool Packer::joins_blanks(const Line& line) const {
  return line.kind == BlockKind::blank && !entries_.empty() &&
         entries_.back().kind == BlockKind::blank &&
         line.end - entries_.back().begin <= kCountedPartMax;
}

void Packer::append(const Line& line) {
  if (joins_blanks(line)) {
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
    entries_.emplace_back(begin, tokens_, line.kind, strength, line.level);
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
  const auto taken = overhead_ + prefix_tokens_;
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
  find_limits();
}

void Packer::build_prefix() {
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
    // Once one has no room, those around it have none either: a path has no holes.
    if (chunk_.headings_dropped > 0) {
      ++chunk_.headings_dropped;
      continue;
    }
    scratch_.assign(heading->level, '#').append(" ").append(heading->title).append("\n");
    if (!heading->tokens) heading->tokens = counter_.count(scratch_);
    if (used + *heading->tokens > share_) {
      ++chunk_.headings_dropped;
      continue;
    }
    used += *heading->tokens;
    prefix.insert(0, scratch_);
  }
  if (auto* table = outline_.table(); table != nullptr) {
    if (!table->tokens) table->tokens = counter_.count(table->header);
    chunk_.table_header_dropped = table->header.empty() || *table->tokens > share_;
    if (!chunk_.table_header_dropped) prefix += table->header;
    if (!chunk_.table_header_dropped) used += *table->tokens;
  }
  if (const auto* fence = outline_.fence(); fence != nullptr) {
    const auto cost = fence->text_tokens + fence->closing_tokens + 1;
    chunk_.fence_dropped = fence->text.empty() || cost > share_;
    if (!chunk_.fence_dropped) prefix += fence->text;
    if (!chunk_.fence_dropped) used += fence->text_tokens;
  }
  prefix_tokens_ = used + (chunk_.overlap.empty() ? 0 : counter_.count(chunk_.overlap));
}

const FenceTexts& Packer::texts_of(const Marks::Fence& fence) {
  if (fence_at_ == fence.at) return fence_texts_;
  FenceTexts texts(window_, fence);
  // Fences are opened alike all over a text.
  if (texts.text != fence_texts_.text || texts.closing != fence_texts_.closing) {
    texts.count(counter_);
    fence_texts_ = std::move(texts);
  }
  fence_at_ = fence.at;
  return fence_texts_;
}

// The fence that is open at `end`, if one is and can be closed.
const FenceTexts* Packer::fence_to_close(std::uint64_t end) {
  const auto next = std::ranges::lower_bound(marks_.fences, end, {}, &Marks::Fence::at);
  const auto* opened = next == marks_.fences.begin() ? nullptr : &*std::prev(next);
  if (opened == nullptr ? outline_.fence() == nullptr : !opened->opens) return nullptr;
  // Nothing more comes in the fence: it ends here, or with the document.
  const bool closes_here = next != marks_.fences.end() && next->at == end && !next->opens;
  if (closes_here || (finishing_ && end == end_)) return nullptr;
  const auto& texts = opened == nullptr ? *outline_.fence() : texts_of(*opened);
  if (texts.closing.empty()) return nullptr;
  return texts.text_tokens + texts.closing_tokens + 1 > share_ ? nullptr : &texts;
}

std::string Packer::suffix_at(std::uint64_t end) {
  const auto* fence = fence_to_close(end);
  if (fence == nullptr) return {};
  return ends_line(end) ? fence->closing : "\n" + fence->closing;
}

std::uint64_t Packer::suffix_tokens(std::uint64_t end) {
  const auto* fence = fence_to_close(end);
  if (fence == nullptr) return counter_.count({});
  return ends_line(end) ? fence->closing_tokens : fence->line_closing_tokens;
}

std::size_t Packer::exact_count(std::uint64_t end) {
  if (additive_) {
    return overhead_ + prefix_tokens_ + counter_.count(window_.view(start_, end)) +
           counter_.count(chunk_.suffix);
  }
  scratch_.assign(chunk_.prefix).append(chunk_.overlap);
  scratch_.append(window_.view(start_, end)).append(chunk_.suffix);
  return overhead_ + counter_.count(scratch_);
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

  describe_blocks(end);
  describe_pages(end);
}

void Packer::describe_blocks(std::uint64_t end) {
  chunk_.block_kinds.clear();
  unsigned seen = 1U << static_cast<unsigned>(BlockKind::blank);
  HeadingPath path(outline_.headings());
  auto heading = marks_.headings.begin();
  bool has_text = false;  // The section at hand.
  for (const auto& entry : entries_) {
    if (entry.begin >= end) break;
    const auto bit = 1U << static_cast<unsigned>(entry.kind);
    if ((seen & bit) == 0) chunk_.block_kinds.push_back(entry.kind);
    seen |= bit;
    if (entry.strength == Strength::section) {
      while (heading->at < entry.begin) ++heading;
      path.enter(*heading);
      has_text = false;
    } else if (!has_text && entry.kind != BlockKind::blank && entry.kind != BlockKind::heading) {
      path.take_text();
      has_text = true;
    }
  }
  path.write_titles(window_, chunk_.heading_path);
}

// A marker at the very beginning is where the slice's first page begins.
void Packer::describe_pages(std::uint64_t end) {
  chunk_.page_start = chunk_.page_end = outline_.page();
  for (const auto& page : marks_.pages) {
    if (page.at >= end) break;
    chunk_.page_end = Outline::next_page(chunk_.page_end, page);
    if (page.at == start_) chunk_.page_start = chunk_.page_end;
  }
}

// Moves the outline behind the chunk that ends at `end`.
void Packer::pass_marks(std::uint64_t end) {
  const auto pass = [](auto& marks, auto&& is_passed, auto&& take) {
    const auto kept = std::ranges::partition_point(marks, is_passed);
    if (kept == marks.begin()) return;
    take(std::span(marks.begin(), kept));
    marks.erase(marks.begin(), kept);
  };
  // What begins exactly at `end` belongs to the next chunk, what closes there to this one.
  const auto before = [&](const auto& mark) { return mark.at < end; };
  const auto before_or_closing = [&](const auto& mark) {
    return mark.at < end || (mark.at == end && !mark.opens);
  };
  pass(marks_.headings, before, [&](auto passed) { outline_.pass(passed, window_); });
  pass(marks_.pages, before, [&](auto passed) { outline_.pass(passed); });
  pass(marks_.tables, before_or_closing, [&](auto passed) { outline_.pass(passed, window_); });
  pass(marks_.fences, before_or_closing, [&](auto passed) {
    const auto& last = passed.back();
    outline_.set_fence(last.opens ? std::optional(texts_of(last)) : std::nullopt);
  });
}

void Packer::advance(std::uint64_t end) {
  chunk_.overlap = overlap_for(end);
  pass_marks(end);
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
  find_limits();
  if (!entries_.empty()) open();
}

}  // namespace millrace::chunk
