#include "pipeline/pass_facts.h"

#include "layout/evidence.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <array>
#include <utility>

namespace millrace::pipeline {
namespace {

namespace clinical = layout::clinical;
using clinical::Route;

constexpr std::array<clinical::Label<Route>, 3> kRoutes = {{
    {Route::accept, "accept"},
    {Route::review, "review"},
    {Route::reject, "reject"},
}};

// When a fact was so, as far as it says: the first of these that it has.
std::string dated(const clinical::Fact& fact) {
  for (const std::string_view name : {"date", "effective", "onset", "start", "birth_date"}) {
    const auto* value = fact.value.if_contains(name);
    if (value != nullptr && value->is_string()) return std::string(value->get_string());
  }
  return {};
}

json::Object row_of(const clinical::Fact& fact, const clinical::RoutedFact& routed,
                    const clinical::Detection& detection, const layout::SpatialMap& map) {
  json::Array evidence;
  for (const auto& id : fact.evidence) {
    const auto* entity = detection.entity(id);
    if (entity == nullptr) continue;
    auto place = layout::evidence_to_json(map, entity->at);
    // The row knows its page; kept pages have no number.
    place.as_object().erase("page");
    evidence.push_back(std::move(place));
  }
  json::Array codes;
  for (const auto& code : fact.codes) {
    json::Object object;
    object["system"] = code.system;
    object["code"] = code.code;
    object["display"] = code.display;
    object["status"] = code.status == clinical::CodeStatus::confirmed ? "confirmed" : "candidate";
    codes.push_back(std::move(object));
  }
  json::Object row;
  row["fact_id"] = fact.id;
  row["type"] = clinical::to_string(fact.type);
  row["name"] = fact.name();
  row["subject"] = clinical::to_string(fact.subject);
  row["polarity"] = clinical::to_string(fact.assertion.polarity);
  row["certainty"] = clinical::to_string(fact.assertion.certainty);
  row["temporality"] = clinical::to_string(fact.assertion.temporality);
  row["value"] = fact.value;
  row["codes"] = std::move(codes);
  row["evidence"] = std::move(evidence);
  row["conf"] = routed.score;
  row["route"] = routed.route == Route::accept ? "accepted" : "review";
  if (const auto date = dated(fact); !date.empty()) row["dated"] = date;
  return row;
}

}  // namespace

PageFacts page_facts(const clinical::Extraction& extraction, const clinical::Detection& detection,
                     const layout::SpatialMap& map, std::span<const clinical::RoutedFact> routed) {
  PageFacts made;
  json::Array routes;
  for (std::size_t i = 0; i < extraction.facts.size(); ++i) {
    const auto& fact = extraction.facts[i];
    json::Object route;
    route["fact"] = fact.id;
    route["route"] = clinical::name_in(kRoutes, routed[i].route);
    route["score"] = routed[i].score;
    json::Array reasons;
    for (const auto rule : routed[i].reasons) reasons.emplace_back(clinical::to_string(rule));
    route["reasons"] = std::move(reasons);
    routes.push_back(std::move(route));
    if (routed[i].route == Route::reject) continue;
    made.rows.push_back(row_of(fact, routed[i], detection, map));
  }
  json::Object stored;
  stored["extraction"] = clinical::extraction_to_json(extraction);
  stored["routes"] = std::move(routes);
  made.stored = canonical_json(stored);
  return made;
}

Result<StoredFacts> read_page_facts(std::string_view text) {
  MR_TRY(const auto object, parse_json_object(text, {.max_bytes = kPassBytesMax, .max_depth = 32}));
  StoredFacts facts;
  const auto* extraction = object.if_contains("extraction");
  if (extraction == nullptr) return fail(ErrorKind::internal, "kept facts have no extraction");
  MR_TRY(facts.extraction, clinical::extraction_from_json(*extraction, clinical::Form::stored));
  const auto* routes = object.if_contains("routes");
  if (routes == nullptr || !routes->is_array() ||
      routes->get_array().size() != facts.extraction.facts.size()) {
    return fail(ErrorKind::internal, "kept facts have no routes");
  }
  for (std::size_t i = 0; i < facts.extraction.facts.size(); ++i) {
    const auto& route = routes->get_array()[i].as_object();
    const auto kind = clinical::value_in(kRoutes, route.at("route").as_string());
    facts.routed.push_back({.fact = facts.extraction.facts[i].id,
                            .route = kind.value_or(Route::review),
                            .score = route.at("score").to_number<double>()});
  }
  return facts;
}

void number_page(clinical::Detection& detection, std::uint32_t page) {
  for (auto& entity : detection.entities) {
    entity.id = fmt::format("p{}{}", page, entity.id);
    entity.at.page = page;
  }
  for (auto& section : detection.sections) {
    section.id = fmt::format("p{}{}", page, section.id);
    section.page = page;
  }
  for (auto& area : detection.illegible) area.page = page;
}

void number_page(StoredFacts& facts, std::uint32_t page) {
  const auto number = [page](std::string& id) { id = fmt::format("p{}{}", page, id); };
  for (auto& fact : facts.extraction.facts) {
    number(fact.id);
    for (auto& id : fact.evidence) number(id);
  }
  for (auto& relation : facts.extraction.relations) {
    number(relation.from);
    number(relation.to);
  }
  for (auto& rejected : facts.extraction.rejected) {
    for (auto& id : rejected.evidence) number(id);
  }
  for (auto& routed : facts.routed) number(routed.fact);
}

}  // namespace millrace::pipeline
