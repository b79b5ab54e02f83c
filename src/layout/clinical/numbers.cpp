#include "layout/clinical/numbers.h"

#include "layout/code_points.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace millrace::layout::clinical {
namespace {

constexpr std::size_t kNumberBytesMax = 40;

bool is_figure(char c) { return c >= '0' && c <= '9'; }

bool same(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a)}); }

double to_double(std::string_view digits) {
  double value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// Figures with points and commas between them. Points and commas are decimal, or part thousands:
// the last one is decimal unless three figures follow it; with three it can be either.
Number read_number(std::string_view text) {
  std::string digits;
  std::size_t separators = 0;
  std::size_t last = std::string_view::npos;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_figure(text[i])) {
      digits += text[i];
    } else {
      ++separators;
      last = i;
    }
  }
  const auto whole = to_double(digits);
  if (last == std::string_view::npos) return {.value = whole, .other = whole};
  const auto after = text.size() - last - 1;
  const auto decimal = whole / std::pow(10.0, static_cast<double>(after));
  // 1.234.567 and 12,345.6 have one meaning each, 1,000 has two.
  const auto first = text.find_first_of(".,");
  const bool same_kind = separators > 1 && text[first] == text[last] && after == 3;
  if (same_kind) return {.value = whole, .other = whole};
  if (after == 3 && separators == 1) return {.value = whole, .other = decimal};
  return {.value = decimal, .other = decimal};
}

std::optional<double> spelled_number(std::string_view word) {
  static constexpr auto kWords = std::to_array<std::pair<std::string_view, double>>({
      {"zero", 0},    {"one", 1},    {"two", 2},    {"three", 3},  {"four", 4},   {"five", 5},
      {"six", 6},     {"seven", 7},  {"eight", 8},  {"nine", 9},   {"ten", 10},   {"eleven", 11},
      {"twelve", 12}, {"once", 1},   {"twice", 2},  {"thrice", 3}, {"half", 0.5}, {"quarter", 0.25},
      {"single", 1},  {"double", 2}, {"dozen", 12},
  });
  const auto at = std::ranges::find(kWords, word, &std::pair<std::string_view, double>::first);
  return at == kWords.end() ? std::nullopt : std::optional(at->second);
}

std::optional<double> fraction_of(char32_t code) {
  switch (code) {
    case 0xbc:
      return 0.25;
    case 0xbd:
      return 0.5;
    case 0xbe:
      return 0.75;
    default:
      return std::nullopt;
  }
}

// The end of the number that begins at `at`.
std::size_t number_end(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const bool point =
        (text[at] == '.' || text[at] == ',') && at + 1 < text.size() && is_figure(text[at + 1]);
    if (!is_figure(text[at]) && !point) break;
    ++at;
  }
  return at;
}

}  // namespace

bool Number::agrees_with(const Number& number) const {
  return same(value, number.value) || same(value, number.other) || same(other, number.value) ||
         same(other, number.other);
}

std::vector<Number> numbers_in(std::string_view text, Spelled spelled) {
  std::vector<Number> numbers;
  std::string word;
  const auto end_word = [&] {
    if (spelled == Spelled::counted) {
      if (const auto number = spelled_number(word)) {
        numbers.push_back({.value = *number, .other = *number});
      }
    }
    word.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    if (is_figure(text[at])) {
      end_word();
      const auto end = number_end(text, at);
      // More figures than anything has: an identifier, compared by its beginning.
      numbers.push_back(read_number(text.substr(at, std::min(end - at, kNumberBytesMax))));
      at = end;
      continue;
    }
    const auto decoded = decode_at(text, at);
    at += decoded.bytes;
    if (is_letter(decoded.code)) {
      append_utf8(word, fold_case(decoded.code));
      continue;
    }
    end_word();
    if (const auto fraction = fraction_of(decoded.code)) {
      numbers.push_back({.value = *fraction, .other = *fraction});
    }
  }
  end_word();
  return numbers;
}

bool all_occur(const std::vector<Number>& needed, const std::vector<Number>& known) {
  return std::ranges::all_of(needed, [&](const Number& number) {
    return std::ranges::any_of(known,
                               [&](const Number& other) { return number.agrees_with(other); });
  });
}

double times_a_day(std::string_view frequency) {
  static constexpr auto kCodes = std::to_array<std::pair<std::string_view, double>>({
      {"qd", 1},
      {"od", 1},
      {"daily", 1},
      {"once daily", 1},
      {"nightly", 1},
      {"qhs", 1},
      {"nocte", 1},
      {"mane", 1},
      {"bid", 2},
      {"bd", 2},
      {"twice daily", 2},
      {"tid", 3},
      {"tds", 3},
      {"qid", 4},
      {"qds", 4},
      {"three times daily", 3},
      {"four times daily", 4},
      {"once a day", 1},
  });
  std::string plain;
  for (const char c : to_lower(frequency)) {
    if (c != '.') plain += c;
  }
  const auto at = std::ranges::find(kCodes, plain, &std::pair<std::string_view, double>::first);
  if (at != kCodes.end()) return at->second;
  // "q8h"
  if (plain.size() >= 3 && plain.front() == 'q' && plain.back() == 'h') {
    const auto hours = to_double(std::string_view(plain).substr(1, plain.size() - 2));
    if (hours > 0 && hours <= 24) return 24 / hours;
  }
  return 0;
}

}  // namespace millrace::layout::clinical
