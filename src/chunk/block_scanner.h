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
#include <optional>
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

// What holds from a place `at` on, each kind sorted by its place. Tokens are Packer's, counted once
// for all chunks that repeat a text.
struct Marks {
  struct Heading {
    std::uint64_t at = 0;  // Tells headings of one title apart.
    std::uint32_t level = 0;
    std::string title;
    std::optional<std::uint64_t> tokens = {};
  };
  struct Fence {
    std::uint64_t at = 0;
    bool opens = false;
    std::string text = {};     // The line that opens it again,
    std::string closing = {};  // and the one that closes it.
    std::uint64_t text_tokens = 0;
    std::uint64_t closing_tokens = 0;
    std::uint64_t line_closing_tokens = 0;  // After a line end, where a line is cut.
  };
  struct Table {
    std::uint64_t at = 0;
    bool opens = false;
    std::string header = {};  // Its rows, as they stand there.
    std::optional<std::uint64_t> tokens = {};
  };
  struct Page {
    std::uint64_t at = 0;
    std::uint32_t number = 0;  // 0 is the one after the last.
  };
  std::vector<Heading> headings;
  std::vector<Fence> fences;
  std::vector<Table> tables;
  std::vector<Page> pages;

  bool empty() const {
    return headings.empty() && fences.empty() && tables.empty() && pages.empty();
  }
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
  // Whether empty lines, however many, change nothing now: they may come in one go.
  bool takes_empty_lines() const {
    return last_kind_ == BlockKind::blank && !may_be_matter_ && containers_.are_items() &&
           (leaf_ == Leaf::none || leaf_ == Leaf::indented);
  }
  void scan_empty_lines(std::uint64_t begin, std::uint64_t end);
  void finish();  // No line follows.

  // What is known by now; the caller takes it away.
  std::vector<Line> lines;
  Marks marks;

 private:
  enum class Leaf { none, paragraph, fence, html, table, indented, front_matter };

  void scan_line(std::string_view text);
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

  void put(BlockKind kind, Strength strength, std::uint8_t level = 0);
  void release(std::size_t keep);
  void leave();  // The leaf ends before this line.
  BlockKind prose() const;

  const Window& window_;
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
