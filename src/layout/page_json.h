// spatial/1: the spatial map as JSON, one object per page. docs/spatial-map.md has the form.
//
// What follows from the words (text, lines, boxes of blocks) is not in it, so it cannot contradict
// them; offsets are there for readers and are checked against the words when they are read. Offsets
// count code points. Equal pages give equal bytes.
#pragma once

#include "base/json.h"
#include "layout/page.h"
#include "layout/spatial_map.h"

#include <string>
#include <string_view>

namespace millrace::layout {

inline constexpr std::string_view kSpatialSchema = "spatial/1";

struct SpatialJsonLimits {
  std::size_t page_bytes_max = std::size_t{64} * 1024 * 1024;
  std::size_t document_bytes_max = std::size_t{1024} * 1024 * 1024;
  PageLimits page = {};
};

json::Value page_to_json(const PageMap& page);
std::string page_json(const PageMap& page);  // Canonical: the bytes to hash.
// {"schema":"spatial/1","pages":[...]}
std::string spatial_json(const SpatialMap& map);

// invalid_argument with the place and the rule: "words[3].bbox must be an array of 4 numbers".
Result<PageMap> page_from_json(const json::Value& value, const SpatialJsonLimits& limits = {});
Result<PageMap> parse_page_json(std::string_view text, const SpatialJsonLimits& limits = {});
Result<SpatialMap> parse_spatial_json(std::string_view text, const SpatialJsonLimits& limits = {});

}  // namespace millrace::layout
