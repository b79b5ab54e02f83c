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
  EXPECT_EQ(format_number(7.4, "0.0\" mmol/l\""), "7.4");
}

TEST(CellFormat, DatesAreIso) {
  EXPECT_EQ(format_number(45000, "dd/mm/yyyy"), "2023-03-15");
  EXPECT_EQ(format_number(1, "yyyy-mm-dd"), "1900-01-01");
  EXPECT_EQ(format_number(45000.5, "yyyy-mm-dd hh:mm"), "2023-03-15 12:00");
  EXPECT_EQ(format_number(0.75, "h:mm:ss"), "18:00:00");
  EXPECT_EQ(format_number(0, "yyyy-mm-dd", true), "1904-01-01");
  EXPECT_EQ(format_number(-5, "yyyy-mm-dd"), "-5") << "no date";
}

TEST(CellFormat, NonsenseStaysANumber) {
  EXPECT_EQ(format_number(1e300, "0.00"), "1e+300");
  EXPECT_EQ(format_number(5, "[Red]\"only words\""), "5");
}

}  // namespace
}  // namespace millrace::document
