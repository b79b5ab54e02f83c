#include "template/locale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace millrace::templates {
namespace {

constexpr std::array<std::string_view, 12> kEnglishMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<std::string_view, 12> kEnglishShort = {
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// Signs stay with their number: spaces here do not break.
constexpr std::array<Locale, 5> kLocales = {{
    {.tag = "en",
     .decimal = ".",
     .group = ",",
     .currency_first = true,
     .percent = "%",
     .months = kEnglishMonths,
     .months_short = kEnglishShort,
     .day_pattern = "{b} {d}, {y}",
     .long_pattern = "{B} {d}, {y}",
     .month_pattern = "{b} {y}"},
    {.tag = "en-gb",
     .decimal = ".",
     .group = ",",
     .currency_first = true,
     .percent = "%",
     .months = kEnglishMonths,
     .months_short = kEnglishShort,
     .day_pattern = "{d} {b} {y}",
     .long_pattern = "{d} {B} {y}",
     .month_pattern = "{b} {y}"},
    {.tag = "de",
     .decimal = ",",
     .group = ".",
     .currency_first = false,
     .percent = "\u00A0%",
     .months = {"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September",
                "Oktober", "November", "Dezember"},
     .months_short = {"Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.",
                      "Okt.", "Nov.", "Dez."},
     .day_pattern = "{0d}.{0m}.{y}",
     .long_pattern = "{d}. {B} {y}",
     .month_pattern = "{b} {y}"},
    {.tag = "fr",
     .decimal = ",",
     .group = "\u202F",
     .currency_first = false,
     .percent = "\u202F%",
     .months = {"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août",
                "septembre", "octobre", "novembre", "décembre"},
     .months_short = {"janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.",
                      "oct.", "nov.", "déc."},
     .day_pattern = "{0d}/{0m}/{y}",
     .long_pattern = "{d} {B} {y}",
     .month_pattern = "{b} {y}"},
    {.tag = "es",
     .decimal = ",",
     .group = ".",
     .grouping_from = 5,
     .currency_first = false,
     .percent = "\u00A0%",
     .months = {"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto",
                "septiembre", "octubre", "noviembre", "diciembre"},
     .months_short = {"ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct", "nov",
                      "dic"},
     .day_pattern = "{d}/{m}/{y}",
     .long_pattern = "{d} de {B} de {y}",
     .month_pattern = "{b} {y}"},
}};

struct Currency {
  std::string_view code;
  std::string_view sign;
  int decimals;
};

constexpr int kUsualDecimals = 2;

// Those with a sign, and those of ISO 4217 with other than two decimals.
constexpr auto kCurrencies = std::to_array<Currency>(
    {{"EUR", "€", 2},   {"USD", "$", 2},   {"GBP", "£", 2},   {"JPY", "¥", 0},   {"CNY", "CN¥", 2},
     {"INR", "₹", 2},   {"KRW", "₩", 0},   {"ILS", "₪", 2},   {"VND", "₫", 0},   {"BIF", "BIF", 0},
     {"CLP", "CLP", 0}, {"DJF", "DJF", 0}, {"GNF", "GNF", 0}, {"ISK", "ISK", 0}, {"KMF", "KMF", 0},
     {"PYG", "PYG", 0}, {"RWF", "RWF", 0}, {"UGX", "UGX", 0}, {"VUV", "VUV", 0}, {"XAF", "XAF", 0},
     {"XOF", "XOF", 0}, {"XPF", "XPF", 0}, {"BHD", "BHD", 3}, {"IQD", "IQD", 3}, {"JOD", "JOD", 3},
     {"KWD", "KWD", 3}, {"LYD", "LYD", 3}, {"OMR", "OMR", 3}, {"TND", "TND", 3}, {"CLF", "CLF", 4},
     {"UYW", "UYW", 4}, {"UYI", "UYI", 0}});

const Currency* find_currency(std::string_view code) {
  const auto* known = std::ranges::find(kCurrencies, code, &Currency::code);
  return known == kCurrencies.end() ? nullptr : known;
}

struct Date {
  int year = 0, month = 0, day = 0;  // 0: not said.
};

std::optional<int> digits(std::string_view text) {
  int number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number;
}

int days_of(int year, int month) {
  constexpr std::array kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

std::optional<Date> read_date(std::string_view text) {
  if (const auto time = text.find('T'); time == 10) text = text.substr(0, time);
  if (text.size() != 4 && text.size() != 7 && text.size() != 10) return std::nullopt;
  const auto year = digits(text.substr(0, 4));
  if (!year) return std::nullopt;
  Date date{.year = *year};
  if (text.size() >= 7) {
    const auto month = digits(text.substr(5, 2));
    if (text[4] != '-' || !month || *month < 1 || *month > 12) return std::nullopt;
    date.month = *month;
  }
  if (text.size() == 10) {
    const auto day = digits(text.substr(8, 2));
    if (text[7] != '-' || !day || *day < 1 || *day > days_of(date.year, date.month)) {
      return std::nullopt;
    }
    date.day = *day;
  }
  return date;
}

std::string fill(std::string_view pattern, const Date& date, const Locale& locale) {
  const auto month = static_cast<std::size_t>(date.month - 1);
  return fmt::format(fmt::runtime(pattern), fmt::arg("d", date.day), fmt::arg("m", date.month),
                     fmt::arg("y", date.year), fmt::arg("b", locale.months_short[month]),
                     fmt::arg("B", locale.months[month]));
}

// "{0d}" means two digits; fmt's own word for that would make the table above harder to read.
std::string with_padding(std::string_view pattern) {
  std::string out(pattern);
  for (const char letter : {'d', 'm'}) {
    const auto from = fmt::format("{{0{}}}", letter);
    if (const auto found = out.find(from); found != std::string::npos) {
      out.replace(found, from.size(), fmt::format("{{{}:02}}", letter));
    }
  }
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

}  // namespace

bool is_language_tag(std::string_view tag) {
  if (tag.size() < 2 || tag.size() > 35) return false;
  return std::ranges::all_of(
      tag, [](unsigned char c) { return (c < 0x80 && std::isalnum(c) != 0) || c == '-'; });
}

const Locale& find_locale(std::string_view tag) {
  const auto wanted = lower(tag);
  const auto* exact = std::ranges::find(kLocales, wanted, &Locale::tag);
  if (exact != kLocales.end()) return *exact;
  const auto language = wanted.substr(0, wanted.find('-'));
  // All English but that of the United States puts the day first.
  if (language == "en" && wanted != "en" && wanted != "en-us") return kLocales[1];
  const auto* found = std::ranges::find(kLocales, language, &Locale::tag);
  return found == kLocales.end() ? kLocales[0] : *found;
}

bool is_right_to_left(std::string_view tag) {
  const auto wanted = lower(tag);
  const auto language = wanted.substr(0, wanted.find('-'));
  constexpr auto kLanguages =
      std::to_array<std::string_view>({"ar", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi"});
  return std::ranges::find(kLanguages, language) != kLanguages.end();
}

std::string format_number(const Decimal& number, std::optional<int> decimals,
                          const Locale& locale) {
  const auto shown = decimals ? number.rounded(*decimals) : number;
  const auto whole = shown.whole_digits();
  std::string out;
  if (shown.negative()) out = "\u2212";
  const bool grouped = std::ssize(whole) >= locale.grouping_from;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (grouped && i > 0 && (whole.size() - i) % 3 == 0) out += locale.group;
    out += whole[i];
  }
  const auto after = shown.decimal_digits(decimals.value_or(shown.decimals_needed()));
  if (!after.empty()) {
    out += locale.decimal;
    out += after;
  }
  return out;
}

int decimals_of(std::string_view currency) {
  const auto* known = find_currency(currency);
  return known == nullptr ? kUsualDecimals : known->decimals;
}

std::string format_money(const Decimal& amount, std::string_view currency,
                         std::optional<int> decimals, const Locale& locale) {
  const auto* known = find_currency(currency);
  const auto sign = known == nullptr ? currency : known->sign;
  auto number = format_number(amount, decimals.value_or(decimals_of(currency)), locale);
  if (!locale.currency_first) return fmt::format("{}\u00A0{}", number, sign);
  constexpr std::string_view kMinus = "\u2212";
  const bool negative = number.starts_with(kMinus);
  if (negative) number.erase(0, kMinus.size());
  const bool is_word = sign.size() >= 3 && std::isalpha(static_cast<unsigned char>(sign[2])) != 0;
  return fmt::format("{}{}{}{}", negative ? kMinus : "", sign, is_word ? "\u00A0" : "", number);
}

std::optional<std::string> format_date(std::string_view text, DateStyle style,
                                       const Locale& locale) {
  const auto date = read_date(text);
  if (!date) return std::nullopt;
  if (style == DateStyle::year || date->month == 0) return fmt::format("{}", date->year);
  if (style == DateStyle::month || date->day == 0) {
    const bool in_full = style == DateStyle::long_day;
    const auto pattern = std::string(in_full ? "{B} {y}" : locale.month_pattern);
    return fill(pattern, *date, locale);
  }
  const auto pattern = style == DateStyle::day ? locale.day_pattern : locale.long_pattern;
  return fill(with_padding(pattern), *date, locale);
}

}  // namespace millrace::templates
