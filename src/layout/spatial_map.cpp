#include "layout/spatial_map.h"

#include "layout/running_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::layout {
namespace {

std::uint32_t number_of(const PageMap& page) { return page.info.page; }

// Kinds of blocks may differ: one copy may have been marked as running text already.
bool is_same_page(const PageMap& a, const PageMap& b) {
  return a.info == b.info && a.words == b.words;
}

}  // namespace

const PageMap* SpatialMap::page(std::uint32_t number) const {
  const auto at = std::ranges::lower_bound(pages, number, {}, number_of);
  return at != pages.end() && at->info.page == number ? &*at : nullptr;
}

Result<SpatialMap> merge_pages(std::vector<PageMap> pages, const PageLimits& limits) {
  std::ranges::sort(pages, {}, number_of);
  SpatialMap map;
  map.pages.reserve(pages.size());
  for (auto& page : pages) {
    MR_TRY_VOID(check_info(page.info, limits));
    if (!map.pages.empty() && map.pages.back().info.page == page.info.page) {
      if (is_same_page(map.pages.back(), page)) continue;
      return fail(ErrorKind::conflict,
                  fmt::format("page {} is there twice with different content", page.info.page));
    }
    map.pages.push_back(std::move(page));
  }
  mark_running_text(map.pages);
  return map;
}

std::vector<std::uint32_t> missing_pages(const SpatialMap& map, std::uint32_t page_count) {
  std::vector<std::uint32_t> missing;
  for (std::uint32_t number = 1; number <= page_count; ++number) {
    if (map.page(number) == nullptr) missing.push_back(number);
  }
  return missing;
}

std::string document_text(const SpatialMap& map) {
  std::string text;
  for (const auto& page : map.pages) {
    if (&page != &map.pages.front()) text += '\f';
    text += page.text;
  }
  return text;
}

}  // namespace millrace::layout
