// Flow: a document as its readers leave it: paragraphs, tables and page breaks in order, no places.
//
// Readers of each format make one or more (a sheet and a slide are each one); paper.h lays them
// out.
#pragma once

#include "document/bounded/limits.h"
#include "document/bounded/refusal.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace millrace::document {

// Line ends are '\n', tabs '\t'.
struct Paragraph {
  std::string text;
  int heading = 0;          // 1 to 6; 0: none.
  int list_level = 0;       // How deep it is set in.
  std::string marker = {};  // "•", "3." or "2.1 (a)" before it.
};

// Cells are texts like those of paragraphs. Rows may have different numbers of them.
struct TextTable {
  std::vector<std::vector<std::string>> rows;
};

struct PageBreak {};

using FlowBlock = std::variant<Paragraph, TextTable, PageBreak>;

enum class Paper { a4_portrait, a4_landscape, slide };

struct Flow {
  Paper paper = Paper::a4_portrait;
  std::vector<FlowBlock> blocks = {};
  std::string header = {};  // On every page; a line or two.
  std::string footer = {};
  bool fit_one_page = false;  // A slide is one page, however small its letters become.
};

// Counts what a document's text needs; readers ask before they keep anything.
class TextBudget {
 public:
  explicit TextBudget(const Limits& limits) : limits_(limits) {}

  Result<void> add_text(std::uint64_t bytes) {
    text_bytes_ += bytes;
    if (text_bytes_ <= limits_.text_bytes_max) return ok();
    return refuse("text_bytes", "the document has more text than is allowed");
  }
  Result<void> add_cells(std::uint64_t cells) {
    cells_ += cells;
    if (cells_ <= limits_.table_cells_max) return ok();
    return refuse("table_cells", "the document has more cells than are allowed");
  }
  std::size_t columns_max() const { return limits_.table_columns_max; }

 private:
  const Limits& limits_;
  std::uint64_t text_bytes_ = 0;
  std::uint64_t cells_ = 0;
};

}  // namespace millrace::document
