#include "document/ocr/level_page.h"

#include "document/ocr/background.h"
#include "document/ocr/ink.h"
#include "document/ocr/inverse.h"
#include "document/ocr/page_quad.h"
#include "document/ocr/slant.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace millrace::document {
namespace {

constexpr int kLookLongSide = 1'700;
constexpr double kLetterMin = 17;  // Below, letters are enlarged to kLetterWanted.
constexpr double kLetterMax = 64;
constexpr double kLetterWanted = 28;
constexpr double kGrainMin = 0.045;  // Of the contrast between ink and paper.
constexpr double kRuleMin = 5;       // Heights of letters from which a dark stretch is a rule.
constexpr double kRowGap = 0.9;      // White left between pieces of a row, in small letters.
constexpr double kMargin = 4;        // Pixels above and below a row, as the models know lines.
constexpr double kBroken = 0.28;     // Pieces of letters for each letter. Dots make up to 0.2.
constexpr double kSkewMin = 0.12;    // Less is left to the base lines.

double distance(layout::Point p, layout::Point q) { return std::hypot(p.x - q.x, p.y - q.y); }

struct Sheet {
  Projection from_source = {};
  double width = 0;
  double height = 0;
};

Sheet sheet_of(const Gray& image, const std::optional<layout::Quad>& quad) {
  Sheet whole{.width = static_cast<double>(image.width),
              .height = static_cast<double>(image.height)};
  if (!quad) return whole;
  const auto& q = *quad;
  const double width = std::max(distance(q[0], q[1]), distance(q[3], q[2]));
  const double height = std::max(distance(q[0], q[3]), distance(q[1], q[2]));
  const layout::Quad to = {layout::Point{.x = 0, .y = 0},
                           {.x = width, .y = 0},
                           {.x = width, .y = height},
                           {.x = 0, .y = height}};
  const auto projection = Projection::between(q, to);
  if (!projection) return whole;
  return {.from_source = *projection, .width = width, .height = height};
}

Gray evened(const Gray& image) {
  const Background background(image);
  return background.is_even() ? image : background.remove_from(image);
}

// Marks, without what was drawn rather than written, and the lines that they make.
void find_text(LevelPage& page, int passes_min, double scale) {
  auto ink = find_ink(std::move(page.image), passes_min, scale);
  const double letter = letter_height(ink.marks, ink.image.height);
  if (letter > 0) {
    erase_rules(ink.image, ink.levels, static_cast<int>(std::max(40.0, kRuleMin * letter)));
    ink.marks = find_marks(ink.image, ink.levels.threshold).list;
  }
  page.image = std::move(ink.image);
  page.paper = ink.levels.paper;
  page.marks = std::move(ink.marks);
  page.letter_px = letter_height(page.marks, page.image.height);
  page.lines = find_text_lines(page.marks, page.letter_px);
}

// Whether strokes fell to pieces, as in a fax that was sent too bright: lines are then full of
// marks smaller than letters.
bool is_broken(const LevelPage& page) {
  double letters = 0;
  double pieces = 0;
  for (const auto& line : page.lines) {
    for (const auto i : line.marks) {
      (is_letter_size(page.marks[i], page.letter_px) ? letters : pieces) += 1;
    }
  }
  return pieces > kBroken * letters;
}

// Whether line `j` stands on the same row as those of `row`, in letters of the same size, and one
// of the two is short.
bool belongs_beside(const LevelPage& page, const Row& row, std::size_t j) {
  constexpr std::size_t kShort = 14;
  const auto& other = page.lines[j];
  bool short_one = other.marks.size() <= kShort;
  for (const auto i : row) {
    const auto& line = page.lines[i];
    const double apart = std::abs(line.foot - other.foot);
    const double ratio = line.small / other.small;
    const bool side_by_side = other.x0 > line.x1 || other.x1 < line.x0;
    if (!side_by_side || apart > 0.3 * std::min(line.small, other.small)) return false;
    if (ratio < 0.75 || ratio > 1.33) return false;
    short_one = short_one || line.marks.size() <= kShort;
  }
  return short_one;
}

// Between the pieces of a row is the paper that they stand on, which may be shaded: an edge there
// would be read.
void fill_between(RowImage& row) {
  if (row.pieces.size() < 2) return;
  std::array<std::uint32_t, 256> counts{};
  for (const auto& piece : row.pieces) {
    const int to = std::min(row.image.width, static_cast<int>(piece.x1));
    for (int y = 0; y < row.image.height; ++y) {
      for (int x = static_cast<int>(piece.x0); x < to; ++x) ++counts[row.image.row(y)[x]];
    }
  }
  const auto paper = std::ranges::max_element(counts) - counts.begin();
  for (std::size_t i = 1; i < row.pieces.size(); ++i) {
    const auto from = static_cast<int>(row.pieces[i - 1].x1);
    const auto to = static_cast<int>(row.pieces[i].x0);
    for (int y = 0; y < row.image.height; ++y) {
      std::fill(row.image.row(y) + from, row.image.row(y) + to, static_cast<std::uint8_t>(paper));
    }
  }
}

// Each column of pixels on the line's own foot, so that slightly slanted lines come out level and
// their letters stay upright, which is what they are.
void copy_piece(const LevelPage& page, const RowImage::Piece& piece, double top, Gray& image) {
  const auto& line = page.lines[piece.line];
  const int from = static_cast<int>(piece.x0);
  const int to = std::min(image.width, static_cast<int>(piece.x1));
  const bool level = std::abs(line.slope) * (piece.x1 - piece.x0) < 1.5;
  const int first = static_cast<int>(std::floor(line.foot + top));
  for (int x = from; x < to; ++x) {
    const int source_x = x + static_cast<int>(piece.shift);
    if (source_x < 0 || source_x >= page.image.width) continue;
    const double high = level ? first : line.foot_at(source_x + 0.5) + top;
    const int whole = static_cast<int>(std::floor(high));
    const int part = static_cast<int>((high - whole) * 256);
    for (int y = 0; y < image.height; ++y) {
      const int above = std::clamp(whole + y, 0, page.image.height - 1);
      const int below = std::clamp(whole + y + 1, 0, page.image.height - 1);
      const int a = page.image.row(above)[source_x];
      const int b = page.image.row(below)[source_x];
      image.row(y)[x] = static_cast<std::uint8_t>(a + ((b - a) * part >> 8));
    }
  }
}

}  // namespace

Lie look_at(const Gray& image) {
  Lie lie;
  lie.quad = find_page_quad(image);
  const int factor = std::max(1, static_cast<int>(std::lround(std::max(image.width, image.height) /
                                                              double{kLookLongSide})));
  Gray small = reduced(image, factor);
  if (lie.quad) {
    const auto sheet = sheet_of(image, lie.quad);
    const auto to_small =
        sheet.from_source.inverse().then(Projection::scale(1.0 / factor, 1.0 / factor));
    const Size size{.width = std::max(1, static_cast<int>(sheet.width / factor)),
                    .height = std::max(1, static_cast<int>(sheet.height / factor))};
    small = warped(small, Projection::scale(factor, factor).then(to_small), size, 255);
  }
  const auto ink = find_ink(evened(small), 0, 1);
  lie.contrast = ink.levels.paper - ink.levels.ink;
  const double height = letter_height(ink.marks, small.height);
  const auto slant = find_slant(ink.marks, height);
  lie.letter_px = height * factor;
  lie.turn_deg = slant.turn_deg;
  lie.skew_deg = slant.skew_deg;
  lie.sure = slant.known && slant.sureness > 1.3;
  if (!slant.known) lie.letter_px = 0;
  return lie;
}

LevelPage make_level(const Gray& image, const Lie& lie, const Noise& noise,
                     const LevelOptions& options) {
  const auto sheet = sheet_of(image, lie.quad);
  const bool sideways = lie.turn_deg % 180 != 0;
  double width = sideways ? sheet.height : sheet.width;
  double height = sideways ? sheet.width : sheet.height;
  auto from_source =
      sheet.from_source.then(Projection::quarter_turn(lie.turn_deg, sheet.width, sheet.height));
  const bool skewed = std::abs(lie.skew_deg) >= kSkewMin;
  if (skewed) {
    const double angle = std::abs(lie.skew_deg) * 3.14159265358979 / 180;
    const double w = width * std::cos(angle) + height * std::sin(angle);
    const double h = width * std::sin(angle) + height * std::cos(angle);
    from_source = from_source.then(Projection::shift(-width / 2, -height / 2))
                      .then(Projection::rotation(-lie.skew_deg))
                      .then(Projection::shift(w / 2, h / 2));
    width = w;
    height = h;
  }
  double scale = 1;
  if (options.letter_px > 0 && lie.letter_px > 0) {
    scale = options.letter_px / lie.letter_px;
  } else if (lie.letter_px > 0 && (lie.letter_px < kLetterMin || lie.letter_px > kLetterMax)) {
    scale = kLetterWanted / lie.letter_px;
  }
  scale = std::clamp(scale, 0.2, 4.0);
  const double pixels_max = 60e6;
  scale = std::min(scale, std::sqrt(pixels_max / (width * height)));
  from_source = from_source.then(Projection::scale(scale, scale));

  LevelPage page;
  page.to_source = from_source.inverse();
  const bool as_it_is = !lie.quad && !skewed && scale == 1;
  Gray cleaned;
  if (noise.grain > kGrainMin * std::max(20, lie.contrast)) {
    cleaned = without_grain(image, noise.grain);
  }
  const Gray& clean = cleaned.empty() ? image : cleaned;
  if (as_it_is) {
    page.image = turned(clean, lie.turn_deg);
  } else {
    const int reduce = scale <= 0.6 ? static_cast<int>(1 / scale) : 1;
    const Size size{.width = std::max(1, static_cast<int>(std::lround(width * scale))),
                    .height = std::max(1, static_cast<int>(std::lround(height * scale)))};
    page.image =
        warped(reduce > 1 ? reduced(clean, reduce) : clean,
               page.to_source.then(Projection::scale(1.0 / reduce, 1.0 / reduce)), size, 255);
  }
  invert_plates(page.image);
  page.image = evened(page.image);
  const auto levels = ink_levels(page.image);
  const int contrast = std::max(20, levels.paper - levels.ink);
  const double grain = noise.grain / contrast;
  const int passes = grain > 0.05 ? 1 : 0;
  if (contrast < 130) page.image = stretched(page.image, levels.ink, levels.paper);
  const bool may_be_broken = passes == 0 && !noise.has_specks();
  auto whole = may_be_broken ? page.image : Gray();  // What follows takes small pieces for specks.
  find_text(page, passes, scale);
  if (may_be_broken && is_broken(page)) {
    page.image = smoothed(thickened(whole), 2);
    find_text(page, passes, scale);
  }
  return page;
}

LevelPage turned_over(const LevelPage& page) {
  LevelPage out;
  out.image = turned(page.image, 180);
  out.to_source =
      Projection::quarter_turn(180, page.image.width, page.image.height).then(page.to_source);
  out.paper = page.paper;
  find_text(out, 0, 0);
  return out;
}

std::vector<Row> group_rows(const LevelPage& page) {
  std::vector<Row> rows;
  std::vector<bool> taken(page.lines.size(), false);
  for (std::size_t i = 0; i < page.lines.size(); ++i) {
    if (taken[i]) continue;
    Row row = {i};
    const auto& first = page.lines[i];
    // Lines are sorted by their feet: those of the same row are close by.
    for (auto j = i + 1; j < page.lines.size(); ++j) {
      const auto& other = page.lines[j];
      if (other.foot - first.foot > first.small) break;
      if (!taken[j] && belongs_beside(page, row, j)) row.push_back(j);
    }
    for (const auto j : row) taken[j] = true;
    std::ranges::sort(row, {}, [&](std::size_t j) { return page.lines[j].x0; });
    rows.push_back(std::move(row));
  }
  return rows;
}

RowImage cut_row(const LevelPage& page, const Row& row) {
  double top = 0;
  double bottom = 0;
  double small = 0;
  for (const auto i : row) {
    const auto& line = page.lines[i];
    small = std::max(small, line.small);
    const double high = std::min(line.top, -1.5 * line.small) - kMargin;
    const double low = std::max(line.bottom, 0.4 * line.small) + kMargin;
    top = std::min(top, std::max(high, -2.4 * line.small));
    bottom = std::max(bottom, std::min(low, line.small));
  }
  const double pad = std::floor(0.3 * small + 3);
  const double gap = std::floor(kRowGap * small);
  RowImage out;
  double x = 0;
  for (const auto i : row) {
    const auto& line = page.lines[i];
    const double left = std::floor(line.x0 - pad);
    const double width = std::ceil(line.x1 - line.x0 + 2 * pad);
    out.pieces.push_back({.line = i, .x0 = x, .x1 = x + width, .shift = left - x});
    x += width + gap;
  }
  out.image = Gray(std::max(8, static_cast<int>(x - gap)),
                   std::max(8, static_cast<int>(std::lround(bottom - top))),
                   static_cast<std::uint8_t>(page.paper));
  for (const auto& piece : out.pieces) copy_piece(page, piece, top, out.image);
  fill_between(out);
  return out;
}

}  // namespace millrace::document
