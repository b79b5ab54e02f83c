#include "extract/dates.h"

#include "extract/terms.h"
#include "layout/clinical/clinical_date.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>
#include <utility>

namespace millrace::extract {
namespace {

// Whole names and usual short forms, folded. Short ones count only beside figures.
constexpr auto kMonths = std::to_array<std::pair<std::string_view, int>>({
    {"january", 1},   {"januar", 1},     {"janner", 1},    {"janvier", 1},   {"enero", 1},
    {"jan", 1},       {"janv", 1},       {"ene", 1},       {"february", 2},  {"februar", 2},
    {"fevrier", 2},   {"febrero", 2},    {"feb", 2},       {"fev", 2},       {"fevr", 2},
    {"march", 3},     {"marz", 3},       {"maerz", 3},     {"mars", 3},      {"marzo", 3},
    {"mar", 3},       {"mrz", 3},        {"april", 4},     {"avril", 4},     {"abril", 4},
    {"apr", 4},       {"avr", 4},        {"abr", 4},       {"may", 5},       {"mai", 5},
    {"mayo", 5},      {"june", 6},       {"juni", 6},      {"juin", 6},      {"junio", 6},
    {"jun", 6},       {"july", 7},       {"juli", 7},      {"juillet", 7},   {"julio", 7},
    {"jul", 7},       {"juil", 7},       {"august", 8},    {"aout", 8},      {"agosto", 8},
    {"aug", 8},       {"ago", 8},        {"september", 9}, {"septembre", 9}, {"septiembre", 9},
    {"setiembre", 9}, {"sep", 9},        {"sept", 9},      {"october", 10},  {"oktober", 10},
    {"octobre", 10},  {"octubre", 10},   {"oct", 10},      {"okt", 10},      {"november", 11},
    {"novembre", 11}, {"noviembre", 11}, {"nov", 11},      {"december", 12}, {"dezember", 12},
    {"decembre", 12}, {"diciembre", 12}, {"dec", 12},      {"dez", 12},      {"dic", 12},
});

int month_named(std::string_view fold) {
  static const std::unordered_map<std::string_view, int> kByName(kMonths.begin(), kMonths.end());
  const auto at = kByName.find(fold);
  return at == kByName.end() ? 0 : at->second;
}

std::optional<int> figures(std::string_view text, std::size_t size_max) {
  if (text.empty() || text.size() > size_max) return std::nullopt;
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "24" is 2024 and "68" is 1968, until somebody knows better.
std::optional<int> year_of(std::string_view text) {
  const auto value = figures(text, 4);
  if (!value) return std::nullopt;
  if (text.size() == 4) return *value >= 1880 && *value <= 2100 ? value : std::nullopt;
  if (text.size() != 2) return std::nullopt;
  return *value <= 40 ? 2000 + *value : 1900 + *value;
}

bool exists(const DateMatch& date) {
  return layout::clinical::parse_clinical_date(date.iso()).has_value();
}

DateMatch numeric(int first, int second, int year, DayMonth order) {
  DateMatch out{.year = year};
  if (first > 12) out.shows = DayMonth::day_first;
  if (second > 12) out.shows = DayMonth::month_first;
  out.either_way = out.shows == DayMonth::unknown && first != second;
  const auto use = out.shows != DayMonth::unknown ? out.shows : order;
  out.month = use == DayMonth::month_first ? first : second;
  out.day = use == DayMonth::month_first ? second : first;
  return out;
}

// "05.03.2024" and "5.3.24" are one number token.
DateMatch dotted(const Token& token, DayMonth order) {
  const std::string_view text = token.fold;
  const auto first = text.find('.');
  if (first == std::string_view::npos) return {};
  const auto second = text.find('.', first + 1);
  if (second == std::string_view::npos) {
    // "03.2024"
    const auto month = figures(text.substr(0, first), 2);
    const auto year = text.size() - first - 1 == 4 ? year_of(text.substr(first + 1)) : std::nullopt;
    if (!month || !year || first != 2 || *month < 1 || *month > 12) return {};
    return {.tokens = 1, .year = *year, .month = *month};
  }
  const auto a = figures(text.substr(0, first), 2);
  const auto b = figures(text.substr(first + 1, second - first - 1), 2);
  const auto year = year_of(text.substr(second + 1));
  if (!a || !b || !year) {
    // "2024.03.05"
    const auto leading = first == 4 ? year_of(text.substr(0, 4)) : std::nullopt;
    const auto day = figures(text.substr(second + 1), 2);
    if (!leading || !b || !day) return {};
    DateMatch out{.tokens = 1, .year = *leading, .month = *b, .day = *day};
    return exists(out) ? out : DateMatch{};
  }
  // Points part days from months everywhere but in few places.
  auto out = numeric(*a, *b, *year, DayMonth::day_first);
  out.tokens = 1;
  out.either_way = false;
  out.short_year = text.size() - second - 1 == 2;
  if (out.shows != DayMonth::month_first) out.shows = DayMonth::unknown;
  (void)order;
  return exists(out) ? out : DateMatch{};
}

// Behind "on" there is a date.
bool is_dated(std::span<const Token> tokens, std::size_t at) {
  return at > 0 && one_of(tokens[at - 1].fold,
                          {"on", "dated", "date", "dob", "since", "from", "until", "seen", "am",
                           "vom", "seit", "le", "du", "depuis", "el", "del", "desde", "fecha"});
}

bool glued_sign(const Token& token) {
  return token.glued && (token.is("-") || token.is("/") || token.is("."));
}

// "Lot 2023-11", "Ref. 12-04-19", "page 2/2024": what things are numbered by is no date.
bool is_numbered(std::span<const Token> tokens, std::size_t at) {
  auto before = at;
  for (int n = 0; n < 2 && before > 0; ++n) {
    const auto& token = tokens[before - 1];
    if (!token.is(".") && !token.is(":") && !token.is("#") && !token.is("°")) break;
    --before;
  }
  return before > 0 && tokens[before - 1].line == tokens[at].line &&
         one_of(
             tokens[before - 1].fold,
             {"lot",    "batch", "charge",  "chargennummer", "lote",     "ref",  "serial", "mrn",
              "tel",    "phone", "telefon", "telephone",     "telefono", "fax",  "page",   "seite",
              "pagina", "room",  "zimmer",  "chambre",       "ratio",    "score"});
}

// "2024-03-05", "5/3/2024", "03/2024"; the parts are tokens.
DateMatch parted(std::span<const Token> tokens, std::size_t at, DayMonth order) {
  if (at + 2 >= tokens.size() || !glued_sign(tokens[at + 1])) return {};
  const auto& sign = tokens[at + 1].fold;
  if (!tokens[at + 2].is_number() || !tokens[at + 2].glued) return {};
  const std::string_view a = tokens[at].fold;
  const std::string_view b = tokens[at + 2].fold;
  const bool three = at + 4 < tokens.size() && tokens[at + 3].is(sign) && tokens[at + 3].glued &&
                     tokens[at + 4].is_number() && tokens[at + 4].glued;
  if (three) {
    const std::string_view c = tokens[at + 4].fold;
    DateMatch out;
    if (a.size() == 4) {
      const auto year = year_of(a);
      const auto month = figures(b, 2);
      const auto day = figures(c, 2);
      if (!year || !month || !day) return {};
      out = {.year = *year, .month = *month, .day = *day};
    } else {
      const auto first = figures(a, 2);
      const auto second = figures(b, 2);
      const auto year = year_of(c);
      if (!first || !second || !year) return {};
      // "1-0-1" is a dose scheme, and so is "1-1-12"; "on 3-14-24" is none.
      if (sign == "-" && c.size() != 4 && (a.size() < 2 || b.size() < 2) &&
          !((*first > 12 || *second > 12) && is_dated(tokens, at)))
        return {};
      out = numeric(*first, *second, *year, order);
      out.short_year = c.size() == 2;
    }
    out.tokens = 5;
    return exists(out) ? out : DateMatch{};
  }
  const auto month = figures(a, 2);
  const auto year = b.size() == 4 ? year_of(b) : std::nullopt;
  if (sign == "/" && month && year && *month >= 1 && *month <= 12) {
    return {.tokens = 3, .year = *year, .month = *month};
  }
  const auto leading = a.size() == 4 ? year_of(a) : std::nullopt;
  const auto second = b.size() == 2 ? figures(b, 2) : std::nullopt;
  if (sign == "-" && leading && second && *second >= 1 && *second <= 12) {
    return {.tokens = 3, .year = *leading, .month = *second};
  }
  return {};
}

// Skips what stands between the parts of a date: points, commas, "de", "of", "-".
std::size_t skip_between(std::span<const Token> tokens, std::size_t at) {
  for (int i = 0; i < 2 && at < tokens.size(); ++i) {
    const auto& token = tokens[at];
    const bool filler = token.is(".") || token.is(",") || token.is("de") || token.is("of") ||
                        token.is("del") || token.is("'") || (token.is("-") && token.glued) ||
                        (token.is("/") && token.glued);
    if (!filler) break;
    ++at;
  }
  return at;
}

std::optional<int> year_at(std::span<const Token> tokens, std::size_t at) {
  if (at >= tokens.size() || !tokens[at].is_number()) return std::nullopt;
  if (tokens[at].fold.size() == 4) return year_of(tokens[at].fold);
  return std::nullopt;
}

// Behind two figures this makes them a time or an amount: "5 May 10:30", "5 May 20 mg".
bool counts_on(std::span<const Token> tokens, std::size_t at) {
  if (at >= tokens.size()) return false;
  const auto& token = tokens[at];
  if (token.kind == TokenKind::punct)
    return token.is("%") || (token.glued && at + 1 < tokens.size() && tokens[at + 1].glued &&
                             tokens[at + 1].is_number() && !token.is(","));
  if (token.line != tokens[at - 1].line) return false;
  return token.is_number() || token.glued ||
         one_of(
             token.fold,
             {"mg",      "g",     "ml",     "mcg",      "ug",        "µg",     "units",    "iu",
              "h",       "uhr",   "hrs",    "hours",    "mmol",      "dl",     "cm",       "mm",
              "kg",      "days",  "weeks",  "am",       "pm",        "tage",   "jours",    "dias",
              "years",   "bpm",   "mmhg",   "beats",    "min",       "lpm",    "rpm",      "months",
              "stunden", "meq",   "lb",     "lbs",      "cc",        "l",      "ng",       "pg",
              "u",       "ui",    "ie",     "unit",     "einheiten", "unites", "unidades", "umol",
              "µmol",    "nmol",  "pmol",   "mosm",     "oz",        "kpa",    "hr",       "std",
              "heures",  "horas", "wochen", "semaines", "semanas",   "monate", "mois",     "meses",
              "jahre",   "ans",   "anos"}) ||
         Terms::get().has(token.key, Is::form);
}

// "12 April" of "5 March, 12 April", "10. April": the figures are the day of the next date.
bool is_day_of_next(std::span<const Token> tokens, std::size_t at) {
  auto next = at + 1;
  if (next < tokens.size() && tokens[next].glued &&
      one_of(tokens[next].fold, {".", "st", "nd", "rd", "th", "er"}))
    ++next;
  const bool joined =
      next < tokens.size() &&
      one_of(tokens[next].fold, {"and", "und", "et", "y", "e", "or", "oder", "to", "bis"});
  if (joined || (next < tokens.size() && tokens[next].is("de"))) ++next;
  const bool month =
      next < tokens.size() && tokens[next].is_word() && month_named(tokens[next].fold) > 0;
  // "From 5 Mar 24 to June 2025" has a year of its own.
  return month && !(joined && year_at(tokens, next + 1));
}

// "Pulse on 12 May 88": the figures are the value of what was measured that day, unless another
// number follows for it ("HbA1c on 12 Mar 24: 7.2%").
bool is_measured(std::span<const Token> tokens, std::size_t day, std::size_t at) {
  constexpr auto kMeasured = bit(Is::vital) | bit(Is::analyte);
  auto name = day;
  while (name > 0 && day - name < 2 &&
         (tokens[name - 1].is("(") ||
          one_of(tokens[name - 1].fold, {"on", "at", "am", "vom", "le", "du", "el", "the", "of"})))
    --name;
  bool named = false;
  for (std::size_t n = 1; n <= 3 && n <= name; ++n)
    named |= Terms::get().longest(tokens.first(name), name - n, kMeasured).tokens == n;
  if (!named) return false;
  for (auto i = at + 1; i < tokens.size() && i <= at + 4; ++i) {
    if (tokens[i].is(",") || tokens[i].is(";") || tokens[i].is(".")) return true;
    if (tokens[i].is_number()) return false;
  }
  return true;
}

// Behind a day and a month two figures are a year ("05-Mar-24", "12 Mar 24"), but "May 24" is none.
// What stands behind a comma is a year only with its apostrophe. `day` is where the date begins.
std::optional<int> short_year_at(std::span<const Token> tokens, std::size_t day, std::size_t at) {
  if (const auto year = year_at(tokens, at)) return year;
  if (at >= tokens.size() || !tokens[at].is_number() || tokens[at].fold.size() != 2)
    return std::nullopt;
  const bool loose = !tokens[at].glued;
  if (loose && (tokens[at].line != tokens[at - 1].line || counts_on(tokens, at + 1)))
    return std::nullopt;
  if (tokens[at - 1].is(",") || is_day_of_next(tokens, at) ||
      (loose && is_measured(tokens, day, at)))
    return std::nullopt;
  return year_of(tokens[at].fold);
}

// "March 5, 2024", "March 2024", "marzo de 2024"
DateMatch month_first(std::span<const Token> tokens, std::size_t at) {
  const auto month = month_named(tokens[at].fold);
  if (month == 0) return {};
  auto next = skip_between(tokens, at + 1);
  if (const auto year = year_at(tokens, next)) {
    return {.tokens = next + 1 - at, .year = *year, .month = month};
  }
  if (next >= tokens.size() || !tokens[next].is_number()) return {};
  const auto day = figures(tokens[next].fold, 2);
  if (!day) return {};
  ++next;
  if (next < tokens.size() && tokens[next].glued &&
      (tokens[next].is("st") || tokens[next].is("nd") || tokens[next].is("rd") ||
       tokens[next].is("th"))) {
    ++next;
  }
  next = skip_between(tokens, next);
  const auto year = year_at(tokens, next);
  if (!year) return {};
  DateMatch out{.tokens = next + 1 - at, .year = *year, .month = month, .day = *day};
  return exists(out) ? out : DateMatch{};
}

// "5 March 2024", "5. März 2024", "1er mars 2024", "5 de marzo de 2024", "05-Mar-24"
DateMatch day_named(std::span<const Token> tokens, std::size_t at) {
  const auto day = figures(tokens[at].fold, 2);
  if (!day) return {};
  auto next = at + 1;
  if (next < tokens.size() && tokens[next].glued &&
      (tokens[next].is("st") || tokens[next].is("nd") || tokens[next].is("rd") ||
       tokens[next].is("th") || tokens[next].is("er"))) {
    ++next;
  }
  next = skip_between(tokens, next);
  if (next >= tokens.size()) return {};
  // "05MAR2024", "05-Mar-2024" come as one word behind the figures.
  std::string_view name = tokens[next].fold;
  std::string_view tail;
  if (const auto dash = name.find('-'); dash != std::string_view::npos) {
    tail = name.substr(dash + 1);
    name = name.substr(0, dash);
  } else if (const auto figure = name.find_first_of("0123456789"); figure != name.npos) {
    tail = name.substr(figure);
    name = name.substr(0, figure);
  }
  const auto month = tokens[next].is_word() ? month_named(name) : 0;
  if (month == 0) return {};
  DateMatch out{.month = month, .day = *day};
  if (!tail.empty()) {
    const auto year = year_of(tail);
    if (!year) return {};
    out.year = *year;
    out.short_year = tail.size() == 2;
    out.tokens = next + 1 - at;
    return exists(out) ? out : DateMatch{};
  }
  const auto last = skip_between(tokens, next + 1);
  const auto year = short_year_at(tokens, at, last);
  if (!year) return {};
  out.year = *year;
  out.short_year = tokens[last].fold.size() == 2;
  // "Volume 24, Feb 28, 2021": what stands in front is no day.
  if (out.short_year && month_first(tokens, next).day > 0) return {};
  out.tokens = last + 1 - at;
  return exists(out) ? out : DateMatch{};
}

}  // namespace

std::string DateMatch::iso() const {
  if (month == 0) return fmt::format("{:04}", year);
  if (day == 0) return fmt::format("{:04}-{:02}", year, month);
  return fmt::format("{:04}-{:02}-{:02}", year, month, day);
}

void settle_year(DateMatch& date, int latest) {
  if (!date.short_year) return;
  auto settled = date;
  settled.year = latest - ((latest - date.year) % 100 + 100) % 100;
  if (exists(settled)) date.year = settled.year;  // 1900 had no 29 February.
}

bool is_after(const DateMatch& date, const DateMatch& other) {
  if (date.year != other.year) return date.year > other.year;
  if (date.month == 0 || other.month == 0 || date.month != other.month) {
    return date.month != 0 && other.month != 0 && date.month > other.month;
  }
  return date.day != 0 && other.day != 0 && date.day > other.day;
}

DateMatch read_date(std::span<const Token> tokens, std::size_t at, DayMonth order, bool years) {
  if (at >= tokens.size()) return {};
  const auto use = order == DayMonth::unknown ? DayMonth::day_first : order;
  if (tokens[at].is_word()) return month_first(tokens, at);
  // "in '19"
  if (years && tokens[at].is("'") && at + 1 < tokens.size() && tokens[at + 1].is_number() &&
      tokens[at + 1].glued && tokens[at + 1].fold.size() == 2) {
    const auto year = year_of(tokens[at + 1].fold);
    return year ? DateMatch{.tokens = 2, .year = *year, .short_year = true} : DateMatch{};
  }
  if (!tokens[at].is_number() || is_numbered(tokens, at)) return {};
  // Inside a longer number or a fraction there is no date.
  const bool inside = at > 0 && tokens[at].glued &&
                      (tokens[at - 1].is("/") || tokens[at - 1].is("-") || tokens[at - 1].is("."));
  if (inside && at > 1 && tokens[at - 2].is_number()) return {};
  if (const auto out = dotted(tokens[at], use); out.tokens > 0) return out;
  if (const auto out = parted(tokens, at, use); out.tokens > 0) return out;
  if (const auto out = day_named(tokens, at); out.tokens > 0) return out;
  if (years) {
    if (const auto year = year_at(tokens, at)) return {.tokens = 1, .year = *year};
  }
  return {};
}

std::optional<DateMatch> date_of(std::string_view text, DayMonth order) {
  const auto tokens = tokens_of(text);
  if (tokens.empty()) return std::nullopt;
  const auto match = read_date(tokens, 0, order, true);
  if (match.tokens != tokens.size()) return std::nullopt;
  return match;
}

}  // namespace millrace::extract
