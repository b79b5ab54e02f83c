#include "layout/segment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace millrace::layout {
namespace {

constexpr double kHeightMin = 1e-4;
constexpr std::size_t kRowsMax = 2048;
constexpr std::size_t kRowsEachWay = 8;
constexpr std::size_t kCandidatesPerRow = 32;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// Shares of the median height of words.
constexpr double kTypicalGap = 0.35;  // Between words when there are too few to measure.
constexpr double kGapsPerBreak = 3.2;
constexpr double kBreakMin = 0.8;
constexpr double kBreakMax = 1.6;
constexpr double kReach = 4;

struct Link {
  std::uint32_t to = kNone;
  double gap = 0;
  double score = 0;
};

double height_of(std::span<const Item> items) {
  std::vector<double> heights;
  heights.reserve(items.size());
  for (const auto& item : items) {
    if (item.box.height() > kHeightMin) heights.push_back(item.box.height());
  }
  return heights.empty() ? 0.01 : median(std::move(heights));
}

// What most letters of a line reach, where boxes are as small as their words.
double upper_quartile(std::vector<double> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() * 3 / 4);
  std::ranges::nth_element(values, at);
  return *at;
}

// Words by row of the page, in each row by their centres.
class Grid {
 public:
  Grid(std::span<const Item> items, double height) : items_(items), height_(height) {
    rows_.resize(std::clamp<std::size_t>(static_cast<std::size_t>(1 / height_), 1, kRowsMax));
    for (std::uint32_t i = 0; i < items.size(); ++i) {
      rows_[row_of(items[i].box.centre_y())].push_back(i);
    }
    for (auto& row : rows_) {
      std::ranges::sort(row, [this](auto a, auto b) { return before(a, b); });
    }
  }

  // The word that most likely follows on the same line, however far.
  std::optional<Link> next_of(std::uint32_t from) const {
    const auto& box = items_[from].box;
    std::optional<Link> best;
    // A word as tall as the page is not worth more than the rows around its middle.
    const auto middle = row_of(box.centre_y());
    const auto first = std::max(row_of(box.y0 - height_), middle - std::min(middle, kRowsEachWay));
    const auto last = std::min(row_of(box.y1 + height_), middle + kRowsEachWay);
    for (auto row = first; row <= last; ++row) look(from, rows_[row], best);
    return best;
  }

 private:
  bool before(std::uint32_t a, std::uint32_t b) const {
    const auto x = items_[a].box.centre_x();
    const auto y = items_[b].box.centre_x();
    return x != y ? x < y : a < b;
  }

  std::size_t row_of(double y) const {
    const auto row = y * static_cast<double>(rows_.size());
    if (!(row > 0)) return 0;
    return std::min(static_cast<std::size_t>(row), rows_.size() - 1);
  }

  void look(std::uint32_t from, const std::vector<std::uint32_t>& row,
            std::optional<Link>& best) const {
    auto at = std::ranges::upper_bound(row, from, [this](auto a, auto b) { return before(a, b); });
    for (std::size_t seen = 0; at != row.end() && seen < kCandidatesPerRow; ++at, ++seen) {
      const auto link = link_between(from, *at);
      if (link && (!best || link->score < best->score)) best = link;
    }
  }

  std::optional<Link> link_between(std::uint32_t from, std::uint32_t to) const {
    const auto& a = items_[from].box;
    const auto& b = items_[to].box;
    const auto gap = b.x0 - a.x1;
    const auto taller = std::max(a.height(), b.height());
    const auto off = std::abs(a.centre_y() - b.centre_y());
    if (gap < -0.5 * std::min(a.width(), b.width())) return std::nullopt;
    if (gap > kReach * std::max(taller, height_)) return std::nullopt;
    if (overlap_y(a, b) < 0.5 * std::min(a.height(), b.height())) return std::nullopt;
    if (off > 0.6 * std::max(taller, kHeightMin)) return std::nullopt;
    return Link{.to = to, .gap = gap, .score = std::max(gap, 0.0) + off / 2};
  }

  std::span<const Item> items_;
  double height_;
  std::vector<std::vector<std::uint32_t>> rows_;
};

// From this gap on, two words belong to different segments.
double break_gap(std::span<const std::optional<Link>> links, double height) {
  std::vector<double> gaps;
  for (const auto& link : links) {
    if (link && link->gap < 1.5 * height) gaps.push_back(std::max(link->gap, 0.0));
  }
  const auto typical = gaps.size() < 5 ? kTypicalGap * height : median(std::move(gaps));
  return std::clamp(kGapsPerBreak * typical, kBreakMin * height, kBreakMax * height);
}

// For every word the one after it; a word follows one other at most, the nearest that wants it.
std::vector<std::uint32_t> chain(std::span<const Item> items, const Grid& grid, double height) {
  std::vector<std::optional<Link>> links(items.size());
  for (std::uint32_t i = 0; i < items.size(); ++i) links[i] = grid.next_of(i);
  const auto limit = break_gap(links, height);
  std::vector<std::uint32_t> previous(items.size(), kNone);
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    auto& link = links[i];
    if (!link) continue;
    const auto taller = std::max(items[i].box.height(), items[link->to].box.height());
    if (link->gap > limit * std::max(1.0, taller / height)) {
      link.reset();
      continue;
    }
    auto& holder = previous[link->to];
    if (holder == kNone || link->score < links[holder]->score) holder = i;
  }
  std::vector<std::uint32_t> next(items.size(), kNone);
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    if (previous[i] != kNone) next[previous[i]] = i;
  }
  return next;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

Segments find_segments(std::span<const Item> items) {
  Segments out{.height = height_of(items)};
  const Grid grid(items, out.height);
  const auto next = chain(items, grid, out.height);
  std::vector<bool> follows(items.size(), false);
  for (const auto to : next) {
    if (to != kNone) follows[to] = true;
  }
  // Links lead to the right only, so every chain has a beginning and an end.
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    if (follows[i]) continue;
    Segment segment{.box = items[i].box};
    std::vector<double> heights;
    for (auto at = i; at != kNone; at = next[at]) {
      segment.items.push_back(at);
      segment.box = unite(segment.box, items[at].box);
      heights.push_back(items[at].box.height());
    }
    segment.height = std::max(upper_quartile(std::move(heights)), kHeightMin);
    out.list.push_back(std::move(segment));
  }
  return out;
}

double slope_of(std::span<const Item> items, const Segments& segments) {
  std::vector<double> slopes;
  for (const auto& segment : segments.list) {
    if (segment.items.size() < 4) continue;
    const auto& first = items[segment.items.front()].box;
    const auto& last = items[segment.items.back()].box;
    const auto run = last.centre_x() - first.centre_x();
    if (run < 8 * segments.height) continue;
    slopes.push_back((last.centre_y() - first.centre_y()) / run);
  }
  return slopes.size() < 3 ? 0 : median(std::move(slopes));
}

void straighten(std::span<Item> items, double slope) {
  const auto angle = -std::atan(slope);
  const auto sine = std::sin(angle);
  const auto cosine = std::cos(angle);
  const auto s = std::abs(sine);
  const auto squares = cosine * cosine - s * s;
  for (auto& item : items) {
    const auto dx = item.box.centre_x() - 0.5;
    const auto dy = item.box.centre_y() - 0.5;
    const auto x = 0.5 + dx * cosine - dy * sine;
    const auto y = 0.5 + dx * sine + dy * cosine;
    // The box around a slanted word is larger than the word.
    const auto width = item.box.width();
    const auto height = item.box.height();
    const auto w = std::max((width * cosine - height * s) / squares, 0.3 * width);
    const auto h = std::max((height * cosine - width * s) / squares, 0.3 * height);
    item.box = {.x0 = x - w / 2, .y0 = y - h / 2, .x1 = x + w / 2, .y1 = y + h / 2};
  }
}

}  // namespace millrace::layout
