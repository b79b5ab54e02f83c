// Facts on their way from the pages to the document: kept, read again, numbered, joined.
#include "pipeline/document_facts.h"

#include "extract/trial.h"

#include <boost/json/array.hpp>
#include <gtest/gtest.h>

#include <set>

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

// As sure as the surest page that says it.
TEST(DocumentFacts, AFactIsAsSureAsTheSurestOfItsPages) {
  auto pages = numbered([] {
    std::vector<Page> made;
    made.push_back(page_of(kMetformin));
    made.push_back(page_of(kMetformin));
    return made;
  }());
  for (auto& routed : pages[0].routed)
    routed = {.fact = routed.fact, .route = Route::review, .score = 0.6};
  for (auto& routed : pages[1].routed)
    routed = {.fact = routed.fact, .route = Route::accept, .score = 0.95};
  const auto facts = join_pages(std::move(pages));
  ASSERT_FALSE(facts.routed.empty());
  EXPECT_EQ(facts.routed.front().route, Route::accept);
  EXPECT_DOUBLE_EQ(facts.routed.front().score, 0.95);
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
