#include "output/fhir/bundle.h"

#include "base/uuid.h"
#include "layout/clinical/ucum.h"
#include "layout/code_points.h"
#include "output/samples.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace millrace::output {
namespace {

namespace clinical = layout::clinical;
using clinical::fact;
using clinical::FactType;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

// What R4 requires of the resources that we write: "a|b" one of them, "a[]" a list with one at
// least, "a/b" b in a wherever a is.
const std::map<std::string, std::vector<std::string>>& required() {
  static const std::map<std::string, std::vector<std::string>> kRequired = {
      {"Patient", {}},
      {"DocumentReference", {"status", "content[]", "content/attachment"}},
      {"MedicationStatement",
       {"status", "medicationCodeableConcept|medicationReference", "subject"}},
      {"Observation", {"status", "code"}},
      {"Condition", {"subject"}},
      // Of invariant ait-1.
      {"AllergyIntolerance", {"patient", "clinicalStatus", "reaction/manifestation[]"}},
      {"Immunization", {"status", "vaccineCode", "patient", "occurrenceDateTime|occurrenceString"}},
      {"Procedure", {"status", "subject"}},
      {"Practitioner", {}},
      {"PractitionerRole", {}},
      {"Encounter", {"status", "class", "location/location"}},
      {"FamilyMemberHistory", {"status", "patient", "relationship", "condition/code"}},
      {"Provenance",
       {"target[]", "recorded", "agent[]", "agent/who", "entity/role", "entity/what"}},
  };
  return kRequired;
}

const std::map<std::string, std::set<std::string>>& statuses() {
  static const std::map<std::string, std::set<std::string>> kStatuses = {
      {"DocumentReference", {"current", "superseded", "entered-in-error"}},
      {"MedicationStatement",
       {"active", "completed", "entered-in-error", "intended", "stopped", "on-hold", "unknown",
        "not-taken"}},
      {"Observation",
       {"registered", "preliminary", "final", "amended", "corrected", "cancelled", "unknown"}},
      {"Immunization", {"completed", "entered-in-error", "not-done"}},
      {"Procedure",
       {"preparation", "in-progress", "not-done", "on-hold", "stopped", "completed", "unknown"}},
      {"Encounter",
       {"planned", "arrived", "triaged", "in-progress", "onleave", "finished", "cancelled",
        "entered-in-error", "unknown"}},
      {"FamilyMemberHistory", {"partial", "completed", "entered-in-error", "health-unknown"}},
  };
  return kStatuses;
}

bool has_value(const json::Object& object, std::string name) {
  const bool list = name.ends_with("[]");
  if (list) name.resize(name.size() - 2);
  const auto* value = object.if_contains(name);
  return value != nullptr && (!list || (value->is_array() && !value->get_array().empty()));
}

void check_rule(const json::Object& resource, const std::string& rule,
                std::vector<std::string>& problems) {
  const auto name = resource.at("resourceType").as_string();
  if (const auto slash = rule.find('/'); slash != std::string::npos) {
    const auto* items = resource.if_contains(rule.substr(0, slash));
    if (items == nullptr) return;
    for (const auto& item : items->as_array()) {
      if (!has_value(item.as_object(), rule.substr(slash + 1))) problems.push_back(rule);
    }
    return;
  }
  int found = 0;
  for (std::size_t begin = 0; begin <= rule.size();) {
    const auto end = std::min(rule.find('|', begin), rule.size());
    found += has_value(resource, rule.substr(begin, end - begin)) ? 1 : 0;
    begin = end + 1;
  }
  if (found != 1) problems.push_back(std::string(name) + " " + rule);
}

void visit(const json::Value& value, const std::function<void(const json::Value&)>& see) {
  see(value);
  if (value.is_object()) {
    for (const auto& member : value.get_object()) visit(member.value(), see);
  } else if (value.is_array()) {
    for (const auto& item : value.get_array()) visit(item, see);
  }
}

// Everything that R4 would not take.
std::vector<std::string> problems_of(const json::Value& bundle) {
  std::vector<std::string> problems;
  std::set<std::string> urls;
  const auto& entries = bundle.as_object().at("entry").as_array();
  for (const auto& entry : entries) {
    const auto& resource = entry.as_object().at("resource").as_object();
    const std::string url(entry.as_object().at("fullUrl").as_string());
    if (!urls.insert(url).second) problems.push_back("twice " + url);
    const std::string id(resource.at("id").as_string());
    if (url != "urn:uuid:" + id || !Uuid::parse(id)) problems.push_back("id " + id);
    const std::string type(resource.at("resourceType").as_string());
    const auto rules = required().find(type);
    if (rules == required().end()) {
      problems.push_back("unknown " + type);
      continue;
    }
    for (const auto& rule : rules->second) check_rule(resource, rule, problems);
    const auto status = statuses().find(type);
    if (status != statuses().end() &&
        !status->second.contains(std::string(resource.at("status").as_string()))) {
      problems.push_back(type + ".status");
    }
  }
  visit(bundle, [&](const json::Value& value) {
    const bool empty = (value.is_object() && value.get_object().empty()) ||
                       (value.is_array() && value.get_array().empty()) ||
                       (value.is_string() && value.get_string().empty()) || value.is_null();
    if (empty) problems.push_back("an empty element");
    if (!value.is_object()) return;
    const auto& object = value.get_object();
    if (const auto* reference = object.if_contains("reference")) {
      const std::string url(reference->as_string());
      if (!urls.contains(url)) problems.push_back("no " + url);
    }
    const auto is_one_of = [&](std::string_view name, std::set<std::string_view> words) {
      const auto* code = object.if_contains(name);
      if (code != nullptr && code->is_string() && !words.contains(code->get_string())) {
        problems.push_back(std::string(name));
      }
    };
    is_one_of("gender", {"female", "male", "other", "unknown"});
    is_one_of("comparator", {"<", "<=", ">", ">="});
    is_one_of("severity", {"mild", "moderate", "severe"});
    const auto* system = object.if_contains("system");
    if (system != nullptr && system->is_string() && system->get_string() == clinical::kUcumSystem &&
        !clinical::is_ucum(object.at("code").as_string())) {
      problems.push_back("no UCUM");
    }
  });
  return problems;
}

struct Fhir : testing::Test {
  layout::SpatialMap map = clinical::letter();
  clinical::Detection detection = clinical::letter_detection(map);
  clinical::Extraction extraction = clinical::letter_extraction();
  EvidenceTable evidence{map, detection};
  std::vector<clinical::RoutedFact> routed = {};
  DocumentInfo info = letter_info();
  FhirBundle made = {};
  json::Value value = {};

  const json::Value& bundle() {
    auto result = fhir_bundle({.info = info,
                               .extraction = extraction,
                               .evidence = evidence,
                               .routed = routed,
                               .document_type = "discharge_summary",
                               .agents = {"tesseract@5.3", "local@1"}});
    EXPECT_TRUE(result) << result.error().message;
    made = std::move(*result);
    auto parsed = parse_json(made.bundle);
    EXPECT_TRUE(parsed) << parsed.error().message;
    value = *std::move(parsed);
    EXPECT_EQ(canonical_json(value), made.bundle);
    EXPECT_THAT(problems_of(value), IsEmpty());
    return value;
  }

  std::vector<json::Object> resources(std::string_view type) {
    std::vector<json::Object> out;
    for (const auto& entry : bundle().as_object().at("entry").as_array()) {
      const auto& resource = entry.as_object().at("resource").as_object();
      if (resource.at("resourceType").as_string() == type) out.push_back(resource);
    }
    return out;
  }

  // With this fact alone.
  json::Object only(clinical::Fact one, std::string_view type) {
    extraction = {.facts = {std::move(one)}};
    auto found = resources(type);
    EXPECT_EQ(found.size(), 1U) << type;
    return found.empty() ? json::Object() : found[0];
  }

  std::vector<std::string> reasons(clinical::Fact one) {
    extraction = {.facts = {std::move(one)}};
    bundle();
    std::vector<std::string> out;
    for (const auto& omitted : made.omitted) out.push_back(omitted.why);
    // Nothing but the patient, the document and the provenance.
    EXPECT_EQ(value.as_object().at("entry").as_array().size(), out.empty() ? 4U : 3U);
    return out;
  }
};

std::string text_at(const json::Object& object, std::initializer_list<std::string_view> path) {
  const json::Value* value = nullptr;
  const auto* at = &object;
  for (const auto name : path) {
    value = at->if_contains(name);
    if (value == nullptr) return "";
    if (value->is_array()) value = &value->get_array().at(0);
    if (value->is_object()) at = &value->get_object();
  }
  return value->is_string() ? std::string(value->get_string()) : to_json(*value);
}

clinical::Fact negated(clinical::Fact one) {
  one.assertion.polarity = clinical::Polarity::negated;
  return one;
}

clinical::Fact of_family(clinical::Fact one) {
  one.subject = clinical::Subject::family;
  return one;
}

clinical::Fact at_time(clinical::Fact one, clinical::Temporality when) {
  one.assertion.temporality = when;
  return one;
}

TEST_F(Fhir, TheLetterBecomesOneResourceForEachFact) {
  std::vector<std::string> types;
  for (const auto& entry : bundle().as_object().at("entry").as_array()) {
    types.emplace_back(entry.as_object().at("resource").as_object().at("resourceType").as_string());
  }
  EXPECT_THAT(types, ElementsAre("Patient", "DocumentReference", "MedicationStatement",
                                 "MedicationStatement", "Observation", "AllergyIntolerance",
                                 "Condition", "Provenance"));
  EXPECT_THAT(made.omitted, IsEmpty());
  EXPECT_EQ(bundle().as_object().at("type"), "collection");
  EXPECT_EQ(bundle().as_object().at("timestamp"), "2026-11-16T12:00:00.000Z");
}

TEST_F(Fhir, AMedicationHasItsDoseInNumbers) {
  const auto taken = resources("MedicationStatement")[0];
  EXPECT_EQ(text_at(taken, {"status"}), "active");
  EXPECT_EQ(text_at(taken, {"medicationCodeableConcept", "text"}), "metformin");
  EXPECT_EQ(to_json(taken.at("dosage")),
            R"([{"doseAndRate":[{"doseQuantity":{"code":"mg","system":"http://unitsofmeasure.org",)"
            R"("unit":"mg","value":500}}],"text":"500 mg twice daily","timing":{"code":)"
            R"({"text":"twice daily"},"repeat":{"frequency":2,"period":1,"periodUnit":"d"}}}])");
}

TEST_F(Fhir, AnObservationHasValueAndRange) {
  const auto seen = resources("Observation")[0];
  EXPECT_EQ(text_at(seen, {"status"}), "preliminary");
  EXPECT_EQ(to_json(seen.at("valueQuantity")),
            R"({"code":"g/dL","system":"http://unitsofmeasure.org","unit":"g/dL","value":13.5})");
  EXPECT_EQ(text_at(seen, {"referenceRange", "low", "value"}), "12");
  EXPECT_EQ(text_at(seen, {"referenceRange", "high", "unit"}), "g/dL");
  EXPECT_EQ(text_at(seen, {"category", "coding", "code"}), "laboratory");
}

TEST_F(Fhir, EvidenceLeadsToTheTextOnThePage) {
  const auto taken = resources("MedicationStatement")[0];
  const auto& extensions = taken.at("extension").as_array();
  ASSERT_EQ(extensions.size(), 4U);
  std::map<std::string, json::Value> parts;
  for (const auto& part : extensions[1].as_object().at("extension").as_array()) {
    for (const auto& member : part.as_object()) {
      if (member.key() != "url") {
        parts[std::string(part.as_object().at("url").as_string())] = member.value();
      }
    }
  }
  const auto text = layout::to_code_points(map.page(1)->text);
  const auto begin = static_cast<std::size_t>(parts["charBegin"].to_number<int>());
  const auto end = static_cast<std::size_t>(parts["charEnd"].to_number<int>());
  EXPECT_EQ(text.substr(begin, end - begin), U"Metformin");
  EXPECT_EQ(parts["text"], "Metformin");
  EXPECT_EQ(parts["page"].to_number<int>(), 1);
  EXPECT_THAT(std::string(parts["bbox"].as_string()), testing::StartsWith("0.1 0.26875"));
}

TEST_F(Fhir, ThePatientIsWhoTheDocumentNames) {
  const auto patient = resources("Patient")[0];
  EXPECT_EQ(text_at(patient, {"name", "text"}), "Zoë Müller");
  EXPECT_EQ(text_at(patient, {"birthDate"}), "1970-03-12");
  EXPECT_EQ(text_at(patient, {"identifier", "value"}), "patient-7");
}

TEST_F(Fhir, TheSurestFactSaysWhoThePatientIs) {
  extraction.facts = {
      fact("f1", FactType::Patient, {"e1"}, R"({"name":"Zoe Muller","birth_date":"1971"})", 0.6),
      fact("f2", FactType::Patient, {"e1"}, R"({"name":"Zoë Müller","sex":"female"})", 0.9),
      negated(fact("f3", FactType::Patient, {"e1"}, R"({"name":"Someone Else"})")),
      of_family(fact("f4", FactType::Patient, {"e1"}, R"({"name":"Her Mother"})"))};
  const auto patient = resources("Patient")[0];
  EXPECT_EQ(to_json(patient.at("name")), R"([{"text":"Zoë Müller"},{"text":"Zoe Muller"}])");
  EXPECT_EQ(text_at(patient, {"gender"}), "female");
  EXPECT_EQ(text_at(patient, {"birthDate"}), "1971");
  EXPECT_EQ(made.omitted.size(), 2U);
}

TEST_F(Fhir, TheSourceIsNamedWithItsDigest) {
  const auto source = resources("DocumentReference")[0];
  EXPECT_EQ(text_at(source, {"content", "attachment", "contentType"}), "application/pdf");
  EXPECT_EQ(text_at(source, {"content", "attachment", "extension", "valueString"}),
            std::string(64, 'a'));
  EXPECT_EQ(text_at(source, {"type", "text"}), "discharge_summary");
  const auto run = resources("Provenance")[0];
  EXPECT_EQ(run.at("target").as_array().size(), 5U);
  EXPECT_EQ(run.at("agent").as_array().size(), 2U);
  EXPECT_EQ(text_at(run, {"agent", "who", "display"}), "tesseract@5.3");
  EXPECT_EQ(text_at(run, {"entity", "what", "reference"}), "urn:uuid:" + text_at(source, {"id"}));
}

// -- what is negated is never affirmed --

TEST_F(Fhir, ANegatedConditionIsRefuted) {
  const auto none = only(
      negated(fact("f1", FactType::Condition, {"e6"}, R"({"name":"heart failure"})")), "Condition");
  EXPECT_EQ(text_at(none, {"verificationStatus", "coding", "code"}), "refuted");
  EXPECT_FALSE(none.contains("clinicalStatus"));
}

TEST_F(Fhir, AnAffirmedConditionIsUnconfirmed) {
  const auto one = only(fact("f1", FactType::Condition, {"e3"},
                             R"({"name":"pneumonia","onset":"2024-05-05","severity":"severe"})"),
                        "Condition");
  EXPECT_EQ(text_at(one, {"verificationStatus", "coding", "code"}), "unconfirmed");
  EXPECT_EQ(text_at(one, {"clinicalStatus", "coding", "code"}), "active");
  EXPECT_EQ(text_at(one, {"onsetDateTime"}), "2024-05-05");
}

TEST_F(Fhir, AConditionThatEndedIsResolved) {
  const auto one =
      only(fact("f1", FactType::Condition, {"e3"}, R"({"name":"pneumonia","end":"2024-06"})"),
           "Condition");
  EXPECT_EQ(text_at(one, {"clinicalStatus", "coding", "code"}), "resolved");
  EXPECT_EQ(text_at(one, {"abatementDateTime"}), "2024-06");
}

TEST_F(Fhir, ANegatedMedicationIsNotTakenAndHasNoDose) {
  const auto none = only(negated(extraction.facts[0]), "MedicationStatement");
  EXPECT_EQ(text_at(none, {"status"}), "not-taken");
  EXPECT_FALSE(none.contains("dosage"));
}

TEST_F(Fhir, WhatWasNotDoneIsNotDone) {
  EXPECT_EQ(
      text_at(
          only(negated(fact("f1", FactType::Immunization, {"e3"}, R"({"vaccine":"influenza"})")),
               "Immunization"),
          {"status"}),
      "not-done");
  EXPECT_EQ(text_at(only(negated(fact("f1", FactType::Procedure, {"e3"}, R"({"name":"biopsy"})")),
                         "Procedure"),
                    {"status"}),
            "not-done");
}

TEST_F(Fhir, ANegatedFindingIsFalseAndANegatedMeasurementNothing) {
  const auto none = only(negated(fact("f1", FactType::Observation, {"e4"}, R"({"name":"fever"})")),
                         "Observation");
  EXPECT_EQ(text_at(none, {"valueBoolean"}), "false");
  EXPECT_EQ(text_at(none, {"interpretation", "coding", "code"}), "NEG");
  EXPECT_THAT(reasons(negated(fact("f1", FactType::Observation, {"e4"},
                                   R"({"name":"fever","value":{"value":39,"unit":"Cel"}})"))),
              ElementsAre("a measurement that is negated"));
}

TEST_F(Fhir, NoNegatedFactOfAnyTypeIsAffirmed) {
  for (const auto type : clinical::fact_types()) {
    const auto first = std::string(clinical::fields_of(type)[0].name);
    extraction = {.facts = {negated(fact("f1", type, {"e3"}, "{\"" + first + "\":\"thing\"}"))}};
    for (const auto& entry : bundle().as_object().at("entry").as_array()) {
      const auto& resource = entry.as_object().at("resource").as_object();
      if (to_json(resource).find("thing") == std::string::npos) continue;
      const auto status = text_at(resource, {"status"});
      const auto verified = text_at(resource, {"verificationStatus", "coding", "code"});
      EXPECT_TRUE(status == "not-taken" || status == "not-done" || verified == "refuted" ||
                  text_at(resource, {"valueBoolean"}) == "false")
          << to_json(resource);
    }
  }
}

// -- whose it is --

TEST_F(Fhir, ARelativesConditionIsFamilyHistory) {
  const auto history =
      only(of_family(fact("f1", FactType::Condition, {"e5"}, R"({"name":"diabetes"})")),
           "FamilyMemberHistory");
  EXPECT_EQ(text_at(history, {"relationship", "coding", "code"}), "MTH");
  EXPECT_EQ(text_at(history, {"condition", "code", "text"}), "diabetes");
  EXPECT_THAT(resources("Condition"), IsEmpty());
}

TEST_F(Fhir, WithoutARelativeInTheSentenceItIsAFamilyMember) {
  const auto history =
      only(of_family(fact("f1", FactType::Condition, {"e6"}, R"({"name":"heart failure"})")),
           "FamilyMemberHistory");
  EXPECT_EQ(text_at(history, {"relationship", "coding", "code"}), "FAMMEMB");
}

TEST_F(Fhir, NothingOfARelativeBecomesThePatients) {
  for (const auto type : clinical::fact_types()) {
    if (type == FactType::Practitioner) continue;
    const auto first = std::string(clinical::fields_of(type)[0].name);
    extraction = {.facts = {of_family(fact("f1", type, {"e3"}, "{\"" + first + "\":\"thing\"}"))}};
    for (const auto& entry : bundle().as_object().at("entry").as_array()) {
      const auto& resource = entry.as_object().at("resource").as_object();
      const bool has = to_json(resource).find("thing") != std::string::npos;
      EXPECT_TRUE(!has || resource.at("resourceType") == "FamilyMemberHistory")
          << to_json(resource);
    }
  }
  EXPECT_THAT(
      reasons(of_family(negated(fact("f1", FactType::Condition, {"e5"}, R"({"name":"gout"})")))),
      ElementsAre("a negated condition of a relative"));
}

TEST_F(Fhir, WhatIsOnlyImaginedIsLeftOut) {
  for (const auto type : clinical::fact_types()) {
    if (type == FactType::Patient) continue;
    const auto first = std::string(clinical::fields_of(type)[0].name);
    EXPECT_THAT(reasons(at_time(fact("f1", type, {"e3"}, "{\"" + first + "\":\"thing\"}"),
                                clinical::Temporality::hypothetical)),
                ElementsAre("hypothetical"));
  }
}

// -- allergies --

TEST_F(Fhir, AnAllergyHasItsReaction) {
  const auto one = only(fact("f1", FactType::AllergyIntolerance, {"e15"},
                             R"({"substance":"penicillin","reaction":"rash","severity":"mild"})"),
                        "AllergyIntolerance");
  EXPECT_EQ(to_json(one.at("reaction")),
            R"([{"manifestation":[{"text":"rash"}],"severity":"mild"}])");
  EXPECT_EQ(text_at(one, {"verificationStatus", "coding", "code"}), "unconfirmed");
  const auto none = only(negated(fact("f1", FactType::AllergyIntolerance, {"e15"},
                                      R"({"substance":"latex","reaction":"rash"})")),
                         "AllergyIntolerance");
  EXPECT_EQ(text_at(none, {"verificationStatus", "coding", "code"}), "refuted");
  EXPECT_EQ(text_at(none, {"clinicalStatus", "coding", "code"}), "inactive");
  EXPECT_FALSE(none.contains("reaction"));
}

TEST_F(Fhir, NoKnownAllergiesIsAStatementOfItsOwn) {
  const auto code_of = [&](clinical::Fact one) {
    return text_at(only(std::move(one), "AllergyIntolerance"), {"code", "coding", "code"});
  };
  const auto allergy = [](std::string_view substance) {
    return fact("f1", FactType::AllergyIntolerance, {"e15"},
                fmt::format(R"({{"substance":"{}"}})", substance));
  };
  // Whether somebody read the denial into the polarity, too, or not.
  const std::vector<std::pair<std::string, std::string>> denials = {
      {"No known allergies", "716186003"},
      {"NKA", "716186003"},
      {"NKDA", "409137002"},
      {"N.K.D.A.", ""},  // Letters by themselves say nothing that is certain.
      {"None known", "716186003"},
      {"No known drug allergies", "409137002"},
      {"No known food allergies", "429625007"},
      {"No known environmental allergies", "428607008"},
      {"No known latex allergy", "1003774007"},
      {"Keine bekannten Allergien", "716186003"},
      {"Keine bekannte Arzneimittelallergie", "409137002"},
      {"Keine Allergien oder Unverträglichkeiten bekannt", "716186003"},
      {"Aucune allergie connue", "716186003"},
      {"Pas d\u2019allergie médicamenteuse connue", "409137002"},
      {"Aucune allergie alimentaire", "429625007"},
      {"Sin alergias conocidas", "716186003"},
      {"Sin alergias medicamentosas conocidas", "409137002"}};
  for (const auto& [words, code] : denials) {
    EXPECT_EQ(code_of(allergy(words)), code) << words;
    EXPECT_EQ(code_of(negated(allergy(words))), code) << words;
  }
  const auto text = only(negated(allergy("NKDA")), "AllergyIntolerance");
  EXPECT_EQ(text_at(text, {"code", "text"}), "NKDA");
  EXPECT_EQ(text_at(text, {"clinicalStatus", "coding", "code"}), "active");
  EXPECT_EQ(text_at(text, {"verificationStatus", "coding", "code"}), "unconfirmed");
}

TEST_F(Fhir, ADeniedKindOfAllergyIsAStatementToo) {
  const auto of = [&](std::string_view substance) {
    return only(negated(fact("f1", FactType::AllergyIntolerance, {"e15"},
                             fmt::format(R"({{"substance":"{}"}})", substance))),
                "AllergyIntolerance");
  };
  const std::vector<std::pair<std::string, std::string>> denied = {
      {"known drug allergies", "409137002"}, {"allergies", "716186003"},
      {"bekannten Allergien", "716186003"},  {"alergias conocidas", "716186003"},
      {"allergie connue", "716186003"},      {"known food allergies", "429625007"}};
  for (const auto& [words, code] : denied) {
    EXPECT_EQ(text_at(of(words), {"code", "coding", "code"}), code) << words;
  }
  EXPECT_EQ(text_at(of("known drug allergies"), {"code", "text"}), "No known drug allergy");
  // For two kinds there is no code, and what is denied of some is not denied of all.
  EXPECT_EQ(to_json(of("known drug or food allergies").at("code")),
            R"({"text":"no known drug or food allergies"})");
  for (const auto* words : {"other allergies", "known penicillin allergy", "latex"}) {
    EXPECT_EQ(text_at(of(words), {"verificationStatus", "coding", "code"}), "refuted") << words;
    EXPECT_EQ(to_json(of(words).at("code")), fmt::format(R"({{"text":"{}"}})", words));
  }
}

// "Pas" denies in French, and PAS is a medicine against tuberculosis.
TEST_F(Fhir, AMedicineThatReadsLikeADenialIsAnAllergy) {
  for (const auto* words : {"PAS", "pas", "PAS."}) {
    const auto one = fact("f1", FactType::AllergyIntolerance, {"e15"},
                          fmt::format(R"({{"substance":"{}"}})", words));
    EXPECT_EQ(to_json(only(one, "AllergyIntolerance").at("code")),
              fmt::format(R"({{"text":"{}"}})", words));
    EXPECT_EQ(
        text_at(only(negated(one), "AllergyIntolerance"), {"verificationStatus", "coding", "code"}),
        "refuted");
  }
}

TEST_F(Fhir, BeingAllergicToNothingIsADenial) {
  const auto code_of = [&](std::string_view words) {
    return text_at(only(negated(fact("f1", FactType::AllergyIntolerance, {"e15"},
                                     fmt::format(R"({{"substance":"{}"}})", words))),
                        "AllergyIntolerance"),
                   {"code", "coding", "code"});
  };
  EXPECT_EQ(code_of("allergic to any medications"), "409137002");
  EXPECT_EQ(code_of("allergisch"), "716186003");
}

TEST_F(Fhir, WhatIsAffirmedIsNoDenial) {
  for (const auto* words : {"drug allergies", "food allergy", "allergies"}) {
    const auto one = only(fact("f1", FactType::AllergyIntolerance, {"e15"},
                               fmt::format(R"({{"substance":"{}"}})", words)),
                          "AllergyIntolerance");
    EXPECT_EQ(to_json(one.at("code")), fmt::format(R"({{"text":"{}"}})", words));
  }
}

TEST_F(Fhir, AnAllergyOfThePastStillHolds) {
  EXPECT_EQ(text_at(only(at_time(fact("f1", FactType::AllergyIntolerance, {"e15"},
                                      R"({"substance":"penicillin"})"),
                                 clinical::Temporality::historical),
                         "AllergyIntolerance"),
                    {"clinicalStatus", "coding", "code"}),
            "active");
}

// -- the rest --

TEST_F(Fhir, CodesSayThatTheyAreCandidates) {
  extraction.facts[0].codes = {
      {.system = "http://www.nlm.nih.gov/research/umls/rxnorm", .code = "6809", .display = "m"},
      {.system = "http://unitsofmeasure.org", .code = "mg", .display = "mg"},
      {.system = "http://snomed.info/sct",
       .code = "1",
       .display = "",
       .status = clinical::CodeStatus::confirmed}};
  const auto codings = resources("MedicationStatement")[0]
                           .at("medicationCodeableConcept")
                           .as_object()
                           .at("coding")
                           .as_array();
  ASSERT_EQ(codings.size(), 2U);
  EXPECT_EQ(text_at(codings[0].as_object(), {"extension", "valueCode"}), "candidate");
  EXPECT_EQ(text_at(codings[1].as_object(), {"extension", "valueCode"}), "confirmed");
}

TEST_F(Fhir, AnImmunizationHasAnOccurrenceAlways) {
  EXPECT_EQ(text_at(only(fact("f1", FactType::Immunization, {"e3"},
                              R"({"vaccine":"influenza","date":"2023-10","lot":"A1"})"),
                         "Immunization"),
                    {"occurrenceDateTime"}),
            "2023-10");
  EXPECT_EQ(text_at(only(fact("f1", FactType::Immunization, {"e3"}, R"({"vaccine":"influenza"})"),
                         "Immunization"),
                    {"occurrenceString"}),
            "unknown");
}

TEST_F(Fhir, APractitionerHasARoleBesideIt) {
  extraction = {.facts = {fact("f1", FactType::Practitioner, {"e1"},
                               R"({"name":"Dr Who","role":"surgeon","organization":"General"})")}};
  const auto who = resources("Practitioner");
  const auto roles = resources("PractitionerRole");
  ASSERT_EQ(roles.size(), 1U);
  EXPECT_EQ(text_at(roles[0], {"practitioner", "reference"}),
            "urn:uuid:" + text_at(who[0], {"id"}));
}

TEST_F(Fhir, AnEncounterHasAClass) {
  const auto stay = only(fact("f1", FactType::Encounter, {"e3"},
                              R"({"kind":"Hospital admission","start":"2024-05-05",
                                  "end":"2024-05-09","place":"General"})"),
                         "Encounter");
  EXPECT_EQ(text_at(stay, {"class", "code"}), "IMP");
  EXPECT_EQ(text_at(stay, {"status"}), "finished");
  EXPECT_EQ(text_at(stay, {"period", "end"}), "2024-05-09");
  EXPECT_EQ(
      text_at(only(fact("f1", FactType::Encounter, {"e3"}, R"({"kind":"talk"})"), "Encounter"),
              {"class", "code"}),
      "UNK");
}

TEST_F(Fhir, TreatmentPointsToWhatTheDocumentAffirms) {
  extraction.relations = {{.from = "f1", .to = "f5", .type = "treats"}};
  EXPECT_EQ(text_at(resources("MedicationStatement")[0], {"reasonReference", "reference"}),
            "urn:uuid:" + text_at(resources("Condition")[0], {"id"}));
  extraction.facts[4] = negated(extraction.facts[4]);
  EXPECT_FALSE(resources("MedicationStatement")[0].contains("reasonReference"));
}

TEST_F(Fhir, RejectedFactsAreLeftOutAndReviewsMarked) {
  routed = {{.fact = "f1", .route = clinical::Route::reject},
            {.fact = "f2", .route = clinical::Route::review}};
  const auto taken = resources("MedicationStatement");
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_THAT(to_json(taken[0].at("extension")),
              testing::HasSubstr(R"({"url":"route","valueCode":"review"})"));
  EXPECT_THAT(made.omitted, ElementsAre(OmittedFact{.fact = "f1", .why = "rejected by routing"}));
}

TEST_F(Fhir, IsTheSameForTheSameDocumentWhateverTheNumbersOfFacts) {
  const auto first = to_json(bundle());
  EXPECT_EQ(first, to_json(bundle()));
  const auto id = text_at(resources("Condition")[0], {"id"});
  std::swap(extraction.facts[0], extraction.facts[4]);
  extraction.facts[0].id = "f77";
  extraction.facts[0].conf = 0.4;
  EXPECT_EQ(text_at(resources("Condition")[0], {"id"}), id);
  info.document_id = "another";
  EXPECT_NE(text_at(resources("Condition")[0], {"id"}), id);
}

TEST_F(Fhir, TwoEqualFactsAreTwoResources) {
  extraction.facts[1] = extraction.facts[0];
  EXPECT_EQ(resources("MedicationStatement").size(), 2U);
}

TEST_F(Fhir, TakesValuesThatAreNotWhatTheyShouldBe) {
  auto odd = fact("f1", FactType::Observation, {"e12"}, R"({"name":" a\tb "})");
  odd.value["effective"] = "yesterday";
  odd.value["value"] = json::Object{{"value", "many"}, {"unit", 7}};
  odd.value["flag"] = "odd";
  odd.value["range"] = json::Object{{"low", nullptr}, {"high", nullptr}};
  const auto seen = only(odd, "Observation");
  EXPECT_EQ(text_at(seen, {"code", "text"}), "a b");
  EXPECT_FALSE(seen.contains("effectiveDateTime"));
  EXPECT_FALSE(seen.contains("referenceRange"));
  EXPECT_EQ(text_at(seen, {"dataAbsentReason", "coding", "code"}), "unknown");
}

TEST_F(Fhir, IsFhirWhateverAFactSays) {
  const std::vector<json::Value> odd = {nullptr,
                                        "",
                                        " ",
                                        std::string("\0\x1b\xff", 3).c_str(),
                                        "<b>\n]]>",
                                        7,
                                        -1.5,
                                        true,
                                        json::Array{1, "x"},
                                        json::Object(),
                                        json::Object{{"value", 1e300}, {"unit", ""}},
                                        json::Object{{"value", nullptr}, {"unit", "mg"}},
                                        json::Object{{"low", "a"}, {"high", 5}}};
  for (const auto type : clinical::fact_types()) {
    const auto rules = clinical::fields_of(type);
    for (const auto& rule : rules) {
      for (const auto& value : odd) {
        auto one =
            fact("f1", type, {"e3", "e99"}, fmt::format(R"({{"{}":"thing"}})", rules[0].name));
        one.value[rule.name] = value;
        extraction = {.facts = {one, negated(one), of_family(one)}};
        bundle();  // Checks.
      }
    }
  }
}

TEST_F(Fhir, AUnitThatUcumDoesNotHaveIsTextOnly) {
  auto odd = fact("f1", FactType::Observation, {"e12"},
                  R"({"name":"x","value":{"value":3,"unit":"blobs"},"comparator":"<"})");
  EXPECT_EQ(to_json(only(odd, "Observation").at("valueQuantity")),
            R"({"comparator":"<","unit":"blobs","value":3})");
}

TEST_F(Fhir, TheCheckerCanFail) {
  auto broken = bundle();
  auto& entries = broken.as_object()["entry"].as_array();
  entries[2].as_object()["resource"].as_object().erase("status");
  entries[2].as_object()["resource"].as_object()["status"] = "eaten";
  entries[3].as_object()["resource"].as_object().erase("subject");
  entries[4].as_object()["resource"].as_object()["subject"].as_object()["reference"] = "urn:uuid:0";
  EXPECT_THAT(problems_of(broken),
              testing::IsSupersetOf(
                  {"MedicationStatement.status", "MedicationStatement subject", "no urn:uuid:0"}));
}

TEST(FhirBundle, NeedsToKnowWhenOfWhatAndByWhom) {
  const auto map = clinical::letter();
  const EvidenceTable evidence;
  const clinical::Extraction none;
  auto info = letter_info();
  const auto error = [&](std::vector<std::string> agents) {
    const auto made = fhir_bundle(
        {.info = info, .extraction = none, .evidence = evidence, .agents = std::move(agents)});
    return made ? std::string() : made.error().message;
  };
  EXPECT_EQ(error({"local@1"}), "");
  EXPECT_THAT(error({}), testing::HasSubstr("agents"));
  EXPECT_THAT(error({" "}), testing::HasSubstr("agents"));
  info.source.sha256 = "abc";
  EXPECT_THAT(error({"local@1"}), testing::HasSubstr("sha256"));
  info.processed_at.reset();
  EXPECT_THAT(error({"local@1"}), testing::HasSubstr("processed_at"));
}

}  // namespace
}  // namespace millrace::output
