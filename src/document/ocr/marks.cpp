#include "document/ocr/marks.h"

#include <algorithm>
#include <array>
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
  std::vector<std::uint64_t> ink(static_cast<std::size_t>(highest) + 1, 0);
  std::uint64_t total = 0;
  for (const auto& mark : marks) {
    const bool rule = mark.width() > 12 * mark.height() || mark.height() > 12 * mark.width();
    if (mark.height() < 4 || mark.height() > highest || rule) continue;
    ink[static_cast<std::size_t>(mark.height())] += static_cast<std::uint64_t>(mark.ink);
    total += static_cast<std::uint64_t>(mark.ink);
  }
  std::uint64_t seen = 0;
  for (std::size_t height = 0; height < ink.size(); ++height) {
    seen += ink[height];
    if (2 * seen >= total && total > 0) return static_cast<double>(height);
  }
  return 0;
}

}  // namespace millrace::document
