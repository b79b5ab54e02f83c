// Regions: segments to blocks in reading order. The decisions are made here: what is a column, what
// a table, where a paragraph ends.
//
// A page is cut into bands by the white between lines. Neighbouring bands that share a gutter are
// looked at together: prose on both sides of it, or lines that do not stand level, are columns,
// read one after the other; short texts that stand level are rows, and rows that repeat are a
// table.
#pragma once

#include "layout/segment.h"

#include <cstdint>
#include <span>
#include <vector>

namespace millrace::layout {

struct DraftCell {
  std::uint32_t column = 0;
  std::vector<std::uint32_t> words = {};  // Indexes on the page, in reading order.
};

struct DraftLine {
  std::vector<DraftCell> cells = {};  // One, unless it is a row of a table.
};

struct DraftBlock {
  std::uint32_t columns = 0;  // 0: no table.
  std::vector<DraftLine> lines = {};
};

struct RegionOptions {
  bool right_to_left = false;  // Columns and lines begin at the right.
};

// Every word of every segment is in exactly one cell of the answer.
std::vector<DraftBlock> arrange_segments(std::span<const Item> items, const Segments& segments,
                                         RegionOptions options);

}  // namespace millrace::layout
