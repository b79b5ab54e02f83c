// Locale: how numbers, money and dates are written in the languages that templates know.
#pragma once

#include "base/result.h"
#include "template/decimal.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::templates {

enum class DateStyle { year, month, day, long_day };

struct Locale {
  std::string_view tag;  // "de"
  std::string_view decimal;
  std::string_view group;
  int grouping_from = 4;     // Digits from which on they are grouped.
  bool currency_first;       // €5.00, or 5,00 €
  std::string_view percent;  // What stands behind the number.
  std::array<std::string_view, 12> months;
  std::array<std::string_view, 12> months_short;
  std::string_view day_pattern;  // {d} {m} {b} {B} {y}
  std::string_view long_pattern;
  std::string_view month_pattern;
};

// By language tag: "de-AT" is de, "en-GB" has its own dates; what is not known is English.
const Locale& find_locale(std::string_view tag);
bool is_right_to_left(std::string_view tag);
// Letters, digits and '-': what may stand in lang="".
bool is_language_tag(std::string_view tag);

// Without `decimals` as many as the number has.
std::string format_number(const Decimal& number, std::optional<int> decimals, const Locale& locale);
// `currency` is an ISO 4217 code; a sign where one is known. Without `decimals` as many as the
// currency has.
std::string format_money(const Decimal& amount, std::string_view currency,
                         std::optional<int> decimals, const Locale& locale);
int decimals_of(std::string_view currency);
// "2024", "2024-02", "2024-02-29" or a time in RFC 3339, as far as it goes; nothing when `text` is
// no date.
std::optional<std::string> format_date(std::string_view text, DateStyle style,
                                       const Locale& locale);

}  // namespace millrace::templates
