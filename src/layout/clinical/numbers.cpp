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
constexpr double kSteep = 10;  // How many times a first group of figures goes into the second.

bool is_figure(char c) { return c >= '0' && c <= '9'; }

bool same(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a)}); }

double to_double(std::string_view digits) {
  double value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// "500,5", the last part of "1 500,5".
double read_decimals(std::string_view text) {
  const auto comma = text.find(',');
  if (comma == text.npos) return to_double(text);
  return to_double(text.substr(0, comma)) +
         to_double(text.substr(comma + 1)) /
             std::pow(10.0, static_cast<double>(text.size() - comma - 1));
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
    } else if (text[i] == '.' || text[i] == ',') {
      ++separators;
      last = i;
    }
  }
  const auto whole = to_double(digits);
  if (last == std::string_view::npos) return {.value = whole, .other = whole};
  const auto after = text.size() - last - 1;
  const auto decimal = whole / std::pow(10.0, static_cast<double>(after));
  if (last == 0) return {.value = decimal, .other = decimal};  // ".125"
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

bool figure_at(std::string_view text, std::size_t at) {
  return at < text.size() && is_figure(text[at]);
}

// ".5 mg": a point that begins a number.
bool leads_figures(std::string_view text, std::size_t at) {
  if (text[at] != '.' || !figure_at(text, at + 1)) return false;
  return at == 0 || std::string_view(" \n\t([<>=~:|").contains(text[at - 1]);
}

// Three figures and no more behind a sign or a space of these bytes.
bool is_group(std::string_view text, std::size_t at) {
  return figure_at(text, at) && figure_at(text, at + 1) && figure_at(text, at + 2) &&
         !figure_at(text, at + 3);
}

// The Swiss "250'000".
std::size_t apostrophe_bytes(std::string_view text, std::size_t at) {
  const auto decoded = decode_at(text, at);
  const bool apostrophe = decoded.code == '\'' || decoded.code == 0x2019;
  return apostrophe && is_group(text, at + decoded.bytes) ? decoded.bytes : 0;
}

// The end of the number that begins at `at`.
std::size_t number_end(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const bool point = (text[at] == '.' || text[at] == ',') && figure_at(text, at + 1);
    if (!is_figure(text[at]) && !point) {
      const auto sign = apostrophe_bytes(text, at);
      if (sign == 0) break;
      at += sign;
    }
    ++at;
  }
  return at;
}

// A number as it stands in a text.
struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t number = 0;  // Which one of those that were read.
};

// Whether a single space parts two numbers.
bool is_next(std::string_view text, const Stretch& a, const Stretch& b) {
  return b.begin > a.end && b.begin - a.end <= 3 && is_space(decode_at(text, a.end).code) &&
         text[a.end] != '\n' && a.end + decode_at(text, a.end).bytes == b.begin;
}

bool is_plain(std::string_view text, const Stretch& stretch) {
  return std::ranges::all_of(text.substr(stretch.begin, stretch.end - stretch.begin), is_figure);
}

// A count of cells: "/mm3" right behind the figures.
bool is_count(std::string_view text, std::size_t end) {
  if (end < text.size() && text[end] == ' ') ++end;
  return end < text.size() && text[end] == '/';
}

// "250 000" may be one number: its parts keep their own value and may mean the whole. "140 138
// mmol/l" is a value and the one before it: parts of one number differ more, or count cells.
void join_groups(std::string_view text, const std::vector<Stretch>& stretches,
                 std::vector<Number>& numbers) {
  for (std::size_t i = 0; i + 1 < stretches.size(); ++i) {
    const auto& first = stretches[i];
    if (first.end - first.begin > 3 || text[first.begin] == '0' || !is_plain(text, first)) continue;
    auto last = i;
    double value = numbers[first.number].value;
    while (last + 1 < stretches.size() && last - i < 3) {
      const auto& group = stretches[last + 1];
      if (!is_next(text, stretches[last], group) || !is_group(text, group.begin)) break;
      if (group.end - group.begin > 3 && text[group.begin + 3] != ',') break;
      const auto figures = text.substr(group.begin, group.end - group.begin);
      value = value * 1000 + read_decimals(figures);
      ++last;
      if (!is_plain(text, group)) break;
    }
    if (last == i) continue;
    const auto& second = stretches[i + 1];
    const bool parts =
        text[second.begin] == '0' || is_count(text, stretches[last].end) ||
        to_double(text.substr(second.begin, 3)) >= kSteep * numbers[first.number].value;
    for (auto k = i; parts && k <= last; ++k) numbers[stretches[k].number].other = value;
    i = last;
  }
}

// "1/2" of a tablet, "1 1/2": parts keep their own value and may mean the fraction.
void read_fractions(std::string_view text, const std::vector<Stretch>& stretches,
                    std::vector<Number>& numbers) {
  const auto small = [&](std::size_t k) {
    return stretches[k].end == stretches[k].begin + 1 && text[stretches[k].begin] != '0';
  };
  for (std::size_t i = 0; i + 1 < stretches.size(); ++i) {
    const auto& top = stretches[i];
    const auto& bottom = stretches[i + 1];
    const bool slash = bottom.begin == top.end + 1 && text[top.end] == '/';
    if (!slash || !small(i) || !small(i + 1)) continue;
    const auto value = numbers[top.number].value / numbers[bottom.number].value;
    if (value >= 1) continue;
    numbers[top.number].other = value;
    const bool mixed = i > 0 && small(i - 1) &&
                       (is_next(text, stretches[i - 1], top) ||
                        (top.begin == stretches[i - 1].end + 1 && text[top.begin - 1] == '-'));
    if (mixed) {
      auto& whole = numbers[stretches[i - 1].number];
      whole.other = whole.value + value;
    }
  }
}

}  // namespace

bool Number::agrees_with(const Number& number) const {
  return same(value, number.value) || same(value, number.other) || same(other, number.value) ||
         same(other, number.other);
}

std::vector<Number> numbers_in(std::string_view text, Spelled spelled) {
  std::vector<Number> numbers;
  std::vector<Stretch> stretches;
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
    if (is_figure(text[at]) || leads_figures(text, at)) {
      end_word();
      const auto end = number_end(text, at + 1);
      stretches.push_back({.begin = at, .end = end, .number = numbers.size()});
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
      // "1½", "1 ½"
      const auto begin = at - decoded.bytes;
      if (!stretches.empty() && begin - stretches.back().end <= 1 && begin > 0 &&
          (begin == stretches.back().end || text[begin - 1] == ' ')) {
        auto& whole = numbers[stretches.back().number];
        whole.other = whole.value + *fraction;
      }
      numbers.push_back({.value = *fraction, .other = *fraction});
    }
  }
  end_word();
  join_groups(text, stretches, numbers);
  read_fractions(text, stretches, numbers);
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
