// Bands: segments cut apart by the white between lines, and the columns that they leave.
#pragma once

#include "layout/segment.h"

#include <cstdint>
#include <span>
#include <vector>

namespace millrace::layout {

struct Interval {
  double low = 0;
  double high = 0;
};

using SegmentList = std::vector<std::uint32_t>;  // Indexes of Segments::list.

struct Band {
  SegmentList segments = {};
  double top = 0;
  double bottom = 0;
  std::vector<Interval> columns = {};  // What its segments cover, joined across small gaps.
  bool wide() const { return columns.size() > 1; }
};

// From top to bottom.
std::vector<Band> find_bands(const Segments& segments, const SegmentList& list, double gutter_min);

// What both cover, joined across gaps smaller than `gutter_min`.
std::vector<Interval> join(std::vector<Interval> a, std::span<const Interval> b, double gutter_min);

// One line or row: segments that stand level, from left to right.
struct Row {
  SegmentList segments = {};
  double top = 0;
  double bottom = 0;
  double height = 0;  // The greatest of its segments.
};

std::vector<Row> find_rows(const Segments& segments, SegmentList list);

}  // namespace millrace::layout
