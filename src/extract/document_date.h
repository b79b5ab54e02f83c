// When a document was written, as far as its pages say: what years of two figures mean follows from
// that, and what a person has to look at of its dates.
#pragma once

#include "extract/dates.h"
#include "extract/link.h"

#include <span>

namespace millrace::extract {

struct Written {
  DateMatch newest = {};  // Of all dates but those of birth; year 0: there is none.
  int year = 0;           // Nothing that is told happened later.
};

// `year`: in which the document came to us; 0: nobody knows.
Written written_of(std::span<const Group> groups, DayMonth order, int year);

// The date that a text is, all of it.
std::optional<DateMatch> event_date(std::string_view text, DayMonth order, const Written& written);
// Of somebody's birth: not after the document.
std::optional<DateMatch> birth_date(std::string_view text, DayMonth order, const Written& written);

}  // namespace millrace::extract
