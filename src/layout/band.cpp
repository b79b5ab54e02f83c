#include "layout/band.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace millrace::layout {
namespace {

// Boxes of neighbouring lines often touch: this share of a segment's height, above and below, may
// overlap with the next line.
constexpr double kSlack = 0.2;

std::vector<Interval> merged(std::vector<Interval> parts, double gutter_min) {
  std::ranges::sort(parts, [](const Interval& a, const Interval& b) {
    return a.low != b.low ? a.low < b.low : a.high < b.high;
  });
  std::vector<Interval> out;
  for (const auto& part : parts) {
    if (!out.empty() && part.low < out.back().high + gutter_min) {
      out.back().high = std::max(out.back().high, part.high);
    } else {
      out.push_back(part);
    }
  }
  return out;
}

// Whether a segment stands on the line of a row, judged by the row's mean.
bool stands_level(const Segment& segment, double top, double bottom) {
  const auto common = std::min(segment.box.y1, bottom) - std::max(segment.box.y0, top);
  const auto smaller = std::min(segment.box.height(), bottom - top);
  const auto larger = std::max(segment.box.height(), bottom - top);
  const auto off = std::abs(segment.box.centre_y() - (top + bottom) / 2);
  return common >= 0.5 * smaller && off <= 0.6 * larger;
}

}  // namespace

std::vector<Interval> join(std::vector<Interval> a, std::span<const Interval> b,
                           double gutter_min) {
  a.insert(a.end(), b.begin(), b.end());
  return merged(std::move(a), gutter_min);
}

std::vector<Band> find_bands(const Segments& segments, const SegmentList& list, double gutter_min) {
  SegmentList sorted = list;
  const auto core_top = [&](std::uint32_t i) {
    const auto& box = segments.list[i].box;
    return box.y0 + kSlack * box.height();
  };
  std::ranges::sort(sorted, [&](auto a, auto b) {
    const auto x = core_top(a);
    const auto y = core_top(b);
    return x != y ? x < y : a < b;
  });
  std::vector<Band> bands;
  double core_bottom = 0;
  for (const auto i : sorted) {
    const auto& box = segments.list[i].box;
    if (bands.empty() || core_top(i) >= core_bottom) {
      bands.push_back({.top = box.y0, .bottom = box.y1});
      core_bottom = core_top(i);
    }
    auto& band = bands.back();
    band.segments.push_back(i);
    band.top = std::min(band.top, box.y0);
    band.bottom = std::max(band.bottom, box.y1);
    core_bottom = std::max(core_bottom, box.y1 - kSlack * box.height());
  }
  for (auto& band : bands) {
    std::vector<Interval> parts;
    for (const auto i : band.segments) {
      const auto& box = segments.list[i].box;
      parts.push_back({.low = box.x0, .high = box.x1});
    }
    band.columns = merged(std::move(parts), gutter_min);
  }
  return bands;
}

std::vector<Row> find_rows(const Segments& segments, SegmentList list) {
  const auto centre = [&](std::uint32_t i) { return segments.list[i].box.centre_y(); };
  std::ranges::sort(
      list, [&](auto a, auto b) { return centre(a) != centre(b) ? centre(a) < centre(b) : a < b; });
  std::vector<Row> rows;
  double top = 0;  // Means of the row that is being filled.
  double bottom = 0;
  for (const auto i : list) {
    const auto& segment = segments.list[i];
    if (rows.empty() || !stands_level(segment, top, bottom)) {
      rows.push_back({.top = segment.box.y0, .bottom = segment.box.y1});
      top = segment.box.y0;
      bottom = segment.box.y1;
    }
    auto& row = rows.back();
    row.segments.push_back(i);
    const auto count = static_cast<double>(row.segments.size());
    top += (segment.box.y0 - top) / count;
    bottom += (segment.box.y1 - bottom) / count;
    row.top = std::min(row.top, segment.box.y0);
    row.bottom = std::max(row.bottom, segment.box.y1);
  }
  for (auto& row : rows) {
    for (const auto i : row.segments) row.height = std::max(row.height, segments.list[i].height);
    std::ranges::sort(row.segments, [&](auto a, auto b) {
      const auto x = segments.list[a].box.x0;
      const auto y = segments.list[b].box.x0;
      return x != y ? x < y : a < b;
    });
  }
  return rows;
}

}  // namespace millrace::layout
