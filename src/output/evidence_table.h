// EvidenceTable: where the entities of a document stand, for outputs that cite them.
//
// Filled page by page, so whoever writes facts, FHIR or a narrative needs no page in memory.
// Offsets count code points, boxes are fractions of the upright page.
#pragma once

#include "base/json.h"
#include "layout/clinical/detection.h"
#include "layout/clinical/extraction.h"
#include "layout/page.h"
#include "layout/spatial_map.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::output {

struct Located {
  std::string entity = {};
  layout::clinical::Category category = layout::clinical::Category::other;
  std::uint32_t page = 0;
  layout::WordRange words = {};
  std::uint32_t char_begin = 0;
  std::uint32_t char_end = 0;
  std::string text = {};                // As it stands on the page.
  std::string sentence = {};            // What of its sentence stands before it.
  std::vector<layout::Box> boxes = {};  // One for each line.
};

class EvidenceTable {
 public:
  EvidenceTable() = default;
  EvidenceTable(const layout::SpatialMap& map, const layout::clinical::Detection& detection);

  // From now on only entities that these facts rest on are kept: a document of thousands of pages
  // mentions far more than it says.
  void only_for(const layout::clinical::Extraction& extraction);
  // Entities of this page. One whose words or bytes are not on it is left out.
  void add_page(const layout::PageMap& page, const layout::clinical::Detection& detection);

  const Located* find(std::string_view entity) const;  // Null when its page was not added.
  // Of a fact, in its order; those that were not found are left out.
  std::vector<const Located*> of(const layout::clinical::Fact& fact) const;

 private:
  std::map<std::string, Located, std::less<>> entities_;
  std::optional<std::set<std::string, std::less<>>> wanted_;
};

// {"entity":"e7","page":1,"words":[214,214],"char":[812,821],"text":"Metformin","boxes":[[…]]}
json::Object located_json(const Located& located);

}  // namespace millrace::output
