#include "chunk/outline.h"

#include <algorithm>
#include <array>
#include <limits>

namespace millrace::chunk {

// From the last one back: a heading stays if none of its level or above follows.
void Outline::pass(std::span<const Marks::Heading> headings, const Window& window) {
  std::array<const Marks::Heading*, 8> stay{};
  std::size_t count = 0;
  auto highest = std::numeric_limits<std::uint32_t>::max();
  for (auto heading = headings.rbegin(); heading != headings.rend() && highest > 1; ++heading) {
    if (heading->level >= highest) continue;
    highest = heading->level;
    stay[count++] = &*heading;
  }
  while (!headings_.empty() && headings_.back().level >= highest) headings_.pop_back();
  while (count > 0) {
    const auto& heading = *stay[--count];
    headings_.push_back(
        {.at = heading.at, .level = heading.level, .title = title_of(window, heading)});
  }
}

void Outline::pass(std::span<const Marks::Table> tables, const Window& window) {
  if (tables.empty()) return;
  table_.reset();
  if (tables.back().opens) table_ = Table{.header = header_of(window, tables.back())};
}

}  // namespace millrace::chunk
