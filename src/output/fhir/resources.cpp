#include "output/fhir/resources.h"

#include "layout/code_points.h"
#include "layout/json_fields.h"
#include "output/facts.h"
#include "output/fhir/allergy.h"
#include "output/fhir/elements.h"
#include "output/fhir/family.h"
#include "output/fhir/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace millrace::output::fhir {
namespace {

namespace clinical = layout::clinical;
using clinical::Certainty;
using clinical::Fact;
using clinical::FactType;
using clinical::Polarity;
using clinical::Subject;
using clinical::Temporality;

constexpr std::string_view kInterpretation =
    "http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation";

bool is_negated(const Fact& fact) { return fact.assertion.polarity == Polarity::negated; }
bool is_sure(const Fact& fact) { return fact.assertion.certainty == Certainty::definite; }

// -- medications --

std::string_view medication_status(const Fact& fact) {
  if (is_negated(fact)) return "not-taken";
  if (!is_sure(fact)) return "unknown";
  switch (fact.assertion.temporality) {
    case Temporality::historical:
      return "completed";
    case Temporality::future:
      return "intended";
    case Temporality::current:
    case Temporality::hypothetical:
      break;
  }
  return "active";
}

std::string dosage_text(const Fact& fact) {
  std::string out;
  for (const auto* name : {"dose", "route", "frequency", "duration"}) {
    const auto* value = fact.value.if_contains(name);
    const auto shown = value == nullptr ? std::string() : clean(shown_value(*value));
    if (!shown.empty()) out += (out.empty() ? "" : " ") + shown;
  }
  return out;
}

json::Object dosage_of(const Fact& fact) {
  json::Object out;
  if (const auto text = dosage_text(fact); !text.empty()) out["text"] = text;
  const auto frequency = text_field(fact, "frequency");
  const auto timing = parse_timing(frequency);
  auto repeat = repeat_of(timing, parse_time_span(text_field(fact, "duration")));
  json::Object schedule;
  if (!repeat.empty()) schedule["repeat"] = std::move(repeat);
  if (!frequency.empty()) schedule["code"] = text_concept(frequency);
  if (!schedule.empty()) out["timing"] = std::move(schedule);
  if (timing && timing->as_needed) out["asNeededBoolean"] = true;
  if (const auto route = text_field(fact, "route"); !route.empty()) {
    out["route"] = text_concept(route);
  }
  if (auto dose = quantity(object_field(fact, "dose"))) {
    out["doseAndRate"] = json::Array{json::Object{{"doseQuantity", std::move(*dose)}}};
  }
  return out;
}

Projection medication(const Fact& fact, const Links& links) {
  json::Object out{{"resourceType", "MedicationStatement"},
                   {"status", medication_status(fact)},
                   {"medicationCodeableConcept", concept_of(fact)},
                   {"subject", reference(links.patient)}};
  auto effective = period(date_field(fact, "start"), date_field(fact, "end"));
  if (!effective.empty()) out["effectivePeriod"] = std::move(effective);
  out["derivedFrom"] = json::Array{reference(links.document)};
  auto dosage = dosage_of(fact);
  // A dose of what is not taken would read as an instruction.
  if (!dosage.empty() && !is_negated(fact)) out["dosage"] = json::Array{std::move(dosage)};
  return {.resource = std::move(out)};
}

// -- observations --

std::optional<json::Object> interpretation(std::string_view flag) {
  struct Flag {
    std::string_view name, code, display;
  };
  static constexpr auto kFlags = std::to_array<Flag>({{"low", "L", "Low"},
                                                      {"normal", "N", "Normal"},
                                                      {"high", "H", "High"},
                                                      {"abnormal", "A", "Abnormal"},
                                                      {"critical", "AA", "Critical abnormal"}});
  const auto at = std::ranges::find(kFlags, flag, &Flag::name);
  if (at == kFlags.end()) return std::nullopt;
  return coded(kInterpretation, at->code, at->display);
}

std::optional<json::Object> reference_range(const Fact& fact) {
  const auto* range = object_field(fact, "range");
  if (range == nullptr) return std::nullopt;
  const auto* value = object_field(fact, "value");
  const auto* unit = value == nullptr ? nullptr : value->if_contains("unit");
  const bool has_unit = unit != nullptr && unit->is_string();
  json::Object out;
  for (const auto* side : {"low", "high"}) {
    const auto* bound = range->if_contains(side);
    const auto number = bound == nullptr ? std::nullopt : layout::to_number(*bound);
    if (!number) continue;
    out[side] = quantity(*number, has_unit ? std::string_view(unit->get_string()) : "");
  }
  if (out.empty()) return std::nullopt;
  return out;
}

void add_value(json::Object& out, const Fact& fact) {
  auto value = quantity(object_field(fact, "value"));
  const auto text = text_field(fact, "text");
  if (value) {
    if (const auto comparator = choice_field(fact, "comparator"); !comparator.empty()) {
      (*value)["comparator"] = comparator;
    }
    out["valueQuantity"] = std::move(*value);
    if (!text.empty()) out["note"] = json::Array{json::Object{{"text", text}}};
  } else if (!text.empty()) {
    out["valueString"] = text;
  } else {
    out["dataAbsentReason"] =
        coded("http://terminology.hl7.org/CodeSystem/data-absent-reason", "unknown", "Unknown");
  }
}

bool is_laboratory(const Fact& fact, const EvidenceTable& evidence) {
  return std::ranges::any_of(evidence.of(fact), [](const Located* located) {
    return located->category == clinical::Category::lab_name ||
           located->category == clinical::Category::lab_value;
  });
}

Projection observation(const Fact& fact, const Links& links, const EvidenceTable& evidence) {
  const bool has_value = object_field(fact, "value") != nullptr;
  if (is_negated(fact) && has_value) return {.omitted = "a measurement that is negated"};
  json::Object out{{"resourceType", "Observation"}, {"status", "preliminary"}};
  if (is_laboratory(fact, evidence)) {
    out["category"] = json::Array{coded(
        "http://terminology.hl7.org/CodeSystem/observation-category", "laboratory", "Laboratory")};
  }
  out["code"] = concept_of(fact);
  out["subject"] = reference(links.patient);
  if (const auto date = date_field(fact, "effective")) out["effectiveDateTime"] = *date;
  if (is_negated(fact)) {
    out["valueBoolean"] = false;
    out["interpretation"] = json::Array{coded(kInterpretation, "NEG", "Negative")};
  } else {
    add_value(out, fact);
    if (auto flag = interpretation(choice_field(fact, "flag"))) {
      out["interpretation"] = json::Array{std::move(*flag)};
    }
    if (auto range = reference_range(fact)) out["referenceRange"] = json::Array{std::move(*range)};
  }
  out["derivedFrom"] = json::Array{reference(links.document)};
  return {.resource = std::move(out)};
}

// -- conditions --

Projection family_history(const Fact& fact, const Links& links, const EvidenceTable& evidence) {
  // A relative's condition has no word for "refuted".
  if (is_negated(fact)) return {.omitted = "a negated condition of a relative"};
  json::Object condition{{"code", concept_of(fact)}};
  if (const auto onset = text_field(fact, "onset"); !onset.empty())
    condition["onsetString"] = onset;
  return {.resource = json::Object{{"resourceType", "FamilyMemberHistory"},
                                   {"status", "partial"},
                                   {"patient", reference(links.patient)},
                                   {"relationship", relationship_of(evidence.of(fact))},
                                   {"condition", json::Array{std::move(condition)}}}};
}

std::string_view clinical_status(const Fact& fact, bool ended) {
  if (ended) return "resolved";
  return fact.assertion.temporality == Temporality::historical ? "inactive" : "active";
}

Projection condition(const Fact& fact, const Links& links) {
  const bool negated = is_negated(fact);
  const auto end = date_field(fact, "end");
  json::Object out{{"resourceType", "Condition"}};
  // A condition that is refuted has no course.
  if (!negated) {
    const auto status = clinical_status(fact, end.has_value());
    out["clinicalStatus"] =
        coded("http://terminology.hl7.org/CodeSystem/condition-clinical", status,
              status == "active"     ? "Active"
              : status == "resolved" ? "Resolved"
                                     : "Inactive");
  }
  out["verificationStatus"] =
      coded("http://terminology.hl7.org/CodeSystem/condition-ver-status",
            negated ? "refuted" : "unconfirmed", negated ? "Refuted" : "Unconfirmed");
  if (const auto severity = text_field(fact, "severity"); !severity.empty()) {
    out["severity"] = text_concept(severity);
  }
  out["code"] = concept_of(fact);
  if (const auto site = text_field(fact, "site"); !site.empty()) {
    out["bodySite"] = json::Array{text_concept(site)};
  }
  out["subject"] = reference(links.patient);
  if (!negated) {
    if (const auto onset = date_field(fact, "onset")) out["onsetDateTime"] = *onset;
    if (end) out["abatementDateTime"] = *end;
  }
  out["evidence"] = json::Array{json::Object{{"detail", json::Array{reference(links.document)}}}};
  return {.resource = std::move(out)};
}

// -- what was done --

Projection immunization(const Fact& fact, const Links& links) {
  if (fact.assertion.temporality == Temporality::future) {
    return {.omitted = "an immunization that is only planned"};
  }
  json::Object out{{"resourceType", "Immunization"},
                   {"status", is_negated(fact) ? "not-done" : "completed"},
                   {"vaccineCode", concept_of(fact)},
                   {"patient", reference(links.patient)}};
  if (const auto date = date_field(fact, "date")) {
    out["occurrenceDateTime"] = *date;
  } else {
    out["occurrenceString"] = "unknown";
  }
  out["primarySource"] = false;
  if (const auto lot = text_field(fact, "lot"); !lot.empty()) out["lotNumber"] = lot;
  return {.resource = std::move(out)};
}

std::string_view procedure_status(const Fact& fact) {
  if (is_negated(fact)) return "not-done";
  if (fact.assertion.temporality == Temporality::future) return "preparation";
  return is_sure(fact) ? "completed" : "unknown";
}

Projection procedure(const Fact& fact, const Links& links) {
  json::Object out{{"resourceType", "Procedure"},
                   {"status", procedure_status(fact)},
                   {"code", concept_of(fact)},
                   {"subject", reference(links.patient)}};
  if (const auto date = date_field(fact, "date")) out["performedDateTime"] = *date;
  if (const auto site = text_field(fact, "site"); !site.empty()) {
    out["bodySite"] = json::Array{text_concept(site)};
  }
  return {.resource = std::move(out)};
}

json::Object encounter_class(std::string_view kind) {
  struct Kind {
    std::string_view word, code, display;
  };
  static constexpr auto kKinds = std::to_array<Kind>({{"emergency", "EMER", "emergency"},
                                                      {"inpatient", "IMP", "inpatient encounter"},
                                                      {"admission", "IMP", "inpatient encounter"},
                                                      {"hospital", "IMP", "inpatient encounter"},
                                                      {"outpatient", "AMB", "ambulatory"},
                                                      {"ambulatory", "AMB", "ambulatory"},
                                                      {"clinic", "AMB", "ambulatory"},
                                                      {"office", "AMB", "ambulatory"},
                                                      {"home", "HH", "home health"},
                                                      {"virtual", "VR", "virtual"},
                                                      {"telephone", "VR", "virtual"}});
  const auto name = layout::to_lower(kind);
  for (const auto& known : kKinds) {
    if (name.contains(known.word)) {
      return coding("http://terminology.hl7.org/CodeSystem/v3-ActCode", known.code, known.display);
    }
  }
  return coding("http://terminology.hl7.org/CodeSystem/v3-NullFlavor", "UNK", "unknown");
}

Projection encounter(const Fact& fact, const Links& links) {
  if (is_negated(fact)) return {.omitted = "an encounter that is negated"};
  const auto end = date_field(fact, "end");
  const bool past = end || fact.assertion.temporality == Temporality::historical;
  const bool planned = fact.assertion.temporality == Temporality::future;
  json::Object out{{"resourceType", "Encounter"},
                   {"status", planned ? "planned"
                              : past  ? "finished"
                                      : "unknown"},
                   {"class", encounter_class(fact.name())},
                   {"type", json::Array{concept_of(fact)}},
                   {"subject", reference(links.patient)}};
  auto when = period(date_field(fact, "start"), end);
  if (!when.empty()) out["period"] = std::move(when);
  if (const auto place = text_field(fact, "place"); !place.empty()) {
    out["location"] = json::Array{json::Object{{"location", json::Object{{"display", place}}}}};
  }
  return {.resource = std::move(out)};
}

Projection practitioner(const Fact& fact) {
  if (is_negated(fact)) return {.omitted = "a practitioner that is negated"};
  return {.resource =
              json::Object{{"resourceType", "Practitioner"},
                           {"name", json::Array{json::Object{{"text", clean(fact.name())}}}}}};
}

}  // namespace

Projection project(const Fact& fact, const Links& links, const EvidenceTable& evidence) {
  if (clean(fact.name()).empty()) return {.omitted = "a fact without a name"};
  if (fact.assertion.temporality == Temporality::hypothetical) return {.omitted = "hypothetical"};
  // A practitioner is somebody else by nature.
  if (fact.type == FactType::Practitioner) return practitioner(fact);
  if (fact.subject == Subject::other) return {.omitted = "about somebody else"};
  if (fact.subject == Subject::family) {
    if (fact.type == FactType::Condition) return family_history(fact, links, evidence);
    return {.omitted = "about a relative"};
  }
  switch (fact.type) {
    case FactType::MedicationStatement:
      return medication(fact, links);
    case FactType::Observation:
      if (fact.assertion.temporality == Temporality::future) return {.omitted = "only planned"};
      return observation(fact, links, evidence);
    case FactType::Condition:
      if (fact.assertion.temporality == Temporality::future) return {.omitted = "only expected"};
      return condition(fact, links);
    case FactType::AllergyIntolerance:
      if (fact.assertion.temporality == Temporality::future) return {.omitted = "only expected"};
      return allergy(fact, links);
    case FactType::Immunization:
      return immunization(fact, links);
    case FactType::Procedure:
      return procedure(fact, links);
    case FactType::Encounter:
      return encounter(fact, links);
    case FactType::Patient:
    case FactType::Practitioner:
      break;
  }
  return {.omitted = "a fact of another kind"};
}

json::Object patient_resource(std::span<const Fact* const> facts, std::string_view patient_id) {
  std::vector<const Fact*> surest(facts.begin(), facts.end());
  // Facts lie in one list, so of equally sure ones the earlier comes first.
  std::ranges::sort(surest, [](const Fact* a, const Fact* b) {
    return a->conf != b->conf ? a->conf > b->conf : std::less<>()(a, b);
  });
  json::Array identifiers;
  if (const auto id = clean(patient_id); !id.empty()) {
    identifiers.push_back(json::Object{{"system", "urn:millrace:patient"}, {"value", id}});
  }
  json::Array names;
  std::set<std::string> seen;
  json::Object rest;
  for (const auto* fact : surest) {
    const auto identifier = text_field(*fact, "identifier");
    if (!identifier.empty() && seen.insert("id " + identifier).second) {
      identifiers.push_back(json::Object{{"value", identifier}});
    }
    const auto name = clean(fact->name());
    if (!name.empty() && seen.insert("name " + name).second) {
      names.push_back(json::Object{{"text", name}});
    }
    const auto sex = choice_field(*fact, "sex");
    if (!sex.empty() && !rest.contains("gender")) rest["gender"] = sex;
    const auto birth = date_field(*fact, "birth_date");
    if (birth && !rest.contains("birthDate")) rest["birthDate"] = *birth;
  }
  json::Object out{{"resourceType", "Patient"}};
  if (!identifiers.empty()) out["identifier"] = std::move(identifiers);
  if (!names.empty()) out["name"] = std::move(names);
  for (auto& member : rest) out[member.key()] = std::move(member.value());
  return out;
}

std::optional<json::Object> practitioner_role(const Fact& fact, std::string_view practitioner) {
  const auto role = text_field(fact, "role");
  const auto organization = text_field(fact, "organization");
  if (role.empty() && organization.empty()) return std::nullopt;
  json::Object out{{"resourceType", "PractitionerRole"}, {"practitioner", reference(practitioner)}};
  if (!organization.empty()) out["organization"] = json::Object{{"display", organization}};
  if (!role.empty()) out["code"] = json::Array{text_concept(role)};
  return out;
}

}  // namespace millrace::output::fhir
