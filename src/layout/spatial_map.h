// SpatialMap: the pages of one document, each done by itself and put together at the end.
#pragma once

#include "layout/page.h"

#include <cstdint>
#include <string>
#include <vector>

namespace millrace::layout {

struct SpatialMap {
  std::vector<PageMap> pages = {};  // By page number, each once.

  const PageMap* page(std::uint32_t number) const;  // Null when it is not there.
  friend bool operator==(const SpatialMap&, const SpatialMap&) = default;
};

// Pages in any order. A page that comes twice with the same content counts once (a page may be
// delivered again after a crash); with different content it is a conflict. Marks running text.
Result<SpatialMap> merge_pages(std::vector<PageMap> pages, const PageLimits& limits = {});

// Numbers between 1 and `page_count` that are not there: the parts of a partial success.
std::vector<std::uint32_t> missing_pages(const SpatialMap& map, std::uint32_t page_count);

// All pages with a form feed between them.
std::string document_text(const SpatialMap& map);

}  // namespace millrace::layout
