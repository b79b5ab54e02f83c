// Doses: how their numbers are written, what parts of a tablet and two substances of one are, and
// how often they are taken.
#include "extract/trial.h"

#include <gtest/gtest.h>

namespace millrace::extract {
namespace {

using layout::clinical::FactType;

constexpr auto kMedication = FactType::MedicationStatement;
constexpr double kAccepted = 0.90;  // Medications; docs/clinical-passes.md.

struct Said {
  std::string line;
  std::string drug;
  std::string dose;
  std::string frequency = {};
};

void expect_doses(const std::vector<Said>& all, bool accepted) {
  for (const auto& one : all) {
    SCOPED_TRACE(one.line);
    const auto trial = try_lines({one.line});
    EXPECT_EQ(trial.count(kMedication), 1U);
    const auto& fact = trial.fact(kMedication, one.drug);
    EXPECT_EQ(quantity_at(fact, "dose"), one.dose);
    if (!one.frequency.empty()) EXPECT_EQ(text_at(fact, "frequency"), one.frequency);
    EXPECT_EQ(fact.conf >= kAccepted, accepted);
  }
}

TEST(Doses, MayBeginWithTheirPoint) {
  expect_doses({{"Lorazepam .5 mg PO", "Lorazepam", "0.5 mg"},
                {"Digoxin .125 mg daily", "Digoxin", "0.125 mg"},
                {"Clonazepam (.25 mg) twice daily", "Clonazepam", "0.25 mg"},
                {"Der Patient nimmt Lorazepam .5 mg zur Nacht", "Lorazepam", "0.5 mg"}},
               true);
}

TEST(Doses, HaveThousandsPartedBySpacesAndApostrophes) {
  expect_doses(
      {{"Le patient prend du Paracétamol 1 000 mg trois fois par jour.", "Paracétamol", "1000 mg"},
       {"La patiente reçoit Enoxaparine 4 000 UI par jour.", "Enoxaparine", "4000 [iU]"},
       {"El paciente toma Metformina 1 000 mg cada 12 horas", "Metformina", "1000 mg"},
       {"Die Patientin erhält Heparin 7 500 IE alle 12 Stunden.", "Heparin", "7500 [iU]"},
       {"Der Patient erhält Heparin 5'000 IE alle 8 Stunden.", "Heparin", "5000 [iU]"},
       {"Acetaminophen 1 000 mg every 6 hours", "Acetaminophen", "1000 mg"}},
      true);
}

TEST(Doses, OfPartsOfATabletAreFractions) {
  expect_doses(
      {{"Metoprolol 1/2 tab BID", "Metoprolol", "0.5 {tablet}", "BID"},
       {"Warfarin 1 1/2 tablets daily", "Warfarin", "1.5 {tablet}"},
       {"Warfarin 1-1/2 tablets daily", "Warfarin", "1.5 {tablet}"},
       {"Levothyroxine 1½ tablets daily", "Levothyroxine", "1.5 {tablet}"},
       {"Die Patientin nimmt Bisoprolol ½ Tablette morgens", "Bisoprolol", "0.5 {tablet}"},
       {"Le patient prend Bisoprolol 1/2 comprimé le matin", "Bisoprolol", "0.5 {tablet}"},
       {"El paciente toma Bisoprolol 1/4 comprimido al día", "Bisoprolol", "0.25 {tablet}"},
       {"Metoprolol 47,5 mg 1/2-0-1/2", "Metoprolol", "47.5 mg", "1/2-0-1/2"}},
      true);
  EXPECT_EQ(try_lines({"Sig: take 1/2 tablet daily"}).count(kMedication), 0U);
}

TEST(Doses, OfTwoSubstancesAreForReview) {
  expect_doses({{"Percocet 5/325 mg q6h", "Percocet", "5 mg", "q6h"},
                {"Augmentin 875/125 mg BID", "Augmentin", "875 mg"},
                {"Augmentin 875 mg/125 mg PO BID", "Augmentin", "875 mg"},
                {"Bactrim DS 800-160 mg PO BID", "Bactrim DS", "800 mg"},
                {"Symbicort 160/4.5 mcg BID", "Symbicort", "160 ug"},
                {"Amlodipine/benazepril 5/20 mg daily", "Amlodipine/benazepril", "5 mg"},
                {"Der Patient nimmt Valsartan 160/12,5 mg einmal täglich", "Valsartan", "160 mg"},
                {"La patiente prend Augmentin 500/62,5 mg 3 fois par jour", "Augmentin", "500 mg"}},
               false);
}

TEST(Doses, AreNotNamedBySharesOfAMixture) {
  expect_doses({{"Novolin 70/30 20 units BID before meals", "Novolin", "20 [iU]"},
                {"Humalog 75/25 mix 15 units twice daily", "Humalog", "15 [iU]"}},
               true);
}

TEST(Doses, BehindATimesSignSayHowOftenOrHowMany) {
  expect_doses({{"Paracetamol 3 x 500 mg täglich", "Paracetamol", "500 mg", "3 x"},
                {"Der Patient nimmt Ibuprofen 3x600 mg täglich", "Ibuprofen", "600 mg", "3x"},
                {"La patiente reçoit amoxicilline 1 g x 3/j", "amoxicilline", "1 g", "x 3/j"}},
               true);
  expect_doses({{"Paracetamol 2 x 500 mg TID", "Paracetamol", "500 mg", "TID"},
                {"Die Patientin nimmt Novalgin 2 x 500 mg bei Bedarf", "Novalgin", "500 mg"}},
               false);
}

TEST(Doses, InSpanishHavePointsAndCommasOfBothKinds) {
  expect_doses({{"El paciente toma Carvedilol 3.125 mg cada 12 horas", "Carvedilol", "3.125 mg"},
                {"El paciente toma Metformina 1,000 mg cada 12 horas", "Metformina", "1000 mg"},
                {"La paciente toma Enalapril 2,5 mg cada día", "Enalapril", "2.5 mg"},
                {"Der Patient nimmt Metformin 1.000 mg morgens", "Metformin", "1000 mg"},
                {"Der Patient nimmt Carvedilol 3,125 mg morgens", "Carvedilol", "3.125 mg"},
                {"Le patient prend Carvédilol 6,25 mg le matin", "Carvédilol", "6.25 mg"}},
               true);
  // Both readings are doses.
  expect_doses({{"El paciente toma Metformina 1,250 mg cada 12 horas", "Metformina", "1.25 mg"},
                {"Takes Carvedilol 3,125 mg twice daily", "Carvedilol", "3125 mg"}},
               false);
}

TEST(Doses, OfSolutionsAndOfADayAreNoResults) {
  expect_doses(
      {{"Lantus 100 units/mL, inject 20 units at bedtime", "Lantus", "20 [iU]", "at bedtime"},
       {"Lantus 300 U/mL 18 U qhs", "Lantus", "18 U", "qhs"},
       {"Morphine 10 mg/mL", "Morphine", ""},
       {"Enalapril 10 mg/24h", "Enalapril", "10 mg", "/24h"},
       {"El paciente toma Paracetamol 1 g/8h si dolor", "Paracetamol", "1 g", "/8h si dolor"},
       {"Enoxaparina 40 mg/24 h s.c. durante 10 días", "Enoxaparina", "40 mg", "/24 h"},
       {"La patiente reçoit Enoxaparine 4 000 UI/j", "Enoxaparine", "4000 [iU]", "/j"},
       {"Morphin 10 mg/ml Tropfen bei Bedarf", "Morphin", "", "bei Bedarf"}},
      true);
  const auto levels = try_lines({"Digoxin 1.1 ng/mL, lithium 0.8 mmol/L"});
  EXPECT_EQ(levels.count(kMedication), 0U);
  EXPECT_EQ(levels.count(FactType::Observation), 2U);
}

TEST(Doses, OfARangeHaveItsLowerEndAndUnitForReview) {
  expect_doses({{"Oxycodone 5-10 mg q4h prn", "Oxycodone", "5 mg", "q4h prn"},
                {"Hydrocodone 1-2 tabs q4-6h prn", "Hydrocodone", "1 {tablet}", "q4-6h prn"},
                {"Morphine 2 to 4 mg IV q2h prn", "Morphine", "2 mg"},
                {"Die Patientin nimmt Oxycodon 5 bis 10 mg bei Bedarf", "Oxycodon", "5 mg"},
                {"El paciente toma Tramadol 50-100 mg cada 8 horas", "Tramadol", "50 mg"}},
               false);
}

TEST(Doses, OfASyrupAreWhatIsGivenOfIt) {
  expect_doses({{"Amoxicillin 400 mg/5 mL, give 6 mL BID", "Amoxicillin", "6 mL", "BID"}}, true);
}

TEST(Doses, AreTakenAtIntervalsHoweverTheyAreWritten) {
  expect_doses({{"Ibuprofen 400 mg q6hr", "Ibuprofen", "400 mg", "q6hr"},
                {"Ibuprofen 400 mg q8hrs", "Ibuprofen", "400 mg", "q8hrs"},
                {"Ibuprofen 400 mg q4-6 hours prn", "Ibuprofen", "400 mg", "q4-6 hours prn"},
                {"Denosumab 60 mg SC q6months", "Denosumab", "60 mg", "q6months"},
                {"Nitroglycerin 0.4 mg SL q5min prn", "Nitroglycerin", "0.4 mg", "q5min prn"}},
               true);
}

}  // namespace
}  // namespace millrace::extract
