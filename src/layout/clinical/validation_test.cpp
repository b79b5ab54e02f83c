// Facts against evidence, sentences against facts, and where facts go.
#include "layout/clinical/validation.h"

#include "layout/clinical/letter.h"
#include "layout/clinical/merge.h"
#include "layout/clinical/routing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace millrace::layout::clinical {
namespace {

using Texts = std::vector<std::string>;

Texts described(const std::vector<Finding>& findings) {
  Texts out;
  for (const auto& finding : findings) {
    out.push_back(describe(finding) + " " + std::string(to_string(finding.severity)));
  }
  return out;
}

class Facts : public testing::Test {
 protected:
  Texts check(const Fact& fact) {
    return described(validate_extraction({.facts = {fact}}, detection_, map_));
  }

  SpatialMap map_ = letter();
  Detection detection_ = letter_detection(map_);
};

TEST_F(Facts, TheLetterIsInOrder) {
  EXPECT_EQ(described(validate_detection(detection_, map_)), Texts{});
  EXPECT_EQ(described(validate_extraction(letter_extraction(), detection_, map_)), Texts{});
}

TEST_F(Facts, EntitiesMustReproduceTheirText) {
  auto moved = detection_;
  moved.entities[2].at.bytes.begin += 1;
  EXPECT_EQ(described(validate_detection(moved, map_)),
            Texts{"entities[2].char: offsets_wrong reject"});
  moved = detection_;
  moved.entities[2].at.words.last += 1;
  EXPECT_EQ(described(validate_detection(moved, map_)),
            Texts{"entities[2].char: offsets_wrong reject"});
  moved = detection_;
  moved.entities[2].id = "e1";
  moved.entities[3].at.page = 9;
  EXPECT_EQ(
      described(validate_detection(moved, map_)),
      (Texts{"entities[2].id: duplicate_id reject", "entities[3].page: unknown_page reject"}));
}

TEST_F(Facts, WithoutEvidenceThereIsNoFact) {
  auto bare = fact("f1", FactType::Condition, {"e3"}, R"({"name":"pneumonia"})");
  bare.evidence = {"e99"};
  EXPECT_EQ(check(bare), Texts{"facts[0].evidence: unknown_entity reject"});
  bare.evidence.clear();
  EXPECT_EQ(check(bare), Texts{"facts[0].evidence: no_evidence reject"});
}

TEST_F(Facts, ADoseThatTheEvidenceDoesNotSayIsRefused) {
  EXPECT_EQ(check(fact("f1", FactType::MedicationStatement, {"e7", "e8"},
                       R"({"drug":"metformin","dose":{"value":850,"unit":"mg"}})")),
            Texts{"facts[0].value.dose: number_not_in_evidence reject"});
  // Beside the evidence, on its line: for a person to see.
  EXPECT_EQ(check(fact("f1", FactType::MedicationStatement, {"e7"},
                       R"({"drug":"metformin","dose":{"value":500,"unit":"mg"}})")),
            Texts{"facts[0].value.dose: number_not_in_evidence review"});
}

TEST_F(Facts, AnotherNameThanTheEvidenceHasIsForReview) {
  EXPECT_EQ(check(fact("f1", FactType::MedicationStatement, {"e7"}, R"({"drug":"metformln"})")),
            Texts{"facts[0].value.drug: name_not_in_evidence review"});
}

TEST_F(Facts, WhatAnEntityIsDoubtedForItsFactsAreToo) {
  const auto metformin = letter_extraction().facts[0];
  EXPECT_EQ(check(metformin), Texts{});
  detection_.entities[6].doubts = {Rule::evidence_approximate};  // e7
  detection_.entities[7].doubts = {Rule::evidence_approximate};  // e8
  EXPECT_EQ(check(metformin), Texts{"facts[0].evidence: evidence_approximate review"});
  EXPECT_EQ(check(letter_extraction().facts[1]), Texts{});
}

TEST_F(Facts, UnitsRangesAndDatesAreChecked) {
  EXPECT_EQ(check(fact("f1", FactType::Observation, {"e12", "e13", "e14"},
                       R"({"name":"Haemoglobin","value":{"value":13.5,"unit":"zorkmids"},
                           "range":{"low":16,"high":12}})")),
            (Texts{"facts[0].value.value.unit: unit_unknown review",
                   "facts[0].value.range: range_inverted review"}));
  EXPECT_EQ(check(fact("f1", FactType::Patient, {"e1", "e2"},
                       R"({"name":"Zoë Müller","birth_date":"1970-04-12"})")),
            Texts{"facts[0].value.birth_date: date_not_in_evidence review"});
  EXPECT_EQ(check(fact("f1", FactType::Patient, {"e1", "e2"},
                       R"({"name":"Zoë Müller","birth_date":"12 March 1970"})")),
            Texts{"facts[0].value.birth_date: date_form review"});
}

TEST_F(Facts, NegationAndFamilyHistoryAreNotOverlooked) {
  auto pain = fact("f1", FactType::Condition, {"e4"}, R"({"name":"chest pain"})");
  EXPECT_EQ(check(pain), Texts{"facts[0].assertion.polarity: negation_ignored review"});
  pain.assertion.polarity = Polarity::negated;
  EXPECT_EQ(check(pain), Texts{});
  auto diabetes = fact("f1", FactType::Condition, {"e5"}, R"({"name":"diabetes"})");
  EXPECT_EQ(check(diabetes), Texts{"facts[0].subject: family_ignored review"});
  diabetes.subject = Subject::family;
  EXPECT_EQ(check(diabetes), Texts{});
  EXPECT_EQ(check(fact("f1", FactType::Condition, {"e6"}, R"({"name":"heart failure"})")),
            Texts{"facts[0].assertion.polarity: negation_ignored review"});
}

TEST_F(Facts, ASectionOfFamilyHistoryCountsAsACue) {
  detection_.sections.push_back({.id = "s9",
                                 .page = 1,
                                 .kind = "family_history",
                                 .words = detection_.entities[2].at.words,
                                 .conf = 0.9});
  EXPECT_EQ(check(fact("f1", FactType::Condition, {"e3"}, R"({"name":"pneumonia"})")),
            Texts{"facts[0].subject: family_ignored review"});
}

TEST_F(Facts, RelationsLeadFromFactToFact) {
  auto extraction = letter_extraction();
  extraction.relations.push_back({.from = "f1", .to = "f99", .type = "treats"});
  extraction.facts[1].id = "f1";
  const auto findings = validate_extraction(extraction, detection_, map_);
  EXPECT_EQ(described(findings),
            (Texts{"facts[1].id: duplicate_id reject", "relations[1]: unknown_fact reject"}));
}

TEST_F(Facts, WhatIsRejectedIsTakenOutWithWhatHangsOnIt) {
  auto extraction = letter_extraction();
  extraction.facts[0].evidence = {"e99"};
  const auto findings = validate_extraction(extraction, detection_, map_);
  const auto rest = without_rejected(extraction, findings);
  EXPECT_EQ(rest.facts.size(), 5U);
  EXPECT_TRUE(rest.relations.empty());
}

// -- narrative --

Texts told(const Narrative& narrative, std::vector<std::string> uncertain = {}) {
  return described(validate_narrative(narrative, letter_extraction(), uncertain));
}

TEST(Narratives, SentencesRestOnFacts) {
  EXPECT_EQ(
      told({.sentences = {{.text = "You take metformin 500 mg 2 times a day.", .facts = {"f1"}},
                          {.text = "You were born on 12 March 1970.", .facts = {"f6"}},
                          {.text = "Haemoglobin was 13.5 (normal 12 to 16).", .facts = {"f3"}}}}),
      Texts{});
  EXPECT_EQ(told({.sentences = {{.text = "You are well."}}}),
            Texts{"sentences[0].facts: no_facts reject"});
  EXPECT_EQ(told({.sentences = {{.text = "You are well.", .facts = {"f99"}}}}),
            Texts{"sentences[0].facts: unknown_fact reject"});
}

TEST(Narratives, NumbersComeFromTheFactsThatAreNamed) {
  EXPECT_EQ(told({.sentences = {{.text = "You take metformin 850 mg.", .facts = {"f1"}}}}),
            Texts{"sentences[0].text: number_not_in_facts reject"});
  EXPECT_EQ(told({.sentences = {{.text = "You take ramipril 500 mg.", .facts = {"f2"}}}}),
            Texts{"sentences[0].text: number_not_in_facts reject"});
}

TEST(Narratives, UncertainFactsAreSaidToBeSo) {
  Narrative narrative{.sentences = {{.text = "You take ramipril.", .facts = {"f2"}},
                                    {.text = "Ramipril again.", .facts = {"f2"}}}};
  EXPECT_EQ(told(narrative, {"f2", "f3"}), Texts{"uncertain: uncertain_not_said review"});
  narrative.uncertain = {"f2", "f77"};
  EXPECT_EQ(told(narrative, {"f2"}), Texts{"uncertain[1]: unknown_fact reject"});
}

TEST(Narratives, AConflictHasTwoSides) {
  EXPECT_EQ(told({.conflicts = {{.facts = {"f1", "f1"}}, {.facts = {"f1", "f88"}}}}),
            (Texts{"conflicts[0].facts: conflict_too_small reject",
                   "conflicts[1].facts: unknown_fact reject"}));
}

TEST(Narratives, WhatIsRejectedIsTakenOut) {
  const Narrative narrative{
      .sentences = {{.text = "One 850.", .facts = {"f1"}}, {.text = "Two.", .facts = {"f2"}}},
      .uncertain = {"f2", "f99"},
      .conflicts = {{.facts = {"f1"}}}};
  const auto findings = validate_narrative(narrative, letter_extraction());
  const auto rest = without_rejected(narrative, findings);
  ASSERT_EQ(rest.sentences.size(), 1U);
  EXPECT_EQ(rest.sentences[0].text, "Two.");
  EXPECT_EQ(rest.uncertain, Texts{"f2"});
  EXPECT_TRUE(rest.conflicts.empty());
}

// -- routing --

class Routing : public testing::Test {
 protected:
  std::vector<RoutedFact> route() {
    const auto findings = validate_extraction(extraction_, detection_, map_);
    return route_facts(extraction_, detection_, map_, findings);
  }
  Word& word_of(const Entity& entity) {
    return map_.pages[entity.at.page - 1].words[entity.at.words.first];
  }

  SpatialMap map_ = letter();
  Detection detection_ = letter_detection(map_);
  Extraction extraction_ = letter_extraction();
};

TEST_F(Routing, SureFactsAreAccepted) {
  for (const auto& fact : route()) {
    EXPECT_EQ(fact.route, Route::accept) << fact.fact << " " << fact.score;
    EXPECT_DOUBLE_EQ(fact.score, 0.95);
  }
}

TEST_F(Routing, AFactIsAsSureAsItsWeakestDigit) {
  word_of(detection_.entities[7]).conf = 0.7;  // "500"
  const auto routed = route();
  EXPECT_EQ(routed[0].route, Route::review);
  EXPECT_DOUBLE_EQ(routed[0].score, 0.7);
  word_of(detection_.entities[7]).conf = 0.3;
  EXPECT_EQ(route()[0].route, Route::reject);
}

TEST_F(Routing, MedicationsAndAllergiesNeedMore) {
  extraction_.facts[0].conf = 0.87;
  extraction_.facts[2].conf = 0.87;
  const auto routed = route();
  EXPECT_EQ(routed[0].route, Route::review);
  EXPECT_EQ(routed[2].route, Route::accept);
}

TEST_F(Routing, FindingsSendFactsToReviewOrAway) {
  extraction_.facts[1] = fact("f2", FactType::MedicationStatement, {"e10"},
                              R"({"drug":"ramipril","dose":{"value":2.5,"unit":"mg"}})");
  extraction_.facts[2].evidence = {"e99"};
  const auto routed = route();
  EXPECT_EQ(routed[1].route, Route::review);
  EXPECT_EQ(routed[1].reasons, std::vector<Rule>{Rule::number_not_in_evidence});
  EXPECT_EQ(routed[2].route, Route::reject);
  EXPECT_EQ(facts_with(routed, Route::review), Texts{"f2"});
}

TEST_F(Routing, WordsOfUnknownConfidenceAreNotTakenForSure) {
  for (auto& page : map_.pages) {
    for (auto& word : page.words) word.conf.reset();
  }
  for (const auto& fact : route()) EXPECT_EQ(fact.route, Route::review);
}

TEST(RoutingRules, MustBeInOrder) {
  EXPECT_TRUE(check_rules({}).has_value());
  EXPECT_FALSE(check_rules({.accept_min = 0.4}).has_value());
  EXPECT_FALSE(check_rules({.accept_min_critical = 1.1}).has_value());
  EXPECT_FALSE(check_rules({.unknown_word_conf = -1}).has_value());
}

TEST(Narratives, AreCompletedWithDoubtsAndConflicts) {
  const std::vector<RoutedFact> routed = {{.fact = "f1", .route = Route::review},
                                          {.fact = "f2", .route = Route::review},
                                          {.fact = "f3", .route = Route::reject}};
  const std::vector<Conflict> conflicts = {{.facts = {"f1", "f2"}, .note = "different dose"},
                                           {.facts = {"f1", "f3"}, .note = "different dose"}};
  Narrative narrative{.sentences = {{.text = "One.", .facts = {"f1"}}}};
  narrative = complete_narrative(std::move(narrative), routed, conflicts);
  EXPECT_EQ(narrative.uncertain, Texts{"f1"});
  ASSERT_EQ(narrative.conflicts.size(), 1U);
  EXPECT_EQ(complete_narrative(narrative, routed, conflicts), narrative);
}

// -- merging --

TEST(Merge, EntitiesOfOverlappingPartsAreThereOnce) {
  const auto map = letter();
  auto first = letter_detection(map);
  auto second = letter_detection(map);
  second.entities.erase(second.entities.begin(), second.entities.begin() + 6);
  second.entities[0] = entity(map, "e1", Category::medication_name, "Metformin", 0.99);
  second.entities.push_back(entity(map, "e2", Category::dose, "Metformin"));
  second.document_type = {.value = "prescription", .conf = 0.4};
  const auto merged = merge_detections({second, first});
  EXPECT_EQ(merged.entities.size(), 17U);
  EXPECT_EQ(merged.entities[0].id, "e1");
  EXPECT_EQ(merged.entities[0].text, "Zoë Müller");
  EXPECT_EQ(merged.document_type.value, "discharge_summary");
  EXPECT_EQ(merged.language, "en");
  EXPECT_EQ(merged.sections.size(), 1U);
  EXPECT_TRUE(validate_detection(merged, map).empty());
  const auto metformin = std::ranges::find_if(merged.entities, [](const Entity& entity) {
    return entity.category == Category::medication_name && entity.text == "Metformin";
  });
  EXPECT_EQ(metformin->conf, 0.99);
  EXPECT_EQ(merge_detections({merged}), merged);
}

TEST(Merge, NothingMakesNothing) {
  EXPECT_EQ(merge_detections({}).document_type.value, "other");
  EXPECT_TRUE(merge_extractions({}).facts.empty());
  EXPECT_TRUE(merge_narratives({}).sentences.empty());
}

TEST(Merge, FactsThatSayTheSameBecomeOneThatKnowsAll) {
  const auto whole = fact("a", FactType::MedicationStatement, {"e7", "e8"},
                          R"({"drug":"Metformin","dose":{"value":500,"unit":"mg"}})", 0.8);
  const auto part = fact("b", FactType::MedicationStatement, {"e7", "e9"},
                         R"({"drug":"metformin","frequency":"twice daily"})", 0.9);
  const auto cause = fact("c", FactType::Condition, {"e3"}, R"({"name":"pneumonia"})");
  const auto merged = merge_extractions(
      {{.facts = {whole, cause}, .relations = {{.from = "a", .to = "c", .type = "treats"}}},
       {.facts = {cause, part}, .relations = {{.from = "b", .to = "c", .type = "treats"}}}});
  ASSERT_EQ(merged.facts.size(), 2U);
  const auto& one = merged.facts[0];
  EXPECT_EQ(one.id, "f1");
  EXPECT_EQ(one.evidence, (Texts{"e7", "e8", "e9"}));
  EXPECT_EQ(one.value.at("dose").at("value").as_double(), 500);
  EXPECT_EQ(one.value.at("frequency").as_string(), "twice daily");
  EXPECT_EQ(one.conf, 0.9);
  EXPECT_EQ(merged.relations,
            (std::vector<Relation>{{.from = "f1", .to = "f2", .type = "treats"}}));
}

TEST(Merge, OriginsSayWhatEachFactWasMadeOfWhateverEvidenceTheyShare) {
  const auto high = fact("a", FactType::Observation, {"e1", "e2"}, R"({"name":"Potassium"})");
  const auto low = fact("b", FactType::Observation, {"e1", "e3"}, R"({"name":"Sodium"})");
  const auto merged = merge_with_origins({{.facts = {high, low}}, {.facts = {low}}, {}});
  ASSERT_EQ(merged.extraction.facts.size(), 2U);
  ASSERT_EQ(merged.origins.size(), 2U);
  EXPECT_EQ(merged.origins[0], (std::vector<FactOrigin>{{.part = 0, .fact = 0}}));
  EXPECT_EQ(merged.origins[1],
            (std::vector<FactOrigin>{{.part = 0, .fact = 1}, {.part = 1, .fact = 0}}));
}

TEST(Merge, FactsThatDifferStayApartAndAreConflicts) {
  const auto low = fact("a", FactType::MedicationStatement, {"e7"},
                        R"({"drug":"Metformin","dose":{"value":500,"unit":"mg"}})");
  auto high = fact("b", FactType::MedicationStatement, {"e7"},
                   R"({"drug":"metformin","dose":{"value":850,"unit":"mg"}})");
  auto none = fact("c", FactType::AllergyIntolerance, {"e15"}, R"({"substance":"penicillin"})");
  auto some = none;
  some.id = "d";
  some.assertion.polarity = Polarity::negated;
  const auto merged = merge_extractions({{.facts = {low, none}}, {.facts = {high, some}}});
  EXPECT_EQ(merged.facts.size(), 4U);
  const auto conflicts = find_conflicts(merged);
  ASSERT_EQ(conflicts.size(), 2U);
  EXPECT_EQ(conflicts[0].note, "different dose");
  EXPECT_EQ(conflicts[0].facts, (Texts{"f1", "f3"}));
  EXPECT_EQ(conflicts[1].note, "affirmed and negated");
  // Of another person it is no contradiction.
  high.subject = Subject::family;
  EXPECT_TRUE(find_conflicts({.facts = {low, high}}).empty());
}

TEST(Merge, MergingAgainChangesNothing) {
  const auto once = merge_extractions({letter_extraction(), letter_extraction()});
  EXPECT_EQ(once.facts.size(), 6U);
  EXPECT_EQ(merge_extractions({once}), once);
  EXPECT_EQ(merge_extractions({once, once}), once);
}

TEST(Merge, NarrativesFollowEachOther) {
  const Narrative one{.sentences = {{.text = "A.", .facts = {"f1"}}}, .uncertain = {"f1"}};
  const Narrative two{
      .sentences = {{.text = "A.", .facts = {"f1"}}, {.text = "B.", .facts = {"f2"}}},
      .uncertain = {"f1", "f2"}};
  const auto merged = merge_narratives({one, two});
  EXPECT_EQ(merged.sentences.size(), 2U);
  EXPECT_EQ(merged.uncertain, (Texts{"f1", "f2"}));
}

TEST(Merge, UnitsBecomeCodesWhereTheyAreKnown) {
  Extraction extraction{.facts = {fact("a", FactType::Observation, {"e12"},
                                       R"({"name":"x","value":{"value":1,"unit":"mg/dl"}})"),
                                  fact("b", FactType::Observation, {"e12"},
                                       R"({"name":"y","value":{"value":1,"unit":"zorkmids"}})")}};
  normalise_units(extraction);
  EXPECT_EQ(extraction.facts[0].value.at("value").at("unit").as_string(), "mg/dL");
  EXPECT_EQ(extraction.facts[1].value.at("value").at("unit").as_string(), "zorkmids");
}

}  // namespace
}  // namespace millrace::layout::clinical
