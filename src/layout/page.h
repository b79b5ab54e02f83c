// PageMap: what stands where on one page. The spatial map is one of these per page.
//
// Words are in reading order; lines, blocks and tables are ranges of them. `text` follows from the
// words alone: a space between words, a line end between lines, an empty line between blocks, no
// space between ideographs. So offsets can be checked by anybody who has the words, and a quoted
// fact points to words by page and index. Values only: no I/O, no state.
#pragma once

#include "base/result.h"
#include "layout/geometry.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::layout {

struct PageLimits {
  std::size_t words_max = 50'000;
  std::size_t word_bytes_max = 1024;
  std::size_t text_bytes_max = std::size_t{8} * 1024 * 1024;
  std::uint32_t page_max = 5'000;         // The highest page number.
  std::uint32_t side_px_max = 1'000'000;  // Of a page, in pixels.
};

// Bytes of the page's text, [begin, end).
struct ByteRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t size() const { return end - begin; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// Words by index, both ends included.
struct WordRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t count() const { return last - first + 1; }
  friend bool operator==(const WordRange&, const WordRange&) = default;
};

struct Word {
  std::string text;
  Box box;
  std::optional<Quad> poly = {};    // When the source gave more than a box.
  std::optional<double> conf = {};  // 0 to 1; nothing when the source does not say.
  std::uint32_t line = 0;
  std::uint32_t block = 0;
  ByteRange bytes = {};
  friend bool operator==(const Word&, const Word&) = default;
};

struct Line {
  std::uint32_t block = 0;
  WordRange words = {};
  Box box = {};
  friend bool operator==(const Line&, const Line&) = default;
};

enum class BlockKind {
  text,
  heading,
  list,
  table,
  header,  // Repeated on other pages, or a page number: not what the document says.
  footer,
  margin,  // Text that runs in another direction than the page.
};

std::string_view to_string(BlockKind kind);
std::optional<BlockKind> parse_block_kind(std::string_view text);

struct Block {
  BlockKind kind = BlockKind::text;
  std::uint32_t first_line = 0;
  std::uint32_t last_line = 0;
  WordRange words = {};
  Box box = {};
  friend bool operator==(const Block&, const Block&) = default;
};

struct Cell {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  WordRange words = {};
  friend bool operator==(const Cell&, const Cell&) = default;
};

// Empty cells are left out. Each row is one line of the text.
struct Table {
  std::uint32_t block = 0;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<Cell> cells = {};
  friend bool operator==(const Table&, const Table&) = default;
};

struct KeyValue {
  WordRange key = {};
  WordRange value = {};
  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};

struct Checkbox {
  std::optional<WordRange> mark = {};  // Nothing: only the picture shows it.
  bool checked = false;
  std::optional<WordRange> label = {};
  std::optional<Box> box = {};  // Of one that is drawn.
  friend bool operator==(const Checkbox&, const Checkbox&) = default;
};

struct PageInfo {
  std::uint32_t page = 1;
  std::uint32_t width_px = 0;  // Of the upright page.
  std::uint32_t height_px = 0;
  double dpi = 0;           // 0 when it is not known.
  int rotation_deg = 0;     // How far the source's page was turned clockwise to be upright.
  std::string engine = {};  // "tesseract@5.3"
  bool estimated = false;   // Boxes of words were computed from larger ones.

  double aspect() const { return static_cast<double>(height_px) / width_px; }
  friend bool operator==(const PageInfo&, const PageInfo&) = default;
};

struct PageMap {
  PageInfo info = {};
  std::string text = {};
  std::vector<Word> words = {};
  std::vector<Line> lines = {};
  std::vector<Block> blocks = {};
  std::vector<Table> tables = {};
  std::vector<KeyValue> pairs = {};
  std::vector<Checkbox> checkboxes = {};

  std::string_view text_of(ByteRange range) const;
  std::string_view text_of(WordRange range) const;
  ByteRange bytes_of(WordRange range) const;
  friend bool operator==(const PageMap&, const PageMap&) = default;
};

Result<void> check_info(const PageInfo& info, const PageLimits& limits = {});

// Makes lines, blocks, text and offsets of words that are in reading order and know their line and
// block, counted from 0 without gaps. `kinds` has one entry per block. invalid_argument names the
// word and the rule: "words[7].line must follow the line before it".
Result<PageMap> assemble_page(PageInfo info, std::vector<Word> words, std::vector<BlockKind> kinds,
                              const PageLimits& limits = {});

// Whether every range of tables, pairs and checkboxes lies where it must: within the words, cells
// within their block and in order.
Result<void> check_structures(const PageMap& page);

}  // namespace millrace::layout
