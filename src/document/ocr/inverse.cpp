#include "document/ocr/inverse.h"

#include "document/ocr/marks.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

namespace millrace::document {
namespace {

constexpr int kClearlyBrighter = 80;
// Pages.
constexpr int kDarkPage = 100;            // The middle of all values of a page that may be inverse.
constexpr double kLargestWriting = 0.15;  // Of the page, that one bright thing may cover.
constexpr double kSomeWriting = 0.995;    // Of the page, up to what is written on it.
// Plates.
constexpr double kDark = 0.55;     // Of the paper's brightness.
constexpr int kTilesAcross = 192;  // A tile is narrower than the margin around a plate's letters.
constexpr int kTileMin = 8;
constexpr int kTilesWide = 3;
constexpr double kMostly = 0.5;  // Of a tile, a row or a column, that is dark.
constexpr double kFlat = 0.5;    // Of a plate, that is as dark as most of it.
constexpr int kFlatReach = 20;   // Values from that.
constexpr double kWritingMin = 0.02;
constexpr double kWritingMax = 0.5;
constexpr int kLettersMin = 3;
constexpr double kLettersEach = 2.5;  // On each piece that lines between cells cut a plate into.
constexpr double kClosed = 0.85;      // Of the first and of the last row, that is dark.
constexpr int kLetterHeightMin = 6;
constexpr int kInk = 20;
// Beside plates.
constexpr int kPaperBrighter = 40;  // Than the plate, at least, also in the shade.
constexpr int kSoftEdge = 2;        // Pixels.

int quantile(const std::vector<std::uint32_t>& counts, double share) {
  double total = 0;
  for (const auto count : counts) total += count;
  double seen = 0;
  for (int value = 0; value < 256; ++value) {
    seen += counts[static_cast<std::size_t>(value)];
    if (seen >= share * total) return value;
  }
  return 255;
}

std::vector<std::uint32_t> brighter_than(std::vector<std::uint32_t> counts, int value) {
  std::fill_n(counts.begin(), std::min(256, value + 1), 0);
  return counts;
}

Gray turned_round(const Gray& image) {
  Gray out = image;
  for (auto& value : out.pixels) value = static_cast<std::uint8_t>(255 - value);
  return out;
}

struct Area {  // Pixels, [x0, x1) and [y0, y1).
  int x0 = 0;
  int y0 = 0;
  int x1 = 0;
  int y1 = 0;
  int width() const { return x1 - x0; }
  int height() const { return y1 - y0; }
};

// How many pixels of each row and of each column are darker than `dark`.
struct Profile {
  std::vector<int> rows;
  std::vector<int> columns;
};

Profile profile_of(const Gray& image, const Area& area, int dark) {
  Profile out{.rows = std::vector<int>(static_cast<std::size_t>(area.height())),
              .columns = std::vector<int>(static_cast<std::size_t>(area.width()))};
  for (int y = area.y0; y < area.y1; ++y) {
    const auto* row = image.row(y);
    for (int x = area.x0; x < area.x1; ++x) {
      const int is_dark = row[x] < dark ? 1 : 0;
      out.rows[static_cast<std::size_t>(y - area.y0)] += is_dark;
      out.columns[static_cast<std::size_t>(x - area.x0)] += is_dark;
    }
  }
  return out;
}

// From the first to behind the last that has enough.
std::pair<int, int> extent(const std::vector<int>& counts, double enough) {
  int first = -1;
  int end = -1;
  for (int i = 0; i < static_cast<int>(counts.size()); ++i) {
    if (counts[static_cast<std::size_t>(i)] < enough) continue;
    if (first < 0) first = i;
    end = i + 1;
  }
  return {std::max(first, 0), std::max(end, 0)};
}

// The edges of what is dark in and around an area of tiles, to the pixel.
Area fitted(const Gray& image, const Area& tiles, int tile, int dark) {
  Area out{.x0 = tiles.x0,
           .y0 = std::max(0, tiles.y0 - tile),
           .x1 = tiles.x1,
           .y1 = std::min(image.height, tiles.y1 + tile)};
  const auto [top, bottom] = extent(profile_of(image, out, dark).rows, kMostly * tiles.width());
  out.y1 = out.y0 + bottom;
  out.y0 += top;
  if (out.height() <= 0) return {};
  out.x0 = std::max(0, tiles.x0 - tile);
  out.x1 = std::min(image.width, tiles.x1 + tile);
  const auto [left, right] = extent(profile_of(image, out, dark).columns, kMostly * out.height());
  out.x1 = out.x0 + right;
  out.x0 += left;
  return out.width() > 0 ? out : Area{};
}

// Areas of dark tiles that hang together, as the boxes around them.
std::vector<Area> dark_areas(const Gray& image, int tile, int dark) {
  const int columns = (image.width + tile - 1) / tile;
  const int rows = (image.height + tile - 1) / tile;
  Gray tiles(columns, rows, 255);
  std::vector<int> counts(static_cast<std::size_t>(columns));
  for (int row = 0; row < rows; ++row) {
    std::ranges::fill(counts, 0);
    const int bottom = std::min(image.height, (row + 1) * tile);
    for (int y = row * tile; y < bottom; ++y) {
      const auto* line = image.row(y);
      for (int column = 0; column < columns; ++column) {
        const int right = std::min(image.width, (column + 1) * tile);
        int count = 0;
        for (int x = column * tile; x < right; ++x) count += line[x] < dark ? 1 : 0;
        counts[static_cast<std::size_t>(column)] += count;
      }
    }
    for (int column = 0; column < columns; ++column) {
      const int width = std::min(image.width, (column + 1) * tile) - column * tile;
      const double enough = kMostly * width * (bottom - row * tile);
      if (counts[static_cast<std::size_t>(column)] >= enough) tiles.row(row)[column] = 0;
    }
  }
  std::vector<Area> out;
  for (const auto& mark : find_marks(tiles, 128).list) {
    if (mark.width() < kTilesWide) continue;
    out.push_back({.x0 = mark.x0 * tile,
                   .y0 = mark.y0 * tile,
                   .x1 = std::min(image.width, mark.x1 * tile),
                   .y1 = std::min(image.height, mark.y1 * tile)});
  }
  return out;
}

// What is on a plate: its own level, how bright its letters are, and the plate as an image on which
// they are dark, with all else taken away.
struct Plate {
  int level = 0;
  int letters = 0;
  Gray image = {};
};

std::optional<Plate> plate_at(const Gray& image, const Area& area, int dark) {
  std::vector<std::uint32_t> counts(256);
  Plate out{.image = Gray(area.width(), area.height())};
  for (int y = 0; y < area.height(); ++y) {
    const auto* in = image.row(area.y0 + y) + area.x0;
    auto* to = out.image.row(y);
    for (int x = 0; x < area.width(); ++x) {
      ++counts[in[x]];
      to[x] = static_cast<std::uint8_t>(255 - in[x]);
    }
  }
  const double total = static_cast<double>(area.width()) * area.height();
  std::vector<std::uint32_t> below(counts.begin(), counts.begin() + dark);
  out.level = quantile(below, 0.5);
  double flat = 0;
  double bright = 0;
  for (int value = 0; value < 256; ++value) {
    const auto count = counts[static_cast<std::size_t>(value)];
    if (std::abs(value - out.level) <= kFlatReach) flat += count;
    if (value > out.level + kClearlyBrighter) bright += count;
  }
  if (flat < kFlat * total) return std::nullopt;
  if (bright < kWritingMin * total || bright > kWritingMax * total) return std::nullopt;
  out.letters = quantile(brighter_than(counts, out.level + kClearlyBrighter - 1), 0.6);
  return out;
}

struct Spot {
  int x = 0;
  int y = 0;
};

// What is darker than `threshold` in some spots, and all that hangs on that within an area, becomes
// paper: as many pixels deep as `reach` says. Where that was.
std::vector<Spot> clear_from(Gray& image, const std::vector<Spot>& spots, const Area& within,
                             int threshold, int paper, int reach = INT_MAX) {
  std::vector<Spot> cleared;
  const auto take = [&](int x, int y) {
    if (x < within.x0 || y < within.y0 || x >= within.x1 || y >= within.y1) return;
    auto& value = image.row(y)[x];
    if (value >= threshold) return;
    value = static_cast<std::uint8_t>(paper);
    cleared.push_back({x, y});
  };
  for (const auto& spot : spots) take(spot.x, spot.y);
  std::size_t next = 0;
  for (int step = 1; step < reach && next < cleared.size(); ++step) {
    for (const auto end = cleared.size(); next < end; ++next) {
      const auto at = cleared[next];
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) take(at.x + dx, at.y + dy);
      }
    }
  }
  return cleared;
}

// What is nearer to `ink` than to paper in some spots, and all that hangs on that within an area,
// with the soft edge of both. What is nearer to paper is edge only where it is close: grey rows and
// shaded paper go on from there, and letters stand on them.
void clear_edge(Gray& image, const std::vector<Spot>& spots, const Area& within, int ink,
                int paper) {
  const int threshold = paper - (paper - ink) / 4;
  auto soft = spots;
  for (const auto& at : clear_from(image, spots, within, (paper + ink) / 2, paper)) {
    for (int y = std::max(within.y0, at.y - 1); y < std::min(within.y1, at.y + 2); ++y) {
      for (int x = std::max(within.x0, at.x - 1); x < std::min(within.x1, at.x + 2); ++x) {
        if (image.at(x, y) < threshold) soft.push_back({x, y});
      }
    }
  }
  clear_from(image, soft, within, threshold, paper, kSoftEdge);
}

// What lies on one side of a plate, the corners with what is above and below.
struct Side {
  Area area = {};
  int paper = 0;
};

struct Surroundings {
  std::array<Side, 4> sides = {};
  int paper = 0;
};

// Pages are not evened yet, and rows of tables are grey: paper is what most of what is beside the
// plate is.
Surroundings look_around(const Gray& image, const Area& area, int level, int page_paper) {
  const int reach = std::max(kSoftEdge, area.height() / 3);
  const int left = std::max(0, area.x0 - reach);
  const int right = std::min(image.width, area.x1 + reach);
  Surroundings out;
  out.sides[0].area = {left, std::max(0, area.y0 - reach), right, area.y0};
  out.sides[1].area = {left, area.y1, right, std::min(image.height, area.y1 + reach)};
  out.sides[2].area = {left, area.y0, area.x0, area.y1};
  out.sides[3].area = {area.x1, area.y0, right, area.y1};
  const auto most_of = [](const std::vector<std::uint32_t>& counts, int otherwise) {
    const bool any = std::ranges::any_of(counts, [](auto count) { return count > 0; });
    return any ? quantile(counts, 0.5) : otherwise;
  };
  std::vector<std::uint32_t> all(256);
  std::array<std::vector<std::uint32_t>, 4> each;
  for (std::size_t i = 0; i < each.size(); ++i) {
    const auto& side = out.sides[i].area;
    each[i].resize(256);
    for (int y = side.y0; y < side.y1; ++y) {
      for (int x = side.x0; x < side.x1; ++x) ++each[i][image.at(x, y)];
    }
    each[i] = brighter_than(std::move(each[i]), level + kPaperBrighter);
    std::ranges::transform(all, each[i], all.begin(), std::plus());
  }
  out.paper = most_of(all, page_paper);
  for (std::size_t i = 0; i < each.size(); ++i) out.sides[i].paper = most_of(each[i], out.paper);
  return out;
}

// The ends of a plate with round corners, and the soft edge of any, lie outside of the area that
// was fitted to it.
void clear_around(Gray& image, const Area& area, int level, const Surroundings& around) {
  std::vector<Spot> edge;
  for (int x = area.x0 - 1; x <= area.x1; ++x) {
    for (const int y : {area.y0 - 1, area.y1}) edge.push_back({x, y});
  }
  for (int y = area.y0; y < area.y1; ++y) {
    for (const int x : {area.x0 - 1, area.x1}) edge.push_back({x, y});
  }
  for (const auto& [side, paper] : around.sides) clear_edge(image, edge, side, level, paper);
}

// A heading in heavy letters is dark as well, with bright things enclosed: but each of its letters
// stands alone, encloses two at most, and its upper and lower edges are not closed.
bool is_closed(const Plate& plate, int between, int letters) {
  const auto& image = plate.image;
  for (const int y : {1, image.height - 2}) {
    const auto dark = std::count_if(image.row(y), image.row(y) + image.width,
                                    [&](std::uint8_t value) { return value >= between; });
    if (static_cast<double>(dark) < kClosed * image.width) return false;
  }
  const auto marks = find_marks(turned_round(image), 255 - between).list;
  const auto pieces = std::ranges::count_if(
      marks, [&](const Mark& mark) { return mark.height() >= 0.8 * image.height; });
  return letters >= kLettersEach * static_cast<double>(pieces);
}

// Letters stand within a plate and do not reach its edge: lines between cells, the paper at round
// corners and around a picture do. Those are taken away; whether letters are left.
bool keep_letters(Plate& plate) {
  const int between = 255 - (plate.level + plate.letters) / 2;
  int letters = 0;
  double written = 0;
  double total = 0;
  for (const auto& mark : find_marks(plate.image, between).list) {
    const bool at_edge = mark.x0 <= 1 || mark.y0 <= 1 || mark.x1 >= plate.image.width - 1 ||
                         mark.y1 >= plate.image.height - 1;
    if (at_edge) continue;
    total += mark.ink;
    const bool rule = mark.width() > 12 * mark.height() || mark.height() > 12 * mark.width();
    if (mark.height() < kLetterHeightMin || rule) continue;
    ++letters;
    written += mark.ink;
  }
  if (letters < kLettersMin || written < 0.5 * total) return false;
  if (!is_closed(plate, between, letters)) return false;
  auto& image = plate.image;
  std::vector<Spot> edge;
  for (int x = 0; x < image.width; ++x) {
    for (const int y : {0, 1, image.height - 2, image.height - 1}) edge.push_back({x, y});
  }
  for (int y = 0; y < image.height; ++y) {
    for (const int x : {0, 1, image.width - 2, image.width - 1}) edge.push_back({x, y});
  }
  const Area all{.x1 = image.width, .y1 = image.height};
  clear_edge(image, edge, all, 255 - plate.letters, 255 - plate.level);
  return true;
}

}  // namespace

std::optional<Gray> without_inversion(const Gray& image) {
  const auto counts = histogram(image, 4);
  const int middle = quantile(counts, 0.5);
  const int bright = quantile(counts, kSomeWriting);
  if (middle >= kDarkPage || bright <= middle + kClearlyBrighter) return std::nullopt;
  auto out = turned_round(image);
  const auto marks = find_marks(out, 255 - (middle + bright) / 2);
  if (marks.too_many) return std::nullopt;
  const auto largest = std::ranges::max_element(marks.list, {}, &Mark::ink);
  // A sheet on something dark is one large thing.
  const double most = kLargestWriting * static_cast<double>(image.pixels.size());
  if (largest == marks.list.end() || largest->ink > most) return std::nullopt;
  return out;
}

void invert_plates(Gray& image) {
  const int page_paper = quantile(histogram(image, 4), 0.9);
  const int dark = static_cast<int>(kDark * page_paper);
  if (dark < kDarkPage / 2) return;
  const int tile = std::max(kTileMin, std::min(image.width, image.height) / kTilesAcross);
  for (const auto& tiles : dark_areas(image, tile, dark)) {
    const auto area = fitted(image, tiles, tile, dark);
    if (area.width() < kTilesWide * tile || area.height() < 2 * tile) continue;
    auto plate = plate_at(image, area, dark);
    if (!plate || !keep_letters(*plate)) continue;
    const auto around = look_around(image, area, plate->level, page_paper);
    const int paper = around.paper;
    // The plate's own darkness becomes paper, so that it has no edge any more.
    std::array<std::uint8_t, 256> table{};
    const double factor =
        static_cast<double>(paper - kInk) / std::max(1, plate->letters - plate->level);
    for (int i = 0; i < 256; ++i) {
      const double value = paper - (255 - i - plate->level) * factor;
      table[static_cast<std::size_t>(i)] =
          static_cast<std::uint8_t>(std::clamp(value, double{kInk}, static_cast<double>(paper)));
    }
    for (int y = 0; y < area.height(); ++y) {
      const auto* in = plate->image.row(y);
      auto* to = image.row(area.y0 + y) + area.x0;
      for (int x = 0; x < area.width(); ++x) to[x] = table[in[x]];
    }
    clear_around(image, area, plate->level, around);
  }
}

}  // namespace millrace::document
