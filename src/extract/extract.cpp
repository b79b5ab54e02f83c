#include "extract/extract.h"

#include "extract/facts.h"
#include "layout/clinical/merge.h"

#include <vector>

namespace millrace::extract {

layout::clinical::Extraction extract(const layout::clinical::Detection& detection,
                                     const layout::SpatialMap& pages,
                                     const layout::clinical::PassLimits& limits, int year) {
  std::vector<PageReading> readings;
  readings.reserve(pages.pages.size());
  std::string_view open;
  for (const auto& page : pages.pages) {
    // What was open before the first page is known by the section that begins with it.
    if (readings.empty()) {
      for (const auto& section : detection.sections) {
        if (section.page == page.info.page && section.words.first == 0) open = section.kind;
      }
    }
    readings.push_back(read_page(page, open));
    open = readings.back().sections.back().kind;
  }
  const auto language = detection.language.empty() ? language_of(readings) : detection.language;
  const auto manner = manner_of(readings, language);
  const auto groups = group_entities(detection, readings);
  FactWriter writer(manner, written_of(groups, manner.order, year), limits);
  for (const auto& group : groups) writer.write(group);
  writer.write_people(groups);
  auto out = writer.take();
  layout::clinical::normalise_units(out);
  return out;
}

}  // namespace millrace::extract
