// Routing: which facts are taken as they are, which a person looks at, which are dropped.
//
// A fact is as sure as the weakest thing it rests on: the model's own confidence, that of its
// entities, and that of the words on the page, where words with figures count before all others.
#pragma once

#include "layout/clinical/detection.h"
#include "layout/clinical/extraction.h"
#include "layout/clinical/finding.h"
#include "layout/clinical/narrative.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::layout::clinical {

enum class Route { accept, review, reject };

std::string_view to_string(Route route);

struct RoutingRules {
  double accept_min = 0.85;
  double accept_min_critical = 0.90;  // Of medications and allergies.
  double review_min = 0.50;           // Below it a fact is dropped.
  double unknown_word_conf = 0.80;    // What a word counts for whose engine does not say.
};

// invalid_argument unless 0 <= review_min <= both accept_min <= 1.
Result<void> check_rules(const RoutingRules& rules);

struct RoutedFact {
  std::string fact;
  Route route = Route::review;
  double score = 0;
  std::vector<Rule> reasons = {};  // The findings about it, each rule once.
  friend bool operator==(const RoutedFact&, const RoutedFact&) = default;
};

// One for each fact, in their order. A finding that rejects drops the fact, any other sends it to
// review at least.
std::vector<RoutedFact> route_facts(const Extraction& extraction, const Detection& detection,
                                    const SpatialMap& map, std::span<const Finding> findings,
                                    const RoutingRules& rules = {});

// Ids of the facts with this route.
std::vector<std::string> facts_with(std::span<const RoutedFact> routed, Route route);

// The narrative with every told fact that is under review among the uncertain ones, and every
// conflict between facts that were not dropped.
Narrative complete_narrative(Narrative narrative, std::span<const RoutedFact> routed,
                             std::span<const Conflict> conflicts);

}  // namespace millrace::layout::clinical
