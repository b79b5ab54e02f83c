// Laboratory values and vital signs: in lines, tables and prose.
#include "extract/trial.h"

#include <gtest/gtest.h>

namespace millrace::extract {
namespace {

using layout::clinical::FactType;

constexpr auto kObservation = FactType::Observation;

TEST(Observations, OfALineHaveUnitRangeAndFlag) {
  const auto trial = try_lines({"Laboratory results", "Haemoglobin 10.2 g/dL (12.0 - 16.0) L"});
  const auto& fact = trial.fact(kObservation, "Haemoglobin");
  EXPECT_EQ(quantity_at(fact, "value"), "10.2 g/dL");
  EXPECT_EQ(range_at(fact), "12..16");
  EXPECT_EQ(text_at(fact, "flag"), "low");
}

TEST(Observations, OfATableFollowItsHeaderInAnyOrder) {
  const auto trial = try_pages(
      {table_of({"Laboratory report"}, {{"Test", "Reference range", "Unit", "Result", "Flag"},
                                        {"Potassium", "3.5 - 5.1", "mmol/L", "5.9", "H"},
                                        {"Krelofin", "10 - 40", "pmol/L", "29.6", ""},
                                        {"Sodium", "135 - 145", "mmol/L", "140", ""}})});
  const auto& known = trial.fact(kObservation, "Potassium");
  EXPECT_EQ(quantity_at(known, "value"), "5.9 mmol/L");
  EXPECT_EQ(range_at(known), "3.5..5.1");
  EXPECT_EQ(text_at(known, "flag"), "high");
  const auto& unknown = trial.fact(kObservation, "Krelofin");
  EXPECT_EQ(quantity_at(unknown, "value"), "29.6 pmol/L");
  EXPECT_EQ(range_at(unknown), "10..40");
}

TEST(Observations, OfProseAreFoundByTheirUnitsWhateverTheirName) {
  const auto trial =
      try_lines({"Blood tests on 17 June 2023 showed Krelofin 3 6.8 ng/mL, Urea 14.6 mmol/L and "
                 "Blorvin A 43 nmol/L."});
  EXPECT_EQ(quantity_at(trial.fact(kObservation, "Krelofin 3"), "value"), "6.8 ng/mL");
  EXPECT_EQ(quantity_at(trial.fact(kObservation, "Blorvin A"), "value"), "43 nmol/L");
  EXPECT_EQ(text_at(trial.fact(kObservation, "Urea"), "effective"), "2023-06-17");
}

TEST(Observations, KeepComparatorsAndWords) {
  const auto trial =
      try_pages({table_of({"Laboratory report"}, {{"Test", "Result", "Unit", "Reference range"},
                                                  {"C-reactive protein", "<0.5", "mg/L", "< 5.0"},
                                                  {"Urine nitrite", "negative", "", ""},
                                                  {"Sodium", "140", "mmol/L", "135 - 145"}})});
  const auto& compared = trial.fact(kObservation, "C-reactive protein");
  EXPECT_EQ(text_at(compared, "comparator"), "<");
  EXPECT_EQ(quantity_at(compared, "value"), "0.5 mg/L");
  EXPECT_EQ(range_at(compared), "..5");
  EXPECT_EQ(text_at(trial.fact(kObservation, "Urine nitrite"), "text"), "negative");
}

TEST(Observations, ReadACommaAsDecimalWhereTheLanguageDoes) {
  const auto trial = try_lines({"Laborwerte", "Kalium 4,1 mmol/l (3,5 - 5,1)",
                                "Die Werte der Patientin sind im Übrigen nicht auffällig."});
  const auto& fact = trial.fact(kObservation, "Kalium");
  EXPECT_EQ(quantity_at(fact, "value"), "4.1 mmol/L");
  EXPECT_EQ(range_at(fact), "3.5..5.1");
}

TEST(Observations, HoldVitalSigns) {
  const auto trial =
      try_lines({"On examination blood pressure was 132/84 mmHg, heart rate 76/min, temperature "
                 "37.2 °C and weight 81 kg."});
  EXPECT_EQ(text_at(trial.fact(kObservation, "blood pressure"), "text"), "132/84 mmHg");
  EXPECT_EQ(quantity_at(trial.fact(kObservation, "heart rate"), "value"), "76 /min");
  EXPECT_EQ(quantity_at(trial.fact(kObservation, "temperature"), "value"), "37.2 Cel");
  EXPECT_EQ(quantity_at(trial.fact(kObservation, "weight"), "value"), "81 kg");
}

TEST(Observations, ThatMayHaveLostTheirPointAreForReview) {
  const auto trial = try_lines(
      {"Laboratory results", "Potassium 41 mmol/L (3.5 - 5.1)", "Sodium 152 mmol/L (135 - 145)"});
  EXPECT_LT(trial.fact(kObservation, "Potassium").conf, 0.85);
  EXPECT_GE(trial.fact(kObservation, "Sodium").conf, 0.85);
}

TEST(Observations, AreNotMadeOfTornNumbers) {
  EXPECT_EQ(try_lines({"Laboratory results", "C-reactive protein 3:26 mg/L"}).count(kObservation),
            0U);
}

TEST(Observations, AreNotMadeOfInvoices) {
  const auto trial =
      try_lines({"INVOICE", "4 Pulse oximeter 2 161.93 323.86", "Total due 2092.73"});
  EXPECT_EQ(trial.count(kObservation), 0U);
}

}  // namespace
}  // namespace millrace::extract
