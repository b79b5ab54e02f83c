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

TEST(Folding, TakesAccentsOfTheirOwnAndLigaturesAway) {
  EXPECT_EQ(fold("ta\u0308glich"), "taglich");
  EXPECT_EQ(fold("pe\u0301nicilline"), fold("pénicilline"));
  EXPECT_EQ(fold("su\ufb00er di\ufb03cult ra\ufb04e \ufb05atin \ufb06atin"),
            "suffer difficult raffle statin statin");
  EXPECT_EQ(fold("Met\u00adformin"), "metformin");
}

TEST(Tokens, ArePartedNeitherByAccentsNorBySoftHyphensNorByJoiners) {
  const std::string_view text =
      "Me\u0301t\u00adfor\u200cmin\u200d E\u0301TE\u0301 \u00ad 5\u00admg";
  EXPECT_EQ(folds(text), (Folds{"metformin", "ete", "5", "mg"}));
  const auto tokens = tokens_of(text);
  EXPECT_EQ(text.substr(tokens[0].bytes.begin, tokens[0].bytes.size()),
            "Me\u0301t\u00adfor\u200cmin\u200d");
  EXPECT_TRUE(tokens[1].caps);
}

TEST(Tokens, JoinAWordThatASoftHyphenDivided) {
  const auto page = page_of({"She was treated for hyper\u00ad", "tension last year."});
  const auto tokens = tokens_of(page);
  const auto joined = std::ranges::find(tokens, "hypertension", &Token::fold);
  ASSERT_NE(joined, tokens.end());
  EXPECT_EQ(page.text_of(joined->bytes), "hyper\u00ad\ntension");
}

TEST(Tokens, ArePartedByALongDashBetweenWords) {
  const auto tokens = tokens_of(std::string_view("Bactrim—SJS 3.5—5.1"));
  ASSERT_EQ(tokens.size(), 6U);
  EXPECT_FALSE(tokens[1].glued);
  EXPECT_FALSE(tokens[2].glued);
  EXPECT_TRUE(tokens[4].glued);
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

TEST(Numbers, MayBeginWithTheirPointButNotWithANought) {
  EXPECT_EQ(number_value(".5", Decimal::point), 0.5);
  EXPECT_EQ(number_value(".125", Decimal::point), 0.125);
  EXPECT_EQ(number_value(".125", Decimal::comma), 0.125);
  EXPECT_EQ(number_value("000", Decimal::point), std::nullopt);
  EXPECT_EQ(number_value("050", Decimal::point), std::nullopt);
  EXPECT_EQ(number_value("05", Decimal::point), 5);  // As laboratories print it.
  EXPECT_EQ(folds("<.04 ng"), (Folds{"<", ".04", "ng"}));
  EXPECT_EQ(folds("end.5 mg"), (Folds{"end", ".", "5", "mg"}));
}

TEST(Numbers, OfThreeFiguresBehindTheSignOfDecimalsAreDecimal) {
  EXPECT_EQ(number_value("3.125", Decimal::comma), 3.125);
  EXPECT_EQ(number_value("1.250", Decimal::comma), 1250);
  EXPECT_EQ(number_value("1,000", Decimal::comma), 1);
  EXPECT_EQ(number_value("12,400", Decimal::comma), 12.4);
  EXPECT_EQ(number_value("3,125", Decimal::comma), 3.125);
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

TEST(Quantities, ArePartedBySpacesOnlyWhereAUnitFollows) {
  EXPECT_EQ(shown("1 000 mg", Decimal::comma), "1000 mg");
  EXPECT_EQ(shown("1 000 mg"), "1000 mg");
  EXPECT_EQ(shown("250 000/mm3", Decimal::comma), "250000 /uL");
  EXPECT_EQ(shown("12 400/mm3", Decimal::comma), "12400 /uL");
  EXPECT_EQ(shown("140 135 - 145", Decimal::comma), "140 ");
  EXPECT_EQ(shown("140 135 mmol/L"), "140 ");
  EXPECT_EQ(range("4 500 - 11 000/mm3", Decimal::comma), "4500..11000");
}

TEST(Quantities, OfCountedThingsMayBeFractions) {
  EXPECT_EQ(shown("1/2 tab"), "0.5 {tablet}");
  EXPECT_EQ(shown("1 1/2 tablets"), "1.5 {tablet}");
  EXPECT_EQ(shown("½ tablet"), "0.5 {tablet}");
  EXPECT_TRUE(quantity("5/325 mg").pair);
  EXPECT_EQ(quantity("5/325 mg").tokens, 4U);
  EXPECT_FALSE(quantity("4 mg/5 mL").pair);
}

TEST(Quantities, AreNotGrades) {
  for (const auto* text : {"1:160", "<1:40", "1/320", "2+", "++"})
    EXPECT_EQ(read_grade(tokens_of(text), 0), tokens_of(text).size()) << text;
  for (const auto* text : {"1:20", "1:4", "1:1000", "1:1280", "1:40, ANA"})
    EXPECT_GE(read_grade(tokens_of(text), 0), 3U) << text;
  for (const auto* text : {"1/2", "2", "3:26", "9+", "2+3", "1:30 pm 145", "1:20 pm", "1:20 145",
                           "1/15 8.9", "1/16 8.9", "1/16: 8.9", "1:35", "1:05"})
    EXPECT_EQ(read_grade(tokens_of(text), 0), 0U) << text;
}

TEST(Quantities, TakeHAndLBehindAValueForMarks) {
  EXPECT_EQ(shown("77 H"), "77 ");
  EXPECT_EQ(shown("20 L"), "20 ");
  EXPECT_EQ(read_range(tokens_of("70-99 H"), 0, "70-99 H", Decimal::point).unit.tokens, 0U);
  EXPECT_EQ(read_range(tokens_of("135-145 L"), 0, "135-145 L", Decimal::point).unit.tokens, 0U);
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

TEST(Ranges, HaveBothEndsOfOneKind) {
  EXPECT_EQ(range("0,900 - 1,100", Decimal::comma), "0.9..1.1");
  EXPECT_EQ(range("1.000 - 1.030", Decimal::comma), "1..1.03");
  EXPECT_EQ(range("4.000 - 10.000", Decimal::comma), "4000..10000");
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

TEST(Dates, HaveYearsOfTwoFiguresBehindADayAndAMonth) {
  for (const auto* text :
       {"12 Mar 24", "12 Mar '24", "12. März 24", "12 mars 24", "12 de marzo 24", "12-Mar-24"}) {
    EXPECT_EQ(iso(text), "2024-03-12") << text;
  }
  EXPECT_EQ(iso("'19"), "2019");
  const auto none = [](std::string_view text) {
    return read_date(tokens_of(text), 0, DayMonth::day_first).tokens == 0;
  };
  EXPECT_TRUE(none("5 May 20 mg of furosemide"));
  EXPECT_TRUE(none("5 May 10:30"));
  EXPECT_TRUE(none("5 May 12 hours later"));
  for (const auto* unit : {"mEq", "lbs", "lb", "cc", "L", "ng", "IE", "units"})
    EXPECT_TRUE(none(std::string("5 May 40 ") + unit + " daily")) << unit;
  EXPECT_TRUE(none("3-14-24"));
  EXPECT_EQ(try_lines({"Clinical Case Notes 24, Feb 28, 2021. Seen on 12 Mar 24, better."})
                .texts(layout::clinical::Category::date),
            (std::vector<std::string>{"Feb 28, 2021", "12 Mar 24"}));
}

TEST(Dates, BehindOnMayHaveDashesAndSingleFigures) {
  EXPECT_EQ(try_lines({"Follow-up on 3-14-24 in clinic."}).texts(layout::clinical::Category::date),
            std::vector<std::string>{"3-14-24"});
  EXPECT_EQ(try_lines({"Ramipril 5 mg 1-0-12"}).texts(layout::clinical::Category::date),
            std::vector<std::string>{});
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

TEST(Dates, AreNotWhatThingsAreNumberedBy) {
  const auto dates = [](const std::string& line) {
    return try_lines({line}).texts(layout::clinical::Category::date);
  };
  EXPECT_TRUE(dates("Lot 2023-11").empty());
  EXPECT_TRUE(dates("Ref. 12-04-19, phone 03.12.2024").empty());
  EXPECT_EQ(dates("Lot AB12, given 2023-11-05"), (std::vector<std::string>{"2023-11-05"}));
}

TEST(Frequencies, OfHalvesAreReadWhole) {
  EXPECT_EQ(read_frequency(tokens_of("1½-0-½"), 0), 6U);
  EXPECT_EQ(normal_frequency("1½-0-½"), "BID");
  EXPECT_EQ(read_frequency(tokens_of("1 1/2-0-0"), 1), 0U);
}

TEST(Frequencies, MayHaveTheirQByItself) {
  EXPECT_EQ(normal_frequency("q week"), "QW");
  EXPECT_EQ(normal_frequency("q 8 h"), "Q8H");
  EXPECT_EQ(normal_frequency("qday"), "QD");
  EXPECT_EQ(read_frequency(tokens_of("q week"), 0), 2U);
  EXPECT_EQ(read_frequency(tokens_of("bid OD"), 0), 1U);  // The right eye.
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
  expect("Q6H", {"q6hr", "q6hrs", "q6 hours", "q 6 h", "/6h"});
  expect("Q4H", {"q4-6h", "q4–6h", "q4-6hrs", "q4-6 hours", "q4 to 6 hours", "q 4-6 h"});
  expect("Q6M", {"q6months", "q6mo"});
  expect("QD", {"/24h", "q24h", "/j"});
  expect("BID", {"1/2-0-1/2", "½-0-½"});
  expect("TID", {"x 3/j", "x3/Tag"});
  expect("Q6H PRN", {"every 6 hours as needed", "q6h prn", "alle 6 Stunden bei Bedarf"});
}

TEST(Durations, NeedAWordThatSaysSo) {
  EXPECT_EQ(read_duration(tokens_of("for 7 days"), 0), 3U);
  EXPECT_EQ(read_duration(tokens_of("pendant 5 jours"), 0), 3U);
  EXPECT_EQ(read_duration(tokens_of("7 Tage lang"), 0), 3U);
  EXPECT_EQ(read_duration(tokens_of("x3 days"), 0), 2U);
  EXPECT_EQ(read_duration(tokens_of("x7d"), 0), 1U);
  EXPECT_EQ(read_duration(tokens_of("× 5 days"), 0), 3U);
  EXPECT_EQ(read_duration(tokens_of("x7mg"), 0), 0U);
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
