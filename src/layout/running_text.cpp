#include "layout/running_text.h"

#include "layout/code_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace millrace::layout {
namespace {

constexpr double kPageNumberZone = 0.08;
constexpr std::uint32_t kPageNumberWordsMax = 5;

std::optional<BlockKind> edge_of(const Block& block, double zone) {
  if (block.box.y1 <= zone) return BlockKind::header;
  if (block.box.y0 >= 1 - zone) return BlockKind::footer;
  return std::nullopt;
}

bool is_number_part(std::string_view text) {
  bool digit = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      digit = true;
    } else if (std::string_view("-/()|.").find(c) == std::string_view::npos) {
      return false;
    }
  }
  return digit;
}

bool is_page_number(const PageMap& page, const Block& block) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"page", "pages", "p.", "pg", "pg.", "of", "seite", "von", "página", "pagina", "de", "di",
       "sur", "side", "af", "-", "–", "/"});
  if (block.words.count() > kPageNumberWordsMax) return false;
  bool number = false;
  for (auto i = block.words.first; i <= block.words.last; ++i) {
    const auto text = to_lower(page.words[i].text);
    if (is_number_part(text)) {
      number = true;
    } else if (std::ranges::find(kWords, text) == kWords.end()) {
      return false;
    }
  }
  return number;
}

// The same for every page's own copy of it: without numbers and case.
std::string shape_of(const PageMap& page, const Block& block) {
  std::string shape;
  bool number = false;
  for (const char c : to_lower(page.text_of(block.words))) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) {
      shape += c;
    } else if (!number) {
      shape += '#';
    }
    number = digit;
  }
  return shape;
}

struct Sighting {
  std::size_t page = 0;
  std::size_t block = 0;
  double y = 0;
};

// How many pages have it near this height.
std::size_t pages_near(const std::vector<Sighting>& sightings, double y, double shift_max) {
  std::size_t count = 0;
  std::optional<std::size_t> last;
  for (const auto& sighting : sightings) {  // In order of pages.
    if (std::abs(sighting.y - y) > shift_max || last == sighting.page) continue;
    last = sighting.page;
    ++count;
  }
  return count;
}

}  // namespace

void mark_page_number(PageMap& page) {
  for (auto& block : page.blocks) {
    if (block.kind == BlockKind::table || block.kind == BlockKind::margin) continue;
    const auto edge = edge_of(block, kPageNumberZone);
    if (edge && is_page_number(page, block)) block.kind = *edge;
  }
}

void mark_running_text(std::span<PageMap> pages, RunningTextOptions options) {
  const auto share =
      static_cast<std::size_t>(std::ceil(options.pages_share * static_cast<double>(pages.size())));
  const auto needed = std::max<std::size_t>(share, 2);
  std::map<std::pair<BlockKind, std::string>, std::vector<Sighting>> seen;
  for (std::size_t p = 0; p < pages.size(); ++p) {
    for (std::size_t b = 0; b < pages[p].blocks.size(); ++b) {
      const auto& block = pages[p].blocks[b];
      if (block.kind == BlockKind::table || block.kind == BlockKind::margin) continue;
      const auto edge = edge_of(block, options.zone);
      if (!edge) continue;
      seen[{*edge, shape_of(pages[p], block)}].push_back(
          {.page = p, .block = b, .y = block.box.centre_y()});
    }
  }
  for (const auto& [key, sightings] : seen) {
    if (sightings.size() < needed) continue;
    // The middle one stands for all: comparing each with each would let a hostile document with
    // thousands of pages cost their square.
    std::vector<double> heights;
    for (const auto& sighting : sightings) heights.push_back(sighting.y);
    std::ranges::sort(heights);
    const auto y = heights[heights.size() / 2];
    if (pages_near(sightings, y, options.shift_max) < needed) continue;
    for (const auto& sighting : sightings) {
      if (std::abs(sighting.y - y) > options.shift_max) continue;
      pages[sighting.page].blocks[sighting.block].kind = key.first;
    }
  }
}

}  // namespace millrace::layout
