#include "samples/data/calendar.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace millrace::samples {
namespace {

using Names = std::array<std::string_view, 12>;

constexpr std::array<Names, kLanguages> kMonths = {{
    {"January", "February", "March", "April", "May", "June", "July", "August", "September",
     "October", "November", "December"},
    {"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober",
     "November", "Dezember"},
    {"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre",
     "octobre", "novembre", "décembre"},
    {"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre",
     "octubre", "noviembre", "diciembre"},
}};

std::string long_date(int year, unsigned month, unsigned day, Language language) {
  const std::string_view name = kMonths[at(language)][month - 1];
  switch (language) {
    case Language::en:
      return fmt::format("{} {} {}", day, name, year);
    case Language::de:
      return fmt::format("{}. {} {}", day, name, year);
    case Language::fr:
      return fmt::format("{} {} {}", day, name, year);
    case Language::es:
      return fmt::format("{} de {} de {}", day, name, year);
  }
  return {};
}

}  // namespace

Day day_of(int year, unsigned month, unsigned day) {
  return std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day);
}

std::string iso_date(Day day) {
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", int(date.year()), unsigned(date.month()),
                     unsigned(date.day()));
}

DateForm pick_date_form(Chance& chance) {
  constexpr std::array kForms = {DateForm::long_form, DateForm::long_form, DateForm::abbreviated,
                                 DateForm::numeric,   DateForm::numeric,   DateForm::iso};
  return chance.pick(kForms);
}

std::string write_date(Day day, DateForm form, Language language) {
  const std::chrono::year_month_day date(day);
  const int year = int(date.year());
  const unsigned month = unsigned(date.month());
  const unsigned number = unsigned(date.day());
  switch (form) {
    case DateForm::iso:
      return iso_date(day);
    case DateForm::numeric:
      if (language == Language::de) return fmt::format("{:02}.{:02}.{:04}", number, month, year);
      return fmt::format("{:02}/{:02}/{:04}", number, month, year);
    case DateForm::abbreviated:
      if (language == Language::en) {
        return fmt::format("{} {}, {}", kMonths[0][month - 1].substr(0, 3), number, year);
      }
      if (language == Language::de) return fmt::format("{}.{}.{}", number, month, year);
      return long_date(year, month, number, language);
    case DateForm::long_form:
      return long_date(year, month, number, language);
  }
  return {};
}

Day plain_day(Chance& chance, Day from, int days) {
  Day day = from + std::chrono::days(chance.whole(0, days));
  while (unsigned(std::chrono::year_month_day(day).day()) <= 12) day -= std::chrono::days(1);
  return day;
}

}  // namespace millrace::samples
