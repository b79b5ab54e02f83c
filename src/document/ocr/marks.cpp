#include "document/ocr/marks.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace millrace::document {
namespace {

struct Run {
  int x0 = 0;
  int x1 = 0;
  std::uint32_t label = 0;
};

class Labels {
 public:
  std::uint32_t add() {
    parents_.push_back(static_cast<std::uint32_t>(parents_.size()));
    return parents_.back();
  }
  std::uint32_t root(std::uint32_t label) {
    while (parents_[label] != label) {
      parents_[label] = parents_[parents_[label]];
      label = parents_[label];
    }
    return label;
  }
  std::uint32_t join(std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    if (a > b) std::swap(a, b);
    parents_[b] = a;
    return a;
  }
  std::size_t size() const { return parents_.size(); }

 private:
  std::vector<std::uint32_t> parents_;
};

void runs_of_row(const std::uint8_t* row, int width, int threshold, std::vector<Run>& out) {
  out.clear();
  int x = 0;
  while (x < width) {
    // Most of a page is paper: eight pixels at a time.
    while (x + 8 <= width) {
      bool dark = false;
      for (int i = 0; i < 8; ++i) dark |= row[x + i] < threshold;
      if (dark) break;
      x += 8;
    }
    while (x < width && row[x] >= threshold) ++x;
    if (x >= width) break;
    const int begin = x;
    while (x < width && row[x] < threshold) ++x;
    out.push_back({.x0 = begin, .x1 = x});
  }
}

constexpr double kCompanyReach = 1;  // White between two letters, in sides of the smaller one.
constexpr double kCompanyRatio = 2;  // Of their heights, or of their widths.

bool keeps_company(const Mark& a, const Mark& b) {
  const auto alike = [](int p, int q) { return std::max(p, q) <= kCompanyRatio * std::min(p, q); };
  if (!alike(a.height(), b.height()) && !alike(a.width(), b.width())) return false;
  const int side = std::min(std::max(a.width(), a.height()), std::max(b.width(), b.height()));
  const int apart = std::max({a.x0 - b.x1, b.x0 - a.x1, a.y0 - b.y1, b.y0 - a.y1});
  return apart <= kCompanyReach * side;
}

constexpr int kBandWide = 2;    // Widths of a band, in its own heights,
constexpr int kBandHigh = 3;    // heights of it, in those of most marks,
constexpr int kBandInk = 8;     // and ink, in squares of such a height.
constexpr int kHeadingInk = 6;  // The same: what one letter counts at most.

// The dark head of a table on a page that slants, or a piece of it: no rule any more by its bounds,
// and a few of them have more ink than all letters together.
bool is_band(const Mark& mark, int usual_height) {
  return mark.width() > kBandWide * mark.height() && mark.height() > kBandHigh * usual_height &&
         mark.ink > kBandInk * usual_height * usual_height;
}

// Which of them stand beside another of about their size, whichever way: letters do, dirt rarely.
std::vector<bool> in_company(const std::vector<Mark>& marks) {
  constexpr int kCell = 48;
  int right = 0;
  int bottom = 0;
  for (const auto& mark : marks) {
    right = std::max(right, mark.x1);
    bottom = std::max(bottom, mark.y1);
  }
  const int columns = right / kCell + 1;
  const int rows = bottom / kCell + 1;
  std::vector<std::vector<std::size_t>> cells(static_cast<std::size_t>(columns * rows));
  // Calls `visit` with the cells that the mark covers when it is `more` pixels larger on each side,
  // until it says so.
  const auto each_cell = [&](const Mark& mark, int more, auto visit) {
    const int x1 = std::min(columns - 1, (mark.x1 + more) / kCell);
    const int y1 = std::min(rows - 1, (mark.y1 + more) / kCell);
    for (int y = std::max(0, mark.y0 - more) / kCell; y <= y1; ++y) {
      for (int x = std::max(0, mark.x0 - more) / kCell; x <= x1; ++x) {
        if (visit(cells[static_cast<std::size_t>(y * columns + x)])) return;
      }
    }
  };
  for (std::size_t i = 0; i < marks.size(); ++i) {
    each_cell(marks[i], 0, [&](auto& cell) {
      cell.push_back(i);
      return false;
    });
  }
  std::vector<bool> out(marks.size(), false);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const auto& mark = marks[i];
    const double reach = kCompanyReach * std::max(mark.width(), mark.height());
    each_cell(mark, static_cast<int>(reach), [&](const auto& cell) {
      out[i] = std::ranges::any_of(
          cell, [&](std::size_t j) { return j != i && keeps_company(mark, marks[j]); });
      return out[i];
    });
  }
  return out;
}

}  // namespace

Marks find_marks(const Gray& image, int threshold, const MarkLimits& limits) {
  Marks out;
  Labels labels;
  std::vector<Mark> marks;  // By label, not joined yet.
  std::vector<Run> above;
  std::vector<Run> here;
  std::size_t runs = 0;
  for (int y = 0; y < image.height; ++y) {
    runs_of_row(image.row(y), image.width, threshold, here);
    runs += here.size();
    if (runs > limits.runs_max) return {.too_many = true};
    std::size_t first = 0;
    for (auto& run : here) {
      while (first < above.size() && above[first].x1 < run.x0) ++first;
      bool found = false;
      for (std::size_t i = first; i < above.size() && above[i].x0 <= run.x1; ++i) {
        run.label = found ? labels.join(run.label, above[i].label) : labels.root(above[i].label);
        found = true;
      }
      if (!found) {
        run.label = labels.add();
        marks.push_back({.x0 = run.x0, .y0 = y, .x1 = run.x1, .y1 = y + 1});
      }
      auto& mark = marks[run.label];
      mark.x0 = std::min(mark.x0, run.x0);
      mark.x1 = std::max(mark.x1, run.x1);
      mark.y1 = y + 1;
      mark.ink += run.x1 - run.x0;
    }
    std::swap(above, here);
  }
  for (std::uint32_t label = 0; label < marks.size(); ++label) {
    const auto root = labels.root(label);
    if (root == label) continue;
    auto& into = marks[root];
    auto& from = marks[label];
    into = {.x0 = std::min(into.x0, from.x0),
            .y0 = std::min(into.y0, from.y0),
            .x1 = std::max(into.x1, from.x1),
            .y1 = std::max(into.y1, from.y1),
            .ink = into.ink + from.ink};
    from.ink = 0;
  }
  std::erase_if(marks, [](const Mark& mark) { return mark.ink == 0; });
  if (marks.size() > limits.marks_max) return {.too_many = true};
  out.list = std::move(marks);
  return out;
}

double letter_height(const std::vector<Mark>& marks, int page_height) {
  const int highest = std::max(8, page_height / 8);
  std::vector<Mark> candidates;
  for (const auto& mark : marks) {
    const bool rule = mark.width() > 12 * mark.height() || mark.height() > 12 * mark.width();
    if (mark.height() >= 4 && mark.height() <= highest && !rule) candidates.push_back(mark);
  }
  auto company = in_company(candidates);
  const bool none = std::ranges::none_of(company, std::identity());
  std::vector<int> heights;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (company[i] || none) heights.push_back(candidates[i].height());
  }
  const auto middle = heights.begin() + static_cast<std::ptrdiff_t>(heights.size() / 2);
  std::ranges::nth_element(heights, middle);
  const int usual = middle == heights.end() ? 0 : *middle;
  std::vector<std::uint64_t> ink(static_cast<std::size_t>(highest) + 1, 0);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if ((!company[i] && !none) || is_band(candidates[i], usual)) continue;
    // A few letters of a heading do not outweigh a page.
    const int most = kHeadingInk * usual * usual;
    const auto amount = static_cast<std::uint64_t>(std::min(candidates[i].ink, most));
    ink[static_cast<std::size_t>(candidates[i].height())] += amount;
    total += amount;
  }
  std::uint64_t seen = 0;
  for (std::size_t height = 0; height < ink.size(); ++height) {
    seen += ink[height];
    if (2 * seen >= total && total > 0) return static_cast<double>(height);
  }
  return 0;
}

}  // namespace millrace::document
