// Results: laboratory values in lines and prose, by the names and the numbers that people write.
#include "extract/trial.h"

#include <gtest/gtest.h>

namespace millrace::extract {
namespace {

using layout::clinical::Category;
using layout::clinical::FactType;

constexpr auto kObservation = FactType::Observation;

struct Said {
  std::string line;
  std::string test;
  std::string value;
  std::string range = {};
};

void expect_results(const std::vector<Said>& all) {
  for (const auto& one : all) {
    SCOPED_TRACE(one.line);
    const auto trial = try_lines({one.line});
    EXPECT_EQ(trial.count(kObservation), 1U);
    const auto& fact = trial.fact(kObservation, one.test);
    EXPECT_EQ(text_at(fact, "comparator") + quantity_at(fact, "value"), one.value);
    if (!one.range.empty()) EXPECT_EQ(range_at(fact), one.range);
    EXPECT_GE(fact.conf, 0.85);
  }
}

void expect_texts(const std::vector<Said>& all) {
  for (const auto& one : all) {
    SCOPED_TRACE(one.line);
    const auto trial = try_lines({one.line});
    const auto& fact = trial.fact(kObservation, one.test);
    EXPECT_EQ(text_at(fact, "text"), one.value);
    EXPECT_EQ(quantity_at(fact, "value"), "");
  }
}

TEST(Results, MayBeginWithTheirPoint) {
  expect_results({{"Troponin I .04 ng/mL", "Troponin I", "0.04 ng/mL"},
                  {"Troponin I <.04 ng/mL", "Troponin I", "<0.04 ng/mL"},
                  {"Creatinine: .9 mg/dL", "Creatinine", "0.9 mg/dL"}});
}

TEST(Results, HaveThousandsPartedBySpacesWhereAUnitFollows) {
  expect_results({{"Plaquettes 250 000/mm3 chez le patient", "Plaquettes", "250000 /uL"},
                  {"Les leucocytes sont à 12 400/mm3 (4 000 - 10 000) ce jour", "leucocytes",
                   "12400 /uL", "4000..10000"},
                  {"Die Thrombozyten der Patientin: 95 000/µl", "Thrombozyten", "95000 /uL"},
                  {"Thrombozyten 250'000/µl bei der Patientin", "Thrombozyten", "250000 /uL"},
                  {"Plaquetas 234 000/mm3 en el paciente", "Plaquetas", "234000 /uL"},
                  {"Natrium 140 135 - 145 bei der Patientin", "Natrium", "140", "135..145"}});
}

TEST(Results, InSpanishHavePointsAndCommasOfBothKinds) {
  expect_results({{"Leucocitos 12,400/µL en el paciente", "Leucocitos", "12400 /uL"},
                  {"Los leucocitos del paciente son 8.430/mm3", "leucocitos", "8430 /uL"},
                  {"Hemoglobina 9,2 g/dL en el paciente", "Hemoglobina", "9.2 g/dL"}});
  // Where the page itself shows the sign, it decides.
  const auto shown =
      try_lines({"Hb 13.4 g/dL, plaquetas 234,000/µL, TSH 2.345 µUI/mL, el paciente está bien."});
  EXPECT_EQ(quantity_at(shown.fact(kObservation, "plaquetas"), "value"), "234000 /uL");
  EXPECT_EQ(quantity_at(shown.fact(kObservation, "TSH"), "value"), "2.345 u[iU]/mL");
  const auto unsure = try_lines({"NT-proBNP 2.345 pg/ml bei der Patientin mit Dyspnoe"});
  EXPECT_LT(unsure.fact(kObservation, "NT-proBNP").conf, 0.85);
}

TEST(Results, AreReadBehindChargesOfIons) {
  expect_results({{"Na+ 138 mmol/L (135–145)", "Na", "138 mmol/L", "135..145"},
                  {"K+ 4.2", "K", "4.2"},
                  {"K⁺: 4.2 mmol/L", "K", "4.2 mmol/L"}});
  const auto panel = try_lines({"Na 138 K 4.2 Cl 101 CO2 24 Cr 1.1"});
  EXPECT_EQ(quantity_at(panel.fact(kObservation, "K"), "value"), "4.2");
  EXPECT_EQ(quantity_at(panel.fact(kObservation, "Cl"), "value"), "101");
}

TEST(Results, ThatAreTitersOrGradesAreWords) {
  expect_texts({{"ANA 1:160", "ANA", "1:160"},
                {"Urine protein 2+", "Urine protein", "2+"},
                {"RPR 1:8", "RPR", "1:8"},
                {"ANA positive 1:320 speckled", "ANA", "positive 1:320"},
                {"ANA-Titer 1:320", "ANA-Titer", "1:320"},
                {"Los ANA 1/320 del paciente", "ANA", "1/320"},
                {"Eiweiß im Urin ++", "Eiweiß im Urin", "++"},
                {"Urine glucose: 3+", "Urine glucose", "3+"},
                {"Urine ketones trace", "Urine ketones", "trace"},
                {"HIV negative", "HIV", "negative"},
                {"Urine WBC 5-10 /hpf", "Urine WBC", "5-10 /hpf"}});
  EXPECT_EQ(try_lines({"Pulses 2+ bilaterally"}).count(kObservation), 0U);
}

TEST(Results, AreNamedWithTheirPartOfASubstance) {
  expect_results({{"Bilirubin, Total 0.8 mg/dL", "Bilirubin, Total", "0.8 mg/dL"},
                  {"Cholesterol, Total 210 mg/dL", "Cholesterol, Total", "210 mg/dL"},
                  {"Calcium, Ionized 1.21 mmol/L", "Calcium, Ionized", "1.21 mmol/L"},
                  {"Creatinine, Serum 1.1 mg/dL", "Creatinine, Serum", "1.1 mg/dL"},
                  {"Glucose, fasting: 110 mg/dL", "Glucose, fasting", "110 mg/dL"},
                  {"Protein, Total, Serum 7.2 g/dL", "Protein, Total, Serum", "7.2 g/dL"},
                  {"Bilirubin, gesamt 1,2 mg/dl", "Bilirubin, gesamt", "1.2 mg/dL"},
                  {"Bilirubine, directe 4 µmol/L", "Bilirubine, directe", "4 umol/L"},
                  {"Calcio, ionizado 1,21 mmol/L", "Calcio, ionizado", "1.21 mmol/L"}});
}

TEST(Results, AreFoundBehindWhenTheyWereTaken) {
  expect_results({{"Hemoglobin on admission was 8.9 g/dL", "Hemoglobin", "8.9 g/dL"},
                  {"Creatinine on 3/14/2024 was 1.8", "Creatinine", "1.8"},
                  {"HbA1c 03/14/2024: 7.2%", "HbA1c", "7.2 %"},
                  {"Potassium was found to be 2.9", "Potassium", "2.9"},
                  {"Potassium this morning was 3.1", "Potassium", "3.1"},
                  {"Lipase came back at 1250 U/L", "Lipase", "1250 U/L"},
                  {"Das CRP bei Aufnahme lag bei 145 mg/l.", "CRP", "145 mg/L"},
                  {"Kreatinin am 12.03.2024: 1,8 mg/dl", "Kreatinin", "1.8 mg/dL"},
                  {"L'hémoglobine à l'entrée était à 8,9 g/dL.", "hémoglobine", "8.9 g/dL"},
                  {"La créatinine ce jour est à 180 µmol/L.", "créatinine", "180 umol/L"},
                  {"La hemoglobina al ingreso fue de 8,9 g/dL.", "hemoglobina", "8.9 g/dL"},
                  {"La glucosa hoy es de 210 mg/dL", "glucosa", "210 mg/dL"}});
  EXPECT_EQ(try_lines({"Hemoglobin on 2 occasions was normal."}).count(kObservation), 0U);
  const auto home = try_lines({"Creatinina al alta 1,8 mg/dL en el paciente"});
  EXPECT_EQ(text_at(home.fact(kObservation, "Creatinina"), "flag"), "");
}

TEST(Results, AreWhatTheyAreNow) {
  expect_results({{"Lactate 4.2 -> 2.1 mmol/L", "Lactate", "2.1 mmol/L"},
                  {"Creatinine 1.1 → 2.3 mg/dL", "Creatinine", "2.3 mg/dL"},
                  {"Creatinine (baseline 1.1) now 2.3 mg/dL", "Creatinine", "2.3 mg/dL"},
                  {"Kreatinin (Vorwert 1,1) jetzt 2,3 mg/dl", "Kreatinin", "2.3 mg/dL"}});
}

TEST(Results, AreNotMadeOfNumbersInNames) {
  expect_results({{"Vitamin D 25-OH 18 ng/mL", "Vitamin D 25-OH", "18 ng/mL"},
                  {"Vitamin D, 25-OH 18 ng/mL", "Vitamin D, 25-OH", "18 ng/mL"},
                  {"25-OH Vitamin D 31 ng/mL", "25-OH Vitamin D", "31 ng/mL"},
                  {"17-OH progesterone 2.1 ng/mL", "17-OH progesterone", "2.1 ng/mL"}});
}

TEST(Results, HaveTheUnitOfTheirRange) {
  expect_results({{"Sodium 140 135-145 mmol/L", "Sodium", "140 mmol/L", "135..145"},
                  {"Potassium 5.9 H 3.5-5.1 mmol/L", "Potassium", "5.9 mmol/L", "3.5..5.1"},
                  {"MCV 88 80-100 fL", "MCV", "88 fL", "80..100"},
                  {"WBC 4.5 4.0-11.0 10^3/uL", "WBC", "4.5 10*3/uL", "4..11"}});
}

TEST(Results, InSmallLettersAreNamedAsInCapitals) {
  expect_results({{"wbc 12.3 K/uL", "wbc", "12.3 10*3/uL"}, {"A1c of 8.1%", "A1c", "8.1 %"}});
}

}  // namespace
}  // namespace millrace::extract
