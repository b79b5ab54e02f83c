// What is denied, past, supposed and told by others, of medicines above all.
#include "extract/trial.h"

#include <gtest/gtest.h>

#include <utility>

namespace millrace::extract {
namespace {

using layout::clinical::FactType;
using layout::clinical::Polarity;
using layout::clinical::Subject;
using layout::clinical::Temporality;

// "lisinopril", "-aspirin" denied, "<warfarin" past, "?fever" supposed.
std::string told(const Trial& trial, FactType type) {
  std::string out;
  for (const auto& fact : trial.extraction.facts) {
    if (fact.type != type) continue;
    if (!out.empty()) out += ' ';
    const auto& assertion = fact.assertion;
    if (assertion.polarity == Polarity::negated) out += '-';
    if (assertion.temporality == Temporality::historical) out += '<';
    if (assertion.temporality == Temporality::hypothetical) out += '?';
    out += fact.name();
  }
  return out;
}

void expect_told(FactType type, const std::vector<std::pair<std::string, std::string>>& cases) {
  for (const auto& [line, wanted] : cases) EXPECT_EQ(told(try_lines({line}), type), wanted) << line;
}

void expect_medicines(const std::vector<std::pair<std::string, std::string>>& cases) {
  expect_told(FactType::MedicationStatement, cases);
}

void expect_conditions(const std::vector<std::pair<std::string, std::string>>& cases) {
  expect_told(FactType::Condition, cases);
}

TEST(MedicineAssertions, AreNotSupposedByWhatTheyAreGivenAgainst) {
  expect_medicines(
      {{"DVT prophylaxis with enoxaparin 40 mg SC daily", "enoxaparin"},
       {"Heparin 5000 units SC for DVT prophylaxis, pantoprazole 40 mg IV daily",
        "Heparin pantoprazole"},
       {"Given his risk of stroke we started apixaban 5 mg BID", "apixaban"},
       {"To prevent migraine she takes propranolol 40 mg twice daily", "propranolol"},
       {"Zur Prophylaxe Enoxaparin 40 mg s.c.", "Enoxaparin"},
       {"Pour la prévention de la thrombose, énoxaparine 40 mg par jour", "énoxaparine"},
       {"Return if bleeding on warfarin.", "?warfarin"}});
  expect_conditions({{"Given his risk of stroke we started apixaban 5 mg BID", "?stroke"}});
}

TEST(MedicineAssertions, AreNotForbiddenByWhatElseIs) {
  expect_medicines(
      {{"Avoid heavy lifting and take ibuprofen 400 mg as needed", "ibuprofen"},
       {"Avoid NSAIDs, use acetaminophen 500 mg q6h", "acetaminophen"},
       {"Avoid ibuprofen, take acetaminophen 500 mg every 6 hours.", "-ibuprofen acetaminophen"},
       {"Do not take ibuprofen, use acetaminophen 500 mg instead.", "-ibuprofen acetaminophen"},
       {"Éviter l'ibuprofène et prendre du paracétamol 500 mg", "-ibuprofène paracétamol"},
       {"Evitar ibuprofeno y tomar paracetamol 500 mg", "-ibuprofeno paracetamol"},
       {"Avoid grapefruit with simvastatin 20 mg.", "simvastatin"},
       {"Avoid ibuprofen and naproxen", "-ibuprofen -naproxen"},
       {"Avoid all NSAIDs including ibuprofen", "-ibuprofen"},
       {"She refused to take her lisinopril.", "-lisinopril"}});
}

TEST(MedicineAssertions, AreNotStoppedWithSomethingElse) {
  expect_medicines(
      {{"Stop smoking and take aspirin 81 mg daily", "aspirin"},
       {"She stopped smoking in 2010 and is on atorvastatin 40 mg daily.", "atorvastatin"},
       {"She completed chemotherapy, on tamoxifen 20 mg daily.", "tamoxifen"},
       {"Stop metformin and continue lisinopril 10 mg daily", "<metformin lisinopril"},
       {"Stop taking ibuprofen", "<ibuprofen"},
       {"Stop ibuprofen and naproxen", "<ibuprofen <naproxen"}});
}

TEST(MedicineAssertions, AreNotAsPastAsWhatTheyAreGivenFor) {
  expect_medicines(
      {{"67-year-old man with a history of hypertension on lisinopril 10 mg daily", "lisinopril"},
       {"s/p MI on aspirin 81 mg", "aspirin"},
       {"Status post stroke, on clopidogrel 75 mg daily", "clopidogrel"},
       {"Zustand nach Myokardinfarkt unter ASS 100 mg täglich", "ASS"},
       {"Antécédent d'infarctus sous aspirine 75 mg par jour", "aspirine"},
       {"Antecedente de infarto en tratamiento con aspirina 100 mg al día", "aspirina"},
       {"She was on warfarin", "<warfarin"},
       {"Previously on metformin", "<metformin"},
       {"Previously stable on metformin.", "<metformin"},
       {"History of being on metformin", "<metformin"}});
}

TEST(MedicineAssertions, AreDeniedByContractions) {
  expect_medicines({{"She doesn't take aspirin", "-aspirin"},
                    {"She doesn\u2019t take aspirin.", "-aspirin"},
                    {"He isn't taking lisinopril.", "-lisinopril"},
                    {"He hasn't been on metformin", "-metformin"},
                    {"He won't take statins such as atorvastatin.", "-atorvastatin"},
                    {"Metformin was never started.", "-Metformin"},
                    {"No toma aspirina.", "-aspirina"},
                    {"Elle ne prend pas d'aspirine.", "-aspirine"},
                    {"Sie nimmt kein Aspirin.", "-Aspirin"}});
}

TEST(MedicineAssertions, EndWhereTheyAreSaidToHaveEnded) {
  expect_medicines({{"D/C lisinopril", "<lisinopril"},
                    {"Lisinopril was d/c'd last week", "<Lisinopril"},
                    {"dc'd lisinopril", "<lisinopril"},
                    {"He is currently off warfarin", "<warfarin"},
                    {"Off metformin since June.", "<metformin"},
                    {"She completed a course of azithromycin", "<azithromycin"},
                    {"He finished his prednisone taper.", "<prednisone"},
                    {"She no longer needs insulin", "<insulin"},
                    {"No longer using albuterol", "<albuterol"},
                    {"Ya no toma aspirina.", "<aspirina"},
                    {"Elle ne prend plus d'aspirine.", "<aspirine"},
                    {"Patient D/C home on lisinopril 10 mg daily", "lisinopril"}});
}

TEST(MedicineAssertions, AreNotDeniedByWhatDeniesSomethingElse) {
  expect_medicines(
      {{"Don't stop lisinopril.", "lisinopril"},
       {"Her blood pressure isn't well controlled on lisinopril 20 mg daily.", "lisinopril"},
       {"She didn't respond to amoxicillin.", "amoxicillin"},
       {"She can't sleep, on zolpidem 5 mg nightly.", "zolpidem"},
       {"Without fever or dyspnea on lisinopril 10 mg daily", "lisinopril"},
       {"He doesn't smoke, and takes aspirin 81 mg daily.", "aspirin"},
       {"Kein Fieber, keine Dyspnoe, nimmt Ramipril 5 mg täglich", "Ramipril"}});
}

TEST(ConditionAssertions, AreDeniedByContractions) {
  expect_conditions({{"CT didn't show pneumonia.", "-pneumonia"},
                     {"There wasn't any fever or cough.", "-fever -cough"},
                     {"She hasn't had a stroke.", "-stroke"},
                     {"He doesn't have asthma but has COPD.", "-asthma COPD"},
                     {"We can't rule out pneumonia.", "pneumonia"},
                     {"Diabetes? No. Asthma? Yes.", "-Diabetes Asthma"}});
}

TEST(ConditionAssertions, EndAtTheNextPhraseOfADenial) {
  expect_conditions({{"Without wheezing, moderate edema.", "-wheezing edema"},
                     {"No fever, chills, or night sweats.", "-fever -chills -night sweats"}});
}

// What stands behind an exception is there, what stands before it is not.
TEST(ConditionAssertions, HaveExceptions) {
  expect_conditions({{"No complaints except headache.", "headache"},
                     {"Denies fever, chills, apart from a cough.", "-fever -chills cough"}});
}

TEST(ConditionAssertions, AreThePatientsInTheCompanyOfRelatives) {
  for (const auto& [line, name] : std::vector<std::pair<std::string, std::string>>{
           {"Brought in by her daughter with chest pain.", "chest pain"},
           {"Mother reports fever for 3 days.", "fever"},
           {"Lives with her sister and has asthma.", "asthma"}}) {
    EXPECT_EQ(try_lines({line}).fact(FactType::Condition, name).subject, Subject::patient) << line;
  }
  EXPECT_EQ(try_lines({"His mother had asthma."}).fact(FactType::Condition, "asthma").subject,
            Subject::family);
}

// A page of nothing but commas: what is read of it grows with its length, and not with its cube.
TEST(ConditionAssertions, OfALongListAreReadOnce) {
  std::vector<std::string> lines = {"No fever, severe cough, severe cough, severe cough,"};
  for (int i = 0; i < 20; ++i) lines.emplace_back("severe cough, severe cough, severe cough,");
  EXPECT_EQ(try_lines(lines).count(FactType::Condition), 64U);
}

}  // namespace
}  // namespace millrace::extract
