// Medicines: known and unknown names, doses, how often, how, how long, and whether still.
#include "extract/trial.h"

#include <gtest/gtest.h>

namespace millrace::extract {
namespace {

using layout::clinical::Category;
using layout::clinical::FactType;
using layout::clinical::Polarity;
using layout::clinical::Temporality;

constexpr auto kMedication = FactType::MedicationStatement;

TEST(Medications, HaveDoseRouteFrequencyAndDuration) {
  const auto trial =
      try_lines({"Medications", "Amoxicillin 500 mg by mouth three times daily for 7 days"});
  const auto& fact = trial.fact(kMedication, "Amoxicillin");
  EXPECT_EQ(quantity_at(fact, "dose"), "500 mg");
  EXPECT_EQ(text_at(fact, "route"), "by mouth");
  EXPECT_EQ(text_at(fact, "frequency"), "three times daily");
  EXPECT_EQ(text_at(fact, "duration"), "for 7 days");
}

TEST(Medications, AreFoundByStructureWhateverTheirName) {
  const auto trial =
      try_lines({"Please start Quarzelin 20 mg once daily and continue zubrexa XR 75 mg BID."});
  EXPECT_EQ(quantity_at(trial.fact(kMedication, "Quarzelin"), "dose"), "20 mg");
  EXPECT_EQ(quantity_at(trial.fact(kMedication, "zubrexa XR"), "dose"), "75 mg");
}

TEST(Medications, OfAListAreTheFirstWordsOfItsLines) {
  const auto trial = try_lines({"Discharge medications", "1. Blorvitax 5 mg at night",
                                "2. Metformin 850 mg BID", "3. Krelofan as needed"});
  EXPECT_EQ(trial.count(kMedication), 3U);
  EXPECT_EQ(text_at(trial.fact(kMedication, "Krelofan"), "frequency"), "as needed");
}

TEST(Medications, OfATableFollowItsHeader) {
  const auto trial =
      try_pages({table_of({"Current medication"}, {{"Drug", "Strength", "Route", "Frequency"},
                                                   {"Ramipril", "5 mg", "oral", "1-0-0"},
                                                   {"Velquora", "10 mg", "oral", "twice daily"},
                                                   {"Apixaban", "2.5 mg", "oral", "BID"}})});
  EXPECT_EQ(trial.count(kMedication), 3U);
  const auto& fact = trial.fact(kMedication, "Velquora");
  EXPECT_EQ(quantity_at(fact, "dose"), "10 mg");
  EXPECT_EQ(text_at(fact, "frequency"), "twice daily");
  EXPECT_EQ(text_at(fact, "route"), "oral");
}

TEST(Medications, OfOneSentenceKeepTheirOwnDoses) {
  const auto trial = try_lines(
      {"She takes metformin 500 mg BID, lisinopril 10 mg daily and atorvastatin 40 mg at night."});
  EXPECT_EQ(quantity_at(trial.fact(kMedication, "metformin"), "dose"), "500 mg");
  EXPECT_EQ(quantity_at(trial.fact(kMedication, "lisinopril"), "dose"), "10 mg");
  EXPECT_EQ(quantity_at(trial.fact(kMedication, "atorvastatin"), "dose"), "40 mg");
}

TEST(Medications, PreferAStrengthToANumberOfTablets) {
  const auto trial = try_lines({"Medications", "Metformin 1 tablet (500 mg) by mouth twice daily"});
  EXPECT_EQ(quantity_at(trial.fact(kMedication, "Metformin"), "dose"), "500 mg");
}

TEST(Medications, TolerateAMissingSpaceAndALineEnd) {
  const auto trial =
      try_lines({"Medications", "Furosemide 40mg once daily", "",
                 "We began treatment of the patient with torasemide in a dose of torasemide 20",
                 "mg every 8 hours and she improved over the next days of the long stay."});
  EXPECT_EQ(quantity_at(trial.fact(kMedication, "Furosemide"), "dose"), "40 mg");
}

TEST(Medications, ThatWereStoppedAreHistorical) {
  const auto trial = try_lines(
      {"Ramipril 5 mg was stopped in 2019 because of cough. Metformin 500 mg BID was continued."});
  const auto& stopped = trial.fact(kMedication, "Ramipril");
  EXPECT_EQ(stopped.assertion.temporality, Temporality::historical);
  EXPECT_EQ(text_at(stopped, "end"), "2019");
  EXPECT_EQ(trial.fact(kMedication, "Metformin").assertion.temporality, Temporality::current);
}

TEST(Medications, UnderAHeadingOfStoppedOnesAreHistorical) {
  const auto trial = try_lines({"Discontinued medications", "Glipizide 5 mg daily"});
  EXPECT_EQ(trial.fact(kMedication, "Glipizide").assertion.temporality, Temporality::historical);
}

TEST(Medications, ThatMayBeGivenLaterAreHypothetical) {
  const auto trial = try_lines({"If fever recurs, clopidogrel could be considered."});
  EXPECT_EQ(trial.fact(kMedication, "clopidogrel").assertion.temporality,
            Temporality::hypothetical);
}

TEST(Medications, AreNotSupposedByAFrequencyThatSaysIf) {
  const auto trial =
      try_lines({"She takes ibuprofen 400 mg every 8 hours if required and ramipril 5 mg daily."});
  EXPECT_EQ(trial.fact(kMedication, "ramipril").assertion.temporality, Temporality::current);
}

TEST(Medications, AreReadInGermanFrenchAndSpanish) {
  const auto german = try_lines(
      {"Medikation bei Entlassung", "Ramipril 5 mg 1-0-0", "Blorvitax 20 mg zweimal täglich"});
  EXPECT_EQ(text_at(german.fact(kMedication, "Blorvitax"), "frequency"), "zweimal täglich");
  const auto french = try_lines({"Traitement de sortie", "Bisoprolol 2,5 mg une fois par jour",
                                 "Blorvitax 20 mg deux fois par jour pendant 5 jours"});
  EXPECT_EQ(quantity_at(french.fact(kMedication, "Bisoprolol"), "dose"), "2.5 mg");
  EXPECT_EQ(text_at(french.fact(kMedication, "Blorvitax"), "duration"), "pendant 5 jours");
  const auto spanish = try_lines({"Tratamiento al alta", "Blorvitax 20 mg cada 8 horas",
                                  "Omeprazol 20 mg por vía oral una vez al día"});
  EXPECT_EQ(text_at(spanish.fact(kMedication, "Blorvitax"), "frequency"), "cada 8 horas");
  EXPECT_EQ(text_at(spanish.fact(kMedication, "Omeprazol"), "route"), "por vía oral");
}

TEST(Medications, WithAMisreadDoseKeepTheirNameAndHaveNoDose) {
  // Nobody guesses a dose: a number with letters in it is for a person to read.
  const auto trial = try_lines({"Medications", "Metformin 5OO mg twice daily"});
  EXPECT_EQ(quantity_at(trial.fact(kMedication, "Metformin"), "dose"), "");
}

TEST(Medications, AreNotLaboratoryValuesOfTheSameName) {
  const auto trial = try_lines({"Laboratory results", "Calcium 9.4 mg/dL (8.5 - 10.5)", "",
                                "Medications", "Calcium 500 mg once daily"});
  EXPECT_EQ(trial.count(kMedication), 1U);
  EXPECT_EQ(trial.count(FactType::Observation), 1U);
}

}  // namespace
}  // namespace millrace::extract
