// Conditions, allergies, procedures, people: and above all what is denied, supposed or somebody
// else's.
#include "extract/trial.h"

#include <gtest/gtest.h>

namespace millrace::extract {
namespace {

using layout::clinical::Assertion;
using layout::clinical::Category;
using layout::clinical::Certainty;
using layout::clinical::FactType;
using layout::clinical::Polarity;
using layout::clinical::Subject;
using layout::clinical::Temporality;

const auto& condition(const Trial& trial, std::string_view name) {
  return trial.fact(FactType::Condition, name);
}

bool denied(const Trial& trial, std::string_view name) {
  return condition(trial, name).assertion.polarity == Polarity::negated;
}

// A form offers conditions; what somebody has ticked is said.
TEST(Assertions, AreNotMadeByEmptyBoxes) {
  const auto trial = try_lines({"Conditions", "☐ Asthma", "☑ Hypertension", "[ ] Pneumonia"});
  EXPECT_EQ(trial.texts(Category::condition), std::vector<std::string>{"Hypertension"});
  EXPECT_EQ(trial.count(FactType::Condition), 1U);
}

TEST(Assertions, EndWhereASentenceTurns) {
  const auto trial = try_lines({"She denies chest pain but reports fever."});
  EXPECT_TRUE(denied(trial, "chest pain"));
  EXPECT_FALSE(denied(trial, "fever"));
}

TEST(Assertions, DenyAWholeList) {
  const auto trial = try_lines({"He denies dizziness, grobulation or vomiting."});
  EXPECT_TRUE(denied(trial, "dizziness"));
  EXPECT_TRUE(denied(trial, "grobulation"));
  EXPECT_TRUE(denied(trial, "vomiting"));
}

TEST(Assertions, AreDeniedInFourLanguages) {
  EXPECT_TRUE(denied(try_lines({"There was no evidence of pneumonia."}), "pneumonia"));
  EXPECT_TRUE(denied(try_lines({"Pulmonary embolism was ruled out."}), "Pulmonary embolism"));
  EXPECT_TRUE(
      denied(try_lines({"Kein Hinweis auf eine Pneumonie bei der Patientin."}), "Pneumonie"));
  EXPECT_TRUE(
      denied(try_lines({"Brustschmerzen und Schwindel wurden verneint."}), "Brustschmerzen"));
  EXPECT_TRUE(denied(try_lines({"La patiente nie toute dyspnée et pas de fièvre."}), "fièvre"));
  EXPECT_TRUE(denied(try_lines({"El paciente niega disnea y no presenta fiebre."}), "disnea"));
}

TEST(Assertions, AreNotDeniedByWordsThatOnlyLookLikeIt) {
  EXPECT_FALSE(denied(try_lines({"There was no change in her asthma."}), "asthma"));
}

TEST(Assertions, OfRelativesAreTheFamilys) {
  for (const auto& [line, name] : std::vector<std::pair<std::string, std::string>>{
           {"Her mother had breast cancer.", "breast cancer"},
           {"There is a family history of gout.", "gout"},
           {"Ihre Mutter hatte Brustkrebs.", "Brustkrebs"},
           {"Son père avait un diabète.", "diabète"},
           {"Su madre padecía asma.", "asma"},
           {"Father: migraine.", "migraine"}}) {
    EXPECT_EQ(condition(try_lines({line}), name).subject, Subject::family) << line;
  }
}

TEST(Assertions, UnderFamilyHistoryAreTheFamilys) {
  const auto trial =
      try_lines({"Family history", "Type 2 diabetes, hypertension", "", "Diagnoses", "Asthma"});
  EXPECT_EQ(condition(trial, "hypertension").subject, Subject::family);
  EXPECT_EQ(condition(trial, "Asthma").subject, Subject::patient);
}

TEST(Assertions, OfWarningsAreHypothetical) {
  for (const auto* line : {"Return if fever occurs.", "Call us in case of fever.",
                           "Should fever develop, come back."}) {
    EXPECT_EQ(condition(try_lines({line}), "fever").assertion.temporality,
              Temporality::hypothetical)
        << line;
  }
}

TEST(Assertions, KnowThePastAndDoubt) {
  EXPECT_EQ(condition(try_lines({"There is a history of stroke."}), "stroke").assertion.temporality,
            Temporality::historical);
  EXPECT_EQ(
      condition(try_lines({"Suspected pneumonia was treated."}), "pneumonia").assertion.certainty,
      Certainty::possible);
  EXPECT_EQ(
      condition(try_lines({"The picture is consistent with gout."}), "gout").assertion.certainty,
      Certainty::probable);
}

TEST(Conditions, OfAListAreItsLinesWhateverTheirName) {
  const auto trial = try_lines(
      {"Diagnoses", "1. Blorvin-Katz dyscrasia, first diagnosed in 2020", "2. Hypertension"});
  EXPECT_EQ(text_at(condition(trial, "Blorvin-Katz dyscrasia"), "onset"), "2020");
  EXPECT_EQ(trial.count(FactType::Condition), 2U);
}

TEST(Conditions, BehindADiagnosisAreFoundWhateverTheirName) {
  const auto trial = try_lines({"She was diagnosed with grobulation in 2018."});
  EXPECT_EQ(text_at(condition(trial, "grobulation"), "onset"), "2018");
}

TEST(Allergies, HaveReactionsAndSeverity) {
  const auto trial = try_lines({"Allergies: penicillin (severe rash), blorvanol - hives; latex"});
  const auto& known = trial.fact(FactType::AllergyIntolerance, "penicillin");
  EXPECT_EQ(text_at(known, "reaction"), "rash");
  EXPECT_EQ(text_at(known, "severity"), "severe");
  EXPECT_EQ(text_at(trial.fact(FactType::AllergyIntolerance, "blorvanol"), "reaction"), "hives");
  EXPECT_EQ(trial.count(FactType::AllergyIntolerance), 3U);
}

TEST(Allergies, OfProseAreFoundInFourLanguages) {
  EXPECT_EQ(text_at(try_lines({"She is allergic to blorvanol (urticaria)."})
                        .fact(FactType::AllergyIntolerance, "blorvanol"),
                    "reaction"),
            "urticaria");
  try_lines({"Die Patientin ist allergisch gegen Blorvanol."})
      .fact(FactType::AllergyIntolerance, "Blorvanol");
  try_lines({"La patiente est allergique au blorvanol."})
      .fact(FactType::AllergyIntolerance, "blorvanol");
  try_lines({"El paciente es alérgico a la penicilina."})
      .fact(FactType::AllergyIntolerance, "penicilina");
}

TEST(Allergies, ThatAreNotKnownAreDenied) {
  for (const auto* line :
       {"Allergies: No known drug allergies", "Allergies: NKDA",
        "Allergien: Keine bekannten Allergien", "Allergies : Pas d'allergie connue",
        "Alergias: Sin alergias conocidas"}) {
    const auto trial = try_lines({line});
    ASSERT_EQ(trial.count(FactType::AllergyIntolerance), 1U) << line;
    EXPECT_EQ(trial.extraction.facts.front().assertion.polarity, Polarity::negated) << line;
  }
}

TEST(Allergies, OfATableFollowItsHeader) {
  const auto trial = try_pages({table_of({"Allergies"}, {{"Substance", "Reaction", "Severity"},
                                                         {"Blorvanol", "swelling", "mild"},
                                                         {"Penicillin", "rash", "severe"},
                                                         {"Latex", "hives", "mild"}})});
  const auto& fact = trial.fact(FactType::AllergyIntolerance, "Blorvanol");
  EXPECT_EQ(text_at(fact, "reaction"), "swelling");
  EXPECT_EQ(text_at(fact, "severity"), "mild");
}

TEST(Procedures, HaveDates) {
  const auto trial =
      try_lines({"A colonoscopy was performed on 5 May 2023. Status after appendectomy."});
  EXPECT_EQ(text_at(trial.fact(FactType::Procedure, "colonoscopy"), "date"), "2023-05-05");
  EXPECT_EQ(trial.fact(FactType::Procedure, "appendectomy").assertion.temporality,
            Temporality::historical);
}

TEST(Procedures, AreNotDeniedByWhatTheyRuledOut) {
  const auto trial = try_lines({"Gastroscopy ruled out a gastric ulcer."});
  EXPECT_EQ(trial.fact(FactType::Procedure, "Gastroscopy").assertion.polarity, Polarity::affirmed);
  EXPECT_TRUE(denied(trial, "gastric ulcer"));
}

TEST(Immunizations, HaveDatesAndLots) {
  const auto trial =
      try_pages({table_of({"Immunization record"}, {{"Vaccine", "Date", "Lot"},
                                                    {"Tetanus", "03/05/2021", "AB1234"},
                                                    {"Blorvax", "04/06/2021", "CD5678"},
                                                    {"Influenza", "10/20/2022", "EF9012"}})});
  const auto& fact = trial.fact(FactType::Immunization, "Blorvax");
  EXPECT_EQ(text_at(fact, "date"), "2021-04-06");
  EXPECT_EQ(text_at(fact, "lot"), "CD5678");
}

TEST(People, AreThePatientAndThePractitioners) {
  const auto trial =
      try_lines({"Patient: Zoë Müller", "Date of birth: 12 March 1970", "MRN: 49-57374",
                 "Sex: female", "", "Yours sincerely,", "Dr. Jane Doe"});
  const auto& patient = trial.fact(FactType::Patient, "Zoë Müller");
  EXPECT_EQ(text_at(patient, "birth_date"), "1970-03-12");
  EXPECT_EQ(text_at(patient, "identifier"), "49-57374");
  EXPECT_EQ(text_at(patient, "sex"), "female");
  trial.fact(FactType::Practitioner, "Jane Doe");
}

// What ends a letter is no item of the list above it.
TEST(People, WhoSignBehindAClosingAreNoItemsOfTheListAboveIt) {
  const auto trial =
      try_lines({"Medications", "Metformin 500 mg twice daily", "Yours sincerely, Dr. Jane Doe"});
  EXPECT_EQ(trial.texts(Category::medication_name), std::vector<std::string>{"Metformin"});
  EXPECT_EQ(trial.count(FactType::MedicationStatement), 1U);
  trial.fact(FactType::Practitioner, "Jane Doe");
}

TEST(People, OfTwoFieldsAreOneName) {
  const auto trial =
      try_lines({"Surname: Garrick", "First name: Joanna", "", "Joanna Garrick, 31 August 2022"});
  EXPECT_EQ(trial.texts(Category::person), std::vector<std::string>{"Joanna Garrick"});
}

}  // namespace
}  // namespace millrace::extract
