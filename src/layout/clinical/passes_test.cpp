// The forms of the three passes, and what becomes of answers.
#include "base/random.h"
#include "layout/clinical/detection.h"
#include "layout/clinical/extraction.h"
#include "layout/clinical/grounding.h"
#include "layout/clinical/letter.h"
#include "layout/clinical/merge.h"
#include "layout/clinical/narrative.h"
#include "layout/clinical/pass_prompt.h"
#include "layout/clinical/pass_run.h"
#include "layout/clinical/pass_schema.h"
#include "layout/clinical/routing.h"
#include "layout/clinical/validation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::layout::clinical {
namespace {

json::Value parsed(std::string_view text) { return parse_json(text).value(); }

TEST(Passes, AreThePassesOfTheQueue) {  // Q-03, G-01
  EXPECT_EQ(job_type(Pass::detect), "ai_queue_pass1");
  EXPECT_EQ(pass_of_job("ai_queue_pass3"), Pass::narrate);
  EXPECT_EQ(pass_of_job("fast_queue_ocr"), std::nullopt);
  EXPECT_EQ(schema_id(Pass::extract), "clinical.extract/1");
}

TEST(DetectionJson, ReadsBackAsItself) {
  const auto map = letter();
  const auto detection = letter_detection(map);
  const auto value = detection_to_json(detection, map);
  const auto again = detection_from_json(value, Form::stored, map);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(*again, detection);
  // Offsets count code points: "ë" and "ü" stand before the date.
  const auto& date = value.at("entities").as_array()[1].as_object();
  const auto& page = map.pages[0];
  EXPECT_EQ(date.at("char").as_array()[0].to_number<std::uint32_t>() + 2,
            page.text.find("12 March 1970"));
}

TEST(DetectionJson, AnAnswerHasNoOffsets) {
  const auto map = letter();
  const auto answer = [&](std::string_view entity) {
    const auto detection = detection_from_json(
        parsed(fmt::format(R"({{"schema":"clinical.detect/1","document_type":{{"value":"other",)"
                           R"("conf":0.5}},"language":null,"segments":[],"entities":[{}],)"
                           R"("illegible":[]}})",
                           entity)),
        Form::answer, map);
    return detection ? std::string("accepted") : detection.error().message;
  };
  EXPECT_EQ(answer(R"({"id":"e1","category":"DOSE","text":"5","page":1,"words":[0,0],"conf":1})"),
            "accepted");
  EXPECT_EQ(answer(R"({"id":"e1","category":"DOSE","text":"5","page":1,"char":[0,1],
                       "words":[0,0],"conf":1})"),
            "entities[0] has a member that is not part of its form");
  EXPECT_EQ(answer(R"({"id":"e 1","category":"DOSE","text":"5","page":1,"words":[0,0],"conf":1})"),
            "entities[0].id must be 1 to 32 letters, figures, dashes or underscores");
  EXPECT_EQ(answer(R"({"id":"e1","category":"DRUG","text":"5","page":1,"words":[0,0],"conf":1})"),
            "entities[0].category is none of the categories");
  EXPECT_EQ(answer(R"({"id":"e1","category":"DOSE","text":"","page":1,"words":[0,0],"conf":1})"),
            "entities[0].text must not be empty");
  EXPECT_EQ(answer(R"({"id":"e1","category":"DOSE","text":"5","page":1,"words":[3,1],"conf":1})"),
            "entities[0].words must be [first, last], both included");
  EXPECT_EQ(answer(R"({"id":"e1","category":"DOSE","text":"5","page":1,"words":[0,0],"conf":2})"),
            "entities[0].conf must be a number between 0 and 1");
}

TEST(ExtractionJson, ReadsBackAsItself) {
  auto extraction = letter_extraction();
  extraction.rejected = {{.evidence = {"e5"}, .why = "family history"}};
  extraction.facts[0].codes = {{.system = "http://www.nlm.nih.gov/research/umls/rxnorm",
                                .code = "6809",
                                .display = "metformin",
                                .status = CodeStatus::confirmed}};
  const auto again = extraction_from_json(extraction_to_json(extraction), Form::stored);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(*again, extraction);
}

std::string fact_refusal(std::string_view fact) {
  const auto extraction = extraction_from_json(
      parsed(fmt::format(R"({{"schema":"clinical.extract/1","facts":[{}],"relations":[],)"
                         R"("rejected":[]}})",
                         fact)),
      Form::answer);
  return extraction ? "accepted" : extraction.error().message;
}

std::string fact_with(std::string_view type, std::string_view value, std::string_view more = "") {
  return fmt::format(R"({{"id":"f1","type":"{}","subject":"patient","evidence":["e1"],)"
                     R"("assertion":{{"polarity":"affirmed","certainty":"definite",)"
                     R"("temporality":"current"}},"value":{},"codes":[],"conf":0.9{}}})",
                     type, value, more);
}

TEST(ExtractionJson, SubjectAndAssertionCannotBeLeftOut) {
  EXPECT_EQ(fact_refusal(R"({"id":"f1","type":"Condition","evidence":["e1"]})"),
            "facts[0].subject is missing");
  EXPECT_EQ(fact_refusal(R"({"id":"f1","type":"Condition","subject":"patient","evidence":[]})"),
            "facts[0].assertion is missing");
}

TEST(ExtractionJson, AValueHasTheFieldsOfItsTypeAndNoOthers) {
  EXPECT_EQ(fact_refusal(fact_with("Condition", R"({"name":"asthma"})")), "accepted");
  EXPECT_EQ(fact_refusal(fact_with("Condition", R"({"name":null})")),
            "facts[0].value.name is missing");
  EXPECT_EQ(fact_refusal(fact_with("Condition", R"({"name":"asthma","dose":null})")),
            "facts[0].value.value has a member that Condition does not have");
  EXPECT_EQ(fact_refusal(fact_with("MedicationStatement", R"({"drug":"a","dose":"5 mg"})")),
            "facts[0].value.dose must be an object");
  EXPECT_EQ(fact_refusal(fact_with("MedicationStatement",
                                   R"({"drug":"a","dose":{"value":"5","unit":"mg"}})")),
            "facts[0].value.dose.value must be a number between -1000000000000 and 1000000000000");
  EXPECT_EQ(fact_refusal(fact_with("AllergyIntolerance", R"({"substance":"a","severity":"bad"})")),
            "facts[0].value.severity is none of its words");
  EXPECT_EQ(fact_refusal(fact_with("Disease", R"({})")),
            "facts[0].type is none of the types of facts");
  EXPECT_EQ(fact_refusal(fact_with("Condition", R"({"name":"a"})", R"(,"note":"x")")),
            "facts[0] has a member that is not part of its form");
}

TEST(ExtractionJson, CodesOfAModelAreCandidatesWhateverTheySay) {
  const auto text = fmt::format(
      R"({{"schema":"clinical.extract/1","facts":[{}],"relations":[],"rejected":[]}})",
      R"({"id":"f1","type":"Condition","subject":"patient","evidence":["e1"],)"
      R"("assertion":{"polarity":"affirmed","certainty":"definite","temporality":"current"},)"
      R"("value":{"name":"asthma"},"codes":[{"system":"http://snomed.info/sct","code":"195967001",)"
      R"("display":"Asthma","status":"confirmed"}],"conf":0.9})");
  const auto answer = extraction_from_json(parsed(text), Form::answer);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->facts[0].codes[0].status, CodeStatus::candidate);
  EXPECT_EQ(extraction_from_json(parsed(text), Form::stored)->facts[0].codes[0].status,
            CodeStatus::confirmed);
}

TEST(NarrativeJson, ReadsBackAsItself) {
  const Narrative narrative{
      .audience = "clinician",
      .sentences = {{.text = "Metformin 500 mg twice daily.", .facts = {"f1"}}},
      .uncertain = {"f2"},
      .conflicts = {{.facts = {"f1", "f2"}, .note = "different dose"}}};
  const auto again = narrative_from_json(narrative_to_json(narrative));
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(*again, narrative);
  auto wrong = narrative_to_json(narrative);
  wrong.as_object()["audience"] = "everybody";
  EXPECT_EQ(narrative_from_json(wrong).error().message, "audience is none of the audiences");
}

// -- grounding --

Entity claimed(std::string id, std::string text, std::uint32_t page, std::uint32_t word) {
  return {.id = std::move(id),
          .category = Category::other,
          .text = std::move(text),
          .at = {.page = page, .words = {.first = word, .last = word}},
          .conf = 0.9};
}

TEST(Grounding, WrongWordsArePutRight) {
  const auto map = letter();
  const auto grounded = ground({.entities = {claimed("a", "metformin", 1, 3)}}, map);
  ASSERT_EQ(grounded.detection.entities.size(), 1U);
  const auto& entity = grounded.detection.entities[0];
  EXPECT_EQ(entity.text, "Metformin");
  EXPECT_EQ(quoted(map, entity.at), "Metformin");
  EXPECT_EQ(map.pages[0].text_of(entity.at.words), "Metformin");
  EXPECT_EQ(entity.conf, 0.9);
  EXPECT_TRUE(grounded.findings.empty());
}

TEST(Grounding, WhatIsNotInTheDocumentIsNotKept) {
  const auto grounded = ground({.entities = {claimed("a", "Warfarin", 1, 3)}}, letter());
  EXPECT_TRUE(grounded.detection.entities.empty());
  ASSERT_EQ(grounded.findings.size(), 1U);
  EXPECT_EQ(describe(grounded.findings[0]), "entities[0].text: evidence_not_found");
  EXPECT_EQ(grounded.findings[0].severity, Severity::reject);
  EXPECT_TRUE(has_rejections(grounded.findings));
}

TEST(Grounding, NearlyRightTextIsKeptForReviewAsThePageHasIt) {
  const auto grounded = ground({.entities = {claimed("a", "pneumonla.", 1, 20)}}, letter());
  ASSERT_EQ(grounded.detection.entities.size(), 1U);
  EXPECT_LT(grounded.detection.entities[0].conf, 0.9);
  ASSERT_EQ(grounded.findings.size(), 1U);
  EXPECT_EQ(grounded.findings[0].rule, Rule::evidence_approximate);
  EXPECT_EQ(grounded.findings[0].severity, Severity::review);
}

// However sure the model was: the doubt goes with the entity through merging and storing.
TEST(Grounding, AFactOnNearlyRightTextIsNeverAccepted) {
  auto map = letter();
  for (auto& page : map.pages) {
    for (auto& word : page.words) word.conf = 1.0F;
  }
  auto answer = claimed("a", "pneumonla", 1, 20);
  answer.category = Category::condition;
  answer.conf = 1;
  auto grounded = ground({.entities = {answer}}, map);
  grounded.detection.entities[0].conf = 1;
  const auto merged = merge_detections({grounded.detection});
  const auto stored =
      detection_from_json(detection_to_json(merged, map), Form::stored, map).value();
  ASSERT_EQ(stored.entities.size(), 1U);
  EXPECT_EQ(stored.entities[0].doubts, std::vector{Rule::evidence_approximate});
  const Extraction facts{
      .facts = {fact("f1", FactType::Condition, {"e1"}, R"({"name":"pneumonia"})", 1)}};
  const auto routed = route_facts(facts, stored, map, validate_extraction(facts, stored, map));
  ASSERT_EQ(routed.size(), 1U);
  EXPECT_EQ(routed[0].route, Route::review) << routed[0].score;
  EXPECT_EQ(routed[0].reasons, std::vector{Rule::evidence_approximate});
  // The same on text that stands there is accepted.
  auto exact = stored;
  exact.entities[0].doubts.clear();
  EXPECT_EQ(route_facts(facts, exact, map, validate_extraction(facts, exact, map))[0].route,
            Route::accept);
}

TEST(Grounding, FindingsAreCountedByRule) {
  const auto grounded =
      ground({.entities = {claimed("a", "Warfarin", 1, 3), claimed("b", "Inventedolumab", 1, 3),
                           claimed("c", "pneumonla.", 1, 20)}},
             letter());
  EXPECT_EQ(count_rules(grounded.findings),
            (std::vector<std::pair<Rule, std::size_t>>{{Rule::evidence_not_found, 2},
                                                       {Rule::evidence_approximate, 1}}));
  EXPECT_TRUE(count_rules({}).empty());
}

TEST(DetectionJson, WhatWasKeptBeforeThereWereDoubtsIsRead) {
  const auto map = letter();
  auto value = detection_to_json(letter_detection(map), map);
  for (auto& entity : value.as_object()["entities"].as_array()) entity.as_object().erase("doubts");
  EXPECT_TRUE(detection_from_json(value, Form::stored, map).has_value());
  value.as_object()["entities"].as_array()[0].as_object()["doubts"] = json::Array{"whim"};
  EXPECT_FALSE(detection_from_json(value, Form::stored, map).has_value());
}

TEST(Grounding, ADoseThatIsNotThereIsNotKept) {
  const auto grounded = ground(
      {.entities = {claimed("a", "5000 mg", 1, 30), claimed("b", "50 mg", 1, 30)}}, letter());
  EXPECT_TRUE(grounded.detection.entities.empty());
}

TEST(Grounding, APageBesideTheOneNamedIsSearchedToo) {
  const auto grounded = ground({.entities = {claimed("a", "Haemoglobin", 1, 0)}}, letter());
  ASSERT_EQ(grounded.detection.entities.size(), 1U);
  EXPECT_EQ(grounded.detection.entities[0].at.page, 2U);
  EXPECT_EQ(grounded.findings[0].rule, Rule::unknown_page);
}

TEST(Grounding, IdsAreThereOnceAndSectionsStayOnTheirPage) {
  const auto map = letter();
  Detection answer{.entities = {claimed("a", "Metformin", 1, 0), claimed("a", "Ramipril", 1, 0)}};
  answer.sections = {
      {.id = "s1", .page = 1, .kind = "other", .words = {.first = 2, .last = 9999}},
      {.id = "s2", .page = 1, .kind = "other", .words = {.first = 9999, .last = 9999}},
      {.id = "s3", .page = 7, .kind = "other"}};
  answer.illegible = {{.page = 9}, {.page = 2}};
  const auto grounded = ground(std::move(answer), map);
  EXPECT_EQ(grounded.detection.entities.size(), 1U);
  ASSERT_EQ(grounded.detection.sections.size(), 1U);
  EXPECT_EQ(grounded.detection.sections[0].words.last, map.pages[0].words.size() - 1);
  EXPECT_EQ(grounded.detection.illegible.size(), 1U);
  EXPECT_EQ(grounded.findings.size(), 4U);
}

// -- prompts --

TEST(Prompts, LinesCarryTheIndexOfTheirFirstWord) {
  const auto map = letter();
  const auto requests = detect_requests(map);
  ASSERT_TRUE(requests.has_value()) << requests.error().message;
  ASSERT_EQ(requests->size(), 1U);
  const auto& request = (*requests)[0];
  EXPECT_TRUE(request.input.starts_with("== page 1, "));
  EXPECT_NE(request.input.find("0| # DISCHARGE SUMMARY\n"), std::string::npos) << request.input;
  EXPECT_NE(request.input.find("2| Name: Zoë Müller DOB: 12 March 1970\n"), std::string::npos);
  EXPECT_NE(request.input.find("== page 2, "), std::string::npos);
  EXPECT_EQ(request.instructions, instructions_of(Pass::detect));
  EXPECT_GT(tokens_bound(request), request.input.size() + request.instructions.size());
}

TEST(Prompts, CellsOfTablesArePartedByBars) {
  Sheet page;
  for (int r = 0; r < 4; ++r) {
    page.text(60, 100 + 16 * r, "Sodium")
        .text(250, 100 + 16 * r, "139")
        .text(400, 100 + 16 * r, "x");
  }
  const auto requests = detect_requests(merge_pages({page.map()}).value());
  ASSERT_TRUE(requests.has_value());
  EXPECT_NE((*requests)[0].input.find("3| Sodium | 139 | x\n"), std::string::npos)
      << (*requests)[0].input;
}

TEST(Prompts, LongDocumentsBecomeRequestsThatOverlap) {
  std::vector<PageMap> pages;
  for (std::uint32_t p = 1; p <= 6; ++p) {
    Sheet page;
    for (int l = 0; l < 30; ++l) {
      page.text(60, 40 + 15 * l, fmt::format("Line {} of page {} says little", l, p));
    }
    pages.push_back(page.map(p));
  }
  const auto map = merge_pages(std::move(pages)).value();
  const PromptOptions options{.input_bytes_max = 1500, .overlap_lines = 2};
  const auto requests = detect_requests(map, options);
  ASSERT_TRUE(requests.has_value()) << requests.error().message;
  ASSERT_GT(requests->size(), 3U);
  std::set<std::pair<std::uint32_t, std::uint32_t>> covered;
  std::size_t repeated = 0;
  for (const auto& request : *requests) {
    EXPECT_LE(request.input.size(), options.input_bytes_max);
    for (const auto& slice : request.slices) {
      for (auto line = slice.first_line; line <= slice.last_line; ++line) {
        repeated += covered.emplace(slice.page, line).second ? 0 : 1;
      }
    }
  }
  EXPECT_EQ(covered.size(), 180U);
  EXPECT_EQ(repeated, 2 * (requests->size() - 1));
  EXPECT_EQ(detect_requests(map, options)->back().input, requests->back().input);
}

TEST(Prompts, WhatCannotBeDividedIsRefused) {
  const auto map = letter();
  EXPECT_EQ(detect_requests(map, {.input_bytes_max = 40}).error().kind,
            ErrorKind::invalid_argument);
  EXPECT_EQ(detect_requests(map, {.input_bytes_max = 120, .requests_max = 2}).error().message,
            "the document needs more than 2 requests");
}

TEST(Prompts, PassTwoSeesEntitiesWhereTheyStand) {
  const auto map = letter();
  const auto requests = extract_requests(map, letter_detection(map));
  ASSERT_TRUE(requests.has_value());
  ASSERT_EQ(requests->size(), 1U);
  const auto& input = (*requests)[0].input;
  EXPECT_NE(input.find("Metformin 500 mg twice daily\n    e7 MEDICATION_NAME \"Metformin\"\n"
                       "    e8 DOSE \"500 mg\"\n"),
            std::string::npos)
      << input;
  EXPECT_EQ((*requests)[0].references.size(), 16U);
  EXPECT_TRUE(extract_requests(map, {})->empty());
}

TEST(Prompts, PassThreeTellsNoDroppedFacts) {
  const auto extraction = letter_extraction();
  const std::vector<RoutedFact> routed = {{.fact = "f1", .route = Route::accept},
                                          {.fact = "f2", .route = Route::review},
                                          {.fact = "f3", .route = Route::reject}};
  const std::vector<Conflict> conflicts = {{.facts = {"f1", "f2"}, .note = "different dose"},
                                           {.facts = {"f1", "f3"}, .note = "different dose"}};
  const auto requests = narrate_requests(extraction, routed, conflicts);
  ASSERT_TRUE(requests.has_value());
  ASSERT_EQ(requests->size(), 1U);
  const auto& input = (*requests)[0].input;
  EXPECT_TRUE(input.starts_with("audience: patient\nfacts:\n{\"assertion\":"));
  EXPECT_EQ(input.find("Haemoglobin"), std::string::npos);
  EXPECT_NE(input.find("uncertain: f2\nconflicts:\nf1 f2: different dose\n"), std::string::npos);
  EXPECT_EQ(input.find("f1 f3"), std::string::npos);
  const auto many = narrate_requests(extraction, {}, {}, {.input_bytes_max = 500});
  ASSERT_TRUE(many.has_value());
  EXPECT_GT(many->size(), 1U);
  EXPECT_FALSE(narrate_requests(extraction, {}, {}, {.audience = "press"}).has_value());
}

TEST(Answers, MayStandInAFenceAndMayNotStandInTalk) {
  EXPECT_TRUE(parse_answer(R"({"a":1})").has_value());
  EXPECT_TRUE(parse_answer("```json\n{\"a\":1}\n```\n").has_value());
  EXPECT_TRUE(parse_answer("```\n{\"a\":1}```").has_value());
  EXPECT_FALSE(parse_answer("Here you are: {\"a\":1}").has_value());
  EXPECT_FALSE(parse_answer("```json\n{\"a\":1}").has_value());
  EXPECT_FALSE(parse_answer("").has_value());
  EXPECT_FALSE(parse_answer("``````").has_value());
  EXPECT_FALSE(parse_answer(R"({"a":1,"a":2})").has_value());
  EXPECT_FALSE(parse_answer("[1]", {.answer_bytes_max = 2}).has_value());
}

TEST(PassRun, ReadsBackAndNamesItsQuestion) {
  const std::string hash(64, 'a');
  PassRun run{.pass = Pass::extract,
              .provider = "local",
              .model = "local@1",
              .prompt_sha256 = hash,
              .input_sha256 = hash,
              .output_sha256 = hash,
              .tokens_in = 12,
              .finish_reason = "stop"};
  const auto again = pass_run_from_json(pass_run_to_json(run));
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(*again, run);
  const auto key = pass_key(run);
  run.output_sha256 = std::string(64, 'b');
  EXPECT_EQ(pass_key(run), key);
  run.input_sha256 = std::string(64, 'b');
  EXPECT_NE(pass_key(run), key);
  run.input_sha256 = "x";
  EXPECT_EQ(pass_run_from_json(pass_run_to_json(run)).error().message,
            "input_sha256 must be a SHA-256 in small hexadecimal");
}

// Answers that were damaged, or written to do harm: refused, or grounded like any other.
TEST(Answers, DamagedOnesNeverGetPastGrounding) {
  const auto map = letter();
  auto value = detection_to_json(letter_detection(map), map);
  for (auto& entity : value.as_object()["entities"].as_array()) {
    entity.as_object().erase("char");
    entity.as_object().erase("doubts");
  }
  const auto original = to_json(value);
  SeededRandom random(31);
  int kept = 0;
  for (int round = 0; round < 1500; ++round) {
    auto text = original;
    for (auto n = 1 + random.below(3); n > 0; --n) {
      const auto at = random.below(text.size());
      text[at] = "0123456789aeiou\"[]{},:"[random.below(22)];
    }
    const auto answer = parse_answer(text);
    if (!answer) continue;
    auto detection = detection_from_json(*answer, Form::answer, map);
    if (!detection) continue;
    const auto grounded = ground(*std::move(detection), map);
    for (const auto& entity : grounded.detection.entities) {
      ASSERT_EQ(quoted(map, entity.at), entity.text);
      ++kept;
    }
  }
  EXPECT_GT(kept, 100);
}

}  // namespace
}  // namespace millrace::layout::clinical
