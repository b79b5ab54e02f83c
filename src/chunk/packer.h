// Packer: lines to chunks. It decides where the text is cut and hands the slices out.
//
// Flow: Chunker adds the lines and marks of BlockScanner. They gather until a section ends or the
// budget is full; then a chunk is cut off at the best place:
//   section > block > table row > list item > inner block > line of code > sentence > line > word >
//   grapheme cluster > code point (only where one cluster is longer than the budget).
// Of places of one kind the first after target_tokens is taken, else the last after min_tokens.
// A section below min_tokens is joined with the next one of its level or deeper; one that nothing
// follows goes back to the one before if both fit. A higher heading always parts.
// Threading: one thread. Lifetime: window, counter and sink outlive it. Memory: a slice of
// bytes_max(), min_tokens more of it, and one record per line of both.
#pragma once

#include "chunk/block_scanner.h"
#include "chunk/chunk.h"
#include "chunk/marks.h"
#include "chunk/outline.h"
#include "chunk/window.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace millrace::chunk {

using ChunkSink = std::function<Result<void>(const Chunk&)>;

class Packer {
 public:
  // What it gives back of both when it has handed a chunk out is not asked for again.
  struct Source {
    Window& window;
    Marks& marks;
  };
  Packer(const ChunkOptions& options, const TokenCounter& counter, Source source, ChunkSink sink);

  // The marks of a line, and of those before it, are there by now; those of later lines are not.
  Result<void> add(const Line& line);
  // Adds the line if nothing has to be handed out because of it, else changes nothing: for most
  // lines that is all there is to do.
  bool take(const Line& line);
  Result<void> finish();

 private:
  struct Entry {  // A line, or a part of a long one.
    std::uint64_t begin = 0;
    std::uint64_t tokens = 0;  // Before it, counted from anywhere.
    BlockKind kind = BlockKind::blank;
    Strength strength = Strength::none;
    std::uint8_t level = 0;
  };
  struct Limits {
    std::uint64_t room = 0;  // Tokens for slice and suffix.
    std::uint64_t end = 0;   // Nothing behind this is cut.
    bool all_must_go = false;
  };

  Result<void> add_empty_lines(const Line& line);
  std::uint64_t quiet_lines_max(std::uint64_t line_tokens) const;
  Result<void> begin_section(const Line& line);
  Result<void> hand_out_until(std::uint64_t end);
  Result<void> hand_out(std::uint64_t end, bool all_must_go);
  void open();
  bool joins_blanks(const Line& line) const;
  void append(const Line& line);
  [[gnu::noinline]] bool take_section(const Line& line);
  void part_at_end(std::uint32_t level);
  void find_limits();

  std::uint64_t choose(const Limits& limits);
  std::optional<std::uint64_t> choose_soft(const Limits& limits) const;
  std::optional<std::uint64_t> choose_structure(const Limits& limits);
  std::uint64_t choose_text(const Limits& limits);
  bool can_end_before(const Entry& entry, std::uint64_t room);
  bool fits(std::uint64_t end, std::uint64_t room) const;
  std::uint64_t reach(std::uint64_t room) const;
  std::uint64_t place_of(std::uint64_t tokens) const;

  std::size_t entry_at(std::uint64_t offset) const;
  std::uint64_t entry_end(std::size_t index) const;
  std::uint64_t tokens_before(std::uint64_t offset) const;
  // The first entry that `is_behind` holds for, as for all that follow; entries_.size(): none.
  template <class IsBehind>
  std::size_t first_entry(IsBehind&& is_behind) const;
  const FenceTexts& texts_of(const Marks::Fence& fence);
  const FenceTexts* fence_to_close(std::uint64_t end);
  std::string suffix_at(std::uint64_t end);
  std::uint64_t suffix_tokens(std::uint64_t end);
  bool ends_line(std::uint64_t end) const { return window_.view(end - 1, end) == "\n"; }
  std::uint64_t room() const;

  void build_prefix();
  void describe(std::uint64_t end);
  void describe_blocks(std::uint64_t end);
  void describe_pages(std::uint64_t end);
  std::size_t exact_count(std::uint64_t end);
  void pass_marks(std::uint64_t end);
  void advance(std::uint64_t end);
  std::string overlap_for(std::uint64_t end) const;

  const ChunkOptions options_;
  const TokenCounter& counter_;
  const bool additive_;
  const std::size_t overhead_;
  const std::size_t share_;  // Tokens for headings; for a table header or fence; for a suffix.
  const std::size_t bytes_max_;
  Window& window_;
  Marks& marks_;  // Not passed yet.
  const ChunkSink sink_;

  Outline outline_;
  std::vector<Entry> entries_;
  std::uint64_t end_ = 0;
  std::uint64_t tokens_ = std::uint64_t{1} << 40;  // At end_; far from 0, as it may be corrected.
  std::uint64_t start_ = 0;
  std::uint64_t start_code_point_ = 0;
  std::uint32_t root_level_ = 0;     // Of the section that start_ lies in.
  bool opened_ = false;              // The prefix of the chunk in the making is known.
  std::uint64_t prefix_tokens_ = 0;  // Prefix and overlap.
  // A section that could go on its own begins here, but what follows is still below min_tokens.
  std::optional<std::uint64_t> parted_at_;
  std::uint64_t parted_tokens_ = 0;  // Before it.
  std::uint32_t parted_level_ = 0;
  // What may be taken before something has to be handed out.
  std::uint64_t quiet_end_ = 0;
  std::uint64_t quiet_tokens_ = 0;
  bool finishing_ = false;

  FenceTexts fence_texts_;  // Of the fence at fence_at_: most are asked for again and again.
  std::optional<std::uint64_t> fence_at_;

  Chunk chunk_;  // Used again and again, for its memory.
  Sha256 sha_;
  std::string scratch_;
};

}  // namespace millrace::chunk
