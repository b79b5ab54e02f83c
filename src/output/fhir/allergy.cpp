#include "output/fhir/allergy.h"

#include "layout/code_points.h"
#include "output/fhir/elements.h"

#include <algorithm>
#include <array>

namespace millrace::output::fhir {
namespace {

namespace clinical = layout::clinical;

constexpr std::string_view kClinical =
    "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical";
constexpr std::string_view kVerification =
    "http://terminology.hl7.org/CodeSystem/allergyintolerance-verification";
constexpr std::string_view kSnomed = "http://snomed.info/sct";

// How documents say that nothing is known.
constexpr auto kNone = std::to_array<std::string_view>(
    {"no known allergies", "no known allergy", "no allergies", "nka", "none", "none known", "nil",
     "nil known", "keine", "keine bekannt", "keine allergien", "keine allergien bekannt", "aucune",
     "aucune connue", "aucune allergie connue", "ninguna", "ninguna conocida"});
constexpr auto kNoDrug =
    std::to_array<std::string_view>({"nkda", "no known drug allergies", "no known drug allergy",
                                     "no known medication allergies", "no drug allergies"});
// Nothing in particular: negated, these say the same.
constexpr auto kAny =
    std::to_array<std::string_view>({"allergies", "allergy", "known allergies", "known allergy",
                                     "any allergies", "any known allergies"});
constexpr auto kAnyDrug = std::to_array<std::string_view>(
    {"drug allergies", "drug allergy", "known drug allergies", "medication allergies",
     "any drug allergies", "any known drug allergies"});

std::string plain_name(const clinical::Fact& fact) {
  auto name = layout::to_lower(clean(fact.name()));
  std::erase_if(name, [](char c) { return c == '.' || c == '(' || c == ')' || c == '!'; });
  return name;
}

bool is_in(std::span<const std::string_view> words, std::string_view name) {
  return std::ranges::find(words, name) != words.end();
}

json::Object none_known(bool drugs, std::string_view text) {
  auto out = drugs ? coded(kSnomed, "409137002", "No known drug allergy")
                   : coded(kSnomed, "716186003", "No known allergy");
  out["text"] = clean(text);
  return out;
}

json::Object allergy_of(const Links& links, json::Object code, std::string_view clinical_status,
                        std::string_view verification) {
  const auto shown = clinical_status == "active" ? "Active" : "Inactive";
  return {{"resourceType", "AllergyIntolerance"},
          {"clinicalStatus", coded(kClinical, clinical_status, shown)},
          {"verificationStatus", coded(kVerification, verification,
                                       verification == "refuted" ? "Refuted" : "Unconfirmed")},
          {"code", std::move(code)},
          {"patient", reference(links.patient)}};
}

void add_reaction(json::Object& out, const clinical::Fact& fact) {
  const auto reaction = text_field(fact, "reaction");
  const auto severity = choice_field(fact, "severity");
  if (!reaction.empty()) {
    json::Object item{{"manifestation", json::Array{text_concept(reaction)}}};
    if (!severity.empty()) item["severity"] = severity;
    out["reaction"] = json::Array{std::move(item)};
  } else if (!severity.empty()) {
    // A reaction without a manifestation is not allowed.
    out["note"] = json::Array{json::Object{{"text", "severity: " + severity}}};
  }
}

}  // namespace

Projection allergy(const clinical::Fact& fact, const Links& links) {
  const bool negated = fact.assertion.polarity == clinical::Polarity::negated;
  const auto name = plain_name(fact);
  const bool none = is_in(kNone, name);
  const bool no_drug = is_in(kNoDrug, name);
  if (none || no_drug) {
    // "Not: no known allergies" may mean either.
    if (negated) return {.omitted = "a negation of no known allergies is ambiguous"};
    return {.resource =
                allergy_of(links, none_known(no_drug, fact.name()), "active", "unconfirmed")};
  }
  const bool any_drug = is_in(kAnyDrug, name);
  if (negated && (any_drug || is_in(kAny, name))) {
    return {.resource = allergy_of(links, none_known(any_drug, "no known " + name), "active",
                                   "unconfirmed")};
  }
  // An allergy that is history still holds until somebody says otherwise.
  auto out = allergy_of(links, concept_of(fact), negated ? "inactive" : "active",
                        negated ? "refuted" : "unconfirmed");
  if (!negated) add_reaction(out, fact);
  return {.resource = std::move(out)};
}

}  // namespace millrace::output::fhir
