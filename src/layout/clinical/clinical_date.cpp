#include "layout/clinical/clinical_date.h"

#include "layout/clinical/numbers.h"
#include "layout/code_points.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <string>
#include <vector>

namespace millrace::layout::clinical {
namespace {

std::optional<int> figures(std::string_view text) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool all = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (code != std::errc{} || end != text.data() + text.size() || !all) return std::nullopt;
  return value;
}

bool names_month(std::string_view text, int month) {
  using Names = std::array<std::string_view, 4>;
  static constexpr auto kMonths = std::to_array<Names>({{"jan", "ene", "jän", "jan"},
                                                        {"feb", "fév", "fev", "feb"},
                                                        {"mar", "mär", "maerz", "mars"},
                                                        {"apr", "abr", "avr", "apr"},
                                                        {"may", "mai", "mayo", "may"},
                                                        {"jun", "juin", "jun", "jun"},
                                                        {"jul", "juil", "jul", "jul"},
                                                        {"aug", "ago", "aoû", "aou"},
                                                        {"sep", "sep", "sep", "sep"},
                                                        {"oct", "okt", "oct", "oct"},
                                                        {"nov", "nov", "nov", "nov"},
                                                        {"dec", "dez", "dic", "déc"}});
  const auto lower = to_lower(text);
  for (std::size_t at = 0; at < lower.size(); ++at) {
    const bool starts = at == 0 || static_cast<unsigned char>(lower[at - 1]) < 'a';
    if (!starts) continue;
    const auto rest = std::string_view(lower).substr(at);
    const auto& names = kMonths[static_cast<std::size_t>(month - 1)];
    if (std::ranges::any_of(names, [rest](auto name) { return rest.starts_with(name); })) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<ClinicalDate> parse_clinical_date(std::string_view text) {
  if (text.size() != 4 && text.size() != 7 && text.size() != 10) return std::nullopt;
  const auto year = figures(text.substr(0, 4));
  if (!year || *year < 1800 || *year > 2200) return std::nullopt;
  ClinicalDate date{.year = *year};
  if (text.size() == 4) return date;
  const auto month = figures(text.substr(5, 2));
  if (text[4] != '-' || !month || *month < 1 || *month > 12) return std::nullopt;
  date.month = *month;
  if (text.size() == 7) return date;
  const auto day = figures(text.substr(8, 2));
  if (text[7] != '-' || !day) return std::nullopt;
  date.day = *day;
  const std::chrono::year_month_day exact(std::chrono::year(date.year),
                                          std::chrono::month(static_cast<unsigned>(date.month)),
                                          std::chrono::day(static_cast<unsigned>(date.day)));
  return exact.ok() ? std::optional(date) : std::nullopt;
}

bool date_occurs(const ClinicalDate& date, std::string_view text) {
  // Points and commas part the figures of a date, they are no decimals.
  std::string parted(text);
  std::ranges::replace_if(parted, [](char c) { return c == '.' || c == ','; }, ' ');
  const auto numbers = numbers_in(parted);
  const auto occurs = [&](int number) {
    return std::ranges::any_of(numbers, [number](const Number& other) {
      return other.agrees_with(static_cast<double>(number));
    });
  };
  if (!occurs(date.year) && !occurs(date.year % 100)) return false;
  if (date.month > 0 && !occurs(date.month) && !names_month(text, date.month)) return false;
  return date.day == 0 || occurs(date.day);
}

}  // namespace millrace::layout::clinical
