#include "document/markdown/page_draft.h"

#include "layout/code_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>

namespace millrace::document {
namespace {

constexpr double kEdgeZone = 0.12;  // As in layout/running_text.h.

struct Font {
  double size_pt = 0;
  bool bold = false;
  bool fixed = false;
};

// Fonts of words by text and place.
class FontIndex {
 public:
  explicit FontIndex(const PdfPageContent& content) {
    for (const auto& word : content.words) {
      fonts_.emplace(key(word.text, std::lround(word.box.x0), std::lround(word.box.y0)),
                     Font{word.font_size_pt, word.bold, word.fixed_width});
    }
  }
  // Places were rounded on the way.
  const Font* find(std::string_view text, double x, double y) const {
    for (const long dx : {0, 1, -1}) {
      for (const long dy : {0, 1, -1}) {
        const auto found = fonts_.find(key(text, std::lround(x) + dx, std::lround(y) + dy));
        if (found != fonts_.end()) return &found->second;
      }
    }
    return nullptr;
  }

 private:
  static std::string key(std::string_view text, long x, long y) {
    return fmt::format("{} {} {}", text, x, y);
  }
  std::unordered_map<std::string, Font> fonts_;
};

class Drafter {
 public:
  Drafter(const layout::PageMap& map, const PdfPageContent* content)
      : map_(map), content_(content) {
    if (content == nullptr) return;
    fonts_.emplace(*content);
    turn_back_ = ((content->rotate_deg - map.info.rotation_deg) % 360 + 360) % 360;
  }

  DraftTextLine line(const layout::Line& line) const {
    DraftTextLine out{.text = std::string(map_.text_of(line.words)),
                      .x0 = static_cast<float>(line.box.x0),
                      .x1 = static_cast<float>(line.box.x1),
                      .y0 = static_cast<float>(line.box.y0),
                      .y1 = static_cast<float>(line.box.y1)};
    // Sizes by how many letters have them.
    std::vector<std::pair<double, std::size_t>> sizes;
    std::size_t letters = 0;
    std::size_t bold = 0;
    std::size_t fixed = 0;
    for (auto i = line.words.first; i <= line.words.last; ++i) {
      const auto& word = map_.words[i];
      const auto* const font = font_of(word);
      if (font == nullptr) continue;
      const auto count = word.text.size();
      letters += count;
      bold += font->bold ? count : 0;
      fixed += font->fixed ? count : 0;
      sizes.emplace_back(font->size_pt, count);
    }
    if (letters == 0) return out;
    std::ranges::sort(sizes);
    std::size_t seen = 0;
    for (const auto& [size, count] : sizes) {
      seen += count;
      out.size_pt = static_cast<float>(size);
      if (seen * 2 >= letters) break;
    }
    out.bold = bold * 10 >= letters * 9;
    out.fixed = fixed * 10 >= letters * 9;
    if (out.fixed) out.text = spaced(line.words, out.size_pt);
    return out;
  }

  // Lines of a table as they stand on the page, when all of it is typewriter: code, and not a
  // table. Otherwise none.
  std::vector<DraftTextLine> fixed_lines(const layout::Block& block) const {
    std::vector<layout::Word> words;
    for (auto i = block.words.first; i <= block.words.last; ++i) {
      const auto* const font = font_of(map_.words[i]);
      if (font == nullptr || !font->fixed) return {};
      words.push_back(map_.words[i]);
    }
    std::ranges::sort(words, {}, [](const layout::Word& word) {
      return std::tuple(word.box.y0, word.box.x0, std::string_view(word.text));
    });
    std::vector<DraftTextLine> lines;
    for (std::size_t begin = 0; begin < words.size();) {
      const auto& first = words[begin];
      auto end = begin;
      while (end < words.size() && words[end].box.y0 < first.box.centre_y()) ++end;
      std::ranges::sort(words.begin() + static_cast<std::ptrdiff_t>(begin),
                        words.begin() + static_cast<std::ptrdiff_t>(end), {},
                        [](const layout::Word& word) {
                          return std::tuple(word.box.x0, word.box.y0, std::string_view(word.text));
                        });
      const double size = font_of(first)->size_pt;
      DraftTextLine line{.x0 = static_cast<float>(words[begin].box.x0),
                         .x1 = static_cast<float>(words[end - 1].box.x1),
                         .y0 = static_cast<float>(first.box.y0),
                         .y1 = static_cast<float>(first.box.y1),
                         .size_pt = static_cast<float>(size),
                         .fixed = true};
      for (auto i = begin; i < end; ++i) {
        if (i > begin) line.text.append(blanks_between(words[i - 1], words[i], size), ' ');
        line.text += words[i].text;
      }
      lines.push_back(std::move(line));
      begin = end;
    }
    return lines;
  }

 private:
  // Typewriter letters are 0.6 of their size wide.
  std::size_t blanks_between(const layout::Word& a, const layout::Word& b, double size_pt) const {
    const double letter = 0.6 * std::max(size_pt, 1.0) / content_->width_pt;
    return static_cast<std::size_t>(
        std::clamp(std::lround((b.box.x0 - a.box.x1) / letter), 1L, 60L));
  }
  std::string spaced(layout::WordRange words, double size_pt) const {
    std::string out;
    for (auto i = words.first; i <= words.last; ++i) {
      if (i > words.first) {
        out.append(blanks_between(map_.words[i - 1], map_.words[i], size_pt), ' ');
      }
      out += map_.words[i].text;
    }
    return out;
  }

  const Font* font_of(const layout::Word& word) const {
    if (!fonts_) return nullptr;
    const auto box = layout::turned(word.box, turn_back_);
    return fonts_->find(word.text, box.x0 * content_->width_pt, box.y0 * content_->height_pt);
  }

  const layout::PageMap& map_;
  const PdfPageContent* content_;
  std::optional<FontIndex> fonts_;
  int turn_back_ = 0;
};

const layout::Table* table_of(const layout::PageMap& map, std::uint32_t block) {
  const auto found = std::ranges::find(map.tables, block, &layout::Table::block);
  return found == map.tables.end() ? nullptr : &*found;
}

std::vector<std::vector<std::string>> rows_of(const layout::PageMap& map,
                                              const layout::Table& table) {
  std::vector<std::vector<std::string>> rows(table.rows, std::vector<std::string>(table.columns));
  for (const auto& cell : table.cells) {
    rows[cell.row][cell.column] = std::string(map.text_of(cell.words));
  }
  return rows;
}

}  // namespace

PageDraft draft_of(const layout::PageMap& map, const PdfPageContent* content) {
  PageDraft out{.page = map.info.page,
                .recognised = content == nullptr,
                .width_pt = content == nullptr ? 0 : content->width_pt};
  const Drafter drafter(map, content);
  for (std::uint32_t b = 0; b < map.blocks.size(); ++b) {
    const auto& block = map.blocks[b];
    auto& made = out.blocks.emplace_back(PageDraftBlock{.kind = block.kind});
    if (const auto* const table = table_of(map, b)) {
      made.lines = drafter.fixed_lines(block);
      if (made.lines.empty()) {
        made.rows = rows_of(map, *table);
      } else {
        made.kind = layout::BlockKind::text;
      }
      continue;
    }
    for (auto l = block.first_line; l <= block.last_line; ++l) {
      made.lines.push_back(drafter.line(map.lines[l]));
    }
  }
  return out;
}

Result<PageEdges> edges_of(const layout::PageMap& map) {
  PageEdges out;
  std::vector<layout::Word> words;
  std::vector<layout::BlockKind> kinds;
  std::uint32_t line = 0;
  for (std::uint32_t b = 0; b < map.blocks.size(); ++b) {
    const auto& block = map.blocks[b];
    if (block.box.y1 > kEdgeZone && block.box.y0 < 1 - kEdgeZone) continue;
    if (block.kind == layout::BlockKind::table) continue;
    auto last = map.words[block.words.first].line;
    for (auto w = block.words.first; w <= block.words.last; ++w) {
      auto word = map.words[w];
      if (word.line != last) ++line;
      last = word.line;
      word.line = line;
      word.block = static_cast<std::uint32_t>(kinds.size());
      words.push_back(std::move(word));
    }
    ++line;
    kinds.push_back(block.kind);
    out.blocks.push_back(b);
  }
  MR_TRY(out.map, layout::assemble_page(map.info, std::move(words), std::move(kinds)));
  return out;
}

}  // namespace millrace::document
