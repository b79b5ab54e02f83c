// BlockScanner: lines to blocks, the CommonMark way: containers first, then what stands in them.
//
// Flow: Chunker gives it one line after another (a long line in parts); it answers with the same
// lines, each with its kind and with how good a place before it is to part the text, and puts down
// marks: headings, fences, tables, pages. A line is answered when nothing that follows can change
// what it is: a paragraph waits for its end, because an underline would make it a heading and a
// delimiter row its last line a table; but not longer than kHeadingBytesMax.
// Threading: one thread. Lifetime: window and marks outlive it; the window keeps what is waiting.
#pragma once

#include "chunk/chunk.h"
#include "chunk/containers.h"
#include "chunk/marks.h"
#include "chunk/window.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::chunk {

// How good a place is to part the text: greater is better.
enum class Strength : std::uint8_t { none, line, inner, item, row, block, section };

struct Line {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  BlockKind kind = BlockKind::blank;
  Strength strength = Strength::none;
  std::uint8_t level = 0;    // Of a heading that begins a section.
  bool empty_lines = false;  // Nothing but line ends: many lines in one.
};

class BlockScanner {
 public:
  static constexpr std::size_t kLinePartMax = 4096;      // Longer lines come in parts.
  static constexpr std::size_t kHeadingBytesMax = 4096;  // Of an underlined heading.
  static constexpr std::size_t kFenceLineMax = 128;

  BlockScanner(const Window& window, Marks& marks) : window_(window), marks_(marks) {}

  void scan(std::uint64_t begin, std::uint64_t end);  // A whole line.
  enum class Part { first, more, last };
  void scan_part(std::uint64_t begin, std::uint64_t end, Part part);
  // Whether empty lines, however many, change nothing now: they may come in one go.
  bool takes_empty_lines() const {
    return last_kind_ == BlockKind::blank && !may_be_matter_ && containers_.are_items() &&
           (leaf_ == Leaf::none || leaf_ == Leaf::indented);
  }
  void scan_empty_lines(std::uint64_t begin, std::uint64_t end);
  void finish();  // No line follows.

  std::vector<Line> lines;  // What is known by now; the caller takes it away.

 private:
  // Many lines need a few instructions only: what the others need is kept out of their way by
  // functions that are not inlined.
  enum class Leaf { none, paragraph, fence, html, table, indented, front_matter };

  std::string_view begin_line(std::uint64_t begin, std::uint64_t end);
  void scan_line(std::string_view text);
  bool scan_plain_line(std::string_view text);
  [[gnu::noinline]] void scan_any_line(std::string_view text);
  void find_pages();
  bool scan_front_matter(std::string_view text);
  bool scan_fence(const LineCursor& cursor, bool held);
  bool scan_html(std::string_view text, bool held);
  void scan_blank();
  void scan_leaf(std::string_view text, const LineCursor& cursor, Strength strength);
  bool begin_fence(std::string_view text, const LineCursor& cursor, Strength strength);
  bool begin_heading(std::string_view rest, Strength strength);
  bool begin_html(std::string_view rest, Strength strength);
  bool end_setext(std::string_view rest);
  bool begin_table(std::string_view rest);
  void take_paragraph(Strength strength);

  void put(BlockKind kind, Strength strength, std::uint8_t level = 0) {
    if (!waiting_.empty()) release(0);
    lines.emplace_back(begin_, end_, kind, strength, level);
    last_kind_ = kind;
  }
  void put_code() { put(BlockKind::code, leaf_lines_++ == 0 ? Strength::none : Strength::line); }
  [[gnu::noinline]] void release(std::size_t keep);
  // The leaf ends before this line.
  void leave() {
    if (leaf_ != Leaf::none) end_leaf();
  }
  void end_leaf();
  BlockKind prose() const;
  std::uint64_t place_of(std::string_view part) const;

  const Window& window_;
  Marks& marks_;
  Containers containers_;
  Leaf leaf_ = Leaf::none;
  std::vector<Line> waiting_;    // Lines of the open paragraph.
  bool may_be_heading_ = false;  // All lines of the open paragraph are waiting.
  bool may_be_matter_ = false;   // The first line was "---".
  bool in_long_line_ = false;

  std::uint64_t begin_ = 0;  // The line in hand.
  std::uint64_t end_ = 0;
  std::uint64_t form_feed_ = 0;  // No form feed from begin_ to here.
  BlockKind last_kind_ = BlockKind::blank;

  char fence_char_ = 0;
  std::size_t fence_size_ = 0;
  std::size_t fence_indent_ = 0;
  std::size_t leaf_depth_ = 0;  // Containers around the fence or HTML block.
  std::size_t leaf_lines_ = 0;  // Since the leaf began.
  std::string_view html_end_;   // Empty: a blank line ends it.
  std::string html_tail_;       // The end of the last part of a long line.
};

}  // namespace millrace::chunk
