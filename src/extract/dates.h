// Dates as documents write them, in four languages, and the ISO form that facts have.
#pragma once

#include "extract/token.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace millrace::extract {

// What "03/05/2024" means. Documents are consistent: one date with a part above 12 decides.
enum class DayMonth : std::uint8_t { unknown, day_first, month_first };

struct DateMatch {
  std::size_t tokens = 0;  // 0: no date.
  int year = 0;
  int month = 0;                       // 0: only the year.
  int day = 0;                         // 0: only the month.
  DayMonth shows = DayMonth::unknown;  // What its own numbers prove.
  bool either_way = false;             // "03/05/2024": another order is another day.
  bool short_year = false;             // "24": see settle_year.

  std::string iso() const;  // "2024-03-05", "2024-03", "2024"
};

// Two figures are the last year that ends so and is not after `latest`.
void settle_year(DateMatch& date, int latest);
// Not before the end of the other one, as far as they say.
bool is_after(const DateMatch& date, const DateMatch& other);

// A date that begins at this token. Years alone are dates only behind words such as "in" or
// "since", which is the caller's to see: `years` allows them.
DateMatch read_date(std::span<const Token> tokens, std::size_t at, DayMonth order,
                    bool years = false);

// The date that a text is, all of it.
std::optional<DateMatch> date_of(std::string_view text, DayMonth order);

}  // namespace millrace::extract
