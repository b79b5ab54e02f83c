// Whose a result is, and what is only waited for.
#include "extract/said.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace millrace::extract {
namespace {

using layout::clinical::FactType;

constexpr auto kObservation = FactType::Observation;

using Cases = std::vector<std::pair<std::vector<std::string>, std::string>>;

void expect_observations(const Cases& cases) {
  for (const auto& [lines, wanted] : cases) {
    EXPECT_EQ(said(lines, kObservation), wanted) << lines.front();
  }
}

TEST(Measured, OfRelativesAreTheFamilys) {
  expect_observations({
      {{"Family history", "Father: cholesterol 310 mg/dL"}, "family:cholesterol 310 mg/dL"},
      {{"Mother's HbA1c was 9.1 %."}, "family:HbA1c 9.1 %"},
      {{"Brother: diabetes, HbA1c 9.4 %"}, "family:HbA1c 9.4 %"},
      {{"Her mother, who has diabetes with an A1c of 10.2%, is well."}, "family:A1c 10.2 %"},
      {{"Die Mutter hatte ein LDL von 240 mg/dl."}, "family:LDL 240 mg/dL"},
      {{"Antecedentes familiares: padre con colesterol 320 mg/dl."}, "family:colesterol 320 mg/dL"},
  });
}

TEST(Measured, BesideRelativesAreThePatients) {
  expect_observations({
      {{"52-year-old woman with a family history of CAD, LDL 190 mg/dL, BP 150/90."},
       "LDL 190 mg/dL; BP 150/90"},
      {{"She takes care of her father. Her potassium was 4.1 mmol/L."}, "potassium 4.1 mmol/L"},
      {{"His father reports a temperature of 39.2 °C at home."}, "temperature 39.2 Cel"},
      {{"Family history: father died of MI at 52.", "Laboratory results", "LDL 190 mg/dL"},
       "LDL 190 mg/dL"},
      {{"Familienanamnese: Vater mit KHK, LDL 210 mg/dl.", "Labor: LDL 130 mg/dl"},
       "family:LDL 210 mg/dL; LDL 130 mg/dL"},
  });
}

TEST(Measured, ThatMayBeOfEitherAreForReview) {
  expect_observations({
      {{"Mother has gout, uric acid 9.1 mg/dL."}, "uric acid 9.1 mg/dL!"},
      {{"FAMILY HISTORY", "Mother: breast cancer", "BP 128/76"}, "BP 128/76!"},
  });
}

// Who takes a temperature has not got it; a medicine that she takes is hers.
TEST(Measured, ByRelativesAreThePatients) {
  expect_observations({
      {{"His mother measured a temperature of 39.2 °C."}, "temperature 39.2 Cel"},
      {{"Mother took temperature of 38.9 °C at home."}, "temperature 38.9 Cel"},
      {{"Mother checked his glucose: 312 mg/dL."}, "glucose 312 mg/dL"},
      {{"Wife takes her BP: 180/110 mmHg."}, "BP 180/110 mmHg"},
      {{"Called by daughter because of BP 200/110 mmHg."}, "BP 200/110 mmHg"},
      {{"EMS called by family for glucose of 38 mg/dL."}, "glucose 38 mg/dL"},
      {{"Son aware of creatinine 4.2 mg/dL."}, "creatinine 4.2 mg/dL"},
      {{"Daughter was informed of potassium 6.1 mmol/L."}, "potassium 6.1 mmol/L"},
  });
  EXPECT_EQ(said({"Mother takes metformin 500 mg BID."}), "family:metformin 500 mg BID");
}

TEST(Measured, OfRelativesWhoOnlyStandBesideAreForReview) {
  expect_observations({
      {{"Infant of diabetic mother with glucose of 45 mg/dL."}, "glucose 45 mg/dL!"},
      {{"Mother has measured a temperature of 39.2 °C."}, "temperature 39.2 Cel!"},
      {{"Mother takes insulin for HbA1c of 9.1 %."}, "HbA1c 9.1 %!"},
      {{"His father died with LDL 240 mg/dL."}, "LDL 240 mg/dL!"},
      {{"Father (62) had LDL 240 mg/dL."}, "family:LDL 240 mg/dL"},
      {{"Brother with HbA1c 9.4 %."}, "family:HbA1c 9.4 %"},
  });
}

TEST(Measured, ThatAreWaitedForAreNotMeasured) {
  expect_observations({
      {{"If potassium is above 5.5 mmol/L stop ramipril."}, ""},
      {{"If potassium is > 5.5 mmol/L stop ramipril."}, "?potassium >5.5 mmol/L"},
      {{"Lisinopril 10 mg daily, hold for SBP < 100 or HR < 55."}, "?SBP <100; ?HR <55"},
      {{"Transfuse when Hb < 7 g/dL."}, "?Hb <7 g/dL"},
      {{"HbA1c target < 7 %, today HbA1c 8.2 %."}, "?HbA1c target <7 %; HbA1c 8.2 %"},
      {{"En cas de kaliémie > 5,5 mmol/L, arrêter le ramipril. Kaliémie 4,9 mmol/L ce jour."},
       "?kaliémie >5.5 mmol/L; Kaliémie 4.9 mmol/L"},
  });
}

TEST(Measured, AreNotSupposedByWhatElseIs) {
  expect_observations({
      {{"At risk of AKI with creatinine 3.1 mg/dL."}, "creatinine 3.1 mg/dL"},
      {{"Asked if she has fever; temperature 37.1 °C."}, "temperature 37.1 Cel"},
      {{"History of falls, BP 120/80, weight 61 kg."}, "BP 120/80; weight 61 kg"},
      {{"Prior HbA1c 8.4 %, HbA1c 7.1 % now."}, "<HbA1c 8.4 %; HbA1c 7.1 %"},
  });
}

TEST(Measured, AreNotSupposedByWhatIsConsideredForThem) {
  expect_observations({
      {{"Hemoglobin 6.8 g/dL so transfusion should be considered."}, "Hemoglobin 6.8 g/dL"},
      {{"HbA1c 9.2 % so insulin could be considered."}, "HbA1c 9.2 %"},
      {{"With HbA1c of 9.2 % insulin should be considered."}, "HbA1c 9.2 %"},
  });
}

TEST(Measured, AreNotSupposedWhereTheyAreWhyOneWatches) {
  expect_observations({
      {{"Monitor for hyperkalemia as potassium was 5.8 mmol/L."}, "potassium 5.8 mmol/L"},
      {{"Monitor for bleeding given INR 4.5."}, "INR 4.5"},
      {{"Watch for bleeding with INR 4.5."}, "INR 4.5"},
      {{"Watch for bleeding with INR > 4.5."}, "?INR >4.5"},
      {{"Watch for bleeding such as Hb of 7 g/dL."}, "?Hb 7 g/dL"},
      {{"Stop ramipril if potassium was 5.5 mmol/L."}, "?potassium 5.5 mmol/L"},
  });
}

TEST(Measured, AreSupposedByFallsInGermanOnly) {
  expect_observations({
      {{"Falls with BP 92/50 mmHg."}, "BP 92/50 mmHg"},
      {{"Monitor for falls with BP 92/50 mmHg."}, "BP 92/50 mmHg"},
      {{"Falls Kalium > 5,5 mmol/L Ramipril absetzen."}, "?Kalium >5.5 mmol/L"},
      {{"Falls das Kalium bei 5,8 mmol/L liegt, Ramipril absetzen."}, "?Kalium 5.8 mmol/L"},
  });
}

TEST(Measured, AreNeverDenied) {
  EXPECT_EQ(said({"No fever, CRP 4 mg/L, urine nitrite negative."}, kObservation),
            "CRP 4 mg/L; urine nitrite negative");
}

TEST(Measured, AreToldAsWhatTheyAre) {
  const auto told = [](const std::string& line) {
    const auto trial = try_lines({line});
    return trial.narrative.sentences.empty() ? std::string() : trial.narrative.sentences[0].text;
  };
  EXPECT_EQ(told("Mother's HbA1c was 9.1 %."), "In the family: HbA1c: 9.1 %.");
  EXPECT_EQ(told("Transfuse when Hb < 7 g/dL."), "Only mentioned as a possibility: Hb: < 7 g/dL.");
  EXPECT_EQ(told("Hb 9.1 g/dL"), "Hb: 9.1 g/dL.");
}

}  // namespace
}  // namespace millrace::extract
