// Elements of FHIR R4 resources, made of what facts have. No element is ever empty: what there is
// nothing to say about is left out.
#pragma once

#include "base/json.h"
#include "layout/clinical/extraction.h"
#include "output/evidence_table.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace millrace::output::fhir {

// Extensions are ours: no standard one says where on a page a fact stands.
inline constexpr std::string_view kEvidenceExtension = "urn:millrace:fhir:evidence";
inline constexpr std::string_view kFactExtension = "urn:millrace:fhir:fact";
inline constexpr std::string_view kCodeStatusExtension = "urn:millrace:fhir:code-status";
inline constexpr std::string_view kSha256Extension = "urn:millrace:fhir:sha256";

// On one line and without controls, which FHIR's strings must not have. May be empty.
std::string clean(std::string_view text);

// A field of the fact; empty when nothing is said.
std::string text_field(const layout::clinical::Fact& fact, std::string_view name);
// Only one of the words that the field may have; empty for anything else.
std::string choice_field(const layout::clinical::Fact& fact, std::string_view name);
// Only what FHIR takes for a date: a year, a month or a day that exists.
std::optional<std::string> date_field(const layout::clinical::Fact& fact, std::string_view name);
const json::Object* object_field(const layout::clinical::Fact& fact, std::string_view name);

json::Object reference(std::string_view full_url);
json::Object text_concept(std::string_view text);
json::Object coding(std::string_view system, std::string_view code, std::string_view display);
// A concept with one coding and no text.
json::Object coded(std::string_view system, std::string_view code, std::string_view display);
// The fact's name, and its codes, each with its status: a candidate has been looked up by nobody.
json::Object concept_of(const layout::clinical::Fact& fact);

// {"value","unit","system","code"} of {"value","unit"}; system and code only for units that UCUM
// has.
std::optional<json::Object> quantity(const json::Object* value);
json::Object quantity(double value, std::string_view unit);

// start and end, of dates that are there; empty when neither is.
json::Object period(const std::optional<std::string>& start, const std::optional<std::string>& end);

json::Object extension(std::string_view url, std::string_view type, json::Value value);
json::Object text_extension(std::string_view url, std::string_view type, std::string_view text);
// Id, confidence, assertion and route of the fact, and where its evidence stands.
json::Array extensions_of(const layout::clinical::Fact& fact, std::string_view route,
                          const EvidenceTable& evidence);

}  // namespace millrace::output::fhir
