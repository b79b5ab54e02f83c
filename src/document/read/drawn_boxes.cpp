#include "document/read/drawn_boxes.h"

#include "document/ocr/marks.h"
#include "layout/code_points.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace millrace::document {
namespace {

constexpr std::size_t kPlacesMax = 3'000;
constexpr std::int64_t kPixelsMax = 40'000'000;  // Of all places: an ordinary page has one million.
constexpr double kWordPxMin = 10;  // Lower words have boxes of a few pixels: anything is one.
constexpr double kWordPxMax = 300;
constexpr double kGap = 0.9;  // All of these times the height of the word.
constexpr double kReachLeft = 3.2;
constexpr double kReachRight = 0.3;
constexpr std::size_t kBriefLetters = 4;  // "([])"
constexpr double kReachBrief = 1;         // Behind a word that may be the box itself.
constexpr double kReachUp = 0.5;
constexpr double kSideMin = 0.4;
constexpr double kSideMax = 1.7;
constexpr double kSquare = 1.25;    // The longer side by the shorter.
constexpr double kStraight = 0.14;  // Of the side: so far an edge may lie from its bounds,
constexpr double kEdgeShare = 0.9;  // over so much of its length. Round letters fail at corners.
constexpr double kInner = 0.24;     // Of the side: what lies deeper is no edge.
constexpr double kTicked = 0.055;   // Ink inside of which somebody has written.
constexpr double kFilled = 0.8;     // A black square is a bullet.
constexpr int kContrastMin = 50;

// A piece of the level page, in its pixels.
struct Place {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

// Neither letter nor figure in it: a word within a line that may be a box.
bool is_sign(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || std::isalnum(byte) != 0;
  });
}

std::vector<Place> places_of(const OcrPage& read, const layout::PageMap& page) {
  const double wide = read.level.width;
  const double high = read.level.height;
  std::vector<Place> places;
  std::int64_t pixels = 0;
  for (const auto& line : page.lines) {
    for (auto i = line.words.first; i <= line.words.last; ++i) {
      const auto& word = page.words[i];
      const double height = word.box.height() * high;
      if (height < kWordPxMin || height > kWordPxMax) continue;
      const bool begins =
          i == line.words.first || (word.box.x0 - page.words[i - 1].box.x1) * wide > kGap * height;
      const bool brief = layout::count_code_points(word.text) <= kBriefLetters;
      if (!begins && !(brief && is_sign(word.text))) continue;
      const double right = brief ? word.box.x1 * wide + kReachBrief * height
                                 : word.box.x0 * wide + kReachRight * height;
      const int x0 = std::max(0, static_cast<int>(word.box.x0 * wide - kReachLeft * height));
      const int y0 = std::max(0, static_cast<int>(word.box.y0 * high - kReachUp * height));
      const int x1 = std::min(read.level.width, static_cast<int>(right));
      const int y1 =
          std::min(read.level.height, static_cast<int>(word.box.y1 * high + kReachUp * height));
      if (x1 - x0 < kWordPxMin || y1 - y0 < kWordPxMin) continue;
      pixels += std::int64_t{x1 - x0} * (y1 - y0);
      if (pixels > kPixelsMax) return places;
      places.push_back({.x = x0, .y = y0, .width = x1 - x0, .height = y1 - y0});
      if (places.size() >= kPlacesMax) return places;
    }
  }
  return places;
}

// Between ink and paper; nothing where there is paper only.
std::optional<int> threshold_of(const Gray& piece) {
  const auto counts = histogram(piece);
  const auto total = static_cast<double>(piece.pixels.size());
  const auto quantile = [&](double share) {
    double seen = 0;
    for (int value = 0; value < 256; ++value) {
      seen += counts[static_cast<std::size_t>(value)];
      if (seen >= share * total) return value;
    }
    return 255;
  };
  const int ink = quantile(0.01);
  const int paper = quantile(0.7);
  if (paper - ink < kContrastMin) return std::nullopt;
  return ink + (paper - ink) * 11 / 20;
}

// How much of one edge is straight: for each step along it, how deep the first ink lies.
template <typename Dark>
double straight_share(int length, int depth_max, Dark dark) {
  int straight = 0;
  for (int along = 0; along < length; ++along) {
    for (int depth = 0; depth <= depth_max; ++depth) {
      if (!dark(along, depth)) continue;
      ++straight;
      break;
    }
  }
  return static_cast<double>(straight) / length;
}

bool has_four_edges(const Gray& piece, const Mark& mark, int threshold) {
  const int w = mark.width();
  const int h = mark.height();
  const int deep = std::max(1, static_cast<int>(kStraight * std::min(w, h)));
  const auto dark = [&](int x, int y) { return piece.at(mark.x0 + x, mark.y0 + y) < threshold; };
  const auto enough = [](double share) { return share >= kEdgeShare; };
  return enough(straight_share(w, deep, [&](int a, int d) { return dark(a, d); })) &&
         enough(straight_share(w, deep, [&](int a, int d) { return dark(a, h - 1 - d); })) &&
         enough(straight_share(h, deep, [&](int a, int d) { return dark(d, a); })) &&
         enough(straight_share(h, deep, [&](int a, int d) { return dark(w - 1 - d, a); }));
}

double ink_inside(const Gray& piece, const Mark& mark, int threshold) {
  const int dx = std::max(1, static_cast<int>(std::ceil(kInner * mark.width())));
  const int dy = std::max(1, static_cast<int>(std::ceil(kInner * mark.height())));
  int ink = 0;
  int all = 0;
  for (int y = mark.y0 + dy; y < mark.y1 - dy; ++y) {
    for (int x = mark.x0 + dx; x < mark.x1 - dx; ++x) {
      ++all;
      ink += piece.at(x, y) < threshold ? 1 : 0;
    }
  }
  return all == 0 ? 1 : static_cast<double>(ink) / all;
}

struct Found {
  Mark mark = {};  // In pixels of the piece.
  bool checked = false;
};

std::vector<Found> boxes_in(const Gray& piece, double word_px) {
  std::vector<Found> found;
  const auto threshold = threshold_of(piece);
  if (!threshold) return found;
  for (const auto& mark : find_marks(piece, *threshold).list) {
    const int shorter = std::min(mark.width(), mark.height());
    const int longer = std::max(mark.width(), mark.height());
    if (shorter < kSideMin * word_px || longer > kSideMax * word_px) continue;
    if (longer > kSquare * shorter) continue;
    // What goes on outside may be anything: a table, a frame around the page.
    if (mark.x0 == 0 || mark.y0 == 0 || mark.x1 == piece.width || mark.y1 == piece.height) continue;
    if (!has_four_edges(piece, mark, *threshold)) continue;
    const double inside = ink_inside(piece, mark, *threshold);
    if (inside < kFilled) found.push_back({.mark = mark, .checked = inside >= kTicked});
  }
  return found;
}

}  // namespace

std::vector<layout::DrawnBox> find_drawn_boxes(const Gray& image, const OcrPage& read,
                                               const layout::PageMap& page) {
  std::vector<layout::DrawnBox> out;
  // The level page in the picture as it came.
  const auto to_image = read.to_upright.then(
      Projection::quarter_turn(read.turn_deg, image.width, image.height).inverse());
  for (const auto& place : places_of(read, page)) {
    const auto piece = warped(image, Projection::shift(place.x, place.y).then(to_image),
                              {.width = place.width, .height = place.height}, 255);
    const double word_px = place.height / (1 + 2 * kReachUp);
    for (const auto& [mark, checked] : boxes_in(piece, word_px)) {
      const layout::DrawnBox box{
          .box =
              layout::rounded({.x0 = (place.x + mark.x0) / static_cast<double>(read.level.width),
                               .y0 = (place.y + mark.y0) / static_cast<double>(read.level.height),
                               .x1 = (place.x + mark.x1) / static_cast<double>(read.level.width),
                               .y1 = (place.y + mark.y1) / static_cast<double>(read.level.height)}),
          .checked = checked};
      // Two words may have the same box between them.
      const bool known = std::ranges::any_of(out, [&](const layout::DrawnBox& other) {
        return layout::intersection_over_union(other.box, box.box) > 0.5;
      });
      if (!known) out.push_back(box);
    }
  }
  return out;
}

}  // namespace millrace::document
