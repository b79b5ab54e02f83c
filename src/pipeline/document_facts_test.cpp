// Facts on their way from the pages to the document: kept, read again, numbered, joined.
#include "pipeline/document_facts.h"

#include "extract/trial.h"
#include "output/facts.h"
#include "output/fhir/bundle.h"

#include <boost/json/array.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace millrace::pipeline {
namespace {

namespace clinical = layout::clinical;
using clinical::Route;

struct Page {
  extract::Trial trial;
  std::vector<clinical::RoutedFact> routed;
  PageFacts made;
};

Page page_of(const std::vector<std::string>& lines, double accept_min = 0.1) {
  Page page{.trial = extract::try_lines(lines)};
  const auto& [map, detection, extraction, narrative] = page.trial;
  const auto findings = clinical::validate_extraction(extraction, detection, map);
  page.routed = clinical::route_facts(
      extraction, detection, map, findings,
      {.accept_min = accept_min, .accept_min_critical = accept_min, .review_min = 0});
  page.made = page_facts(extraction, detection, map, page.routed);
  return page;
}

StoredFacts stored(const Page& page) { return read_page_facts(page.made.stored).value(); }

const std::vector<std::string> kMetformin = {"Medications:", "Metformin 500 mg twice daily"};

TEST(PageFacts, WhatIsKeptOfAPageIsReadBackAsItWas) {
  const auto page = page_of(kMetformin);
  ASSERT_FALSE(page.trial.extraction.facts.empty());
  const auto again = stored(page);
  EXPECT_EQ(again.extraction, page.trial.extraction);
  ASSERT_EQ(again.routed.size(), page.routed.size());
  for (std::size_t i = 0; i < again.routed.size(); ++i) {
    EXPECT_EQ(again.routed[i].fact, page.routed[i].fact);
    EXPECT_EQ(again.routed[i].route, page.routed[i].route);
    EXPECT_DOUBLE_EQ(again.routed[i].score, page.routed[i].score);
  }
}

TEST(PageFacts, RowsHaveAssertionEvidenceAndRouteAndNoPage) {
  const auto page = page_of(kMetformin);
  ASSERT_EQ(page.made.rows.size(), page.trial.extraction.facts.size());
  const auto& row = page.made.rows.front().as_object();
  for (const auto* field : {"fact_id", "type", "name", "subject", "polarity", "certainty",
                            "temporality", "value", "codes", "evidence", "conf", "route"}) {
    EXPECT_TRUE(row.contains(field)) << field;
  }
  ASSERT_FALSE(row.at("evidence").as_array().empty());
  EXPECT_FALSE(row.at("evidence").as_array().front().as_object().contains("page"));
  EXPECT_EQ(row.at("route").as_string(), "accepted");
}

TEST(PageFacts, WhatIsDroppedIsKeptOnThePageAndHasNoRow) {
  auto page = page_of(kMetformin);
  for (auto& routed : page.routed) routed.route = Route::reject;
  const auto& [map, detection, extraction, narrative] = page.trial;
  page.made = page_facts(extraction, detection, map, page.routed);
  EXPECT_TRUE(page.made.rows.empty());
  EXPECT_EQ(stored(page).routed.front().route, Route::reject);
}

TEST(PageFacts, WhatIsNotWholeIsRefused) {
  const auto page = page_of(kMetformin);
  for (const std::string& text :
       {std::string("{}"), std::string("[]"), std::string(R"({"extraction": {}})"),
        page.made.stored.substr(0, page.made.stored.size() / 2)}) {
    EXPECT_FALSE(read_page_facts(text)) << text.substr(0, 40);
  }
  auto object = parse_json_object(page.made.stored).value();
  object["routes"] = json::Array();
  EXPECT_FALSE(read_page_facts(to_json(object)));
}

// Ids are of the page; in a document they must not meet.
TEST(PageFacts, NumbersMakeIdsOfPagesDifferent) {
  auto first = stored(page_of(kMetformin));
  auto second = stored(page_of(kMetformin));
  number_page(first, 1);
  number_page(second, 12);
  std::set<std::string> ids;
  for (const auto* page : {&first, &second}) {
    for (const auto& fact : page->extraction.facts) {
      EXPECT_TRUE(ids.insert(fact.id).second) << fact.id;
      for (const auto& id : fact.evidence) EXPECT_TRUE(id.starts_with("p")) << id;
    }
  }
  EXPECT_TRUE(second.extraction.facts.front().id.starts_with("p12"));
  EXPECT_EQ(second.routed.front().fact, second.extraction.facts.front().id);
}

std::vector<StoredFacts> numbered(std::vector<Page> pages) {
  std::vector<StoredFacts> out;
  for (auto& page : pages) {
    out.push_back(stored(page));
    number_page(out.back(), static_cast<std::uint32_t>(out.size()));
  }
  return out;
}

TEST(DocumentFacts, WhatTwoPagesSayIsOneFactWithMoreEvidence) {
  std::vector<Page> pages;
  pages.push_back(page_of(kMetformin));
  pages.push_back(page_of(kMetformin));
  const auto one = join_pages(numbered({page_of(kMetformin)}));
  const auto facts = join_pages(numbered(std::move(pages)));
  EXPECT_EQ(facts.extraction.facts.size(), one.extraction.facts.size());
  ASSERT_FALSE(facts.extraction.facts.empty());
  EXPECT_GT(facts.extraction.facts.front().evidence.size(),
            one.extraction.facts.front().evidence.size());
  ASSERT_EQ(facts.routed.size(), facts.extraction.facts.size());
  EXPECT_EQ(facts.routed.front().fact, facts.extraction.facts.front().id);
}

struct Joined {
  Route route;
  double score;
  friend bool operator==(const Joined&, const Joined&) = default;
};

// One fact on several pages, twice on a page where two routes are given.
Joined joined(const std::vector<std::vector<Joined>>& pages) {
  std::vector<StoredFacts> stored_pages;
  for (const auto& page : pages) {
    auto facts = stored(page_of(kMetformin));
    const auto one = facts.extraction.facts.front();
    facts = {};
    for (const auto& [route, score] : page) {
      facts.extraction.facts.push_back(one);
      facts.extraction.facts.back().id = "f" + std::to_string(facts.routed.size() + 1);
      facts.routed.push_back(
          {.fact = facts.extraction.facts.back().id, .route = route, .score = score});
    }
    stored_pages.push_back(std::move(facts));
    number_page(stored_pages.back(), static_cast<std::uint32_t>(stored_pages.size()));
  }
  const auto facts = join_pages(std::move(stored_pages));
  EXPECT_EQ(facts.routed.size(), 1U);
  return {facts.routed.front().route, facts.routed.front().score};
}

TEST(DocumentFacts, AnotherPageThatIsSureSettlesIt) {
  EXPECT_EQ(joined({{{Route::review, 0.6}}, {{Route::accept, 0.95}}}),
            (Joined{Route::accept, 0.95}));
  EXPECT_EQ(joined({{{Route::accept, 0.95}}, {{Route::reject, 0.2}}}),
            (Joined{Route::accept, 0.95}));
}

TEST(DocumentFacts, OnOnePageTheMostCautiousRouteCounts) {
  EXPECT_EQ(joined({{{Route::accept, 0.97}, {Route::review, 0.7}}}), (Joined{Route::review, 0.7}));
  EXPECT_EQ(joined({{{Route::review, 0.7}, {Route::accept, 0.97}}}), (Joined{Route::review, 0.7}));
  EXPECT_EQ(joined({{{Route::accept, 0.97}, {Route::reject, 0.2}}}).route, Route::review);
}

TEST(DocumentFacts, OnlyWhatNoPageKeptIsDropped) {
  EXPECT_EQ(joined({{{Route::reject, 0.3}}, {{Route::reject, 0.2}}}).route, Route::reject);
  EXPECT_EQ(joined({{{Route::reject, 0.3}}, {{Route::review, 0.6}}}), (Joined{Route::review, 0.6}));
}

// One date is evidence of every result of its line; the route of one is not that of another.
TEST(DocumentFacts, FactsThatShareEvidenceKeepTheirOwnRoutesInEveryOutput) {
  auto page =
      page_of({"12 March 2024: Haemoglobin 14.2 g/dL (12.0 - 16.0), Potassium 45 mmol/L "
               "(3.5 - 5.1), Sodium 140 mmol/L (135 - 145)"});
  const auto& [map, detection, extraction, narrative] = page.trial;
  ASSERT_EQ(extraction.facts.size(), 3U);
  std::map<std::string, Joined, std::less<>> wanted = {{"Haemoglobin", {Route::accept, 0.97}},
                                                       {"Potassium", {Route::review, 0.7}},
                                                       {"Sodium", {Route::reject, 0.3}}};
  std::set<std::string> shared(extraction.facts[0].evidence.begin(),
                               extraction.facts[0].evidence.end());
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& fact = extraction.facts[i];
    const auto one = wanted.at(std::string(fact.name()));
    page.routed[i] = {.fact = fact.id, .route = one.route, .score = one.score};
    EXPECT_TRUE(std::ranges::any_of(fact.evidence, [&](auto& id) { return shared.contains(id); }));
  }
  page.made = page_facts(extraction, detection, map, page.routed);
  std::map<std::string, std::string> rows;
  for (const auto& row : page.made.rows) {
    rows.emplace(row.at("name").as_string(), row.at("route").as_string());
  }
  EXPECT_EQ(rows, (std::map<std::string, std::string>{{"Haemoglobin", "accepted"},
                                                      {"Potassium", "review"}}));
  std::vector<Page> pages;
  pages.push_back(page);
  const auto facts = join_pages(numbered(std::move(pages)));
  ASSERT_EQ(facts.extraction.facts.size(), 3U);
  EXPECT_EQ(clinical::facts_with(facts.routed, Route::review).size(), 1U);
  output::EvidenceTable evidence;
  output::DocumentInfo info{.document_id = "6f1f4f0e-7d5c-4f0a-9f5e-2f1d3c4b5a69"};
  info.source.sha256 = std::string(64, 'a');
  info.processed_at = std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::hours(1));
  const auto told =
      parse_json_object(output::facts_json(facts.extraction, facts.routed, evidence, info)).value();
  for (const auto& fact : told.at("facts").as_array()) {
    const auto& name = fact.at("value").at("name").as_string();
    const auto& one = wanted.at(std::string(name));
    EXPECT_EQ(fact.at("route").as_string(), clinical::to_string(one.route)) << name;
    EXPECT_DOUBLE_EQ(fact.at("score").to_number<double>(), one.score) << name;
  }
  const auto bundle = output::fhir_bundle({.info = info,
                                           .extraction = facts.extraction,
                                           .evidence = evidence,
                                           .routed = facts.routed,
                                           .agents = {"local@1"}});
  ASSERT_TRUE(bundle) << bundle.error().message;
  EXPECT_EQ(bundle->omitted.size(), 1U);
  EXPECT_FALSE(bundle->bundle.contains("Sodium"));
  const auto code = [&](std::string_view route) {
    return bundle->bundle.contains(std::string(R"({"url":"route","valueCode":")") +
                                   std::string(route) + R"("})");
  };
  EXPECT_TRUE(code("review"));
  EXPECT_TRUE(code("accept"));
  // And it is told as what it is.
  const auto local = extract::narrate(facts.extraction, facts.routed);
  EXPECT_EQ(local.sentences.size(), 2U);
  EXPECT_EQ(local.uncertain, clinical::facts_with(facts.routed, Route::review));
}

// -- from the page to the Bundle --

json::Array resources_of(const std::vector<std::string>& lines, std::string_view type) {
  const auto facts = join_pages(numbered({page_of(lines)}));
  const output::EvidenceTable evidence;
  output::DocumentInfo info{.document_id = "6f1f4f0e-7d5c-4f0a-9f5e-2f1d3c4b5a69"};
  info.source.sha256 = std::string(64, 'a');
  info.processed_at = std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::hours(1));
  const auto bundle = output::fhir_bundle({.info = info,
                                           .extraction = facts.extraction,
                                           .evidence = evidence,
                                           .routed = facts.routed,
                                           .agents = {"local@1"}});
  EXPECT_TRUE(bundle) << bundle.error().message;
  json::Array found;
  const auto read = parse_json_object(bundle->bundle);
  for (const auto& entry : read->at("entry").as_array()) {
    const auto& resource = entry.at("resource");
    if (resource.at("resourceType").as_string() == type) found.push_back(resource);
  }
  return found;
}

TEST(Fhir, ADenialOfAllergiesHasItsCodeInFourLanguages) {
  for (const auto& [line, code] : std::vector<std::pair<std::string, std::string>>{
           {"Allergies: NKDA", "409137002"},
           {"Allergies: NKA", "716186003"},
           {"Allergies: No known allergies", "716186003"},
           {"Allergies: No known drug allergies", "409137002"},
           {"Allergies: No known food allergies", "429625007"},
           {"Allergies: No known environmental allergies", "428607008"},
           {"Allergies: none known", "716186003"},
           {"Allergien: Keine bekannten Allergien", "716186003"},
           {"Allergies : Aucune allergie connue", "716186003"},
           {"Alergias: Sin alergias conocidas", "716186003"}}) {
    const auto found = resources_of({line}, "AllergyIntolerance");
    ASSERT_EQ(found.size(), 1U) << line;
    const auto& one = found.front();
    EXPECT_EQ(one.at_pointer("/code/coding/0/code").as_string(), code) << line;
    EXPECT_EQ(one.at_pointer("/clinicalStatus/coding/0/code"), "active") << line;
  }
}

TEST(Fhir, ADenialOfOneAllergyIsNoneOfAll) {
  const auto latex = resources_of({"Allergies: No known latex allergies"}, "AllergyIntolerance");
  ASSERT_EQ(latex.size(), 1U);
  EXPECT_EQ(latex.front().at_pointer("/code/coding/0/code").as_string(), "1003774007");
  for (const auto& one :
       resources_of({"Allergies: No known penicillin allergies"}, "AllergyIntolerance")) {
    EXPECT_FALSE(one.at("code").as_object().contains("coding")) << to_json(one);
    EXPECT_EQ(one.at_pointer("/verificationStatus/coding/0/code").as_string(), "refuted");
  }
}

TEST(Fhir, APatientIsNotBornInTheFuture) {
  const auto found = resources_of({"Patient: Ada Quill", "DOB: 03/12/38"}, "Patient");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().at("birthDate"), "1938-03-12");
}

TEST(DocumentFacts, NoPagesSayNothing) {
  const auto facts = join_pages({});
  EXPECT_TRUE(facts.extraction.facts.empty());
  EXPECT_TRUE(facts.routed.empty());
  EXPECT_EQ(facts.document_type, "other");
}

TEST(DocumentFacts, WhatIsKeptOfADocumentIsReadBackAsItWas) {
  auto facts = join_pages(numbered({page_of(kMetformin)}));
  facts.document_type = "referral_letter";
  facts.language = "en";
  facts.narrative = extract::narrate(facts.extraction);
  const auto again = read_document_facts(document_facts_json(facts));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->extraction, facts.extraction);
  EXPECT_EQ(again->document_type, "referral_letter");
  EXPECT_EQ(again->language, "en");
  EXPECT_EQ(again->routed.size(), facts.routed.size());
  EXPECT_EQ(document_facts_json(*again), document_facts_json(facts));
  EXPECT_FALSE(read_document_facts("{}"));
}

}  // namespace
}  // namespace millrace::pipeline
