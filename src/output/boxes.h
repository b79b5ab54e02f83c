// Boxes to draw over the image of a page, in the form that the operation `image` of
// millrace-document takes: [{"bbox":[x0,y0,x1,y1],"color":"#d33","label":"Metformin"}], fractions
// of the upright page.
//
// A request has room for so much (1 MiB, two or three lists like these): what matters most comes
// first, and the rest is left out and counted.
#pragma once

#include "base/json.h"
#include "layout/clinical/detection.h"
#include "layout/clinical/extraction.h"
#include "layout/clinical/routing.h"
#include "layout/confidence.h"
#include "layout/page.h"
#include "output/evidence_table.h"

#include <boost/json/array.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace millrace::output {

struct BoxOptions {
  std::size_t boxes_max = 6'000;
  std::size_t bytes_max = 320 * 1024;  // Of the JSON.
  std::size_t label_characters = 40;   // Longer labels are cut.
  layout::ConfidenceBounds bounds = {};
  bool high = false;  // Words that were read with high confidence, too.
};

struct Boxes {
  json::Array boxes = {};
  std::size_t omitted = 0;
};

// Words by how sure the engine was, the least sure first; labels only for low ones ("43 %").
Boxes boxes_for_words(const layout::PageMap& page, const BoxOptions& options = {});

// Entities of this page in the colour of their category, labelled with it.
Boxes boxes_for_entities(const layout::PageMap& page, const layout::clinical::Detection& detection,
                         const BoxOptions& options = {});

// Evidence of facts on this page: green accepted, amber under review, blue where it was not routed,
// grey what is negated or another person's. Facts that were rejected are not drawn.
Boxes boxes_for_facts(std::uint32_t page, const layout::clinical::Extraction& extraction,
                      std::span<const layout::clinical::RoutedFact> routed,
                      const EvidenceTable& evidence, const BoxOptions& options = {});

std::string_view color_of(layout::ConfidenceBin bin);
std::string_view color_of(layout::clinical::Category category);

}  // namespace millrace::output
