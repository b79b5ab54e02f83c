// Facts between the pages and the document: what is kept of a page, and how the pages become one.
#pragma once

#include "base/json.h"
#include "layout/clinical/detection.h"
#include "layout/clinical/extraction.h"
#include "layout/clinical/routing.h"
#include "layout/spatial_map.h"

#include <cstdint>
#include <string>
#include <vector>

namespace millrace::pipeline {

inline constexpr std::size_t kPassBytesMax = std::size_t{32} * 1024 * 1024;

struct PageFacts {
  std::string stored;  // The extraction with the routes of its facts, canonical.
  json::Array
      rows;  // As millrace.put_facts takes them; those that were dropped are not among them.
};

PageFacts page_facts(const layout::clinical::Extraction& extraction,
                     const layout::clinical::Detection& detection, const layout::SpatialMap& map,
                     std::span<const layout::clinical::RoutedFact> routed);

struct StoredFacts {
  layout::clinical::Extraction extraction;
  std::vector<layout::clinical::RoutedFact> routed;
};
Result<StoredFacts> read_page_facts(std::string_view text);

// Ids of a page made unique in the document: "e7" of page 3 is "p3e7". Entities say on which page.
void number_page(layout::clinical::Detection& detection, std::uint32_t page);
void number_page(StoredFacts& facts, std::uint32_t page);

}  // namespace millrace::pipeline
