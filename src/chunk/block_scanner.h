// BlockScanner: lines to blocks, the CommonMark way: containers first, then what stands in them.
//
// Flow: Chunker gives it one line after another (a long line in parts); it answers with the same
// lines, each with its kind and with how good a place before it is to part the text, and with
// marks: headings, fences, tables, pages. A line is answered when nothing that follows can change
// what it is: a paragraph waits for its end, because an underline would make it a heading and a
// delimiter row its last line a table; but not longer than kHeadingBytesMax.
// Threading: one thread. Lifetime: the window outlives it and keeps what is waiting.
#pragma once

#include "chunk/chunk.h"
#include "chunk/containers.h"
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
  std::uint8_t level = 0;  // Of a heading that begins a section.
};

struct Mark {
  enum class Kind : std::uint8_t {
    heading,
    fence_open,
    fence_close,
    table_open,
    table_close,
    page
  };
  Kind kind;
  std::uint64_t at = 0;      // It holds from here on.
  std::uint32_t number = 0;  // Level or page; page 0 is the one after the last.
  std::string text = {};     // Title; header rows; the line that opens the fence again.
  std::string closing = {};  // The line that closes the fence.
};

class BlockScanner {
 public:
  static constexpr std::size_t kLinePartMax = 4096;      // Longer lines come in parts.
  static constexpr std::size_t kHeadingBytesMax = 4096;  // Of an underlined heading.
  static constexpr std::size_t kTitleBytesMax = 1024;
  static constexpr std::size_t kFenceLineMax = 128;

  explicit BlockScanner(const Window& window) : window_(window) {}

  enum class Part { whole, first, more, last };
  void scan(std::uint64_t begin, std::uint64_t end, Part part);
  void finish();  // No line follows.

  // What is known by now; the caller takes it away.
  std::vector<Line> lines;
  std::vector<Mark> marks;  // Sorted by place.

 private:
  enum class Leaf { none, paragraph, fence, html, table, indented, front_matter };

  void scan_line(std::string_view text);
  void find_pages(std::string_view text, std::uint64_t begin);
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

  void put(BlockKind kind, Strength strength, std::uint8_t level = 0);
  void release(std::size_t keep);
  void leave();  // The leaf ends before this line.
  BlockKind prose() const;
  void mark(Mark mark);

  const Window& window_;
  Containers containers_;
  Leaf leaf_ = Leaf::none;
  std::vector<Line> waiting_;    // Lines of the open paragraph.
  bool may_be_heading_ = false;  // All lines of the open paragraph are waiting.
  bool may_be_matter_ = false;   // The first line was "---".
  bool in_long_line_ = false;

  std::uint64_t begin_ = 0;  // The line in hand.
  std::uint64_t end_ = 0;
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
