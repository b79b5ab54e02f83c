// Edit distance: how many characters must be inserted, deleted or replaced.
//
// 64 cells of the table at a time (Myers 1999, in blocks as Hyyrö 2003): a page against a page
// takes milliseconds. Cost is length times length divided by 64; callers bound the lengths.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace millrace::layout {

std::size_t edit_distance(std::u32string_view a, std::u32string_view b);

struct ApproximateMatch {
  std::size_t begin = 0;  // In the text, [begin, end).
  std::size_t end = 0;
  std::size_t distance = 0;
};

// The part of `text` that is nearest to `pattern`, the first of equally near ones; nothing when
// none is within `distance_max`. An empty pattern is not found.
std::optional<ApproximateMatch> find_approximate(std::u32string_view pattern,
                                                 std::u32string_view text,
                                                 std::size_t distance_max);

}  // namespace millrace::layout
