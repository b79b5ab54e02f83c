// Days, and the ways in which people write them.
#pragma once

#include "samples/chance.h"
#include "samples/language.h"

#include <chrono>
#include <string>

namespace millrace::samples {

using Day = std::chrono::sys_days;

Day day_of(int year, unsigned month, unsigned day);
std::string iso_date(Day day);

// One habit per document: a letter does not mix all forms, though it may know two.
enum class DateForm { long_form, abbreviated, numeric, iso };

DateForm pick_date_form(Chance& chance);
// "5 March 2024", "05.03.2024", "le 5 mars 2024" without the article. English numeric dates are
// written the British way, with a day above 12, so that there is one way to read them.
std::string write_date(Day day, DateForm form, Language language);
// A day from `from` on, within `days`, or some days before: its number in the month is above 12, so
// that no form can be misread.
Day plain_day(Chance& chance, Day from, int days);

}  // namespace millrace::samples
