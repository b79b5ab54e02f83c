#include "output/boxes.h"

#include "layout/code_points.h"
#include "layout/evidence.h"
#include "output/routes.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <cmath>
#include <string>

namespace millrace::output {
namespace {

namespace clinical = layout::clinical;
using clinical::Category;
using layout::ConfidenceBin;

// One line, not longer than asked.
std::string label_of(std::string_view text, std::size_t characters) {
  std::string out;
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++count) {
    if (count == characters) return out + "…";
    const auto next = layout::decode_at(text, i);
    i += next.bytes;
    const bool blank = layout::is_space(next.code) || layout::is_control(next.code);
    layout::append_utf8(out, blank ? U' ' : next.code);
  }
  return out;
}

struct Painter {
  const BoxOptions& options;
  Boxes out = {};
  std::size_t bytes = 0;

  void draw(const layout::Box& box, std::string_view color, std::string_view label) {
    json::Object item{{"bbox", json::Array{box.x0, box.y0, box.x1, box.y1}}, {"color", color}};
    if (!label.empty()) item["label"] = label_of(label, options.label_characters);
    const auto size = to_json(item).size() + 1;
    if (out.boxes.size() >= options.boxes_max || bytes + size > options.bytes_max) {
      ++out.omitted;
      return;
    }
    bytes += size;
    out.boxes.push_back(std::move(item));
  }

  // A label once, on the first line.
  void draw(const std::vector<layout::Box>& boxes, std::string_view color, std::string_view label) {
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      draw(boxes[i], color, i == 0 ? label : std::string_view());
    }
  }
};

std::string_view color_of_fact(const clinical::Fact& fact, const clinical::RoutedFact* route) {
  const bool affirmed = fact.assertion.polarity == clinical::Polarity::affirmed;
  if (!affirmed || fact.subject != clinical::Subject::patient) return "#777777";
  if (route == nullptr) return "#1f6fd0";
  return route->route == clinical::Route::accept ? "#2a9d3a" : "#e08a00";
}

}  // namespace

std::string_view color_of(ConfidenceBin bin) {
  switch (bin) {
    case ConfidenceBin::low:
      return "#d62828";
    case ConfidenceBin::medium:
      return "#e08a00";
    case ConfidenceBin::high:
      return "#2a9d3a";
    case ConfidenceBin::unknown:
      return "#777777";
  }
  return "#777777";
}

// Of one family the same hue, so that a medication with its dose reads as one.
std::string_view color_of(Category category) {
  switch (category) {
    case Category::medication_name:
      return "#1f6fd0";
    case Category::dose:
    case Category::frequency:
    case Category::route:
    case Category::duration:
      return "#5b9be6";
    case Category::lab_name:
      return "#0f8a7e";
    case Category::lab_value:
    case Category::reference_range:
    case Category::vital_sign:
      return "#3fb5a8";
    case Category::condition:
      return "#8a3ffc";
    case Category::allergen:
    case Category::reaction:
      return "#d62828";
    case Category::procedure:
    case Category::body_site:
      return "#b5651d";
    case Category::immunization:
      return "#2a9d3a";
    case Category::person:
    case Category::identifier:
    case Category::organization:
      return "#c2188b";
    case Category::date:
      return "#6b7a1f";
    case Category::other:
      return "#777777";
  }
  return "#777777";
}

Boxes boxes_for_words(const layout::PageMap& page, const BoxOptions& options) {
  Painter painter{.options = options};
  const auto draw_bin = [&](ConfidenceBin bin) {
    for (const auto& word : page.words) {
      if (layout::bin_of(word.conf, options.bounds) != bin) continue;
      const auto label = bin == ConfidenceBin::low
                             ? fmt::format("{} %", std::lround(*word.conf * 100))
                             : std::string();
      painter.draw(word.box, color_of(bin), label);
    }
  };
  draw_bin(ConfidenceBin::low);
  draw_bin(ConfidenceBin::medium);
  draw_bin(ConfidenceBin::unknown);
  if (options.high) draw_bin(ConfidenceBin::high);
  return std::move(painter.out);
}

Boxes boxes_for_entities(const layout::PageMap& page, const clinical::Detection& detection,
                         const BoxOptions& options) {
  Painter painter{.options = options};
  for (const auto& entity : detection.entities) {
    if (entity.at.page != page.info.page) continue;
    painter.draw(layout::highlight(page, entity.at.words), color_of(entity.category),
                 to_string(entity.category));
  }
  return std::move(painter.out);
}

Boxes boxes_for_facts(std::uint32_t page, const clinical::Extraction& extraction,
                      std::span<const clinical::RoutedFact> routed, const EvidenceTable& evidence,
                      const BoxOptions& options) {
  Painter painter{.options = options};
  const Routes routes(routed);
  for (const auto& fact : extraction.facts) {
    const auto* route = routes.find(fact.id);
    if (route != nullptr && route->route == clinical::Route::reject) continue;
    const bool negated = fact.assertion.polarity == clinical::Polarity::negated;
    auto label = fmt::format("{}{}", negated ? "not: " : "", fact.name());
    for (const auto* located : evidence.of(fact)) {
      if (located->page != page) continue;
      painter.draw(located->boxes, color_of_fact(fact, route), label);
      label.clear();  // Once a fact is enough.
    }
  }
  return std::move(painter.out);
}

}  // namespace millrace::output
