#include "pipeline/document_facts.h"

#include "base/json_members.h"
#include "layout/clinical/merge.h"
#include "layout/clinical/pass.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <map>
#include <span>
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

// Where a fact goes that several facts became. A page is as sure of it as the least sure of its own
// occurrences: they rest on the same words. Another page is a witness of its own, so one that is
// sure settles it. Dropped is only what every occurrence was dropped for: what has a row for review
// stays for review.
clinical::RoutedFact joined_route(const std::vector<StoredFacts>& pages,
                                  std::span<const clinical::FactOrigin> origins) {
  std::map<std::size_t, clinical::RoutedFact> by_page;
  const clinical::RoutedFact* least_kept = nullptr;
  for (const auto& origin : origins) {
    const auto& one = pages[origin.part].routed[origin.fact];
    if (one.route != Route::reject && (least_kept == nullptr || one.score < least_kept->score)) {
      least_kept = &one;
    }
    const auto [at, is_new] = by_page.try_emplace(origin.part, one);
    if (is_new) continue;
    at->second.route = std::max(at->second.route, one.route);
    at->second.score = std::min(at->second.score, one.score);
  }
  const clinical::RoutedFact* best = nullptr;
  for (const auto& [page, routed] : by_page) {
    const bool better = best == nullptr || routed.route < best->route ||
                        (routed.route == best->route && routed.score > best->score);
    if (better) best = &routed;
  }
  if (best == nullptr) return {};
  if (best->route == Route::reject && least_kept != nullptr) {
    return {.route = Route::review, .score = least_kept->score};
  }
  return {.route = best->route, .score = best->score};
}

}  // namespace

DocumentFacts join_pages(std::vector<StoredFacts> pages) {
  std::vector<clinical::Extraction> parts;
  parts.reserve(pages.size());
  for (auto& page : pages) parts.push_back(std::move(page.extraction));
  auto merged = clinical::merge_with_origins(std::move(parts));
  DocumentFacts facts{.extraction = std::move(merged.extraction)};
  const auto references_max = clinical::PassLimits().references_max;
  for (std::size_t i = 0; i < facts.extraction.facts.size(); ++i) {
    auto& fact = facts.extraction.facts[i];
    auto routed = joined_route(pages, merged.origins[i]);
    routed.fact = fact.id;
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
