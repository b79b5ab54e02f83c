#include "document/read/square_boxes.h"

#include "document/read/pdf_file.h"
#include "layout/code_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>

namespace millrace::document {
namespace {

using layout::Box;

constexpr double kSideMin = 4.5;  // Points.
constexpr double kSideMax = 40;
constexpr double kSquare = 1.25;     // The longer side by the shorter.
constexpr double kMeet = 1;          // Points that ends of lines may lie apart, and be beside.
constexpr double kRound = 0.28;      // Of the side: so much at each end may be a round corner.
constexpr double kGoesOn = 0.4;      // Of the side: a line that is so much longer is not its own.
constexpr double kInner = 0.16;      // Of the side: what lies deeper is no edge.
constexpr double kTickMin = 0.2;     // Of the side: smaller things are dirt,
constexpr double kTickMax = 2.5;     // and larger ones have nothing to do with it.
constexpr double kCovers = 0.8;      // Of the area: then it is a shade behind everything,
constexpr double kLight = 0.85;      // unless it is darker than this.
constexpr double kHollow = 0.4;      // Of the area: so much white on a dark square leaves a frame.
constexpr double kWordBehind = 2.5;  // Sides: how far the word may stand,
constexpr double kWordLow = 0.4;     // and what its side may be, in heights of the word.
constexpr double kWordHigh = 2.2;
constexpr std::size_t kSquaresMax = 1'000;
constexpr std::size_t kLooksMax = 5'000'000;  // At pairs of lines: some tens of milliseconds.

// Lines of one direction, by where they lie across it.
class Lines {
 public:
  // `across`, `from` and `to` of a line: for level ones y, x0, x1.
  struct Line {
    double across = 0;
    double from = 0;
    double to = 0;
  };

  Lines(const std::vector<Box>& boxes, bool level) {
    lines_.reserve(boxes.size());
    for (const auto& box : boxes) {
      lines_.push_back(level ? Line{.across = box.y0, .from = box.x0, .to = box.x1}
                             : Line{.across = box.x0, .from = box.y0, .to = box.y1});
    }
    std::ranges::sort(lines_, {}, &Line::across);
  }

  const std::vector<Line>& all() const { return lines_; }
  std::span<const Line> near(double across, double reach) const {
    const auto first = std::ranges::lower_bound(lines_, across - reach, {}, &Line::across);
    const auto last = std::ranges::upper_bound(lines_, across + reach, {}, &Line::across);
    return {first, last};
  }
  // How much of [from, to] lines here cover; a rule of a table covers more and is not counted.
  bool covers(double across, double from, double to) const {
    const double side = to - from;
    const double room = kRound * side;
    return std::ranges::any_of(near(across, kMeet), [&](const Line& line) {
      return line.from <= from + room + kMeet && line.to >= to - room - kMeet &&
             line.to - line.from <= side * (1 + kGoesOn);
    });
  }
  // Whether a line runs along here and farther than it should.
  bool goes_on(double across, double from, double to) const {
    const double more = kGoesOn * (to - from);
    return std::ranges::any_of(near(across, kMeet), [&](const Line& line) {
      const bool touches = line.from <= to + kMeet && line.to >= from - kMeet;
      return touches && (line.from < from - more || line.to > to + more);
    });
  }

 private:
  std::vector<Line> lines_;
};

// The square of which these are the upper and the lower edge, if there are the others.
std::optional<Box> square_of(const Lines::Line& top, const Lines::Line& bottom,
                             const Lines& upright) {
  const double high = bottom.across - top.across;
  // Of round corners the level part is shorter than the box is wide.
  const double from = (top.from + bottom.from) / 2;
  const double to = (top.to + bottom.to) / 2;
  for (const auto& line : upright.near(from, kRound * high + kMeet)) {
    const double left = line.across;
    const double right = from + to - left;
    const double wide = right - left;
    const bool square = wide >= kSideMin && std::max(wide, high) <= kSquare * std::min(wide, high);
    if (!square || to - from < wide * (1 - 2 * kRound) - 2 * kMeet) continue;
    if (upright.covers(left, top.across, bottom.across) &&
        upright.covers(right, top.across, bottom.across)) {
      return Box{.x0 = left, .y0 = top.across, .x1 = right, .y1 = bottom.across};
    }
  }
  return std::nullopt;
}

std::vector<Box> squares_of(const Lines& level, const Lines& upright) {
  std::vector<Box> squares;
  std::size_t looks = 0;
  const auto& lines = level.all();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double width = lines[i].to - lines[i].from;
    if (width < kSideMin * (1 - 2 * kRound) || width > kSideMax) continue;
    for (auto j = i + 1; j < lines.size(); ++j) {
      const double high = lines[j].across - lines[i].across;
      if (high > kSideMax) break;
      if (squares.size() >= kSquaresMax || ++looks > kLooksMax) return squares;
      const bool alike = std::abs(lines[i].from - lines[j].from) <= kMeet &&
                         std::abs(lines[i].to - lines[j].to) <= kMeet;
      if (high < kSideMin || !alike) continue;
      if (const auto square = square_of(lines[i], lines[j], upright)) squares.push_back(*square);
    }
  }
  return squares;
}

Box inner_of(const Box& box) {
  const double dx = kInner * box.width();
  const double dy = kInner * box.height();
  return {.x0 = box.x0 + dx, .y0 = box.y0 + dy, .x1 = box.x1 - dx, .y1 = box.y1 - dy};
}

bool holds(const Box& box, double x, double y) {
  return x >= box.x0 && x <= box.x1 && y >= box.y0 && y <= box.y1;
}

bool lies_in(const Box& thing, const Box& box) {
  return holds(inner_of(box), thing.centre_x(), thing.centre_y());
}

// Of a size that somebody ticks with.
bool is_tick_sized(const Box& thing, const Box& box) {
  const double size = std::max(thing.width() / box.width(), thing.height() / box.height());
  return size >= kTickMin && size <= kTickMax;
}

// What is printed in a box that is ticked with a letter or a sign.
bool is_tick(std::string_view text) {
  static constexpr auto kTicks =
      std::to_array<std::string_view>({"x", "X", "✓", "✔", "✗", "✘", "✕", "✖", "×", "☑",
                                       "☒", "⊠", "•", "●", "■", "◼", "▪", "+", "*", "√"});
  return std::ranges::find(kTicks, text) != kTicks.end();
}

bool is_square(const Box& box) {
  const double shorter = std::min(box.width(), box.height());
  const double longer = std::max(box.width(), box.height());
  return shorter >= kSideMin && longer <= kSideMax && longer <= kSquare * shorter;
}

// What is said of a box by what is printed in it.
enum class Printed { nothing, tick, word };

Printed printed_in(const Box& box, std::span<const PdfWord> words) {
  auto printed = Printed::nothing;
  for (const auto& word : words) {
    if (!lies_in(word.box, box)) continue;
    if (!is_tick(word.text)) return Printed::word;
    printed = Printed::tick;
  }
  return printed;
}

// Dark squares with something white on them: a tick, or so much that a frame is left.
std::vector<SquareBox> dark_boxes_of(const PageInk& ink, std::span<const PdfWord> words) {
  std::vector<SquareBox> out;
  const auto& shapes = ink.shapes();
  std::size_t looks = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto& dark = shapes[i];
    if (!dark.filled || !dark.rectangle || dark.shade >= kLight || !is_square(dark.box)) continue;
    const auto printed = printed_in(dark.box, words);
    if (printed == Printed::word) continue;
    std::optional<SquareBox> found;
    if (printed == Printed::tick) found = SquareBox{.box = dark.box, .checked = true};
    for (auto j = i + 1; j < shapes.size(); ++j) {
      if (out.size() >= kSquaresMax || ++looks > kLooksMax) return out;
      const auto& on = shapes[j];
      if (!lies_in(on.box, dark.box) || !is_tick_sized(on.box, dark.box)) continue;
      if (on.shade < kLight) {
        // On white in the dark again.
        if (found) found->checked = true;
        continue;
      }
      const double share = on.box.area() / dark.box.area();
      if (share > 1) continue;  // It covers everything.
      const bool hollow = on.filled && on.rectangle && share >= kHollow;
      if (!found) found = SquareBox{.box = dark.box, .checked = !hollow};
    }
    if (found) out.push_back(*found);
  }
  return out;
}

// The same square drawn twice, or with a thick edge that is filled: the larger one.
void drop_repeated(std::vector<Box>& squares) {
  std::ranges::sort(squares, {},
                    [](const Box& box) { return std::tuple(-box.area(), box.y0, box.x0); });
  std::vector<Box> kept;
  for (const auto& square : squares) {
    const bool known = std::ranges::any_of(kept, [&](const Box& other) {
      return layout::overlap_x(square, other) * layout::overlap_y(square, other) >
             0.5 * square.area();
    });
    if (!known) kept.push_back(square);
  }
  squares = std::move(kept);
}

bool stand_together(const Box& a, const Box& b) {
  const bool side_by_side = std::min(std::abs(a.x1 - b.x0), std::abs(b.x1 - a.x0)) <= kMeet &&
                            layout::overlap_y(a, b) > 0.5 * std::min(a.height(), b.height());
  const bool stacked = std::min(std::abs(a.y1 - b.y0), std::abs(b.y1 - a.y0)) <= kMeet &&
                       layout::overlap_x(a, b) > 0.5 * std::min(a.width(), b.width());
  return side_by_side || stacked;
}

enum class Inside { nothing, tick, no_box };

Inside what_is_in(const Box& box, const PageInk& ink, const Lines& level, const Lines& upright,
                  std::span<const PdfWord> words, std::span<const Box> pictures) {
  const auto inner = inner_of(box);
  const auto printed = printed_in(box, words);
  if (printed == Printed::word) return Inside::no_box;
  bool ticked = printed == Printed::tick;
  for (const auto& shape : ink.shapes()) {
    if (!lies_in(shape.box, box)) continue;
    const double share = layout::overlap_x(shape.box, box) * layout::overlap_y(shape.box, box);
    if (shape.filled && share >= kCovers * box.area()) {
      if (shape.shade < kLight) return Inside::no_box;
      continue;
    }
    if (shape.filled && shape.shade >= kLight) continue;
    ticked = ticked || is_tick_sized(shape.box, box);
  }
  for (const auto& picture : pictures) {
    ticked = ticked || (lies_in(picture, box) && is_tick_sized(picture, box));
  }
  // A cross that stands upright, or a dash.
  for (const auto& line : level.near(box.centre_y(), inner.height() / 2)) {
    const double share = std::min(line.to, inner.x1) - std::max(line.from, inner.x0);
    ticked = ticked || share >= kTickMin * box.width();
  }
  for (const auto& line : upright.near(box.centre_x(), inner.width() / 2)) {
    const double share = std::min(line.to, inner.y1) - std::max(line.from, inner.y0);
    ticked = ticked || share >= kTickMin * box.height();
  }
  return ticked ? Inside::tick : Inside::nothing;
}

// Whether its size is that of the word behind it.
bool has_word_behind(const Box& box, std::span<const PdfWord> words) {
  const PdfWord* nearest = nullptr;
  for (const auto& word : words) {
    const bool behind = word.box.x0 >= box.x1 - box.width() / 4 &&
                        word.box.x0 <= box.x1 + kWordBehind * box.width();
    const double beside = layout::overlap_y(word.box, box);
    if (!behind || beside < 0.5 * std::min(word.box.height(), box.height())) continue;
    if (nearest == nullptr || word.box.x0 < nearest->box.x0) nearest = &word;
  }
  if (nearest == nullptr) return false;
  const double side = box.height() / std::max(0.1, nearest->box.height());
  return side >= kWordLow && side <= kWordHigh;
}

}  // namespace

std::vector<SquareBox> find_square_boxes(const PageInk& ink, std::span<const PdfWord> words,
                                         std::span<const Box> pictures) {
  std::vector<SquareBox> out;
  const Lines level(ink.level(), true);
  const Lines upright(ink.upright(), false);
  auto squares = squares_of(level, upright);
  drop_repeated(squares);
  for (const auto& box : squares) {
    const bool of_table =
        level.goes_on(box.y0, box.x0, box.x1) || level.goes_on(box.y1, box.x0, box.x1) ||
        upright.goes_on(box.x0, box.y0, box.y1) || upright.goes_on(box.x1, box.y0, box.y1);
    if (of_table || !has_word_behind(box, words)) continue;
    const bool in_row = std::ranges::any_of(
        squares, [&](const Box& other) { return !(other == box) && stand_together(other, box); });
    if (in_row) continue;
    const auto inside = what_is_in(box, ink, level, upright, words, pictures);
    if (inside != Inside::no_box) out.push_back({.box = box, .checked = inside == Inside::tick});
  }
  for (const auto& dark : dark_boxes_of(ink, words)) {
    const bool known = std::ranges::any_of(out, [&dark](const SquareBox& square) {
      return layout::intersection_over_union(square.box, dark.box) > 0.5;
    });
    if (!known && has_word_behind(dark.box, words)) out.push_back(dark);
  }
  return out;
}

}  // namespace millrace::document
