#include "document/office/list_marker.h"

#include <array>
#include <utility>

namespace millrace::document {

namespace {

std::string roman(std::int64_t number) {
  static constexpr auto kSigns = std::to_array<std::pair<int, std::string_view>>({{1000, "m"},
                                                                                  {900, "cm"},
                                                                                  {500, "d"},
                                                                                  {400, "cd"},
                                                                                  {100, "c"},
                                                                                  {90, "xc"},
                                                                                  {50, "l"},
                                                                                  {40, "xl"},
                                                                                  {10, "x"},
                                                                                  {9, "ix"},
                                                                                  {5, "v"},
                                                                                  {4, "iv"},
                                                                                  {1, "i"}});
  std::string text;
  for (const auto& [value, sign] : kSigns) {
    for (; number >= value; number -= value) text += sign;
  }
  return text;
}

// "a" to "z", then "aa", "bb".
std::string letters(std::int64_t number) {
  const auto letter = static_cast<char>('a' + (number - 1) % 26);
  return std::string(static_cast<std::size_t>((number - 1) / 26 + 1), letter);
}

// "a" to "z", then "aa", "ab".
std::string column(std::int64_t number) {
  std::string text;
  for (; number > 0; number = (number - 1) / 26) {
    text.insert(0, 1, static_cast<char>('a' + (number - 1) % 26));
  }
  return text;
}

std::string upper(std::string text) {
  for (auto& c : text) c = static_cast<char>(c - 'a' + 'A');
  return text;
}

}  // namespace

std::string number_text(NumberFormat format, std::int64_t number) {
  constexpr std::int64_t kLettersMax = 26 * 4;
  constexpr std::int64_t kRomanMax = 3'999;
  const bool has_letters = number >= 1 && number <= kLettersMax;
  const bool has_roman = number >= 1 && number <= kRomanMax;
  switch (format) {
    case NumberFormat::none:
    case NumberFormat::bullet:
      return {};
    case NumberFormat::lower_letter:
      if (has_letters) return letters(number);
      break;
    case NumberFormat::upper_letter:
      if (has_letters) return upper(letters(number));
      break;
    case NumberFormat::lower_column:
      if (number >= 1) return column(number);
      break;
    case NumberFormat::upper_column:
      if (number >= 1) return upper(column(number));
      break;
    case NumberFormat::lower_roman:
      if (has_roman) return roman(number);
      break;
    case NumberFormat::upper_roman:
      if (has_roman) return upper(roman(number));
      break;
    case NumberFormat::decimal_zero:
      if (number >= 0 && number < 10) return "0" + std::to_string(number);
      break;
    case NumberFormat::decimal:
      break;
  }
  return std::to_string(number);
}

}  // namespace millrace::document
