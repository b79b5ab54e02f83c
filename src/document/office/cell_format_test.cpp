#include "document/office/cell_format.h"

#include <gtest/gtest.h>

namespace millrace::document {
namespace {

TEST(CellFormat, NumbersAsTheyAreShown) {
  EXPECT_EQ(format_number(5, ""), "5");
  EXPECT_EQ(format_number(0.1, "General"), "0.1");
  EXPECT_EQ(format_number(5.256, "0.00"), "5.26");
  EXPECT_EQ(format_number(1234567.5, "#,##0.00"), "1,234,567.50");
  EXPECT_EQ(format_number(-1234, "#,##0"), "-1,234");
  EXPECT_EQ(format_number(0.125, "0.0%"), "12.5%");
}

TEST(CellFormat, UnitsAndCurrenciesStay) {
  EXPECT_EQ(format_number(7.4, "0.0\" mmol/l\""), "7.4 mmol/l");
  EXPECT_EQ(format_number(1234.5, "\"€\"#,##0.00"), "€1,234.50");
  EXPECT_EQ(format_number(1234.5, "#,##0.00\\ [$€-407]"), "1,234.50 €");
  EXPECT_EQ(format_number(1234, "$#,##0"), "$1,234");
  EXPECT_EQ(format_number(-1234, "$#,##0"), "-$1,234");
  EXPECT_EQ(format_number(5, "[$-409]#,##0"), "5") << "a language, not a currency";
  EXPECT_EQ(format_number(1234.5, "_(\"$\"* #,##0.00_);_(\"$\"* \\(#,##0.00\\);_(@_)"),
            "$1,234.50");
  EXPECT_EQ(format_number(12, "General\" kg\""), "12 kg");
  EXPECT_EQ(format_number(3, "USD #,##0"), "USD 3") << "letters of dates beside '#' are words";
  EXPECT_EQ(format_number(3, "USD 0.00"), "USD 3.00");
}

TEST(CellFormat, SectionsForNegativeNumbersAndZero) {
  EXPECT_EQ(format_number(-5, "0.00;[Red]0.00"), "-5.00") << "a colour alone would be lost";
  EXPECT_EQ(format_number(-5, "#,##0.00_);[Red]\\(#,##0.00\\)"), "(5.00)");
  EXPECT_EQ(format_number(-5, "\"gain \"0;\"loss \"0"), "loss 5");
  EXPECT_EQ(format_number(0, "0;-0;\"-\""), "0") << "words alone say less than the number";
  EXPECT_EQ(format_number(-5, "yyyy-mm-dd;@"), "-5");
  const auto* account = "_(\"$\"* #,##0.00_);_(\"$\"* \\(#,##0.00\\);_(\"$\"* \"-\"??_);_(@_)";
  EXPECT_EQ(format_number(-5, account), "$(5.00)");
  EXPECT_EQ(format_number(0, account), "$0.00") << "\"$ -\" is shown, never \"$-0\"";
  EXPECT_EQ(format_number(0, "d/m/yyyy;;"), "0") << "no day in 1899";
  EXPECT_EQ(format_number(-5, "0\\ \"€\";[Red]0\"€\""), "-5€") << "a gap is no sign";
  EXPECT_EQ(format_number(2'500'000, "[>=1000000]0.0,,\"M\";0.0,\"K\""), "2.5M");
  EXPECT_EQ(format_number(2'500, "[>=1000000]0.0,,\"M\";0.0,\"K\""), "2.5K");
}

// A bracket or dash in a word says nothing about the number.
TEST(CellFormat, SignsUnderConditions) {
  const auto* high = "[>100]0\" (high)\";0\" (normal)\"";
  EXPECT_EQ(format_number(-5, high), "-5 (normal)");
  EXPECT_EQ(format_number(5, high), "5 (normal)");
  EXPECT_EQ(format_number(120, high), "120 (high)");
  EXPECT_EQ(format_number(-5, "[<50]0\" mg (low)\";0\" mg\""), "-5 mg (low)");
  EXPECT_EQ(format_number(-5, "[<0]\\(0\\);0"), "(5)");
  EXPECT_EQ(format_number(-5, "[<0]\"$\"-0;0"), "$-5");
  EXPECT_EQ(format_number(-5, "[<0]General\" (low)\";0"), "-5 (low)");
  EXPECT_EQ(format_number(-2.5, "[>0]\"T-score \"0.0;\"T-score \"0.0"), "-T-score 2.5");
  EXPECT_EQ(format_number(-5, "[<0]\"(low) \"0;0"), "-(low) 5");
  EXPECT_EQ(format_number(-5, "[<0]0-;0"), "5-") << "as accounts write it";
  EXPECT_EQ(format_number(-5, "[<0]0.0\" -\";0"), "5.0 -");
  EXPECT_EQ(format_number(-5, "[<0]0\"-fold\";0"), "-5-fold");
  EXPECT_EQ(format_number(-5, "[<0]\" - $ \"0;0"), "- $ 5");
  EXPECT_EQ(format_number(-5, "[<0]\"$ (\"0\")\";0"), "$ (5)");
}

TEST(CellFormat, PlacesForDigits) {
  EXPECT_EQ(format_number(1234, "00000"), "01234") << "a postal code";
  EXPECT_EQ(format_number(5551234, "000\\-0000"), "555-1234");
  EXPECT_EQ(format_number(5.5, "0.0##"), "5.5");
  EXPECT_EQ(format_number(5, "0.##"), "5");
  EXPECT_EQ(format_number(1234567, "#,##0,"), "1,235");
  EXPECT_EQ(format_number(0.5, "# ?/?"), "0.5");
  EXPECT_EQ(format_number(0.5, ".00"), "0.50");
  EXPECT_EQ(format_number(1.005, "0.00"), "1.01") << "by the digits that are shown";
  EXPECT_EQ(format_number(1.0049, "0.00"), "1.00");
  EXPECT_EQ(format_number(999'999'999'999'999, "0"), "999999999999999");
}

TEST(CellFormat, GeneralNumbersWithoutNoise) {
  EXPECT_EQ(format_number(0.1 + 0.2, "General"), "0.3");
  EXPECT_EQ(format_number(1.1 * 3, ""), "3.3");
  EXPECT_EQ(format_number(0.1 + 0.2, "0.00E+00"), "0.3");
  EXPECT_EQ(format_number(1.0 / 3, "General"), "0.33333333333");
  EXPECT_EQ(format_number(4006381333931, "General"), "4006381333931");
  EXPECT_EQ(format_number(1234567890.12, "General"), "1234567890.12") << "cents stay";
}

TEST(CellFormat, ElapsedTimeGoesOnPastADay) {
  EXPECT_EQ(format_number(1.5, "[h]:mm"), "36:00");
  EXPECT_EQ(format_number(1.5, "[h]:mm:ss;@"), "36:00:00");
  EXPECT_EQ(format_number(1.5, builtin_format(46)), "36:00:00");
  EXPECT_EQ(format_number(0.0625, "[mm]:ss"), "90:00");
  EXPECT_EQ(format_number(-0.5, "[hh]:mm"), "-12:00");
  EXPECT_EQ(format_number(-0.5, "[h]:mm;-[h]:mm"), "-12:00") << "one sign";
  EXPECT_EQ(format_number(-0.5, "[h]:mm;[Red][h]:mm"), "-12:00");
  EXPECT_EQ(format_number(-0.5, "[h]:mm;\\([h]:mm\\)"), "(12:00)");
  EXPECT_EQ(format_number(1.5, "[h]\" h \"mm\" min\""), "36 h 00 min");
  EXPECT_EQ(format_number(1e300, "[h]:mm"), "1e+300");
}

TEST(CellFormat, DatesAreIso) {
  EXPECT_EQ(format_number(45000, "dd/mm/yyyy"), "2023-03-15");
  EXPECT_EQ(format_number(1, "yyyy-mm-dd"), "1900-01-01");
  EXPECT_EQ(format_number(45000.5, "yyyy-mm-dd hh:mm"), "2023-03-15 12:00");
  EXPECT_EQ(format_number(0.75, "h:mm:ss"), "18:00:00");
  EXPECT_EQ(format_number(0.75, "mm:ss.00"), "18:00:00");
  EXPECT_EQ(format_number(45000, builtin_format(31)), "2023-03-15");
  EXPECT_EQ(format_number(0, "yyyy-mm-dd", true), "1904-01-01");
  EXPECT_EQ(format_number(-5, "yyyy-mm-dd"), "-5") << "no date";
}

TEST(CellFormat, FormatsThatProgramsHaveBuiltIn) {
  for (const int id : {5, 6, 37, 38, 41, 42}) {
    EXPECT_EQ(format_number(-1234.5, builtin_format(id)), "-1,235") << id;
  }
  for (const int id : {7, 8, 39, 40, 43, 44}) {
    EXPECT_EQ(format_number(-1234.5, builtin_format(id)), "-1,234.50") << id;
  }
  for (const int id : {45, 47}) EXPECT_EQ(format_number(0.75, builtin_format(id)), "18:00:00");
  for (const int id : {-1, 0, 11, 23, 48, 49, 163, 164}) EXPECT_EQ(builtin_format(id), "") << id;
}

TEST(CellFormat, NonsenseStaysANumber) {
  EXPECT_EQ(format_number(1e300, "0.00"), "1e+300");
  EXPECT_EQ(format_number(5, "[Red]\"only words\""), "5");
  EXPECT_EQ(format_number(5, "[\"\\"), "5");
  EXPECT_EQ(format_number(5, ";;;"), "5");
  EXPECT_EQ(format_number(5, std::string(1'000, ';')), "5");
  EXPECT_EQ(format_number(5, "0" + std::string(400, '%')), "5");
  EXPECT_EQ(format_number(5, std::string(100'000, '0')).size(), 1'024U);
}

}  // namespace
}  // namespace millrace::document
