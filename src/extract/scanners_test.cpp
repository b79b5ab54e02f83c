// The scanners: tokens, numbers with units, ranges, dates, frequencies.
#include "extract/dates.h"
#include "extract/folding.h"
#include "extract/frequency.h"
#include "extract/quantity.h"
#include "extract/terms.h"
#include "extract/token.h"
#include "extract/trial.h"

#include <gtest/gtest.h>

namespace millrace::extract {
namespace {

std::vector<std::string> folds(std::string_view text) {
  std::vector<std::string> out;
  for (const auto& token : tokens_of(text)) out.push_back(token.fold);
  return out;
}

Quantity quantity(std::string_view text, Decimal decimal = Decimal::point) {
  return read_quantity(tokens_of(text), 0, text, decimal);
}

std::string shown(std::string_view text, Decimal decimal = Decimal::point) {
  const auto read = quantity(text, decimal);
  if (read.tokens == 0) return "nothing";
  return fmt::format("{}{} {}", read.comparator, read.value, read.unit.code);
}

std::string range(std::string_view text, Decimal decimal = Decimal::point) {
  const auto read = read_range(tokens_of(text), 0, text, decimal);
  if (read.tokens == 0) return "nothing";
  const auto end = [](std::optional<double> value) {
    return value ? fmt::format("{}", *value) : std::string();
  };
  return end(read.low) + ".." + end(read.high);
}

std::string iso(std::string_view text, DayMonth order = DayMonth::day_first) {
  const auto date = date_of(text, order);
  return date ? date->iso() : "none";
}

using Folds = std::vector<std::string>;

TEST(Folding, TakesAccentsCaseAndDashesAway) {
  EXPECT_EQ(fold("Größe"), "grosse");
  EXPECT_EQ(fold("Œdème"), "oedeme");
  EXPECT_EQ(fold("CRÉATININE"), "creatinine");
  EXPECT_EQ(fold("3–4"), "3-4");
}

TEST(Tokens, PartNumbersFromUnitsAndSigns) {
  EXPECT_EQ(folds("500mg,"), (Folds{"500", "mg", ","}));
  EXPECT_EQ(folds("(12.0-16.0)"), (Folds{"(", "12.0", "-", "16.0", ")"}));
  EXPECT_EQ(folds("HbA1c"), (Folds{"hba1c"}));
}

TEST(Tokens, KeepAbbreviationsAndDashedWordsWhole) {
  EXPECT_EQ(folds("b.i.d. p.o."), (Folds{"bid", "po"}));
  EXPECT_EQ(folds("co-amoxiclav"), (Folds{"co-amoxiclav"}));
  EXPECT_EQ(folds("mother's"), (Folds{"mother's"}));
}

TEST(Tokens, PartFrenchArticlesFromTheirNouns) {
  EXPECT_EQ(folds("pas d'asthme"), (Folds{"pas", "d", "'", "asthme"}));
}

TEST(Tokens, JoinAWordThatALineEndDivided) {
  const auto page = page_of({"She was treated for hyper-", "tension last year."});
  const auto tokens = tokens_of(page);
  const auto joined = std::ranges::find(tokens, "hypertension", &Token::fold);
  ASSERT_NE(joined, tokens.end());
  EXPECT_EQ(page.text_of(joined->bytes), "hyper-\ntension");
}

TEST(Numbers, FollowTheLanguageWhereACommaIsDecimal) {
  EXPECT_EQ(number_value("1,5", Decimal::comma), 1.5);
  EXPECT_EQ(number_value("1,5", Decimal::point), 1.5);
  EXPECT_EQ(number_value("1,000", Decimal::point), 1000);
  EXPECT_EQ(number_value("1.000", Decimal::comma), 1000);
  EXPECT_EQ(number_value("0,125", Decimal::point), 0.125);
  EXPECT_EQ(number_value("12.03.2024", Decimal::point), std::nullopt);
}

TEST(Quantities, ReadUnitsAsPeopleWriteThem) {
  EXPECT_EQ(shown("500 mg"), "500 mg");
  EXPECT_EQ(shown("500mg"), "500 mg");
  EXPECT_EQ(shown("50 mcg"), "50 ug");
  EXPECT_EQ(shown("5,2 mmol/l", Decimal::comma), "5.2 mmol/L");
  EXPECT_EQ(shown("95 mg/dl"), "95 mg/dL");
  EXPECT_EQ(shown("7.1 x10^9/L"), "7.1 10*9/L");
  EXPECT_EQ(shown("7.1 10^9/L"), "7.1 10*9/L");
  EXPECT_EQ(shown("250 G/L"), "250 10*9/L");
  EXPECT_EQ(shown("88 mL/min/1.73m²"), "88 mL/min/{1.73_m2}");
  EXPECT_EQ(shown("12 IE"), "12 [iU]");
  EXPECT_EQ(shown("38.5 °C"), "38.5 Cel");
  EXPECT_EQ(shown("<0.5 mg/L"), "<0.5 mg/L");
}

TEST(Quantities, TakeHAndLBehindAValueForMarks) {
  EXPECT_EQ(shown("77 H"), "77 ");
  EXPECT_EQ(shown("20 L"), "20 ");
}

TEST(Quantities, ReadLettersThatLookLikeFiguresOnlyBeforeAUnit) {
  EXPECT_TRUE(quantity("5OO mg").misread);
  EXPECT_EQ(quantity("5OO mg").value, 500);
  EXPECT_EQ(quantity("l0 mg").value, 10);
  EXPECT_EQ(quantity("l0 days of").tokens, 0U);
}

TEST(Ranges, ReadBothEndsAndOne) {
  EXPECT_EQ(range("3.5 - 5.1"), "3.5..5.1");
  EXPECT_EQ(range("12 to 16 g/dL"), "12..16");
  EXPECT_EQ(range("3,5–5,1", Decimal::comma), "3.5..5.1");
  EXPECT_EQ(range("< 5.0"), "..5");
  EXPECT_EQ(range("> 60"), "60..");
  EXPECT_EQ(range("bis 40 U/l"), "..40");
}

TEST(Ranges, AreNeitherDatesNorDoseSchemes) {
  EXPECT_EQ(range("1-0-1"), "nothing");
  EXPECT_EQ(range("05-06-2024"), "nothing");
  EXPECT_EQ(range("16 - 12"), "nothing");
}

TEST(Dates, AreReadInManyFormsAndFourLanguages) {
  for (const auto* text : {"2024-03-05", "05.03.2024", "5.3.24", "5/3/2024", "5 March 2024",
                           "March 5, 2024", "Mar 5, 2024", "05-Mar-2024", "5. März 2024",
                           "5 mars 2024", "5 de marzo de 2024", "5th March 2024"}) {
    EXPECT_EQ(iso(text), "2024-03-05") << text;
  }
  EXPECT_EQ(iso("1er mars 2024"), "2024-03-01");
  EXPECT_EQ(iso("March 2024"), "2024-03");
  EXPECT_EQ(iso("03/2024"), "2024-03");
  EXPECT_EQ(iso("2019"), "2019");
}

TEST(Dates, TakeTheOrderThatTheDocumentHas) {
  EXPECT_EQ(iso("3/5/2024", DayMonth::day_first), "2024-05-03");
  EXPECT_EQ(iso("3/5/2024", DayMonth::month_first), "2024-03-05");
  EXPECT_EQ(iso("25/3/2024", DayMonth::month_first), "2024-03-25");
}

TEST(Dates, ThatDoNotExistAreNone) {
  EXPECT_EQ(iso("31.02.2024"), "none");
  EXPECT_EQ(iso("45/45/2024"), "none");
  EXPECT_EQ(iso("132/84"), "none");
}

TEST(Frequencies, HaveOneFormForAllLanguages) {
  const auto expect = [](std::string_view normal, std::initializer_list<std::string_view> texts) {
    for (const auto text : texts) {
      EXPECT_EQ(normal_frequency(text), normal) << text;
      EXPECT_EQ(read_frequency(tokens_of(text), 0), tokens_of(text).size()) << text;
    }
  };
  expect("QD", {"once daily", "daily", "QD", "1x täglich", "einmal täglich", "une fois par jour",
                "una vez al día"});
  expect("BID", {"twice daily", "BID", "b.i.d.", "1-0-1", "2 x täglich", "zweimal täglich",
                 "2 fois par jour", "dos veces al día", "matin et soir"});
  expect("TID", {"three times a day", "TID", "1-1-1", "3x/Tag", "tres veces al día"});
  expect("Q8H", {"every 8 hours", "q8h", "alle 8 Stunden", "toutes les 8 heures", "cada 8 horas",
                 "c/8 h"});
  expect("QW", {"once weekly", "wöchentlich", "une fois par semaine", "una vez por semana"});
  expect("QHS", {"at night", "at bedtime", "zur Nacht", "au coucher", "al acostarse"});
  expect("PRN", {"as needed", "PRN", "bei Bedarf", "si besoin", "si precisa"});
  expect("Q6H PRN", {"every 6 hours as needed", "q6h prn", "alle 6 Stunden bei Bedarf"});
}

TEST(Durations, NeedAWordThatSaysSo) {
  EXPECT_EQ(read_duration(tokens_of("for 7 days"), 0), 3U);
  EXPECT_EQ(read_duration(tokens_of("pendant 5 jours"), 0), 3U);
  EXPECT_EQ(read_duration(tokens_of("7 Tage lang"), 0), 3U);
  EXPECT_EQ(read_duration(tokens_of("7 days"), 0), 0U);
}

TEST(Terms, FindTheLongestPhrase) {
  const auto tokens = tokens_of("chronic obstructive pulmonary disease was");
  const auto match = Terms::get().longest(tokens, 0, bit(Is::condition));
  EXPECT_EQ(match.tokens, 4U);
}

TEST(Terms, KnowDrugsByTheirEndings) {
  EXPECT_TRUE(Terms::get().sounds_like_drug("zoflapril"));
  EXPECT_FALSE(Terms::get().sounds_like_drug("april"));
  EXPECT_FALSE(Terms::get().sounds_like_drug("except"));
}

}  // namespace
}  // namespace millrace::extract
