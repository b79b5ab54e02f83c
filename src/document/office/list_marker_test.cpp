#include "document/office/list_marker.h"

#include <gtest/gtest.h>

namespace millrace::document {
namespace {

TEST(ListMarker, LettersGoOnPastZ) {
  EXPECT_EQ(number_text(NumberFormat::lower_letter, 26), "z");
  EXPECT_EQ(number_text(NumberFormat::lower_letter, 27), "aa");
  EXPECT_EQ(number_text(NumberFormat::lower_letter, 28), "bb");
  EXPECT_EQ(number_text(NumberFormat::upper_letter, 104), "ZZZZ");
  EXPECT_EQ(number_text(NumberFormat::upper_letter, 105), "105") << "longer and longer";
  EXPECT_EQ(number_text(NumberFormat::lower_column, 26), "z");
  EXPECT_EQ(number_text(NumberFormat::lower_column, 28), "ab");
  EXPECT_EQ(number_text(NumberFormat::upper_column, 702), "ZZ");
  EXPECT_EQ(number_text(NumberFormat::upper_column, 703), "AAA");
  for (const auto format : {NumberFormat::lower_letter, NumberFormat::lower_column}) {
    EXPECT_EQ(number_text(format, 0), "0");
    EXPECT_EQ(number_text(format, -1), "-1");
  }
}

TEST(ListMarker, DecimalAndRomanNumbers) {
  EXPECT_EQ(number_text(NumberFormat::decimal_zero, 0), "00");
  EXPECT_EQ(number_text(NumberFormat::decimal_zero, 9), "09");
  EXPECT_EQ(number_text(NumberFormat::decimal_zero, 10), "10");
  EXPECT_EQ(number_text(NumberFormat::lower_roman, 3'999), "mmmcmxcix");
  EXPECT_EQ(number_text(NumberFormat::upper_roman, 4'000), "4000");
  EXPECT_EQ(number_text(NumberFormat::bullet, 3), "");
}

TEST(ListMarker, LongIdsAreNone) {
  EXPECT_EQ(short_id(std::string(kIdBytesMax, 'a')).size(), kIdBytesMax);
  EXPECT_EQ(short_id(std::string(kIdBytesMax + 1, 'a')), "");
}

}  // namespace
}  // namespace millrace::document
