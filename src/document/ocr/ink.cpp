#include "document/ocr/ink.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace millrace::document {
namespace {

constexpr std::array<int, 5> kPasses = {0, 1, 2, 4, 7};
// Specks on the place that a letter takes, on average: with more of them they stick to letters, and
// only smoothing helps; fewer are simply erased.
constexpr double kSpecksMax = 0.15;
constexpr double kSpecksSome = 0.02;
constexpr double kLetterPlace = 25 * 25;
constexpr double kInkShare = 0.45;  // Of the darkness, from the dark end, up to the ink.

// Pixels of a side up to which a mark is one; smoothing makes them larger.
int speck_side(int passes, double scale) {
  const int side = passes <= 1 ? 3 : passes <= 2 ? 4 : 5;
  return static_cast<int>(std::lround(side * std::max(1.0, scale)));
}

bool is_speck(const Mark& mark, int side) { return mark.width() <= side && mark.height() <= side; }

double speck_density(const std::vector<Mark>& marks, int side, const Gray& image) {
  const auto count =
      std::ranges::count_if(marks, [&](const Mark& mark) { return is_speck(mark, side); });
  return static_cast<double>(count) * kLetterPlace / static_cast<double>(image.pixels.size());
}

void paint(Gray& image, const Mark& mark, std::uint8_t value) {
  const int left = std::max(0, mark.x0 - 1);
  const int right = std::min(image.width, mark.x1 + 1);
  for (int y = std::max(0, mark.y0 - 1); y < std::min(image.height, mark.y1 + 1); ++y) {
    std::fill(image.row(y) + left, image.row(y) + right, value);
  }
}

}  // namespace

InkLevels ink_levels(const Gray& image) {
  const auto counts = histogram(image, 2);
  double total = 0;
  for (const auto count : counts) total += count;
  const auto quantile = [&](double share) {
    double seen = 0;
    for (int value = 0; value < 256; ++value) {
      seen += counts[static_cast<std::size_t>(value)];
      if (seen >= share * total) return value;
    }
    return 255;
  };
  InkLevels out;
  out.paper = quantile(0.6);
  // What is brighter than paper is grain alone; the dark side has ink as well.
  const double above = quantile(0.92) - quantile(0.6);
  const double below = quantile(0.6) - quantile(0.25);
  out.grain = std::max(above / 1.15, out.paper >= 250 ? below / 0.93 : 0.0);
  const int sure = static_cast<int>(out.paper - std::max(12.0, 4.5 * out.grain));
  // How dark ink is, is asked of pixels by the square of their darkness: what a JPEG leaves around
  // specks is faint, but on a page with little text there is more of it than of letters.
  const auto darkness = [&](int value) {
    const double below_paper = out.paper - value;
    return counts[static_cast<std::size_t>(value)] * below_paper * below_paper;
  };
  double dark = 0;
  double energy = 0;
  for (int value = 0; value < sure; ++value) {
    dark += counts[static_cast<std::size_t>(value)];
    energy += darkness(value);
  }
  const int otsu = otsu_threshold(counts);
  if (dark < 1e-5 * total) {  // Nothing is written here.
    out.threshold = std::max(1, sure);
    out.ink = std::max(0, sure - 1);
    return out;
  }
  double seen = 0;
  for (int value = 0; value < sure; ++value) {
    seen += darkness(value);
    if (seen >= kInkShare * energy) {
      out.ink = value;
      break;
    }
  }
  const int middle = static_cast<int>(out.ink + 0.55 * (out.paper - out.ink));
  // Otsu's threshold is good where there is ink enough for it to see two classes.
  const bool plausible = otsu > out.ink && otsu < sure && dark > 0.01 * total;
  out.threshold = std::clamp(plausible ? (otsu + middle) / 2 : middle, 1, std::max(1, sure));
  return out;
}

InkMarks find_ink(Gray image, int passes_min, double scale) {
  InkMarks out;
  double density = 0;
  int side = 0;
  for (const int passes : kPasses) {
    if (passes < passes_min) continue;
    out.image = passes == 0 ? image : smoothed(image, passes);
    out.passes = passes;
    out.levels = ink_levels(out.image);
    auto marks = find_marks(out.image, out.levels.threshold);
    out.marks = std::move(marks.list);
    side = speck_side(passes, scale);
    density = speck_density(out.marks, side, out.image);
    if (!marks.too_many && density <= kSpecksMax) break;
  }
  if (density > kSpecksSome) {
    const auto speck = [&](const Mark& mark) { return is_speck(mark, side); };
    for (const auto& mark : out.marks) {
      if (speck(mark)) paint(out.image, mark, static_cast<std::uint8_t>(out.levels.paper));
    }
    std::erase_if(out.marks, speck);
  }
  return out;
}

void erase_rules(Gray& image, const InkLevels& levels, int length) {
  const auto paper = static_cast<std::uint8_t>(levels.paper);
  // A little brighter than ink, or the soft edge of a line would stay behind as one.
  const int dark = std::min(254, (levels.threshold + levels.paper) / 2);
  std::vector<int> runs(static_cast<std::size_t>(image.width), 0);
  std::vector<std::array<int, 3>> upright;  // x, first y, end.
  std::vector<std::array<int, 3>> flat;     // y, first x, end.
  for (int y = 0; y < image.height; ++y) {
    const auto* row = image.row(y);
    for (int x = 0; x < image.width; ++x) {
      auto& run = runs[static_cast<std::size_t>(x)];
      if (row[x] < dark) {
        ++run;
        continue;
      }
      if (run >= length) upright.push_back({x, y - run, y});
      run = 0;
    }
  }
  for (int x = 0; x < image.width; ++x) {
    const int run = runs[static_cast<std::size_t>(x)];
    if (run >= length) upright.push_back({x, image.height - run, image.height});
  }
  for (int y = 0; y < image.height; ++y) {
    const auto* row = image.row(y);
    int begin = -1;
    for (int x = 0; x <= image.width; ++x) {
      const bool ink = x < image.width && row[x] < dark;
      if (ink && begin < 0) begin = x;
      if (ink || begin < 0) continue;
      if (x - begin >= length) flat.push_back({y, begin, x});
      begin = -1;
    }
  }
  // With the pixel beside: edges of lines are soft.
  for (const auto& [y, from, to] : flat) {
    for (int j = std::max(0, y - 1); j <= std::min(image.height - 1, y + 1); ++j) {
      std::fill(image.row(j) + from, image.row(j) + to, paper);
    }
  }
  for (const auto& [x, from, to] : upright) {
    for (int y = from; y < to; ++y) {
      for (int i = std::max(0, x - 1); i <= std::min(image.width - 1, x + 1); ++i) {
        image.row(y)[i] = paper;
      }
    }
  }
}

}  // namespace millrace::document
