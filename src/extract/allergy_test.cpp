// Allergies as forms, lists and sentences tell them: what of, what it does, and of what there is
// none.
#include "extract/trial.h"

#include <gtest/gtest.h>

#include <utility>

namespace millrace::extract {
namespace {

using layout::clinical::Category;
using layout::clinical::FactType;
using layout::clinical::Polarity;

using Names = std::vector<std::string>;

// "penicillin (rash)", "-latex" for a denied one.
Names allergies(const Trial& trial) {
  Names out;
  for (const auto& fact : trial.extraction.facts) {
    if (fact.type != FactType::AllergyIntolerance) continue;
    const auto reaction = text_at(fact, "reaction");
    const bool denied = fact.assertion.polarity == Polarity::negated;
    out.push_back((denied ? "-" : "") + std::string(fact.name()) +
                  (reaction.empty() ? "" : " (" + reaction + ")"));
  }
  return out;
}

Names allergies(const std::vector<std::string>& lines) { return allergies(try_lines(lines)); }

using Cases = std::vector<std::pair<std::vector<std::string>, Names>>;

void expect_all(const Cases& cases) {
  for (const auto& [lines, wanted] : cases) {
    const auto trial = try_lines(lines);
    EXPECT_EQ(allergies(trial), wanted) << lines.front();
    EXPECT_EQ(trial.count(FactType::MedicationStatement), 0U) << lines.front();
  }
}

TEST(AllergyAnswers, AreOfWhatStandsBeforeTheWord) {
  expect_all({{{"Latex allergy: No"}, {"-Latex"}},
              {{"Penicillin allergy: Yes"}, {"Penicillin"}},
              {{"Penicillin allergy: anaphylaxis"}, {"Penicillin (anaphylaxis)"}},
              {{"Iodine allergy: none"}, {"-Iodine"}},
              {{"Sulfa allergy: hives and swelling"}, {"Sulfa (hives and swelling)"}},
              {{"Penicillin allergy: denied"}, {"-Penicillin"}},
              {{"Latex allergy - no"}, {"-Latex"}},
              {{"Latex allergy? No"}, {"-Latex"}},
              {{"Allergie au latex : non"}, {"-latex"}},
              {{"Alergia a la penicilina: sí"}, {"penicilina"}},
              {{"Mango allergy: No"}, {"-Mango"}},
              {{"Food allergies: none"}, {"-Food allergies"}}});
}

TEST(AllergyAnswers, OfALineWithSeveralQuestionsAreOneEach) {
  EXPECT_EQ(allergies({{"Penicillin allergy: rash Latex allergy: no Iodine allergy: yes"}}),
            (Names{"Penicillin (rash)", "-Latex", "Iodine"}));
}

TEST(AllergyAnswers, GoWithACompoundOfTheSubstance) {
  expect_all({{{"Latex-Allergie: nein"}, {"-Latex-Allergie"}},
              {{"Penicillinallergie: ja"}, {"Penicillinallergie"}},
              {{"Keine Penicillinallergie bekannt."}, {"-Penicillinallergie"}}});
}

TEST(AllergyLeads, AreDashesBracketsAndAdverseReactions) {
  expect_all({{{"Allergies - Amoxicillin (rash)"}, {"Amoxicillin (rash)"}},
              {{"Allergies – Amoxicillin (rash), latex"}, {"Amoxicillin (rash)", "latex"}},
              {{"Allergies (drug): amoxicillin"}, {"amoxicillin"}},
              {{"ADRs: lisinopril (cough)"}, {"lisinopril (cough)"}},
              {{"Adverse drug reactions: codeine (nausea)"}, {"codeine (nausea)"}},
              {{"She is intolerant of codeine."}, {"codeine"}},
              {{"Adverse reaction to codeine"}, {"codeine"}},
              {{"Medication intolerances: metformin (diarrhea)"}, {"metformin (diarrhea)"}},
              {{"Allergy history: penicillin (rash)"}, {"penicillin (rash)"}},
              {{"Allergies reviewed: penicillin."}, {"penicillin"}},
              {{"Her allergies are penicillin and sulfa."}, {"penicillin", "sulfa"}},
              {{"Anaphylaxis to peanuts as a child"}, {"peanuts (Anaphylaxis)"}},
              {{"She developed hives to sulfa."}, {"sulfa (hives)"}},
              {{"Allergien - Penicillin (Exanthem)"}, {"Penicillin (Exanthem)"}},
              {{"Allergies - none known"}, {"-none known"}},
              {{"Drug allergies - NKDA"}, {"-NKDA"}},
              {{"Adr: Musterstraße 3"}, {}}});
}

TEST(AllergyLeads, DoNotMakeSensitivitiesOfACultureAllergies) {
  EXPECT_EQ(allergies({{"Sensitivities: ampicillin, ciprofloxacin"}}), Names{});
}

TEST(AllergyKeys, SayMoreOfTheSubstanceAbove) {
  const auto trial =
      try_lines({"Allergies", "Penicillin", "Reaction: Anaphylaxis", "Severity: Severe"});
  EXPECT_EQ(allergies(trial), Names{"Penicillin (Anaphylaxis)"});
  EXPECT_EQ(text_at(trial.fact(FactType::AllergyIntolerance, "Penicillin"), "severity"), "severe");
  expect_all(
      {{{"Allergies:", "Food: shellfish", "Drug: penicillin (rash)"},
        {"shellfish", "penicillin (rash)"}},
       {{"Allergies", "Drug: codeine", "Reaction: nausea", "Type: intolerance", "Status: active"},
        {"codeine (nausea)"}},
       {{"Allergien", "Penicillin", "Reaktion: Exanthem", "Schweregrad: schwer"},
        {"Penicillin (Exanthem)"}},
       {{"Allergy: Penicillins; Reaction: Hives; Severity: Moderate"}, {"Penicillins (Hives)"}},
       {{"Allergen: Penicillin Reaction: Hives Severity: Mild"}, {"Penicillin (Hives)"}}});
}

TEST(AllergyLines, EndWhereSomethingElseIsSaid) {
  expect_all(
      {{{"Allergies: Penicillin (rash)", "Lungs clear, abdomen soft."}, {"Penicillin (rash)"}},
       {{"Allergies: none", "Hypertension, well controlled."}, {"-none"}},
       {{"Allergies: penicillin,", "sulfa drugs, latex"}, {"penicillin", "sulfa drugs", "latex"}},
       {{"Allergies: penicillin (rash)", "Latex (hives)"}, {"penicillin (rash)", "Latex (hives)"}},
       {{"Allergies: polysorbate (rash), latex", "(hives)."},
        {"polysorbate (rash)", "latex (hives)"}},
       {{"Allergies: Penicillin", "Codeine", "Sulfa"}, {"Penicillin", "Codeine", "Sulfa"}}});
}

TEST(AllergyLines, EndWhereMedicinesBegin) {
  for (const auto& lines : std::vector<std::vector<std::string>>{
           {"Allergies: NKDA", "Metformin 500 mg daily"},
           {"Allergien: keine", "Metformin 500 mg 2x täglich"},
           {"Allergies: NKDA. Medications: Metformin 500 mg daily."}}) {
    const auto trial = try_lines(lines);
    EXPECT_EQ(allergies(trial).size(), 1U) << lines.front();
    EXPECT_EQ(quantity_at(trial.fact(FactType::MedicationStatement, "Metformin"), "dose"),
              "500 mg");
  }
}

TEST(AllergyLines, DoNotGoOnOnTheNextPage) {
  const auto prose = page_of({"Lungs clear, abdomen soft.", "Metformin 500 mg daily"}, 2);
  const auto together = try_pages({page_of({"Allergies: Penicillin (rash)"}, 1), prose});
  EXPECT_EQ(allergies(together), Names{"Penicillin (rash)"});
  EXPECT_EQ(together.count(FactType::MedicationStatement), 1U);
  // Pages come one by one as well.
  const auto first = try_lines({"Allergies: Penicillin (rash)"});
  const auto alone = try_pages({prose}, context_after(first.detection));
  EXPECT_EQ(allergies(alone), Names{});
  const auto list =
      try_pages({page_of({"Codeine", "Quarzelin - hives"}, 2)}, context_after(first.detection));
  EXPECT_EQ(allergies(list), (Names{"Codeine", "Quarzelin (hives)"}));
}

TEST(AllergyCapitals, AreNoHeadings) {
  expect_all({{{"NO KNOWN DRUG ALLERGIES"}, {"-KNOWN DRUG ALLERGIES"}},
              {{"ALLERGIC TO PENICILLIN AND SULFA"}, {"PENICILLIN", "SULFA"}},
              {{"NKDA"}, {"-NKDA"}},
              {{"ALLERGIES", "", "PENICILLIN"}, {"PENICILLIN"}},
              {{"KEINE ALLERGIEN BEKANNT"}, {"-ALLERGIEN BEKANNT"}}});
  EXPECT_EQ(try_lines({"TAKES LISINOPRIL DAILY"}).count(FactType::MedicationStatement), 1U);
  EXPECT_EQ(try_lines({"PATIENT DENIES CHEST PAIN"}).count(FactType::Condition), 1U);
  EXPECT_EQ(try_lines({"WARFARIN CLINIC"}).count(FactType::MedicationStatement), 0U);
}

TEST(AllergyLists, EndWhereSomethingIsTolerated) {
  expect_all(
      {{{"Allergies: penicillin (rash), tolerates cephalexin"}, {"penicillin (rash)"}},
       {{"Allergies: penicillin (Hautausschlag), verträgt Cefuroxim"},
        {"penicillin (Hautausschlag)"}},
       {{"Allergies : pénicilline (urticaire), tolère la céfalexine"}, {"pénicilline (urticaire)"}},
       {{"Alergias: penicilina (urticaria), tolera cefalexina"}, {"penicilina (urticaria)"}}});
}

TEST(AllergyLists, ArePartedByOr) {
  expect_all({{{"No known allergies to latex or iodine"}, {"-latex", "-iodine"}},
              {{"Allergic to penicillin or cephalosporins"}, {"penicillin", "cephalosporins"}},
              {{"He is allergic to neither penicillin nor latex."}, {"-penicillin", "-latex"}},
              {{"Keine Allergien gegen Latex oder Jod"}, {"-Latex", "-Jod"}},
              {{"No known food or drug allergies"}, {"-known food or drug allergies"}},
              {{"She is not allergic to any medications."}, {"-allergic to any medications"}}});
}

TEST(AllergyLists, TellNamesFromReactionsAndTimes) {
  expect_all({{{"Allergies: Sulfa (Sulfonamide Antibiotics) - Rash"}, {"Sulfa (Rash)"}},
              {{"Reports an allergy to penicillin as a child."}, {"penicillin"}},
              {{"Allergic to morphine, which causes itching."}, {"morphine (itching)"}}});
}

}  // namespace
}  // namespace millrace::extract
