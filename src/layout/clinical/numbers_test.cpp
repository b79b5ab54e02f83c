// Numbers, dates, units and cues: the small readings that checks rest on.
#include "layout/clinical/numbers.h"

#include "base/random.h"
#include "layout/clinical/assertion_cues.h"
#include "layout/clinical/clinical_date.h"
#include "layout/clinical/ucum.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::layout::clinical {
namespace {

std::vector<double> values(std::string_view text, Spelled spelled = Spelled::ignored) {
  std::vector<double> out;
  for (const auto& number : numbers_in(text, spelled)) out.push_back(number.value);
  return out;
}

using Doubles = std::vector<double>;

bool occurs(double number, std::string_view text) {
  return all_occur({{.value = number, .other = number}}, numbers_in(text));
}

TEST(Numbers, OfSeveralPartsMayMeanTheWhole) {
  EXPECT_TRUE(occurs(1000, "1 000 mg"));
  EXPECT_TRUE(occurs(250000, "Plaquettes 250 000/mm3"));
  EXPECT_TRUE(occurs(1234.5, "1 234,5"));
  EXPECT_TRUE(occurs(140, "140 135 - 145"));
  EXPECT_FALSE(occurs(140135, "140\n135"));
  EXPECT_TRUE(occurs(0.5, "1/2 tab"));
  EXPECT_TRUE(occurs(1.5, "1 1/2 tablets"));
  EXPECT_TRUE(occurs(1.5, "1½ tablets"));
  EXPECT_FALSE(occurs(1.5, "BP 120/80"));
  EXPECT_FALSE(occurs(5, ".5 mg"));
}

TEST(Numbers, AreReadAsDocumentsWriteThem) {
  EXPECT_EQ(values("Metformin 500mg, BP 120/80, 2.5 mg"), (Doubles{500, 120, 80, 2.5}));
  EXPECT_EQ(values("2024-03-05"), (Doubles{2024, 3, 5}));
  EXPECT_EQ(values("3,5 mmol/l and 12,345.6"), (Doubles{3.5, 12345.6}));
  EXPECT_EQ(values("1.234.567"), (Doubles{1234567}));
  EXPECT_EQ(values("½ tablet"), (Doubles{0.5}));
  EXPECT_EQ(values(".5 mg, <.04 and (.25)"), (Doubles{0.5, 0.04, 0.25}));
  EXPECT_EQ(values("end.5 mg"), (Doubles{5}));
  EXPECT_EQ(values("250'000 /µl"), (Doubles{250000}));
  EXPECT_EQ(values("none."), Doubles{});
}

TEST(Numbers, AThousandMayBeOne) {
  const auto number = numbers_in("1,000")[0];
  EXPECT_TRUE(number.agrees_with(1000));
  EXPECT_TRUE(number.agrees_with(1));
  EXPECT_FALSE(number.agrees_with(100));
}

TEST(Numbers, SpelledOnesCountWhenAskedFor) {
  EXPECT_EQ(values("take two tablets twice", Spelled::counted), (Doubles{2, 2}));
  EXPECT_EQ(values("take two tablets twice"), Doubles{});
  EXPECT_EQ(values("someone", Spelled::counted), Doubles{});
}

TEST(Numbers, EveryNeededOneMustOccur) {
  EXPECT_TRUE(all_occur(numbers_in("500 mg"), numbers_in("Metformin 500 twice 2")));
  EXPECT_FALSE(all_occur(numbers_in("50 mg"), numbers_in("500")));
  EXPECT_TRUE(all_occur({}, {}));
}

TEST(Numbers, FrequenciesSayHowOften) {
  EXPECT_EQ(times_a_day("BID"), 2);
  EXPECT_EQ(times_a_day("b.i.d."), 2);
  EXPECT_EQ(times_a_day("q8h"), 3);
  EXPECT_EQ(times_a_day("weekly"), 0);
  EXPECT_EQ(times_a_day("qh"), 0);
}

TEST(Numbers, AnyTextHasAReading) {
  SeededRandom random(2);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (auto n = random.below(60); n > 0; --n) {
      text += "0123456789.,-/ aeé\xff\xc3"[random.below(20)];
    }
    for (const auto& number : numbers_in(text, Spelled::counted)) {
      ASSERT_GE(number.value, 0);
      ASSERT_TRUE(number.agrees_with(number));
    }
  }
  EXPECT_EQ(numbers_in(std::string(100'000, '7')).size(), 1U);
}

TEST(ClinicalDate, OnlyDaysThatExist) {
  EXPECT_EQ(parse_clinical_date("2024"), (ClinicalDate{.year = 2024}));
  EXPECT_EQ(parse_clinical_date("2024-02-29"), (ClinicalDate{.year = 2024, .month = 2, .day = 29}));
  for (const auto* text : {"2023-02-29", "2024-13", "24-01-01", "2024/01/01", "2024-1-1", "abcd",
                           "1700", "", "2024-00-01", "+024", "2024-01-0a"}) {
    EXPECT_FALSE(parse_clinical_date(text).has_value()) << text;
  }
}

TEST(ClinicalDate, IsFoundHoweverItIsWritten) {
  const ClinicalDate date{.year = 2024, .month = 3, .day = 5};
  for (const auto* text : {"5 March 2024", "05.03.2024", "3/5/24", "2024-03-05", "5. März 2024",
                           "le 5 mars 2024", "Mar 5, 2024"}) {
    EXPECT_TRUE(date_occurs(date, text)) << text;
  }
  for (const auto* text : {"6 March 2024", "5 March 2023", "5 May 2024", "", "summary 5 2024"}) {
    EXPECT_FALSE(date_occurs(date, text)) << text;
  }
}

TEST(Ucum, KnowsCodesAndTheirGrammar) {
  for (const auto* code : {"mg", "mg/dL", "10*9/L", "mm[Hg]", "/min", "mmol/L", "ug/kg/min", "%",
                           "{tablet}", "mL/min/{1.73_m2}", "kg.m-2", "m[iU]/mL", "10*3/uL", "Cel",
                           "(mg/d)", "g/(24.h)", "cm[H2O]", "kg/m2"}) {
    EXPECT_TRUE(is_ucum(code)) << code;
  }
  for (const auto* code : {"", "mgs", "mg/", "mg//dL", "foo", "mg dL", "[zz]", "{tab", "m-",
                           "((g))(", "mg..mg", "[iU", "µg"}) {
    EXPECT_FALSE(is_ucum(code)) << code;
  }
  EXPECT_FALSE(is_ucum(std::string(60, '(')));
}

TEST(Ucum, UnitsAsPeopleWriteThemBecomeCodes) {
  const std::vector<std::pair<std::string, std::string>> units = {
      {"mcg", "ug"},          {"µg", "ug"},          {"μg/L", "ug/L"},
      {"mg/dl", "mg/dL"},     {"MG", "mg"},          {"IU/L", "[iU]/L"},
      {"mmHg", "mm[Hg]"},     {"x10^9/L", "10*9/L"}, {"× 10⁹ / l", "10*9/L"},
      {"10E3/uL", "10*3/uL"}, {"K/uL", "10*3/uL"},   {"tablets", "{tablet}"},
      {"bpm", "/min"},        {"units", "[iU]"},     {"°C", "Cel"},
      {"kg/m²", "kg/m2"},     {"[iU]/L", "[iU]/L"},  {"Cel", "Cel"}};
  for (const auto& [printed, code] : units) {
    EXPECT_EQ(to_ucum(printed), code) << printed;
    EXPECT_TRUE(is_ucum(code)) << code;
  }
  for (const auto* unknown : {"", "foo", "mg per day", "M", "spoons", "/"}) {
    EXPECT_FALSE(to_ucum(unknown).has_value()) << unknown;
  }
}

Cues cues(std::string_view text, std::string_view mention) {
  const auto at = text.find(mention);
  return cues_around(text, {.begin = static_cast<std::uint32_t>(at),
                            .end = static_cast<std::uint32_t>(at + mention.size())});
}

TEST(AssertionCues, NegationReachesItsSentenceAndNoFarther) {
  EXPECT_TRUE(cues("She denies chest pain.", "chest pain").negated);
  EXPECT_TRUE(cues("No evidence of heart failure", "heart failure").negated);
  EXPECT_TRUE(cues("A fracture was ruled out.", "fracture").negated);
  EXPECT_TRUE(cues("blood not detected", "blood").negated);
  EXPECT_TRUE(cues("there was no\nfever", "fever").negated);
  EXPECT_FALSE(cues("She has chest pain.", "chest pain").negated);
  EXPECT_FALSE(cues("No fever. Chest pain since Monday.", "Chest pain").negated);
  EXPECT_FALSE(cues("No fever but cough", "cough").negated);
  EXPECT_FALSE(cues("No fever\nChest pain", "Chest pain").negated);
  EXPECT_FALSE(cues("no change in the known asthma", "asthma").negated);
  EXPECT_FALSE(cues("without one two three four five six seven pain", "pain").negated);
}

TEST(AssertionCues, FamilyAndHypothesisAreNoticed) {
  EXPECT_TRUE(cues("Her mother had diabetes.", "diabetes").family);
  EXPECT_TRUE(cues("diabetes in her father", "diabetes").family);
  EXPECT_FALSE(cues("Her mother came along. Diabetes is known.", "Diabetes").family);
  EXPECT_TRUE(cues("Return if fever develops", "fever").hypothetical);
  EXPECT_FALSE(cues("fever developed", "fever").hypothetical);
}

TEST(AssertionCues, PlacesOutsideTheTextHaveNone) {
  EXPECT_FALSE(cues_around("no fever", {.begin = 3, .end = 80}).negated);
  EXPECT_FALSE(cues_around("", {}).negated);
}

}  // namespace
}  // namespace millrace::layout::clinical
