#include "document/office/paper.h"

#include "document/office/office.h"
#include "layout/code_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace millrace::document {

namespace {

using layout::RawPage;

constexpr double kMargin = 56;         // 2 cm.
constexpr double kRunningMargin = 26;  // Where headers and footers stand.
constexpr double kBodySize = 11;
constexpr double kTableSize = 9;
constexpr double kRunningSize = 9;
constexpr double kLineHeight = 1.25;
constexpr double kIndent = 18;
constexpr double kMarkerGap = 4;
constexpr double kTabWidth = 36;
constexpr double kGutter = 14;  // Between columns of a table: wider than any space in a cell.
constexpr double kColumnMin = 44;
constexpr double kDpi = 144;
constexpr std::size_t kWordBytesMax = 256;

struct PaperSize {
  double width = 595;
  double height = 842;
};

PaperSize size_of(Paper paper) {
  switch (paper) {
    case Paper::a4_portrait:
      return {};
    case Paper::a4_landscape:
      return {.width = 842, .height = 595};
    case Paper::slide:
      return {.width = 720, .height = 540};
  }
  return {};
}

double heading_size(int level) {
  constexpr double kSizes[] = {18, 15, 13, 12, 11.5, 11.5};
  return kSizes[std::clamp(level, 1, 6) - 1];
}

// In units of the letter's size.
double em_width(char32_t code) {
  if (code < 0x80) {
    const auto c = static_cast<char>(code);
    if (std::string_view("iljtf.,:;'|!()[]I").find(c) != std::string_view::npos) return 0.3;
    if (std::string_view("mwMW@%").find(c) != std::string_view::npos) return 0.85;
    if (c >= 'A' && c <= 'Z') return 0.67;
    return 0.53;
  }
  if (layout::is_ideograph(code)) return 1.0;
  if (code >= 0x300 && code < 0x370) return 0.05;  // Stands on the letter before it.
  return 0.55;
}

}  // namespace

double width_of(std::string_view text, double size_pt) {
  double width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = layout::decode_at(text, at);
    if (decoded.code != '\t' && decoded.code != '\n') width += em_width(decoded.code);
    at += decoded.bytes;
  }
  return width * size_pt;
}

namespace {

struct Piece {
  std::string_view text;
  double width = 0;
};

// A word, or as much of it as has room.
Piece first_piece(std::string_view word, double size, double room) {
  double width = 0;
  std::size_t at = 0;
  while (at < word.size()) {
    const auto decoded = layout::decode_at(word, at);
    const auto step = em_width(decoded.code) * size;
    if (at > 0 && (width + step > room || at + decoded.bytes > kWordBytesMax)) break;
    width += step;
    at += decoded.bytes;
  }
  return {.text = word.substr(0, at), .width = width};
}

// Where the blank or control at the start of `text` ends; 0 when there is none.
std::size_t blank_at(std::string_view text) {
  const auto decoded = layout::decode_at(text, 0);
  const bool blank = layout::is_space(decoded.code) || layout::is_control(decoded.code);
  return blank ? decoded.bytes : 0;
}

std::size_t word_end(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (blank_at(text.substr(at)) > 0) break;
    at += layout::decode_at(text, at).bytes;
  }
  return at;
}

bool runs_right_to_left(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = layout::decode_at(text, at);
    if (layout::is_right_to_left(decoded.code)) return true;
    if (layout::is_letter(decoded.code)) return false;
    at += decoded.bytes;
  }
  return false;
}

struct Placed {
  std::string text;
  double x = 0;
  double width = 0;
};

using PlacedLine = std::vector<Placed>;

struct Column {
  double x = 0;
  double width = 0;
};

// Cuts a text into lines of words at their places.
std::vector<PlacedLine> break_lines(std::string_view text, double size, Column column) {
  std::vector<PlacedLine> lines(1);
  double x = 0;
  while (!text.empty()) {
    if (text.front() == '\n') {
      lines.emplace_back();
      x = 0;
      text.remove_prefix(1);
    } else if (text.front() == '\t') {
      x = (std::floor(x / kTabWidth) + 1) * kTabWidth;
      text.remove_prefix(1);
    } else if (const auto blank = blank_at(text); blank > 0) {
      text.remove_prefix(blank);
    } else {
      auto word = text.substr(0, word_end(text));
      text.remove_prefix(word.size());
      while (!word.empty()) {
        auto piece = first_piece(word, size, column.width);
        if (x > 0 && x + piece.width > column.width) {
          lines.emplace_back();
          x = 0;
        }
        lines.back().push_back({std::string(piece.text), column.x + x, piece.width});
        x += piece.width + (piece.text.size() == word.size() ? 0.28 * size : 0);
        word.remove_prefix(piece.text.size());
      }
    }
  }
  return lines;
}

void mirror(std::vector<PlacedLine>& lines, Column column) {
  for (auto& line : lines) {
    for (auto& word : line) word.x = 2 * column.x + column.width - word.x - word.width;
  }
}

// Pages as they fill up.
class Pages {
 public:
  Pages(const Limits& limits, std::size_t pages_before)
      : limits_(limits), pages_before_(pages_before) {}

  Result<void> begin(const Flow& flow, double scale) {
    flow_ = &flow;
    scale_ = scale;
    paper_ = size_of(flow.paper);
    return turn();
  }

  double width() const { return paper_.width - 2 * kMargin; }
  double scale() const { return scale_; }
  std::size_t count() const { return pages_.size(); }
  std::vector<RawPage> take() { return std::move(pages_); }

  void space(double height) { y_ += y_ > kMargin ? height : 0; }

  // Room for one line; on the next page when this one is full.
  Result<void> make_room(double height) {
    if (y_ + height <= paper_.height - kMargin || y_ <= kMargin) return ok();
    return turn();
  }

  void put(const PlacedLine& line, double size) { put_at(line, size, y_); }
  void advance(double height) { y_ += height; }

  Result<void> turn() {
    if (pages_before_ + pages_.size() >= limits_.pages_max) {
      return refuse("page_count", fmt::format("more than {} pages", limits_.pages_max));
    }
    RawPage page;
    page.info.page = static_cast<std::uint32_t>(pages_before_ + pages_.size() + 1);
    page.info.width_px = static_cast<std::uint32_t>(std::lround(paper_.width * kDpi / 72));
    page.info.height_px = static_cast<std::uint32_t>(std::lround(paper_.height * kDpi / 72));
    page.info.dpi = kDpi;
    page.info.engine = kOfficeEngine;
    page.info.estimated = true;
    pages_.push_back(std::move(page));
    running(flow_->header, kRunningMargin);
    running(flow_->footer, paper_.height - kRunningMargin - kRunningSize);
    y_ = kMargin;
    return ok();
  }

 private:
  void running(const std::string& text, double y) {
    if (text.empty()) return;
    const auto lines = break_lines(text, kRunningSize, {.x = kMargin, .width = width()});
    put_at(lines.front(), kRunningSize, y);
  }

  void put_at(const PlacedLine& line, double size, double y) {
    for (const auto& word : line) {
      const layout::Box box{.x0 = word.x / paper_.width,
                            .y0 = (y + 0.1 * size) / paper_.height,
                            .x1 = (word.x + word.width) / paper_.width,
                            .y1 = (y + 1.0 * size) / paper_.height};
      pages_.back().words.push_back({.text = word.text, .box = layout::rounded(box)});
    }
  }

  const Limits& limits_;
  std::size_t pages_before_;
  const Flow* flow_ = nullptr;
  double scale_ = 1;
  PaperSize paper_ = {};
  double y_ = kMargin;
  std::vector<RawPage> pages_;
};

Result<void> put_lines(Pages& pages, const std::vector<PlacedLine>& lines, double size) {
  for (const auto& line : lines) {
    MR_TRY_VOID(pages.make_room(size * kLineHeight));
    pages.put(line, size);
    pages.advance(size * kLineHeight);
  }
  return ok();
}

Result<void> put_paragraph(Pages& pages, const Paragraph& paragraph) {
  const auto size =
      (paragraph.heading > 0 ? heading_size(paragraph.heading) : kBodySize) * pages.scale();
  const auto indent = std::min(paragraph.list_level, 8) * kIndent;
  Column column{.x = kMargin + indent, .width = pages.width() - indent};
  pages.space(size * (paragraph.heading > 0 ? 0.8 : 0.4));
  // A marker stands left of the text where there is room for it.
  const auto& marker = paragraph.marker;
  const auto width = width_of(marker, size);
  const bool hangs = layout::is_word_text(marker) && width + kMarkerGap <= column.x;
  const bool leads = !marker.empty() && !hangs;
  auto lines = break_lines(leads ? marker + " " + paragraph.text : paragraph.text, size, column);
  if (runs_right_to_left(paragraph.text)) mirror(lines, column);
  if (hangs && !lines.front().empty()) {
    lines.front().insert(lines.front().begin(), {marker, column.x - width - kMarkerGap, width});
  }
  return put_lines(pages, lines, size);
}

std::vector<double> natural_widths(const TextTable& table, std::size_t columns, double size) {
  std::vector<double> widths(columns, kColumnMin);
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string_view rest = row[i];
      while (!rest.empty()) {
        const auto end = std::min(rest.find('\n'), rest.size());
        widths[i] = std::max(widths[i], width_of(rest.substr(0, end), size));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
  }
  return widths;
}

// Columns that together are as wide as the page allows, narrow ones at their full width first.
void shrink(std::span<double> widths, double room) {
  double total = 0;
  for (const auto width : widths) total += width;
  if (total <= room) return;
  double share = room / static_cast<double>(widths.size());
  for (int round = 0; round < 4; ++round) {
    double rest = room;
    std::size_t wide = 0;
    for (const auto width : widths) {
      if (width > share) {
        ++wide;
      } else {
        rest -= width;
      }
    }
    if (wide == 0) break;
    share = rest / static_cast<double>(wide);
  }
  for (auto& width : widths) width = std::min(width, share);
}

// Rows of some columns. Lines of a row stand level; a row is not cut while it fits a page.
Result<void> put_columns(Pages& pages, const TextTable& table, std::size_t first,
                         std::span<const double> widths, double size) {
  for (const auto& row : table.rows) {
    std::vector<PlacedLine> lines;
    double x = kMargin;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (first + i < row.size()) {
        const auto cell = break_lines(row[first + i], size, {.x = x, .width = widths[i]});
        lines.resize(std::max(lines.size(), cell.size()));
        for (std::size_t n = 0; n < cell.size(); ++n) {
          lines[n].insert(lines[n].end(), cell[n].begin(), cell[n].end());
        }
      }
      x += widths[i] + kGutter;
    }
    const bool empty = std::ranges::all_of(lines, [](const auto& line) { return line.empty(); });
    if (empty) continue;
    MR_TRY_VOID(pages.make_room(static_cast<double>(lines.size()) * size * kLineHeight));
    MR_TRY_VOID(put_lines(pages, lines, size));
    pages.advance(0.35 * size);
  }
  return ok();
}

Result<void> put_table(Pages& pages, const TextTable& table) {
  const auto size = kTableSize * pages.scale();
  std::size_t columns = 0;
  for (const auto& row : table.rows) columns = std::max(columns, row.size());
  if (columns == 0) return ok();
  pages.space(size);
  auto widths = natural_widths(table, columns, size);
  // More columns than the page is wide: the rest follows below, as a printer would put it on the
  // next sheet.
  const auto at_once = std::max<std::size_t>(
      1, static_cast<std::size_t>((pages.width() + kGutter) / (kColumnMin + kGutter)));
  for (std::size_t first = 0; first < columns; first += at_once) {
    const auto count = std::min(at_once, columns - first);
    const auto part = std::span(widths).subspan(first, count);
    shrink(part, pages.width() - kGutter * static_cast<double>(count - 1));
    MR_TRY_VOID(put_columns(pages, table, first, part, size));
    pages.space(size);
  }
  return ok();
}

Result<void> put_blocks(Pages& pages, const Flow& flow) {
  for (const auto& block : flow.blocks) {
    if (const auto* paragraph = std::get_if<Paragraph>(&block)) {
      MR_TRY_VOID(put_paragraph(pages, *paragraph));
    } else if (const auto* table = std::get_if<TextTable>(&block)) {
      MR_TRY_VOID(put_table(pages, *table));
    } else {
      MR_TRY_VOID(pages.turn());
    }
  }
  return ok();
}

Result<std::vector<RawPage>> lay_out_flow(const Flow& flow, const Limits& limits,
                                          std::size_t pages_before) {
  constexpr double kScaleMin = 0.3;
  for (double scale = 1;; scale *= 0.8) {
    Pages pages(limits, pages_before);
    MR_TRY_VOID(pages.begin(flow, scale));
    MR_TRY_VOID(put_blocks(pages, flow));
    if (!flow.fit_one_page || pages.count() == 1 || scale < kScaleMin) return pages.take();
  }
}

}  // namespace

Result<std::vector<RawPage>> lay_out(std::span<const Flow> flows, const Limits& limits) {
  std::vector<RawPage> all;
  for (const auto& flow : flows) {
    MR_TRY(auto pages, lay_out_flow(flow, limits, all.size()));
    std::ranges::move(pages, std::back_inserter(all));
  }
  if (all.empty()) return lay_out_flow({}, limits, 0);
  return all;
}

namespace {

constexpr double kTextSize = 9;
constexpr double kTextStep = 5.4;  // Of one character.
constexpr double kTextLine = 12;
constexpr std::size_t kTextColumns = 89;  // What fits between the margins.

// Takes the last word to a new line, unless it has one for itself. Answers with its columns.
std::size_t carry_word(std::vector<PlacedLine>& lines) {
  if (lines.back().size() < 2) return 0;
  auto word = std::move(lines.back().back());
  lines.back().pop_back();
  word.x = kMargin;
  const auto columns = static_cast<std::size_t>(std::lround(word.width / kTextStep));
  lines.push_back({std::move(word)});
  return columns;
}

// One line of a text file, cut at the page's width. `column` counts characters.
std::vector<PlacedLine> typed_lines(std::string_view line) {
  std::vector<PlacedLine> lines(1);
  std::size_t column = 0;
  bool in_word = false;
  while (!line.empty()) {
    const auto decoded = layout::decode_at(line, 0);
    const auto piece = line.substr(0, decoded.bytes);
    line.remove_prefix(decoded.bytes);
    if (decoded.code == '\t') {
      column = (column / 8 + 1) * 8;
      in_word = false;
      continue;
    }
    if (layout::is_space(decoded.code) || layout::is_control(decoded.code)) {
      column += decoded.code == ' ' || decoded.code == 0xa0 ? 1 : 0;
      in_word = false;
      continue;
    }
    const std::size_t step = layout::is_ideograph(decoded.code) ? 2 : 1;
    if (column + step > kTextColumns) {
      column = in_word ? carry_word(lines) : 0;
      if (column == 0) {
        lines.emplace_back();
        in_word = false;
      }
    }
    if (!in_word) {
      lines.back().push_back({{}, kMargin + static_cast<double>(column) * kTextStep, 0});
    }
    auto& word = lines.back().back();
    word.text += piece;
    word.width += static_cast<double>(step) * kTextStep;
    column += step;
    in_word = true;
  }
  return lines;
}

}  // namespace

Result<std::vector<RawPage>> lay_out_text(std::string_view text, const Limits& limits) {
  const Flow flow;
  Pages pages(limits, 0);
  MR_TRY_VOID(pages.begin(flow, 1));
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("\n\r\f"), text.size());
    for (const auto& line : typed_lines(text.substr(0, end))) {
      MR_TRY_VOID(pages.make_room(kTextLine));
      pages.put(line, kTextSize);
      pages.advance(kTextLine);
    }
    if (end < text.size() && text[end] == '\f') MR_TRY_VOID(pages.turn());
    const bool pair = text.substr(end).starts_with("\r\n");
    text.remove_prefix(std::min(end + (pair ? 2 : 1), text.size()));
  }
  return pages.take();
}

}  // namespace millrace::document
