// Dates as facts have them, and whether a text says the same.
#pragma once

#include <optional>
#include <string_view>

namespace millrace::layout::clinical {

struct ClinicalDate {
  int year = 0;
  int month = 0;  // 0: only the year is known.
  int day = 0;    // 0: only the month is known.
  friend auto operator<=>(const ClinicalDate&, const ClinicalDate&) = default;
};

// "2024", "2024-03" or "2024-03-05", of the years 1800 to 2200; nothing for days that do not exist.
std::optional<ClinicalDate> parse_clinical_date(std::string_view text);

// Whether the parts of the date occur in a text, in whatever order it writes them: "5 March 2024",
// "05.03.24". Months by number or by their English, German, French or Spanish names.
bool date_occurs(const ClinicalDate& date, std::string_view text);

}  // namespace millrace::layout::clinical
