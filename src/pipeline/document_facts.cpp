#include "pipeline/document_facts.h"

#include "base/json_members.h"
#include "layout/clinical/merge.h"
#include "layout/clinical/pass.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace millrace::pipeline {
namespace {

namespace clinical = layout::clinical;
using clinical::Route;

constexpr std::string_view kSchema = "clinical.document/1";

constexpr std::string_view route_name(Route route) {
  switch (route) {
    case Route::accept:
      return "accept";
    case Route::review:
      return "review";
    case Route::reject:
      return "reject";
  }
  return "review";
}

Route route_named(std::string_view name) {
  if (name == "accept") return Route::accept;
  return name == "reject" ? Route::reject : Route::review;
}

}  // namespace

DocumentFacts join_pages(std::vector<StoredFacts> pages) {
  // How sure each piece of evidence made a fact; merging gives facts new ids but keeps evidence.
  std::map<std::string, std::pair<Route, double>, std::less<>> by_evidence;
  std::vector<clinical::Extraction> parts;
  for (auto& page : pages) {
    for (std::size_t i = 0; i < page.extraction.facts.size(); ++i) {
      const auto& routed = page.routed[i];
      for (const auto& id : page.extraction.facts[i].evidence) {
        auto& known = by_evidence.try_emplace(id, Route::reject, 0.0).first->second;
        if (routed.score >= known.second) known = {routed.route, routed.score};
      }
    }
    parts.push_back(std::move(page.extraction));
  }
  DocumentFacts facts;
  facts.extraction = clinical::merge_extractions(std::move(parts));
  const auto references_max = clinical::PassLimits().references_max;
  for (auto& fact : facts.extraction.facts) {
    clinical::RoutedFact routed{.fact = fact.id, .route = Route::review};
    for (const auto& id : fact.evidence) {
      const auto known = by_evidence.find(id);
      if (known == by_evidence.end() || known->second.second < routed.score) continue;
      routed.route = known->second.first;
      routed.score = known->second.second;
    }
    facts.routed.push_back(std::move(routed));
    if (fact.evidence.size() > references_max) fact.evidence.resize(references_max);
  }
  return facts;
}

std::string document_facts_json(const DocumentFacts& facts) {
  json::Array routes;
  for (const auto& routed : facts.routed) {
    json::Object route;
    route["fact"] = routed.fact;
    route["route"] = route_name(routed.route);
    route["score"] = routed.score;
    routes.push_back(std::move(route));
  }
  json::Object object;
  object["schema"] = kSchema;
  object["document_type"] = facts.document_type;
  object["language"] = facts.language;
  object["extraction"] = clinical::extraction_to_json(facts.extraction);
  object["routes"] = std::move(routes);
  object["narrative"] = clinical::narrative_to_json(facts.narrative);
  return canonical_json(object);
}

Result<DocumentFacts> read_document_facts(std::string_view text) {
  MR_TRY(const auto object, parse_json_object(text, {.max_bytes = kPassBytesMax, .max_depth = 32}));
  DocumentFacts facts;
  facts.document_type = text_member(object, "document_type");
  facts.language = text_member(object, "language");
  const auto* extraction = object.if_contains("extraction");
  const auto* routes = object.if_contains("routes");
  const auto* narrative = object.if_contains("narrative");
  if (extraction == nullptr || narrative == nullptr || routes == nullptr || !routes->is_array()) {
    return fail(ErrorKind::internal, "the facts of the document are not whole");
  }
  MR_TRY(facts.extraction, clinical::extraction_from_json(*extraction, clinical::Form::stored));
  MR_TRY(facts.narrative, clinical::narrative_from_json(*narrative));
  for (const auto& one : routes->get_array()) {
    if (!one.is_object()) return fail(ErrorKind::internal, "a route is no object");
    const auto& route = one.get_object();
    const auto* score = route.if_contains("score");
    facts.routed.push_back(
        {.fact = text_member(route, "fact"),
         .route = route_named(text_member(route, "route")),
         .score = score != nullptr && score->is_number() ? score->to_number<double>() : 0});
  }
  return facts;
}

}  // namespace millrace::pipeline
