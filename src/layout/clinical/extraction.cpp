#include "layout/clinical/extraction.h"

#include "layout/clinical/clinical_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace millrace::layout::clinical {
namespace {

constexpr auto kSubjects = std::to_array<Label<Subject>>(
    {{Subject::patient, "patient"}, {Subject::family, "family"}, {Subject::other, "other"}});
constexpr auto kPolarities = std::to_array<Label<Polarity>>(
    {{Polarity::affirmed, "affirmed"}, {Polarity::negated, "negated"}});
constexpr auto kCertainties = std::to_array<Label<Certainty>>({{Certainty::definite, "definite"},
                                                               {Certainty::probable, "probable"},
                                                               {Certainty::possible, "possible"}});
constexpr auto kTemporalities =
    std::to_array<Label<Temporality>>({{Temporality::current, "current"},
                                       {Temporality::historical, "historical"},
                                       {Temporality::future, "future"},
                                       {Temporality::hypothetical, "hypothetical"}});
constexpr auto kStatuses = std::to_array<Label<CodeStatus>>(
    {{CodeStatus::candidate, "candidate"}, {CodeStatus::confirmed, "confirmed"}});

constexpr auto kSystems = std::to_array<std::string_view>(
    {"http://snomed.info/sct", "http://loinc.org", "http://www.nlm.nih.gov/research/umls/rxnorm",
     "http://unitsofmeasure.org", "http://hl7.org/fhir/sid/icd-10",
     "http://hl7.org/fhir/sid/icd-10-cm", "http://hl7.org/fhir/sid/cvx"});

constexpr auto kRelations = std::to_array<std::string_view>(
    {"treats", "causes", "part_of", "follows", "contradicts", "same_as"});

constexpr double kNumberMax = 1e12;
constexpr std::size_t kCodesMax = 20;

// One word of a set, or an error.
template <class E, std::size_t N>
Result<E> label_of(const Fields& fields, std::string_view name,
                   const std::array<Label<E>, N>& labels) {
  MR_TRY(const auto text, fields.text(name, 64));
  const auto value = value_in(labels, text);
  if (!value) return fields.wrong(name, "is none of its words");
  return *value;
}

json::Value number_or_null(std::optional<double> number) {
  if (!number) return nullptr;
  return *number;
}

Result<json::Value> quantity_of(const Fields& fields) {
  MR_TRY_VOID(fields.only({"value", "unit"}));
  MR_TRY(const auto value, fields.number("value", -kNumberMax, kNumberMax));
  MR_TRY(const auto unit, fields.optional_text("unit", 64));
  return json::Object{{"value", value}, {"unit", unit ? json::Value(*unit) : json::Value(nullptr)}};
}

Result<json::Value> range_of(const Fields& fields) {
  MR_TRY_VOID(fields.only({"low", "high"}));
  MR_TRY(const auto low, fields.optional_number("low", -kNumberMax, kNumberMax));
  MR_TRY(const auto high, fields.optional_number("high", -kNumberMax, kNumberMax));
  if (!low && !high) {
    if (fields.value().empty()) return fields.wrong("low", "is missing");
    return nullptr;
  }
  return json::Object{{"low", number_or_null(low)}, {"high", number_or_null(high)}};
}

Result<json::Value> field_of(const Fields& value, const FieldRule& rule, const PassLimits& limits) {
  if (!value.has(rule.name)) {
    if (rule.required) return value.wrong(rule.name, "is missing");
    return nullptr;
  }
  switch (rule.kind) {
    case FieldKind::quantity: {
      MR_TRY(const auto part, value.object(rule.name));
      return quantity_of(part);
    }
    case FieldKind::range: {
      MR_TRY(const auto part, value.object(rule.name));
      return range_of(part);
    }
    case FieldKind::choice: {
      MR_TRY(const auto text, value.text(rule.name, 64));
      if (std::ranges::find(rule.choices, text) == rule.choices.end()) {
        return value.wrong(rule.name, "is none of its words");
      }
      return json::Value(text);
    }
    case FieldKind::text:
    case FieldKind::date: {
      MR_TRY(const auto text, value.text(rule.name, limits.text_bytes_max));
      if (text.empty() && rule.required) return value.wrong(rule.name, "must not be empty");
      if (text.empty()) return nullptr;
      return json::Value(text);
    }
  }
  return nullptr;
}

Result<json::Object> value_of(const Fields& value, FactType type, const PassLimits& limits) {
  json::Object out;
  const auto rules = fields_of(type);
  for (const auto& member : value.value()) {
    const std::string_view key = member.key();
    if (std::ranges::find(rules, key, &FieldRule::name) == rules.end()) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("{} has a member that {} does not have", value.path_of("value"),
                              to_string(type)));
    }
  }
  for (const auto& rule : rules) {
    MR_TRY(auto field, field_of(value, rule, limits));
    out[rule.name] = std::move(field);
  }
  return out;
}

Result<Assertion> assertion_of(const Fields& fields) {
  MR_TRY_VOID(fields.only({"polarity", "certainty", "temporality"}));
  Assertion out;
  MR_TRY(out.polarity, label_of(fields, "polarity", kPolarities));
  MR_TRY(out.certainty, label_of(fields, "certainty", kCertainties));
  MR_TRY(out.temporality, label_of(fields, "temporality", kTemporalities));
  return out;
}

Result<Code> code_of(const Fields& fields, Form form) {
  MR_TRY_VOID(fields.only({"system", "code", "display", "status"}));
  Code code;
  MR_TRY(const auto system, fields.text("system", 200));
  if (std::ranges::find(kSystems, system) == kSystems.end()) {
    return fields.wrong("system", "is none of the known code systems");
  }
  code.system = system;
  MR_TRY(const auto text, fields.text("code", 64));
  if (text.empty()) return fields.wrong("code", "must not be empty");
  code.code = text;
  MR_TRY(const auto display, fields.optional_text("display", 500));
  code.display = display.value_or("");
  MR_TRY(code.status, label_of(fields, "status", kStatuses));
  if (form == Form::answer) code.status = CodeStatus::candidate;
  return code;
}

Result<Fact> fact_of(const Fields& fields, Form form, const PassLimits& limits) {
  MR_TRY_VOID(
      fields.only({"id", "type", "subject", "evidence", "assertion", "value", "codes", "conf"}));
  Fact fact;
  MR_TRY(fact.id, id_of(fields, "id", limits));
  MR_TRY(const auto type, fields.text("type", 64));
  const auto parsed = parse_fact_type(type);
  if (!parsed) return fields.wrong("type", "is none of the types of facts");
  fact.type = *parsed;
  MR_TRY(fact.subject, label_of(fields, "subject", kSubjects));
  MR_TRY(fact.evidence, ids_of(fields, "evidence", limits, limits.references_max));
  MR_TRY(const auto assertion, fields.object("assertion"));
  MR_TRY(fact.assertion, assertion_of(assertion));
  MR_TRY(const auto value, fields.object("value"));
  MR_TRY(fact.value, value_of(value, fact.type, limits));
  MR_TRY(const auto* codes, fields.array("codes", kCodesMax));
  for (std::size_t i = 0; i < codes->size(); ++i) {
    MR_TRY(const auto part, Fields::of((*codes)[i], fields.path_of("codes", i)));
    MR_TRY(auto code, code_of(part, form));
    fact.codes.push_back(std::move(code));
  }
  MR_TRY(fact.conf, conf_of(fields));
  return fact;
}

Result<Relation> relation_of(const Fields& fields, const PassLimits& limits) {
  MR_TRY_VOID(fields.only({"from", "to", "type"}));
  Relation relation;
  MR_TRY(relation.from, id_of(fields, "from", limits));
  MR_TRY(relation.to, id_of(fields, "to", limits));
  MR_TRY(relation.type, text_of(fields, "type", limits));
  if (std::ranges::find(kRelations, relation.type) == kRelations.end()) {
    return fields.wrong("type", "is none of the types of relations");
  }
  return relation;
}

}  // namespace

std::string_view to_string(Subject subject) { return name_in(kSubjects, subject); }
std::string_view to_string(Polarity polarity) { return name_in(kPolarities, polarity); }
std::string_view to_string(Certainty certainty) { return name_in(kCertainties, certainty); }
std::string_view to_string(Temporality temporality) { return name_in(kTemporalities, temporality); }
std::span<const std::string_view> code_systems() { return kSystems; }
std::span<const std::string_view> relation_types() { return kRelations; }

std::string_view Fact::name() const {
  const auto* found = value.if_contains(fields_of(type).front().name);
  return found != nullptr && found->is_string() ? std::string_view(found->get_string())
                                                : std::string_view();
}

json::Value fact_to_json(const Fact& fact) {
  json::Array codes;
  for (const auto& code : fact.codes) {
    codes.push_back(json::Object{{"system", code.system},
                                 {"code", code.code},
                                 {"display", code.display},
                                 {"status", name_in(kStatuses, code.status)}});
  }
  const auto& assertion = fact.assertion;
  return json::Object{
      {"id", fact.id},
      {"type", to_string(fact.type)},
      {"subject", to_string(fact.subject)},
      {"evidence", ids_json(fact.evidence)},
      {"assertion", json::Object{{"polarity", to_string(assertion.polarity)},
                                 {"certainty", to_string(assertion.certainty)},
                                 {"temporality", to_string(assertion.temporality)}}},
      {"value", fact.value},
      {"codes", std::move(codes)},
      {"conf", fact.conf},
  };
}

json::Value extraction_to_json(const Extraction& extraction) {
  json::Array facts;
  for (const auto& fact : extraction.facts) facts.push_back(fact_to_json(fact));
  json::Array relations;
  for (const auto& relation : extraction.relations) {
    relations.push_back(
        json::Object{{"from", relation.from}, {"to", relation.to}, {"type", relation.type}});
  }
  json::Array rejected;
  for (const auto& item : extraction.rejected) {
    rejected.push_back(json::Object{{"evidence", ids_json(item.evidence)}, {"why", item.why}});
  }
  return json::Object{{"schema", schema_id(Pass::extract)},
                      {"facts", std::move(facts)},
                      {"relations", std::move(relations)},
                      {"rejected", std::move(rejected)}};
}

Result<Extraction> extraction_from_json(const json::Value& value, Form form,
                                        const PassLimits& limits) {
  MR_TRY(const auto fields, Fields::of(value, ""));
  MR_TRY_VOID(fields.only({"schema", "facts", "relations", "rejected"}));
  MR_TRY_VOID(check_schema(fields, Pass::extract));
  Extraction out;
  MR_TRY(const auto* facts, fields.array("facts", limits.items_max));
  for (std::size_t i = 0; i < facts->size(); ++i) {
    MR_TRY(const auto part, Fields::of((*facts)[i], fields.path_of("facts", i)));
    MR_TRY(auto fact, fact_of(part, form, limits));
    out.facts.push_back(std::move(fact));
  }
  MR_TRY(const auto* relations, fields.array("relations", limits.items_max));
  for (std::size_t i = 0; i < relations->size(); ++i) {
    MR_TRY(const auto part, Fields::of((*relations)[i], fields.path_of("relations", i)));
    MR_TRY(auto relation, relation_of(part, limits));
    out.relations.push_back(std::move(relation));
  }
  MR_TRY(const auto* rejected, fields.array("rejected", limits.items_max));
  for (std::size_t i = 0; i < rejected->size(); ++i) {
    MR_TRY(const auto part, Fields::of((*rejected)[i], fields.path_of("rejected", i)));
    MR_TRY_VOID(part.only({"evidence", "why"}));
    Rejected item;
    MR_TRY(item.evidence, ids_of(part, "evidence", limits, limits.references_max));
    MR_TRY(item.why, text_of(part, "why", limits));
    out.rejected.push_back(std::move(item));
  }
  return out;
}

}  // namespace millrace::layout::clinical
