#include "output/facts.h"

#include "layout/clinical/validation.h"
#include "layout/code_points.h"
#include "output/boxes.h"
#include "output/narrative_text.h"
#include "output/samples.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::output {
namespace {

namespace clinical = layout::clinical;
using testing::HasSubstr;
using testing::Not;

struct Facts : testing::Test {
  layout::SpatialMap map = clinical::letter();
  clinical::Detection detection = clinical::letter_detection(map);
  clinical::Extraction extraction = clinical::letter_extraction();
  EvidenceTable evidence{map, detection};
  std::vector<clinical::RoutedFact> routed = clinical::route_facts(extraction, detection, map, {});
  DocumentInfo info = letter_info();

  // Also holds that the text is canonical.
  static json::Object parsed(const std::string& text) {
    auto value = parse_json_object(text);
    EXPECT_TRUE(value) << value.error().message;
    EXPECT_EQ(canonical_json(*value), text);
    return *std::move(value);
  }
};

TEST_F(Facts, LeadToTheTextTheyRestOn) {
  auto json = parsed(facts_json(extraction, routed, evidence, info));
  EXPECT_EQ(json["schema"], "facts/1");
  std::size_t places = 0;
  for (auto& fact : json["facts"].as_array()) {
    for (auto& item : fact.as_object()["evidence"].as_array()) {
      auto& place = item.as_object();
      const auto text = layout::to_code_points(
          map.page(static_cast<std::uint32_t>(place["page"].to_number<int>()))->text);
      const auto begin = static_cast<std::size_t>(place["char"].as_array()[0].to_number<int>());
      const auto end = static_cast<std::size_t>(place["char"].as_array()[1].to_number<int>());
      EXPECT_EQ(text.substr(begin, end - begin),
                layout::to_code_points(std::string(place["text"].as_string())));
      EXPECT_GE(place["boxes"].as_array().size(), 1U);
      ++places;
    }
  }
  EXPECT_EQ(places, 13U);
}

TEST_F(Facts, SayWhereTheyWereRouted) {
  auto json = parsed(facts_json(extraction, routed, evidence, info));
  auto& first = json["facts"].as_array()[0].as_object();
  EXPECT_EQ(first["route"], "accept");
  EXPECT_EQ(first["score"], 0.95);
  auto without = parsed(facts_json(extraction, {}, evidence, info));
  EXPECT_TRUE(without["facts"].as_array()[0].as_object()["route"].is_null());
  EXPECT_EQ(json["relations"].as_array().size(), 1U);
}

TEST_F(Facts, CanBeCitedWithoutAnyPageInMemory) {
  EvidenceTable page_by_page;
  for (const auto& page : map.pages) page_by_page.add_page(page, detection);
  EXPECT_EQ(facts_json(extraction, routed, page_by_page, info),
            facts_json(extraction, routed, evidence, info));
}

TEST_F(Facts, NeedNoEntityThatNoneOfThemRestsOn) {
  EvidenceTable few;
  few.only_for(extraction);
  for (const auto& page : map.pages) few.add_page(page, detection);
  EXPECT_EQ(facts_json(extraction, routed, few, info),
            facts_json(extraction, routed, evidence, info));
  extraction.facts.resize(1);
  EvidenceTable fewer;
  fewer.only_for(extraction);
  for (const auto& page : map.pages) fewer.add_page(page, detection);
  std::size_t kept = 0;
  for (const auto& entity : detection.entities) kept += fewer.find(entity.id) != nullptr ? 1 : 0;
  EXPECT_EQ(kept, extraction.facts[0].evidence.size());
}

TEST_F(Facts, LeaveOutEvidenceThatIsNotOnItsPage) {
  detection.entities[0].at.words = {.first = 5, .last = 100'000};
  detection.entities[1].at.bytes = {.begin = 9, .end = 4'000'000};
  detection.entities[2].at.page = 77;
  const EvidenceTable table(map, detection);
  EXPECT_EQ(table.find("e1"), nullptr);
  EXPECT_EQ(table.find("e2"), nullptr);
  EXPECT_EQ(table.find("e3"), nullptr);
  EXPECT_NE(table.find("e4"), nullptr);
  auto json = parsed(facts_json(extraction, routed, table, info));
  EXPECT_EQ(to_json(json["facts"].as_array()[4].as_object()["evidence"]),
            R"([{"entity":"e3","page":null}])");
}

TEST_F(Facts, AreRowsForASpreadsheet) {
  const auto csv = facts_csv(extraction, routed, evidence);
  EXPECT_THAT(csv, HasSubstr("f1,MedicationStatement,patient,affirmed,definite,current,metformin,"
                             "dose: 500 mg; frequency: twice daily,,0.95,accept,0.95,1,"
                             "Metformin | 500 mg | twice daily\r\n"));
  EXPECT_THAT(csv, HasSubstr("value: 13.5 g/dL; range: 12 – 16"));
}

TEST_F(Facts, MarkCodesThatNobodyHasLookedUp) {
  extraction.facts[0].codes = {{.system = "http://www.nlm.nih.gov/research/umls/rxnorm",
                                .code = "6809",
                                .display = "metformin"}};
  EXPECT_THAT(facts_csv(extraction, routed, evidence), HasSubstr("rxnorm|6809 (candidate)"));
}

// -- narrative --

struct Narrative : Facts {
  clinical::Narrative narrative = {
      .sentences = {{.text = "You take metformin 500 mg twice a day.", .facts = {"f1"}},
                    {.text = "You are allergic to penicillin.", .facts = {"f4", "f6"}}},
      .uncertain = {"f4"},
      .conflicts = {{.facts = {"f1", "f2"}, .note = "different doses"}}};
  NarrativeInput input{narrative, extraction, evidence, info};
};

TEST_F(Narrative, CitesItsSources) {
  EXPECT_EQ(narrative_markdown(input),
            "# letter.pdf\n\n"
            "You take metformin 500 mg twice a day. [f1]\n\n"
            "You are allergic to penicillin. [f4][f6] (to be checked)\n\n"
            "## Conflicts\n\n- different doses [f1][f2]\n\n"
            "## To be checked by a person\n\n- [f4]\n\n"
            "## Sources\n\n"
            "- [f1] page 1: “Metformin”, “500 mg”, “twice daily”\n"
            "- [f4] page 2: “penicillin”, “rash”\n"
            "- [f6] page 1: “Zoë Müller”, “12 March 1970”\n"
            "- [f2] page 1: “Ramipril”, “2.5 mg”\n");
  EXPECT_EQ(narrative_plain(input),
            "letter.pdf\n\n"
            "You take metformin 500 mg twice a day. [f1]\n"
            "You are allergic to penicillin. [f4][f6] (to be checked)\n\n"
            "Conflicts:\n- different doses [f1][f2]\n\n"
            "To be checked by a person:\n- [f4]\n\n"
            "Sources:\n"
            "- [f1] page 1: “Metformin”, “500 mg”, “twice daily”\n"
            "- [f4] page 2: “penicillin”, “rash”\n"
            "- [f6] page 1: “Zoë Müller”, “12 March 1970”\n"
            "- [f2] page 1: “Ramipril”, “2.5 mg”\n");
}

TEST_F(Narrative, CannotBeMadeToLinkOrToCiteWhatItDoesNot) {
  narrative.sentences = {
      {.text = "![x](http://e.example/?q) <img src=x> [f9] `code`\n# heading", .facts = {"f1"}},
      {.text = "- item", .facts = {"f1"}},
      {.text = "1. item https://e.example www.e.example", .facts = {"f1"}}};
  const auto markdown = narrative_markdown(input);
  EXPECT_THAT(markdown, HasSubstr("\\!\\[x\\](http\\://e.example/?q) \\<img src=x\\> \\[f9\\] "
                                  "\\`code\\` \\# heading [f1]"));
  EXPECT_THAT(markdown, HasSubstr("\n\\- item [f1]"));
  EXPECT_THAT(markdown, HasSubstr("\n1\\. item https\\://e.example www\\.e.example [f1]"));
  const auto plain = narrative_plain(input);
  EXPECT_THAT(plain, HasSubstr("(f9)"));
  EXPECT_THAT(plain, Not(HasSubstr("[f9]")));
}

TEST_F(Narrative, SaysWhenASourceIsNotFound) {
  narrative = {.sentences = {{.text = "Something.", .facts = {"f99"}}}};
  EXPECT_THAT(narrative_plain(input), HasSubstr("- [f99] source not found\n"));
}

// -- boxes --

TEST_F(Facts, AreDrawnInTheColourOfTheirRoute) {
  routed[1].route = clinical::Route::review;
  routed[4].route = clinical::Route::reject;
  extraction.facts[5].assertion.polarity = clinical::Polarity::negated;
  const auto drawn = boxes_for_facts(1, extraction, routed, evidence);
  std::map<std::string, std::string> colors;
  for (const auto& box : drawn.boxes) {
    const auto& object = box.as_object();
    if (object.contains("label")) {
      colors[std::string(object.at("label").as_string())] = object.at("color").as_string();
    }
  }
  EXPECT_THAT(colors, testing::UnorderedElementsAre(testing::Pair("metformin", "#2a9d3a"),
                                                    testing::Pair("Ramipril", "#e08a00"),
                                                    testing::Pair("not: Zoë Müller", "#777777")));
  EXPECT_EQ(drawn.boxes.size(), 7U);  // Evidence on page 1 of the facts that were not rejected.
}

TEST_F(Facts, EntitiesAreDrawnOnceForEachLine) {
  const auto drawn = boxes_for_entities(map.pages[0], detection);
  std::size_t labels = 0;
  for (const auto& box : drawn.boxes) labels += box.as_object().contains("label") ? 1 : 0;
  EXPECT_EQ(labels, 11U);
  EXPECT_EQ(drawn.boxes.size(), 12U);  // "chest pain" stands on two lines.
  EXPECT_EQ(drawn.boxes[0].as_object().at("label"), "PERSON");
}

TEST(Boxes, ShowTheLeastSureWordsFirst) {
  auto page = clinical::letter().pages[1];
  page.words[2].conf = 0.31;
  page.words[0].conf = 0.7;
  page.words[1].conf.reset();
  const auto drawn = boxes_for_words(page);
  ASSERT_EQ(drawn.boxes.size(), 3U);
  EXPECT_EQ(to_json(drawn.boxes[0]),
            R"({"bbox":[0.23433,0.125,0.26767,0.1365],"color":"#d62828","label":"31 %"})");
  EXPECT_EQ(drawn.boxes[1].as_object().at("color"), "#e08a00");
  EXPECT_EQ(drawn.boxes[2].as_object().at("color"), "#777777");
  EXPECT_EQ(boxes_for_words(page, {.high = true}).boxes.size(), page.words.size());
}

TEST(Boxes, AreNeverMoreThanARequestCanTake) {
  const auto page = clinical::letter().pages[0];
  const auto drawn = boxes_for_words(page, {.boxes_max = 5, .high = true});
  EXPECT_EQ(drawn.boxes.size(), 5U);
  EXPECT_EQ(drawn.omitted, page.words.size() - 5);
  const auto few = boxes_for_words(page, {.bytes_max = 1000, .high = true});
  EXPECT_LE(to_json(json::Value(few.boxes)).size(), 1002U);
  EXPECT_EQ(few.boxes.size() + few.omitted, page.words.size());
  EXPECT_GT(few.boxes.size(), 5U);
}

}  // namespace
}  // namespace millrace::output
