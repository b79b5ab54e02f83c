#include "output/facts.h"

#include "output/csv_text.h"
#include "output/routes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace millrace::output {
namespace {

namespace clinical = layout::clinical;

json::Object document_json(const DocumentInfo& info) {
  return {{"id", info.document_id},
          {"file_name", info.source.file_name},
          {"sha256", info.source.sha256},
          {"mime", info.source.mime}};
}

json::Object fact_json(const clinical::Fact& fact, const clinical::RoutedFact* route,
                       const EvidenceTable& evidence) {
  auto out = clinical::fact_to_json(fact).as_object();
  json::Array places;
  for (const auto& id : fact.evidence) {
    const auto* located = evidence.find(id);
    places.push_back(located != nullptr ? located_json(*located)
                                        : json::Object{{"entity", id}, {"page", nullptr}});
  }
  out["evidence"] = std::move(places);
  out["route"] = route == nullptr ? json::Value(nullptr) : json::Value(to_string(route->route));
  out["score"] = route == nullptr ? json::Value(nullptr) : json::Value(route->score);
  return out;
}

// What the fact is about is a column of its own.
std::string shown_fields(const clinical::Fact& fact) {
  std::string out;
  for (const auto& rule : clinical::fields_of(fact.type).subspan(1)) {
    const auto* value = fact.value.if_contains(rule.name);
    const auto shown = value == nullptr ? std::string() : shown_value(*value);
    if (shown.empty()) continue;
    out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", rule.name, shown);
  }
  return out;
}

std::string shown_codes(const clinical::Fact& fact) {
  std::string out;
  for (const auto& code : fact.codes) {
    const bool candidate = code.status == clinical::CodeStatus::candidate;
    out += fmt::format("{}{}|{}{}", out.empty() ? "" : "; ", code.system, code.code,
                       candidate ? " (candidate)" : "");
  }
  return out;
}

}  // namespace

std::string shown_value(const json::Value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (!value.is_object()) return value.is_null() ? std::string() : to_json(value);
  const auto& object = value.get_object();
  const auto part = [&](std::string_view name) {
    const auto* member = object.if_contains(name);
    return member == nullptr ? std::string() : shown_value(*member);
  };
  if (object.contains("value")) {
    const auto unit = part("unit");
    return unit.empty() ? part("value") : part("value") + " " + unit;
  }
  const auto low = part("low");
  const auto high = part("high");
  if (low.empty() && high.empty()) return {};
  if (high.empty()) return "from " + low;
  return low.empty() ? "up to " + high : low + " – " + high;
}

std::string facts_json(const clinical::Extraction& extraction,
                       std::span<const clinical::RoutedFact> routed, const EvidenceTable& evidence,
                       const DocumentInfo& info) {
  const auto rest = clinical::extraction_to_json(
      {.facts = {}, .relations = extraction.relations, .rejected = extraction.rejected});
  const Routes routes(routed);
  // Members in the order that canonical JSON wants.
  std::string out = "{\"document\":" + canonical_json(document_json(info)) + ",\"facts\":[";
  for (const auto& fact : extraction.facts) {
    if (!out.ends_with('[')) out += ',';
    out += canonical_json(fact_json(fact, routes.find(fact.id), evidence));
  }
  out += "],\"rejected\":" + canonical_json(rest.at("rejected"));
  out += ",\"relations\":" + canonical_json(rest.at("relations"));
  out += ",\"schema\":" + json_quote(kFactsSchema) + "}";
  return out;
}

std::string facts_csv(const clinical::Extraction& extraction,
                      std::span<const clinical::RoutedFact> routed, const EvidenceTable& evidence) {
  auto out = csv_row({"id", "type", "subject", "polarity", "certainty", "temporality", "name",
                      "value", "codes", "conf", "route", "score", "pages", "evidence"});
  const Routes routes(routed);
  for (const auto& fact : extraction.facts) {
    const auto* route = routes.find(fact.id);
    std::set<std::uint32_t> pages;
    std::string quotes;
    for (const auto* located : evidence.of(fact)) {
      pages.insert(located->page);
      quotes += (quotes.empty() ? "" : " | ") + located->text;
    }
    out += csv_row({fact.id, to_string(fact.type), to_string(fact.subject),
                    to_string(fact.assertion.polarity), to_string(fact.assertion.certainty),
                    to_string(fact.assertion.temporality), fact.name(), shown_fields(fact),
                    shown_codes(fact), json_number(fact.conf),
                    route == nullptr ? std::string_view() : to_string(route->route),
                    route == nullptr ? std::string() : json_number(route->score),
                    fmt::format("{}", fmt::join(pages, " ")), quotes});
  }
  return out;
}

}  // namespace millrace::output
