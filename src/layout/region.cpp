#include "layout/region.h"

#include "layout/band.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace millrace::layout {
namespace {

constexpr int kDepthMax = 6;

// Shares of the median height of words.
constexpr double kGutterMin = 0.8;
constexpr double kGutterSure = 2;       // Two rows and two columns are a table only with this.
constexpr double kChunkGap = 1;         // White that ends a group of rows.
constexpr double kContinueGap = 2.5;    // White within a column that goes on.
constexpr double kLevel = 0.4;          // How far apart the middles of one row may be.
constexpr double kParagraphGap = 0.9;   // White that ends a paragraph, when lines are few.
constexpr double kParagraphSure = 2.5;  // White that ends one always.
constexpr double kRowGapMax = 4;        // White between the rows of one table at most.
constexpr double kCellLineGap = 0.9;    // White between the lines of one cell at most.

constexpr double kProseWords = 4;      // On a line of prose, on average, at least.
constexpr double kProseFill = 0.55;    // Of its column's width.
constexpr double kAlignedShare = 0.5;  // Of the lines of the shorter column.
constexpr double kPitchGrowth = 1.35;  // Of the usual distance between lines, ends a paragraph.
constexpr double kHeightJump = 1.5;    // Between a heading and its text.

constexpr double kBesideHigh = 0.75;  // Of a large line's height: two such lines fit beside it.

enum class ChunkKind { single, columns, rows };

// Neighbouring bands that are read in one way.
struct Chunk {
  SegmentList segments = {};
  std::vector<Interval> columns = {};
  double top = 0;
  double bottom = 0;
  std::size_t bands = 0;
  ChunkKind kind = ChunkKind::single;
  bool wide() const { return columns.size() > 1; }
};

class Arranger {
 public:
  Arranger(std::span<const Item> items, const Segments& segments, RegionOptions options)
      : items_(items), segments_(segments), options_(options), gutter_(kGutterMin * unit()) {}

  std::vector<DraftBlock> run() {
    SegmentList all(segments_.list.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    add_region(all, 0);
    return std::move(blocks_);
  }

 private:
  double unit() const { return segments_.height; }
  const Box& box(std::uint32_t segment) const { return segments_.list[segment].box; }

  void add_region(const SegmentList& list, int depth) {
    for (auto& chunk : merge_chunks(find_chunks(list))) {
      if (chunk.kind == ChunkKind::columns && depth < kDepthMax) {
        auto parts = split(chunk);
        if (options_.right_to_left) std::ranges::reverse(parts);
        for (const auto& part : parts) add_region(part, depth + 1);
      } else if (chunk.kind == ChunkKind::rows) {
        add_rows(chunk);
      } else {
        add_paragraphs(find_rows(segments_, std::move(chunk.segments)));
      }
    }
  }

  std::vector<Chunk> find_chunks(const SegmentList& list) const {
    std::vector<Chunk> chunks;
    for (auto& band : find_bands(segments_, list, gutter_)) {
      if (chunks.empty() || !try_extend(chunks.back(), band)) {
        chunks.push_back({.segments = std::move(band.segments),
                          .columns = std::move(band.columns),
                          .top = band.top,
                          .bottom = band.bottom,
                          .bands = 1});
      }
    }
    for (auto& chunk : chunks) chunk.kind = kind_of(chunk);
    return chunks;
  }

  bool try_extend(Chunk& chunk, const Band& band) const {
    if (!chunk.wide() && band.wide()) return false;
    auto columns = join(chunk.columns, band.columns, gutter_);
    // One under the other, neither across the other's column: a letterhead and an address.
    if (!chunk.wide() && columns.size() > 1) return false;
    if (chunk.wide()) {
      if (columns.size() < 2) return false;  // Something runs across the gutter.
      if (band.top - chunk.bottom > kChunkGap * unit()) return false;
    }
    take(chunk, band.segments, std::move(columns), band.bottom);
    return true;
  }

  static void take(Chunk& chunk, const SegmentList& more, std::vector<Interval> columns,
                   double bottom) {
    chunk.segments.insert(chunk.segments.end(), more.begin(), more.end());
    chunk.columns = std::move(columns);
    chunk.bottom = std::max(chunk.bottom, bottom);
    ++chunk.bands;
  }

  // Columns go on over the white between paragraphs, and when only one of them is left.
  std::vector<Chunk> merge_chunks(std::vector<Chunk> chunks) const {
    std::vector<Chunk> out;
    for (auto& chunk : chunks) {
      if (!out.empty() && continues(out.back(), chunk)) {
        auto columns = join(out.back().columns, chunk.columns, gutter_);
        take(out.back(), chunk.segments, std::move(columns), chunk.bottom);
      } else {
        out.push_back(std::move(chunk));
      }
    }
    for (auto& chunk : out) {
      if (chunk.kind == ChunkKind::columns && find_rows(segments_, chunk.segments).size() == 1) {
        chunk.kind = ChunkKind::rows;  // One line with wide gaps.
      }
    }
    return out;
  }

  bool continues(const Chunk& before, const Chunk& after) const {
    const auto columns = join(before.columns, after.columns, gutter_);
    if (columns.size() < 2) return false;
    if (before.kind == ChunkKind::rows && after.kind == ChunkKind::rows) {
      // Rows of one table stand under each other, though some cells may be empty.
      return columns.size() == std::max(before.columns.size(), after.columns.size()) &&
             after.top - before.bottom <= kRowGapMax * unit();
    }
    if (before.kind != ChunkKind::columns) return false;
    if (after.kind == ChunkKind::columns) return true;
    if (after.kind == ChunkKind::rows) return false;
    // A single column: only where it stands under the text of one of them.
    if (after.top - before.bottom > kContinueGap * unit()) return false;
    return std::ranges::any_of(before.columns, [&](const Interval& column) {
      return std::abs(column.low - after.columns.front().low) < 1.5 * unit() &&
             after.columns.front().high < column.high + gutter_;
    });
  }

  std::vector<SegmentList> split(const Chunk& chunk) const {
    std::vector<SegmentList> parts(chunk.columns.size());
    for (const auto i : chunk.segments) parts[column_of(chunk, i)].push_back(i);
    return parts;
  }

  std::uint32_t column_of(const Chunk& chunk, std::uint32_t segment) const {
    const auto middle = box(segment).centre_x();
    for (std::uint32_t c = 0; c < chunk.columns.size(); ++c) {
      if (middle <= chunk.columns[c].high) return c;
    }
    return static_cast<std::uint32_t>(chunk.columns.size() - 1);
  }

  ChunkKind kind_of(const Chunk& chunk) const {
    if (!chunk.wide()) return ChunkKind::single;
    const auto parts = split(chunk);
    int prose = 0;
    for (std::size_t c = 0; c < parts.size(); ++c) {
      if (is_prose(parts[c], chunk.columns[c])) ++prose;
    }
    if (prose >= 2) return ChunkKind::columns;
    const auto shortest = std::ranges::min_element(parts, {}, &SegmentList::size);
    if (chunk.columns.size() == 2 && has_high_neighbour(chunk)) return ChunkKind::columns;
    if (shortest->size() < 2) return ChunkKind::rows;
    return level_share(chunk, *shortest) < kAlignedShare ? ChunkKind::columns : ChunkKind::rows;
  }

  bool is_prose(const SegmentList& part, const Interval& column) const {
    if (part.empty()) return false;
    double words = 0;
    double width = 0;
    for (const auto i : part) {
      words += static_cast<double>(segments_.list[i].items.size());
      width += box(i).width();
    }
    const auto count = static_cast<double>(part.size());
    const auto room = std::max(column.high - column.low, 1e-9);
    return words / count >= kProseWords && width / count / room >= kProseFill;
  }

  // Whether one large line stands beside two lines of the other column: a name in large letters and
  // an address beside it, which are two blocks.
  bool has_high_neighbour(const Chunk& chunk) const {
    for (const auto i : chunk.segments) {
      int beside = 0;
      for (const auto j : chunk.segments) {
        const bool other_column = column_of(chunk, i) != column_of(chunk, j);
        const double common = overlap_y(box(i), box(j));
        const bool small = box(j).height() < kBesideHigh * box(i).height();
        if (other_column && small && common > 0.5 * box(j).height()) ++beside;
      }
      if (beside >= 2) return true;
    }
    return false;
  }

  // Of the segments of one column: how many have something level beside them.
  double level_share(const Chunk& chunk, const SegmentList& part) const {
    std::vector<double> centres;  // Of all others.
    SegmentList sorted = part;
    std::ranges::sort(sorted);
    for (const auto i : chunk.segments) {
      if (!std::ranges::binary_search(sorted, i)) centres.push_back(box(i).centre_y());
    }
    std::ranges::sort(centres);
    std::size_t level = 0;
    for (const auto i : part) {
      const auto y = box(i).centre_y();
      const auto at = std::ranges::lower_bound(centres, y - kLevel * unit());
      if (at != centres.end() && *at <= y + kLevel * unit()) ++level;
    }
    return static_cast<double>(level) / static_cast<double>(part.size());
  }

  // -- rows and tables --

  void add_rows(const Chunk& chunk) {
    auto rows = find_rows(segments_, chunk.segments);
    const auto cells = [&](const Row& row) { return count_cells(chunk, row); };
    const auto first = std::ranges::find_if(rows, [&](const Row& row) { return cells(row) > 1; });
    auto last = rows.end();
    while (last != first && cells(*(last - 1)) < 2 &&
           column_of(chunk, first_of(*(last - 1))) == 0) {
      --last;
    }
    std::vector<Row> above(rows.begin(), first);
    std::vector<Row> table(first, last);
    std::vector<Row> below(last, rows.end());
    const auto full = std::ranges::count_if(table, [&](const Row& row) { return cells(row) > 1; });
    const bool is_table = full >= 2 && (full >= 3 || chunk.columns.size() >= 3 ||
                                        narrowest_gutter(chunk) >= kGutterSure * unit());
    if (!is_table) {
      add_paragraphs(std::move(rows));
      return;
    }
    add_paragraphs(std::move(above));
    add_table(chunk, table);
    add_paragraphs(std::move(below));
  }

  static std::uint32_t first_of(const Row& row) { return row.segments.front(); }

  std::size_t count_cells(const Chunk& chunk, const Row& row) const {
    std::vector<bool> filled(chunk.columns.size(), false);
    for (const auto i : row.segments) filled[column_of(chunk, i)] = true;
    return static_cast<std::size_t>(std::ranges::count(filled, true));
  }

  static double narrowest_gutter(const Chunk& chunk) {
    double narrowest = 1;
    for (std::size_t c = 1; c < chunk.columns.size(); ++c) {
      narrowest = std::min(narrowest, chunk.columns[c].low - chunk.columns[c - 1].high);
    }
    return narrowest;
  }

  // A row without its first cell, close under the one above, goes on with that one's cells.
  bool goes_on(const Chunk& chunk, const Row& above, const Row& row, double usual_gap) const {
    const auto gap = row.top - above.bottom;
    return column_of(chunk, first_of(row)) != 0 && gap <= kCellLineGap * unit() &&
           gap < 0.8 * usual_gap;
  }

  void add_table(const Chunk& chunk, std::span<const Row> rows) {
    std::vector<double> gaps;
    for (std::size_t r = 1; r < rows.size(); ++r) {
      if (column_of(chunk, first_of(rows[r])) == 0)
        gaps.push_back(rows[r].top - rows[r - 1].bottom);
    }
    const auto usual_gap = gaps.empty() ? unit() : std::max(median(std::move(gaps)), 1e-6);
    DraftBlock block{.columns = static_cast<std::uint32_t>(chunk.columns.size())};
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const bool more = r > 0 && goes_on(chunk, rows[r - 1], rows[r], usual_gap);
      if (!more) block.lines.emplace_back();
      fill_row(chunk, rows[r], block.lines.back());
    }
    if (options_.right_to_left) {
      for (auto& line : block.lines) {
        std::ranges::reverse(line.cells);
        for (auto& cell : line.cells) cell.column = block.columns - 1 - cell.column;
      }
    }
    blocks_.push_back(std::move(block));
  }

  void fill_row(const Chunk& chunk, const Row& row, DraftLine& line) const {
    for (const auto i : row.segments) {
      const auto column = column_of(chunk, i);
      auto at = std::ranges::lower_bound(line.cells, column, {}, &DraftCell::column);
      if (at == line.cells.end() || at->column != column) {
        at = line.cells.insert(at, {.column = column});
      }
      append_words(i, at->words);
    }
  }

  void append_words(std::uint32_t segment, std::vector<std::uint32_t>& words) const {
    for (const auto item : segments_.list[segment].items) words.push_back(items_[item].word);
  }

  // -- paragraphs --

  void add_paragraphs(std::vector<Row> rows) {
    std::vector<double> pitches;
    for (std::size_t r = 1; r < rows.size(); ++r) {
      pitches.push_back(centre_of(rows[r]) - centre_of(rows[r - 1]));
    }
    const auto usual = pitches.size() < 3 ? 0 : median(std::move(pitches));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (r == 0 || ends_paragraph(rows[r - 1], rows[r], usual)) blocks_.emplace_back();
      DraftLine line{.cells = {{}}};
      for (const auto i : rows[r].segments) append_words(i, line.cells.front().words);
      blocks_.back().lines.push_back(std::move(line));
    }
  }

  static double centre_of(const Row& row) { return (row.top + row.bottom) / 2; }

  // Judged by the middles of lines where there are enough: the white between two lines depends on
  // which of their letters reach up and down.
  bool ends_paragraph(const Row& above, const Row& below, double usual_pitch) const {
    const auto white = below.top - above.bottom;
    if (white > kParagraphSure * unit()) return true;
    if (usual_pitch > 0) {
      if (centre_of(below) - centre_of(above) > kPitchGrowth * usual_pitch) return true;
    } else if (white > kParagraphGap * unit()) {
      return true;
    }
    return above.height > kHeightJump * below.height || below.height > kHeightJump * above.height;
  }

  std::span<const Item> items_;
  const Segments& segments_;
  RegionOptions options_;
  double gutter_;
  std::vector<DraftBlock> blocks_;
};

}  // namespace

std::vector<DraftBlock> arrange_segments(std::span<const Item> items, const Segments& segments,
                                         RegionOptions options) {
  return Arranger(items, segments, options).run();
}

}  // namespace millrace::layout
