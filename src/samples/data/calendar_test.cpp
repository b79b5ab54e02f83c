#include "samples/data/calendar.h"

#include <gtest/gtest.h>

namespace millrace::samples {
namespace {

TEST(Calendar, DatesAreWrittenAsTheirLanguageDoes) {
  const Day day = day_of(2024, 3, 15);
  EXPECT_EQ(iso_date(day), "2024-03-15");
  EXPECT_EQ(write_date(day, DateForm::long_form, Language::en), "15 March 2024");
  EXPECT_EQ(write_date(day, DateForm::abbreviated, Language::en), "Mar 15, 2024");
  EXPECT_EQ(write_date(day, DateForm::numeric, Language::de), "15.03.2024");
  EXPECT_EQ(write_date(day, DateForm::long_form, Language::fr), "15 mars 2024");
  EXPECT_EQ(write_date(day, DateForm::long_form, Language::es), "15 de marzo de 2024");
}

TEST(Calendar, ADayCannotBeTakenForAMonth) {
  Chance chance(5);
  for (int i = 0; i < 500; ++i) {
    // A window in which no day is above 12.
    const Day day = plain_day(chance, day_of(2024, 3, 2), 8);
    EXPECT_GT(unsigned(std::chrono::year_month_day(day).day()), 12U);
  }
}

}  // namespace
}  // namespace millrace::samples
