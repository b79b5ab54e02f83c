#include "extract/quantity.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace millrace::extract {
namespace {

bool is_figure(char c) { return c >= '0' && c <= '9'; }

// Figures that OCR took for letters.
std::string look_alikes(std::string_view fold) {
  std::string out;
  for (const char c : fold) {
    if (is_figure(c) || c == '.' || c == ',') {
      out += c;
    } else if (c == 'o') {
      out += '0';
    } else if (c == 'l' || c == 'i') {
      out += '1';
    } else {
      return {};
    }
  }
  return out;
}

struct Figures {
  std::size_t tokens = 0;
  std::string text = {};
  bool misread = false;
  bool unsure = false;  // Its groups may be two numbers.
};

bool is_whole(std::string_view fold) { return std::ranges::all_of(fold, is_figure); }

bool joins_range(const Token& token) {
  return token.is("-") || token.is("to") || token.is("bis") || token.is("a") || token.is("~") ||
         token.is("and") || token.is("et") || token.is("y");
}

// Cells per volume: they are counted in thousands, and nobody gives them with three decimals.
bool is_plain_count(const Unit& unit) { return unit.code == "/uL" || unit.code == "{cells}/uL"; }

bool is_dose(const Unit& unit) {
  return unit.kind == UnitClass::mass || unit.kind == UnitClass::activity ||
         unit.kind == UnitClass::strength;
}

// "000" of "250 000", "500,5" of "1 500,5": a group of thousands behind a space.
bool is_group(std::span<const Token> tokens, std::size_t at) {
  if (at >= tokens.size() || !tokens[at].is_number() || tokens[at].glued) return false;
  if (tokens[at].line != tokens[at - 1].line) return false;
  if (tokens[at].bytes.begin > tokens[at - 1].bytes.end + 3) return false;  // A wider gap.
  const std::string_view fold = tokens[at].fold;
  if (fold.size() < 3 || !is_whole(fold.substr(0, 3))) return false;
  return fold.size() == 3 || (fold[3] == ',' && is_whole(fold.substr(4)));
}

// "Vitamin B 12 300 pg/ml", "Omega 3 500 mg": the first number belongs to the name where such names
// have it. "Vitamine D 2 000 UI" has none: D2 and D3 are written in one.
bool has_number_in_name(const Token& name, const Token& number) {
  if (name.is("b")) return one_of(number.fold, {"1", "2", "6", "9", "12"});
  if (name.is("q")) return number.is("10");
  if (name.is("omega")) return one_of(number.fold, {"3", "6"});
  return one_of(name.fold,
                {"typ", "type", "tipo", "faktor", "facteur", "factor", "comb", "mix", "nr", "no"});
}

// All groups that stand here, whatever they are.
Figures all_groups(std::span<const Token> tokens, std::size_t at) {
  if (at >= tokens.size() || !tokens[at].is_number()) return {};
  const auto& first = tokens[at].fold;
  if (first.size() > 3 || first[0] == '0' || !is_whole(first)) return {};
  Figures out{.tokens = 1, .text = first};
  while (is_group(tokens, at + out.tokens)) {
    const auto& group = tokens[at + out.tokens].fold;
    out.text += group;
    ++out.tokens;
    if (group.size() > 3) break;
  }
  return out.tokens > 1 ? out : Figures{};
}

int figures_of(std::string_view fold) {
  int value = 0;
  for (const char c : fold.substr(0, 3)) {
    if (is_figure(c)) value = 10 * value + (c - '0');
  }
  return value;
}

// How many times the first group goes into the second: a value and the one before it are of one
// size ("140 138"), the parts of a thousand are not ("7 500").
int steepness(std::span<const Token> tokens, std::size_t at) {
  return figures_of(tokens[at + 1].fold) / std::max(figures_of(tokens[at].fold), 1);
}

// Whether the range behind a count is one of thousands; nothing where none is printed.
std::optional<bool> has_range_of_thousands(std::span<const Token> tokens, std::size_t at) {
  const auto end = std::min(tokens.size(), at + 10);
  for (auto i = at; i + 1 < end && tokens[i].line == tokens[at].line; ++i) {
    if (!joins_range(tokens[i]) || i == at || !tokens[i - 1].is_number() ||
        !tokens[i + 1].is_number())
      continue;
    std::string_view high = tokens[i + 1].fold;
    return is_group(tokens, i + 2) || high.size() > 3;
  }
  return std::nullopt;
}

// Spaces part thousands: "1 000 mg", "250 000/mm3". A column of values and one of those before look
// alike ("140 138 mmol/l", "140 135 - 145"): what is not "000" must be a dose or a count of cells.
Figures read_groups(std::span<const Token> tokens, std::size_t at, std::string_view text,
                    Decimal decimal) {
  auto out = all_groups(tokens, at);
  if (out.tokens == 0) return {};
  const auto& first = tokens[at].fold;
  const auto& group = tokens[at + 1].fold;
  if (at > 0 && group[0] != '0' && has_number_in_name(tokens[at - 1], tokens[at])) return {};
  if (group == "000") return out;
  const auto next = at + out.tokens;
  for (auto i = at + 1; i < next; ++i) {
    if (tokens[i].apart) return {};
  }
  const bool ranged =
      next + 1 < tokens.size() && joins_range(tokens[next]) && tokens[next + 1].is_number();
  if (group[0] == '0' && first.size() < 3 && !ranged) return out;
  if (decimal == Decimal::point) return {};
  const auto steep = steepness(tokens, at);
  // "4 500 - 11 000/mm3"
  if (ranged) return steep >= 10 && is_group(tokens, next + 2) ? out : Figures{};
  if (!same_line(tokens, next)) return {};
  const auto unit = read_unit(tokens, next, text);
  if (unit.code == "/uL" || (is_plain_count(unit) && steep >= 10)) {
    const auto behind = next + unit.tokens;
    const auto thousands = has_range_of_thousands(tokens, behind);
    if (thousands) return *thousands ? out : Figures{};
    // What is one entity was seen to be one number.
    const bool whole = at == 0 && behind == tokens.size();
    out.unsure = steep < 5;
    return first.size() < 3 || whole ? out : Figures{};
  }
  if (is_dose(unit)) return steep >= 10 ? out : Figures{};
  // "NT-proBNP 2 345 pg/ml", but also "CRP 5 120 mg/l" of today and of yesterday.
  out.unsure = true;
  return unit.kind == UnitClass::concentration && steep >= 20 ? out : Figures{};
}

Figures read_figures(std::span<const Token> tokens, std::size_t at, std::string_view text,
                     Decimal decimal) {
  if (at >= tokens.size()) return {};
  const auto& token = tokens[at];
  if (token.is_number()) {
    if (auto groups = read_groups(tokens, at, text, decimal); groups.tokens > 0) return groups;
    Figures figures{.tokens = 1, .text = token.fold};
    // "5OO mg": the letters stand right behind the figures and a unit follows them.
    if (at + 2 < tokens.size() && tokens[at + 1].is_word() && tokens[at + 1].glued &&
        !is_unit_word(tokens[at + 1].fold)) {
      const auto more = look_alikes(tokens[at + 1].fold);
      if (!more.empty() && tokens[at + 1].fold.size() <= 3 && same_line(tokens, at + 2) &&
          is_unit_word(tokens[at + 2].fold)) {
        figures.text += more;
        figures.tokens = 2;
        figures.misread = true;
      }
    }
    return figures;
  }
  // "l2.5 mg", "lO mg"
  const bool short_word = token.is_word() && token.fold.size() <= 5;
  if (!short_word) return {};
  const auto read = look_alikes(token.fold);
  if (read.empty() || std::ranges::none_of(token.fold, is_figure)) return {};
  if (at + 1 >= tokens.size() || !same_line(tokens, at + 1)) return {};
  if (!is_unit_word(tokens[at + 1].fold)) return {};
  return {.tokens = 1, .text = read, .misread = true};
}

std::pair<std::size_t, std::string_view> read_comparator(std::span<const Token> tokens,
                                                         std::size_t at) {
  if (at >= tokens.size()) return {};
  const auto& fold = tokens[at].fold;
  const bool equal = at + 1 < tokens.size() && tokens[at + 1].is("=") && tokens[at + 1].glued;
  if (fold == "<")
    return equal ? std::pair<std::size_t, std::string_view>{2, "<="}
                 : std::pair<std::size_t, std::string_view>{1, "<"};
  if (fold == ">")
    return equal ? std::pair<std::size_t, std::string_view>{2, ">="}
                 : std::pair<std::size_t, std::string_view>{1, ">"};
  if (fold == "≤") return {1, "<="};
  if (fold == "≥") return {1, ">="};
  return {};
}

// One sign before three figures, "1.250", "12,400": the figures without it.
std::optional<int> parted_by_three(std::string_view text) {
  const auto sign = text.find_first_of(".,");
  const bool form = sign != std::string_view::npos && sign > 0 && sign <= 3 &&
                    text.size() == sign + 4 && text[0] != '0' && is_whole(text.substr(0, sign)) &&
                    is_whole(text.substr(sign + 1));
  if (!form) return std::nullopt;
  int whole = 0;
  for (const char c : text) {
    if (is_figure(c)) whole = 10 * whole + (c - '0');
  }
  return whole;
}

// A sign that is not that of decimals parts thousands, but for "3.125 mg" where commas are decimal:
// thousands of doses are round.
bool parts_thousands(std::string_view text, Decimal decimal) {
  const auto whole = parted_by_three(text);
  if (!whole || text.contains(',') == (decimal == Decimal::comma)) return false;
  return decimal == Decimal::point || *whole % 50 == 0;
}

double decimal_value(int whole) { return whole / 1000.0; }

std::optional<double> part_of_one(const Token& token) {
  if (token.is("½")) return 0.5;
  if (token.is("¼")) return 0.25;
  if (token.is("¾")) return 0.75;
  return std::nullopt;
}

// "/2" of "1/2", glued to what stands before it: how large the second number is.
std::optional<double> glued_part(std::span<const Token> tokens, std::size_t at,
                                 std::string_view sign, Decimal decimal) {
  if (at + 1 >= tokens.size() || !tokens[at].is(sign) || !tokens[at].glued) return std::nullopt;
  if (!tokens[at + 1].is_number() || !tokens[at + 1].glued) return std::nullopt;
  return number_value(tokens[at + 1].fold, decimal);
}

// "5/325 mg", "5/160/12.5 mg", "875-125 mg", "875 mg/125 mg": substances of one tablet.
void read_pair(std::span<const Token> tokens, std::size_t next, std::string_view text,
               Decimal decimal, Quantity& out) {
  if (out.unit.tokens > 0) {
    const auto behind = next + out.unit.tokens;
    const bool slash = behind + 2 < tokens.size() && tokens[behind].is("/") &&
                       tokens[behind + 1].is_number() && out.unit.kind == UnitClass::mass;
    if (!slash) return;
    const auto second = read_unit(tokens, behind + 2, text);
    if (second.kind != UnitClass::mass) return;
    out.unit.tokens += 2 + second.tokens;
    out.pair = true;
    return;
  }
  auto at = next;
  while (glued_part(tokens, at, "/", decimal)) at += 2;
  if (at == next) {
    const auto second = glued_part(tokens, at, "-", decimal);
    if (!second || *second >= out.value) return;  // A range.
    at += 2;
  }
  if (!same_line(tokens, at)) return;
  auto unit = read_unit(tokens, at, text);
  if (unit.kind != UnitClass::mass && unit.kind != UnitClass::strength) return;
  out.number_tokens += at - next;
  out.unit = std::move(unit);
  out.pair = true;
}

// "1/2 tab", "1 1/2 tablets", "1-1/2 tabs", "½ tablet", "1½ tablets": only things that are counted.
bool read_part(std::span<const Token> tokens, std::size_t at, std::string_view text,
               Quantity& out) {
  const auto small = [&](std::size_t i) {
    return i < tokens.size() && tokens[i].is_number() && tokens[i].fold.size() == 1;
  };
  auto next = at;
  double value = 0;
  const bool mixed = small(at) && at + 1 < tokens.size() &&
                     (part_of_one(tokens[at + 1]) || small(at + 1) ||
                      (tokens[at + 1].is("-") && tokens[at + 1].glued && small(at + 2) &&
                       at + 3 < tokens.size() && tokens[at + 3].is("/")));
  if (mixed) {
    value = tokens[at].fold[0] - '0';
    next += tokens[at + 1].is("-") ? 2 : 1;
  }
  if (next >= tokens.size()) return false;
  if (const auto part = part_of_one(tokens[next])) {
    value += *part;
    ++next;
  } else {
    const auto of = small(next) ? glued_part(tokens, next + 1, "/", Decimal::point) : std::nullopt;
    const double top = small(next) ? tokens[next].fold[0] - '0' : 0;
    if (!of || top < 1 || top >= *of || *of > 8) return false;
    value += top / *of;
    next += 3;
  }
  if (!same_line(tokens, next)) return false;
  auto unit = read_unit(tokens, next, text);
  if (unit.kind != UnitClass::count) return false;
  out = {.tokens = next + unit.tokens - at,
         .number_tokens = next - at,
         .value = value,
         .unit = std::move(unit)};
  return true;
}

// What "1.250" and "1,250" are is seen by what is counted. With the sign of decimals results have
// decimals ("pH 7,400"), and round doses are for a person to look at. With the other one "2.345
// pg/mL" is a result of thousands in one country and of two in the next.
void settle_thousands(std::string_view figures, Decimal decimal, Quantity& out) {
  const auto whole = parted_by_three(figures);
  if (!whole) return;
  const bool comma = decimal == Decimal::comma;
  const bool own = figures.contains(',') == comma;
  if (is_plain_count(out.unit) || (!own && comma && out.unit.kind == UnitClass::concentration)) {
    out.unsure = !is_plain_count(out.unit) && *whole % 50 != 0;
    out.value = *whole;
  } else if (own) {
    out.unsure = *whole % 50 == 0;
    if (comma && is_dose(out.unit) && *whole % 100 == 0) {
      out.value = *whole;  // Nobody gives a milligram with three decimals.
      out.unsure = false;
    }
  } else {
    out.unsure = comma && out.unit.kind == UnitClass::none;
    out.unsure |= out.value == *whole && *whole % 50 != 0;
  }
  out.other = out.value == *whole ? decimal_value(*whole) : *whole;
}

// "0,900 - 1,100" and "1.000 - 1.030": both ends are written alike.
void agree_on_thousands(std::string_view low, std::string_view high, Decimal decimal,
                        std::optional<double>& from, std::optional<double>& to) {
  const auto is_decimal = [&](std::string_view text) {
    const auto sign = text.find_first_of(".,");
    return sign != text.npos && text.size() == sign + 4 && !parts_thousands(text, decimal);
  };
  if (is_decimal(low) == is_decimal(high)) return;
  if (const auto whole = parted_by_three(low); whole && is_decimal(high))
    from = decimal_value(*whole);
  if (const auto whole = parted_by_three(high); whole && is_decimal(low))
    to = decimal_value(*whole);
}

// "77 H", "20 L", "135-145 L": marks of a result and no hours nor litres.
bool is_mark(std::span<const Token> tokens, std::size_t at, const Unit& unit) {
  return unit.tokens == 1 && !tokens[at].glued && tokens[at].capital &&
         (tokens[at].is("h") || tokens[at].is("l"));
}

// What sera are thinned to, by halves or by tens: "1:160", "1:1000".
bool is_dilution(std::string_view fold) {
  if (fold.empty() || fold.size() > 6 || !is_whole(fold) || fold[0] == '0') return false;
  int value = 0;
  for (const char c : fold) value = 10 * value + (c - '0');
  while (value % 10 == 0) value /= 10;
  for (const int odd : {1, 5, 25}) {
    auto rest = value;
    if (rest % odd != 0) continue;
    rest /= odd;
    while (rest % 2 == 0) rest /= 2;
    if (rest == 1) return fold != "1";
  }
  return false;
}

// "1:20 pm 145 mg/dL", "1:20 145", "1/16 8.9", "1/16: 8.9": when it was, and what it was then.
bool leads_to_value(std::span<const Token> tokens, std::size_t at) {
  if (at >= tokens.size() || tokens[at].line != tokens[at - 1].line) return false;
  if (tokens[at].is_number()) return true;
  if (one_of(tokens[at].fold, {"am", "pm", "uhr", "h", "hrs", "hours", "heures", "horas"}))
    return true;
  return (tokens[at].is(":") || tokens[at].is(",") || tokens[at].is("=")) &&
         at + 1 < tokens.size() && tokens[at + 1].is_number();
}

bool ends_grade(const Token& token) {
  return token.kind == TokenKind::punct && !token.is("/") && !token.is("-") && !token.is("+") &&
         !token.is("%");
}

}  // namespace

std::optional<double> number_value(std::string_view text, Decimal decimal) {
  if (text.empty() || text.size() > 15) return std::nullopt;
  // "000" and "050" are groups of thousands; "02" is what a laboratory prints.
  if (text.size() > 2 && text[0] == '0' && is_figure(text[1]) && is_figure(text[2]))
    return std::nullopt;
  const auto separators = std::ranges::count_if(text, [](char c) { return c == '.' || c == ','; });
  const auto last = text.find_last_of(".,");
  std::string plain;
  bool thousands = false;
  if (last != std::string_view::npos) {
    const bool three = last > 0 && text.size() - last - 1 == 3 && text[0] != '0';
    const bool same_sign = text[text.find_first_of(".,")] == text[last];
    if (separators > 1 && same_sign && !three) return std::nullopt;  // A date.
    thousands = (separators > 1 && same_sign) || parts_thousands(text, decimal);
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_figure(text[i])) {
      plain += text[i];
    } else if (i == last && !thousands) {
      plain += '.';
    }
  }
  double value = 0;
  const auto [end, code] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (code != std::errc{} || end != plain.data() + plain.size()) return std::nullopt;
  return value;
}

Quantity read_quantity(std::span<const Token> tokens, std::size_t at, std::string_view text,
                       Decimal decimal) {
  if (Quantity part; at < tokens.size() && read_part(tokens, at, text, part)) return part;
  const auto [sign, comparator] = read_comparator(tokens, at);
  const auto figures = read_figures(tokens, at + sign, text, decimal);
  if (figures.tokens == 0) return {};
  const auto value = number_value(figures.text, decimal);
  if (!value) return {};
  Quantity out{.number_tokens = sign + figures.tokens,
               .comparator = comparator,
               .value = *value,
               .misread = figures.misread,
               .unsure = figures.unsure};
  const auto next = at + out.number_tokens;
  if (same_line(tokens, next)) out.unit = read_unit(tokens, next, text);
  if (figures.misread && out.unit.tokens == 0) return {};
  // "5 in" is a preposition.
  const bool single = out.unit.tokens == 1;
  const bool mark = is_mark(tokens, next, out.unit);
  // "K 4.2 Cl 101", "Cr 1.1 Mg 2.0": the name of what follows.
  const bool symbol =
      single && !tokens[next].glued && next + 1 < tokens.size() && tokens[next + 1].is_number() &&
      !tokens[next].caps && tokens[next].capital &&
      (tokens[next].is("cl") || (tokens[next].is("mg") && tokens[next + 1].fold.contains('.')));
  if (mark || symbol || (single && (tokens[next].is("in") || tokens[next].is("d")))) out.unit = {};
  if (sign == 0 && figures.tokens == 1 && !figures.misread)
    read_pair(tokens, next, text, decimal, out);
  settle_thousands(figures.text, decimal, out);
  out.tokens = out.number_tokens + out.unit.tokens;
  return out;
}

Quantity read_dose(std::span<const Token> tokens, std::size_t at, std::string_view text,
                   Decimal decimal) {
  auto range = read_range(tokens, at, text, decimal);
  if (!range.low || !range.high) return read_quantity(tokens, at, text, decimal);
  return {.tokens = range.tokens,
          .number_tokens = range.tokens - range.unit.tokens,
          .value = *range.low,
          .unsure = true,
          .unit = std::move(range.unit)};
}

std::size_t read_grade(std::span<const Token> tokens, std::size_t at) {
  auto i = at;
  while (i < tokens.size() && i - at < 4 && tokens[i].is("+") && (i == at || tokens[i].glued)) ++i;
  if (i > at) return i < tokens.size() && tokens[i].glued && !ends_grade(tokens[i]) ? 0 : i - at;
  i += read_comparator(tokens, at).first;
  if (i + 1 >= tokens.size() || !tokens[i].is_number() || !tokens[i + 1].glued) return 0;
  const auto& first = tokens[i].fold;
  const auto& sign = tokens[i + 1];
  if (sign.is("+") && first.size() == 1 && first[0] >= '1' && first[0] <= '4')
    return i + 2 < tokens.size() && tokens[i + 2].glued && tokens[i + 2].is_number() ? 0 : 2;
  const bool titer =
      first == "1" && (sign.is(":") || sign.is("/")) && i + 2 < tokens.size() &&
      tokens[i + 2].is_number() && tokens[i + 2].glued && is_dilution(tokens[i + 2].fold) &&
      tokens[i + 2].fold.size() > (sign.is(":") ? 0U : 1U) && !leads_to_value(tokens, i + 3);
  if (!titer || (i + 3 < tokens.size() && tokens[i + 3].glued && !ends_grade(tokens[i + 3])))
    return 0;
  return i + 3 - at;
}

Range read_range(std::span<const Token> tokens, std::size_t at, std::string_view text,
                 Decimal decimal) {
  Range out;
  const auto unit_after = [&](std::size_t next) {
    if (same_line(tokens, next)) out.unit = read_unit(tokens, next, text);
    if (is_mark(tokens, next, out.unit)) out.unit = {};
    out.tokens = next + out.unit.tokens - at;
  };
  if (const auto [sign, comparator] = read_comparator(tokens, at); sign > 0) {
    const auto figures = read_figures(tokens, at + sign, text, decimal);
    const auto value = figures.tokens > 0 ? number_value(figures.text, decimal) : std::nullopt;
    if (!value || figures.misread) return {};
    (comparator.front() == '<' ? out.high : out.low) = *value;
    unit_after(at + sign + figures.tokens);
    return out;
  }
  // "bis 40", "up to 40"
  std::size_t words = 0;
  if (at + 2 < tokens.size() && tokens[at].is("up") && tokens[at + 1].is("to")) words = 2;
  if (at + 1 < tokens.size() && (tokens[at].is("bis") || tokens[at].is("hasta"))) words = 1;
  if (at + 2 < tokens.size() && tokens[at].is("jusqu") && tokens[at + 2].is("a")) words = 3;
  const auto low = read_figures(tokens, at + words, text, decimal);
  if (low.tokens == 0 || low.misread) return {};
  auto from = number_value(low.text, decimal);
  if (!from) return {};
  auto next = at + words + low.tokens;
  if (words > 0) {
    out.high = *from;
    unit_after(next);
    return out;
  }
  if (next >= tokens.size() || !same_line(tokens, next)) return {};
  // "3.5 g/dL - 5.1 g/dL"
  if (!joins_range(tokens[next])) {
    const auto unit = read_unit(tokens, next, text);
    if (unit.tokens == 0) return {};
    next += unit.tokens;
    if (next >= tokens.size() || !tokens[next].is("-")) return {};
  }
  // "4 500 - 10 500": where one end has groups the other one has.
  const bool parted = low.tokens > 1 && is_group(tokens, next + 2) &&
                      (tokens[next + 2].fold[0] == '0' || steepness(tokens, next + 1) >= 10);
  const auto grouped = parted ? all_groups(tokens, next + 1) : Figures{};
  const auto high = grouped.tokens > 0 ? grouped : read_figures(tokens, next + 1, text, decimal);
  if (high.tokens == 0 || high.misread || !same_line(tokens, next + 1)) return {};
  auto to = number_value(high.text, decimal);
  agree_on_thousands(low.text, high.text, decimal, from, to);
  if (!to || *to < *from) return {};
  out.low = *from;
  out.high = *to;
  unit_after(next + 1 + high.tokens);
  const auto low_whole = parted_by_three(low.text);
  const auto high_whole = parted_by_three(high.text);
  out.either_way = low_whole && high_whole;
  const bool round = is_dose(out.unit) && low.text.contains(',') && low_whole && high_whole &&
                     *low_whole % 100 == 0 && *high_whole % 100 == 0;
  if (out.either_way && (round || is_plain_count(out.unit))) {
    out.low = *low_whole;
    out.high = *high_whole;
  }
  // A third part makes it a date or a scheme ("1-0-1").
  const auto end = next + 1 + high.tokens;
  const bool goes_on = end + 1 < tokens.size() && tokens[end].glued &&
                       tokens[end + 1].is_number() && (tokens[end].is("-") || tokens[end].is("/"));
  return goes_on ? Range{} : out;
}

}  // namespace millrace::extract
