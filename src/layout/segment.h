// Segments: words side by side that stand closer together than columns do.
//
// Works in layout space: x to the right, y down, both in units of the page's longer side, so that
// heights and gaps can be compared. Every word is in exactly one segment. Cost grows with the
// number of words only, whatever their boxes: each word looks at a bounded number of others.
#pragma once

#include "layout/geometry.h"

#include <cstdint>
#include <span>
#include <vector>

namespace millrace::layout {

// A word in layout space.
struct Item {
  Box box = {};
  std::uint32_t word = 0;  // Its index on the page.
};

struct Segment {
  Box box = {};
  double height = 0;                      // What three of four of its words do not exceed.
  std::vector<std::uint32_t> items = {};  // From left to right.
};

struct Segments {
  std::vector<Segment> list = {};
  double height = 0;  // The median of all words: the unit of every rule about distances.
};

Segments find_segments(std::span<const Item> items);

// How lines run: y per x of the long segments, by their median. 0 when there are none.
double slope_of(std::span<const Item> items, const Segments& segments);
// Turns words so that lines of this slope become level.
void straighten(std::span<Item> items, double slope);

double median(std::vector<double> values);  // 0 of nothing.

}  // namespace millrace::layout
