// The passes as a whole: sections, types, languages, bounds, and text that nobody wrote in good
// faith.
#include "extract/trial.h"
#include "layout/clinical/grounding.h"
#include "layout/clinical/letter.h"
#include "layout/code_points.h"

#include <gtest/gtest.h>

#include <random>

namespace millrace::extract {
namespace {

using layout::clinical::Category;
using layout::clinical::FactType;

TEST(Detect, ReadsTheLetterThatModelsAreTestedWith) {
  const auto trial = try_pages(layout::clinical::letter().pages);
  EXPECT_EQ(trial.detection.document_type.value, "discharge_summary");
  EXPECT_EQ(trial.detection.language, "en");
  for (const auto& expected : layout::clinical::letter_detection(trial.map).entities) {
    if (expected.category == Category::lab_value) continue;
    const bool found = std::ranges::any_of(trial.detection.entities, [&](const auto& entity) {
      return entity.text == expected.text && entity.category == expected.category;
    });
    EXPECT_TRUE(found) << expected.text;
  }
}

TEST(Detect, GoesThroughGroundingUnchanged) {
  const auto trial = try_pages(layout::clinical::letter().pages);
  const auto grounded = layout::clinical::ground(trial.detection, trial.map);
  EXPECT_EQ(grounded.detection.entities.size(), trial.detection.entities.size());
  expect_no_rejection(grounded.findings);
}

TEST(Detect, GivesTheSameBytesEveryTime) {
  const auto pages = layout::clinical::letter();
  const auto first = detect(pages);
  EXPECT_EQ(first, detect(pages));
  EXPECT_EQ(extract(first, pages), extract(first, pages));
  EXPECT_EQ(narrate(extract(first, pages)), narrate(extract(first, pages)));
}

TEST(Detect, FindsSectionsByTheirHeadings) {
  const auto trial = try_lines({"Medications", "Metformin 500 mg BID", "", "Family history",
                                "Mother: asthma", "", "Allergies: latex"});
  std::vector<std::string> kinds;
  for (const auto& section : trial.detection.sections) kinds.push_back(section.kind);
  EXPECT_EQ(kinds, (std::vector<std::string>{"medication_list", "family_history", "allergies"}));
}

TEST(Detect, CarriesAnOpenSectionToTheNextPage) {
  const auto first = try_lines({"Discharge medications", "Metformin 500 mg BID"});
  const auto context = context_after(first.detection);
  EXPECT_EQ(context.open_section, "medication_list");
  const auto second = try_lines({"Blorvitax", "Quarzelin"}, context);
  EXPECT_EQ(second.count(FactType::MedicationStatement), 2U);
  EXPECT_EQ(try_lines({"Blorvitax", "Quarzelin"}).count(FactType::MedicationStatement), 0U);
}

TEST(Detect, KnowsLanguagesByTheirWords) {
  EXPECT_EQ(try_lines({"The patient was admitted to the hospital with fever."}).detection.language,
            "en");
  EXPECT_EQ(
      try_lines({"Die Patientin wurde mit Fieber in die Klinik aufgenommen."}).detection.language,
      "de");
  EXPECT_EQ(try_lines({"La patiente a été admise à l'hôpital pour une fièvre."}).detection.language,
            "fr");
  EXPECT_EQ(try_lines({"La paciente fue ingresada en el hospital con fiebre."}).detection.language,
            "es");
  EXPECT_EQ(try_lines({"xyzzy"}).detection.language, "");
}

TEST(Detect, StaysWithinItsLimits) {
  std::vector<std::string> lines = {"Medications"};
  for (int i = 0; i < 40; ++i) lines.push_back("Metformin 500 mg BID");
  const auto map = layout::merge_pages({page_of(lines)}).value();
  const layout::clinical::PassLimits limits{.items_max = 10};
  const auto detection = detect(map, {}, limits);
  EXPECT_EQ(detection.entities.size(), 10U);
  EXPECT_LE(extract(detection, map, limits).facts.size(), 10U);
}

TEST(Detect, FindsNothingOnAnEmptyPage) {
  const layout::SpatialMap empty;
  EXPECT_TRUE(detect(empty).entities.empty());
  EXPECT_TRUE(extract(detect(empty), empty).facts.empty());
  EXPECT_TRUE(narrate({}).sentences.empty());
}

TEST(Extract, TakesADetectionThatAModelMade) {
  const auto map = layout::clinical::letter();
  const auto detection = layout::clinical::letter_detection(map);
  const auto extraction = extract(detection, map);
  expect_no_rejection(layout::clinical::validate_extraction(extraction, detection, map));
  const auto drug = std::ranges::find(extraction.facts, std::string_view("Metformin"),
                                      &layout::clinical::Fact::name);
  ASSERT_NE(drug, extraction.facts.end());
  EXPECT_EQ(quantity_at(*drug, "dose"), "500 mg");
}

TEST(Narrate, CitesAFactForEverySentenceAndSaysWhatIsUncertain) {
  const auto trial = try_lines(
      {"Medications", "Metformin 500 mg BID", "", "There was no grobulation of the foot."});
  ASSERT_FALSE(trial.narrative.sentences.empty());
  for (const auto& sentence : trial.narrative.sentences) EXPECT_EQ(sentence.facts.size(), 1U);
  EXPECT_EQ(narrate(trial.extraction, "clinician").audience, "clinician");
  EXPECT_EQ(narrate(trial.extraction, "nobody").audience, "patient");
}

TEST(Narrate, NamesWhatContradicts) {
  const auto trial = try_lines({"Medications", "Metformin 500 mg BID", "Metformin 850 mg BID"});
  ASSERT_EQ(trial.narrative.conflicts.size(), 1U);
  EXPECT_EQ(trial.narrative.conflicts[0].facts.size(), 2U);
}

TEST(Version, NamesTheProviderAndItsLists) {
  EXPECT_TRUE(version().starts_with("local@1+"));
  EXPECT_EQ(version(), version());
}

// -- text that nobody wrote in good faith --

layout::PageMap soup(std::uint64_t seed, std::size_t words,
                     const std::vector<std::string>& alphabet) {
  std::mt19937_64 random(seed);
  layout::PageInfo info{.page = 1, .width_px = 1000, .height_px = 1000, .engine = "test"};
  std::vector<layout::Word> out;
  std::uint32_t line = 0;
  std::uint32_t block = 0;
  for (std::size_t i = 0; i < words; ++i) {
    if (i > 0 && random() % 9 == 0) {
      ++line;
      if (random() % 6 == 0) ++block;
    }
    const auto x = static_cast<double>(i % 10) / 10;
    out.push_back({.text = alphabet[random() % alphabet.size()],
                   .box = {.x0 = x, .y0 = 0.5, .x1 = x + 0.05, .y1 = 0.51},
                   .line = line,
                   .block = block});
  }
  return layout::assemble_page(std::move(info), std::move(out),
                               std::vector<layout::BlockKind>(block + 1, layout::BlockKind::text))
      .value();
}

const std::vector<std::string>& pieces() {
  static const std::vector<std::string> kPieces = {"Metformin",  "500",        "mg",
                                                   "500mg",      "BID",        "1-0-1",
                                                   "(",          ")",          "no",
                                                   "denies",     "allergic",   "to",
                                                   "penicillin", "Allergies:", "Medications",
                                                   "3.5",        "-",          "5.1",
                                                   "mmol/L",     "<",          "/",
                                                   "/",          "10^9/L",     "05.03.2024",
                                                   "March",      "5,",         "2024",
                                                   "Dr.",        "Jane",       "Doe",
                                                   ":",          ",",          ".",
                                                   ";",          "mother",     "if",
                                                   "fever",      "½",          "°C",
                                                   "µg",         "ß",          "日本",
                                                   "—",          "•",          "x10",
                                                   "q8h",        "c/8",        "h",
                                                   "H",          "L",          "*",
                                                   "hyper-",     "tension",    "d'",
                                                   "'",          "%",          "120/80",
                                                   "Patient:",   "no.:",       "AB-123",
                                                   "‰",          "e",          "\xf0\x9f\x98\x80",
                                                   "and",        "of",         "in"};
  return kPieces;
}

TEST(Hostile, RandomPagesKeepTheirOffsetsAndPassTheValidators) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    const auto trial = try_pages({soup(seed, 20 + seed, pieces())});
    for (const auto& entity : trial.detection.entities) {
      EXPECT_EQ(trial.map.pages[0].text_of(entity.at.bytes), entity.text);
      EXPECT_TRUE(layout::is_utf8(entity.text));
    }
  }
}

TEST(Hostile, AHundredKilobytesOfWordsAreReadInBoundedTime) {
  const auto trial = try_pages({soup(7, 20'000, pieces())});
  EXPECT_LE(trial.detection.entities.size(), layout::clinical::PassLimits{}.items_max);
}

TEST(Hostile, OneWordRepeatedForeverIsFine) {
  for (const auto* word : {"no", "(", "mg", "500", "allergic", "and", "Dr.", "/", "10", "of"}) {
    SCOPED_TRACE(word);
    try_pages({soup(1, 5'000, {word})});
  }
}

}  // namespace
}  // namespace millrace::extract
