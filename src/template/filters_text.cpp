#include "template/escape.h"
#include "template/filter.h"
#include "template/letters.h"

#include <fmt/format.h>

#include <array>

namespace millrace::templates {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

Result<Value> upper(const FilterCallInput& input) {
  MR_TRY(const auto text, printed(*input.value));
  return Value::text(to_upper(text));
}

Result<Value> lower(const FilterCallInput& input) {
  MR_TRY(const auto text, printed(*input.value));
  return Value::text(to_lower(text));
}

Result<Value> trim(const FilterCallInput& input) {
  MR_TRY(const auto text, printed(*input.value));
  return Value::text(trimmed(text));
}

Result<Value> slug(const FilterCallInput& input) {
  MR_TRY(const auto text, printed(*input.value));
  return Value::text(to_slug(text));
}

// Cut at a word where one ends near by.
Result<Value> truncate(const FilterCallInput& input) {
  MR_TRY(const auto text, printed(*input.value));
  MR_TRY(const auto letters, input.whole(0, 1, 100'000));
  const auto kept = first_letters(text, static_cast<std::size_t>(letters));
  if (kept.size() == text.size()) return input.value;
  const auto shorter = first_letters(text, static_cast<std::size_t>(letters) - 1);
  const auto space = shorter.rfind(' ');
  const bool near = space != shorter.npos && space > shorter.size() / 2;
  return Value::text(fmt::format("{}…", trimmed(near ? shorter.substr(0, space) : shorter)));
}

Result<Value> date(const FilterCallInput& input) {
  MR_TRY(const auto text, printed(*input.value));
  auto style = DateStyle::day;
  if (input.has(0)) {
    MR_TRY(const auto word, input.text(0));
    if (word == "year") {
      style = DateStyle::year;
    } else if (word == "month") {
      style = DateStyle::month;
    } else if (word == "long") {
      style = DateStyle::long_day;
    } else if (word != "short") {
      return fail(ErrorKind::invalid_argument, "argument 1 must be year, month, short or long");
    }
  }
  auto formatted = format_date(text, style, input.locale);
  // People write "since spring" where a date stands: that is shown as it is.
  return formatted ? Value::text(*formatted) : input.value;
}

Result<Value> fallback(const FilterCallInput& input) {
  return is_there(*input.value) ? input.value : input.arguments[0];
}

Result<Value> required(const FilterCallInput& input) {
  if (is_there(*input.value)) return input.value;
  return fail(ErrorKind::invalid_argument, "must be there and not empty");
}

// linkedin.com/in/x is https://linkedin.com/in/x for whoever wrote it.
Result<Value> link(const FilterCallInput& input) {
  MR_TRY(const auto text, printed(*input.value));
  const auto address = trimmed(text);
  if (address.empty() || link_allowed(address)) return Value::text(address);
  const auto host = address.substr(0, address.find_first_of("/?#"));
  const bool is_host = host.find_first_of(":@ \\") == host.npos && host.contains('.');
  return Value::text(is_host ? fmt::format("https://{}", address) : std::string(address));
}

Result<Value> host(const FilterCallInput& input) {
  MR_TRY(const auto text, printed(*input.value));
  auto address = trimmed(text);
  for (const std::string_view prefix : {"https://", "http://", "mailto:", "tel:", "www."}) {
    if (address.starts_with(prefix)) address.remove_prefix(prefix.size());
  }
  if (address.ends_with('/')) address.remove_suffix(1);
  return Value::text(address);
}

Result<Value> initials(const FilterCallInput& input) {
  MR_TRY(const auto text, printed(*input.value));
  std::string out;
  int letters = 0;
  bool begins = true;
  for (std::string_view rest = text; !rest.empty() && letters < 2;) {
    const auto letter = take_letter(rest);
    const bool is_gap = letter == ' ' || letter == '-' || letter == '.';
    if (begins && !is_gap) {
      append_letter(letter, out);
      ++letters;
    }
    begins = is_gap;
  }
  return Value::text(to_upper(out));
}

Result<Value> append(const FilterCallInput& input) {
  MR_TRY(const auto text, printed(*input.value));
  MR_TRY(const auto more, input.text(0));
  return Value::text(text + more);
}

Result<Value> prepend(const FilterCallInput& input) {
  MR_TRY(const auto text, printed(*input.value));
  MR_TRY(const auto more, input.text(0));
  return Value::text(more + text);
}

constexpr auto kFilters = std::to_array<Filter>({
    {"upper", 0, 0, upper},
    {"lower", 0, 0, lower},
    {"trim", 0, 0, trim},
    {"slug", 0, 0, slug},
    {"append", 1, 1, append},
    {"prepend", 1, 1, prepend},
    {"truncate", 1, 1, truncate},
    {"date", 0, 1, date},
    {"default", 1, 1, fallback},
    {"required", 0, 0, required},
    {"link", 0, 0, link},
    {"host", 0, 0, host},
    {"initials", 0, 0, initials},
});

}  // namespace

std::span<const Filter> text_filters() { return kFilters; }

}  // namespace millrace::templates
