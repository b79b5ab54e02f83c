// Sentences that were once misread, each with all that is to be said of it. A table a rule.
#include "extract/chart.h"
#include "extract/reading.h"
#include "extract/said.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::extract {
namespace {

using layout::clinical::FactType;

struct Case {
  std::vector<std::string> lines;
  std::string wanted;
};

void expect(FactType type, const std::vector<Case>& cases) {
  for (const auto& one : cases) EXPECT_EQ(said(one.lines, type), one.wanted) << one.lines.front();
}

void expect_medicines(const std::vector<Case>& cases) {
  expect(FactType::MedicationStatement, cases);
}
void expect_results(const std::vector<Case>& cases) { expect(FactType::Observation, cases); }
void expect_conditions(const std::vector<Case>& cases) { expect(FactType::Condition, cases); }
void expect_allergies(const std::vector<Case>& cases) {
  expect(FactType::AllergyIntolerance, cases);
}

TEST(ReviewedResults, HaveMarksBehindTheirRanges) {
  expect_results({{{"Glucose 105 70-99 H"}, "Glucose 105 70..99 high"},
                  {{"Sodium 128 135-145 L"}, "Sodium 128 135..145 low"},
                  {{"Potassium 4.2 3.5-5.1 mmol/L"}, "Potassium 4.2 mmol/L 3.5..5.1"}});
}

TEST(ReviewedResults, AreNoPlusesBetweenTwoThings) {
  expect_results({{{"Check TSH + free T4"}, ""},
                  {{"Calcium + vitamin D 600 mg daily"}, ""},
                  {{"Urine protein +"}, "Urine protein +"},
                  {{"Urine protein +, glucose negative"}, "Urine protein +; glucose negative"},
                  {{"Urine ketones ++"}, "Urine ketones ++"}});
}

TEST(ReviewedResults, AreNoTimesAndNoDays) {
  expect_results({{{"Glucose 1:30 pm 145 mg/dL"}, "Glucose 145 mg/dL"},
                  {{"Hgb 1/15 8.9"}, "Hgb 8.9"},
                  {{"ANA 1:640 homogeneous"}, "ANA 1:640"},
                  {{"RPR 1:2"}, "RPR 1:2"}});
}

TEST(ReviewedResults, KeepTheSignOfTheirLanguageBesideAnOddPoint) {
  expect_results(
      {{{"Ramipril 2.5 mg täglich, Metformin 1.000 mg morgens, HbA1c 7,2 %"}, "HbA1c 7.2 %"},
       {{"Der Patient nimmt Ramipril 2.5 mg täglich.", "",
         "Thrombozyten der Patientin 234.000 (150.000 - 400.000)"},
        "Thrombozyten 234000 150000..400000"}});
  expect_medicines({{{"Der Patient nimmt Ramipril 2.5 mg täglich, Metformin 1.000 mg morgens, "
                      "HbA1c 7,2 %"},
                     "Ramipril 2.5 mg täglich; Metformin 1000 mg morgens"}});
}

TEST(ReviewedDecimals, AreThoseOfEnglishInAllItsCountries) {
  for (const auto* language : {"en", "en-US", "en-GB", ""}) {
    const auto map = page_of({"Digoxin 0,25 mg daily"});
    const auto page = read_page(map, {});
    EXPECT_EQ(manner_of({&page, 1}, language).decimal, Decimal::point) << language;
  }
}

// Each fraction is read to the end of a unit, and not to that of the page: this takes minutes then.
TEST(ReviewedDecimals, OfAPageOfFractionsTakeNoSquareOfItsLength) {
  layout::PageMap map;
  for (int i = 0; i < 30000; ++i) map.text += "1.5 l/";
  PageReading page{.page = &map, .tokens = tokens_of(std::string_view(map.text))};
  EXPECT_EQ(manner_of({&page, 1}, "de").decimal, Decimal::comma);
}

TEST(ReviewedMedicines, AreNotStoppedByADischarge) {
  expect_medicines(
      {{{"Patient dc'd home on lisinopril 10 mg daily"}, "lisinopril 10 mg daily"},
       {{"d/c'd home on lisinopril 10 mg daily"}, "lisinopril 10 mg daily"},
       {{"Pt d/c'd on warfarin 5 mg daily"}, "warfarin 5 mg daily"},
       {{"Started lisinopril 10 mg daily and was d/c'd home"}, "lisinopril 10 mg daily"},
       {{"Started metoprolol and an echocardiogram was completed"}, "metoprolol"},
       {{"D/c'd her home metformin."}, "<metformin"},
       {{"dc'd lisinopril"}, "<lisinopril"},
       {{"Lisinopril 10 mg daily was d/c'd"}, "<Lisinopril 10 mg daily"},
       {{"Lisinopril has been d/c'd"}, "<Lisinopril"},
       {{"Lisinopril and metformin were d/c'd"}, "<Lisinopril; <metformin"},
       {{"Azithromycin course was completed."}, "<Azithromycin"}});
}

TEST(ReviewedMedicines, RunInABagWhoseVolumeIsNoDose) {
  expect_medicines({{{"Heparin 1000 units/h in 250 mL"}, "Heparin 1000 [iU]/h"},
                    {{"Amoxicillin 400 mg/5 mL, give 6 mL BID"}, "Amoxicillin 6 mL BID"}});
}

TEST(ReviewedMedicines, AreTakenAsOftenAsTheFrequencySaysThatCounts) {
  expect_medicines(
      {{{"Citalopram 2 x 20 mg once daily"}, "Citalopram 20 mg once daily!"},
       {{"Der Patient nimmt Valsartan 2 x 80 mg einmal täglich"},
        "Valsartan 80 mg einmal täglich!"},
       {{"Der Patient nimmt Paracetamol 3 x 500 mg täglich"}, "Paracetamol 500 mg 3 x"}});
}

TEST(ReviewedMedicines, AreNotNamedWithTheirThousands) {
  expect_medicines(
      {{{"La patiente prend Vitamine D 100 000 UI par mois"}, "Vitamine D 100000 [iU] par mois"},
       {{"La patiente prend Vitamine D 2 000 UI par jour"}, "Vitamine D 2000 [iU] par jour"},
       {{"Die Patientin nimmt Vitamin D 2 500 IE täglich"}, "Vitamin D 2500 [iU] täglich!"}});
}

TEST(ReviewedMedicines, BeginOnADayAndNotInTheYearOfTheirDose) {
  const auto trial = try_lines({"KCl from 5 May 40 mEq daily"});
  for (const auto& fact : trial.extraction.facts) EXPECT_NE(text_at(fact, "start"), "2040-05-05");
  EXPECT_EQ(said({"KCl from 5 May 40 mEq daily"}, FactType::MedicationStatement),
            "KCl 40 meq daily");
}

TEST(ReviewedConditions, AreNotDeniedWithAVerb) {
  expect_conditions(
      {{{"She doesn't feel well, cough and fever."}, "cough; fever"},
       {{"Couldn't eat, nausea since Monday"}, "nausea"},
       {{"Isn't eating, vomiting"}, "vomiting"},
       {{"He does not feel well, headache"}, "headache"},
       {{"CT didn't show pneumonia, pleural effusion"}, "-pneumonia; -pleural effusion"},
       {{"He doesn't have chest pain, dyspnea or fever"}, "-chest pain; -dyspnea; -fever"},
       {{"She isn't having fever, chills"}, "-fever; -chills"}});
}

TEST(ReviewedAllergies, GoOnBelowWithReactions) {
  expect_allergies(
      {{{"Allergies: Penicillin (rash)", "Quarzelin - hives"},
        "Penicillin -> rash; Quarzelin -> hives"},
       {{"Allergies: Penicillin (rash)", "Codeine - vomited once"},
        "Penicillin -> rash; Codeine -> vomited"},
       {{"Allergies: Penicillin (rash)", "Ceftriaxone - hives 10 min after infusion"},
        "Penicillin -> rash; Ceftriaxone -> hives"},
       {{"Allergies: Penicillin (rash)", "Hydroxyzine 25 mg q6h PRN itching"},
        "Penicillin -> rash"},
       {{"Allergies: Penicillin (rash)", "Lungs clear, no wheezing"}, "Penicillin -> rash"}});
}

TEST(ReviewedAllergies, AreNotMedicinesOfOneHeading) {
  expect_allergies({{{"Allergies and current medications: penicillin; lisinopril 10 mg daily"}, ""},
                    {{"Allergies (drug): amoxicillin"}, "amoxicillin"},
                    {{"Allergies/intolerances: amoxicillin"}, "amoxicillin"},
                    {{"Allergies and reactions: amoxicillin - rash"}, "amoxicillin -> rash"}});
}

TEST(ReviewedAllergies, EndBeforeWhatIsNoSubstance) {
  expect_allergies({{{"Anaphylaxis to peanuts and dinner (rash)"}, "peanuts -> Anaphylaxis"},
                    {{"Anaphylaxis to peanuts and shellfish (swelling)"},
                     "peanuts -> Anaphylaxis; shellfish -> swelling"}});
}

}  // namespace
}  // namespace millrace::extract
