#include "document/markdown/plain_lines.h"

#include "document/markdown/escape.h"
#include "layout/code_points.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace millrace::document {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// -- rows --

constexpr std::size_t kColumnsMax = 256;

// One line cut at its separators, but not within quotes.
struct Row {
  std::vector<std::string> cells = {};
  bool loose = false;   // Blanks behind separators, as in sentences.
  bool broken = false;  // Brackets that are cut apart: a call, a list of numbers.
  bool short_cells = true;
};

std::string unquoted(std::string_view cell) {
  std::string out;
  for (std::size_t at = 1; at + 1 < cell.size(); ++at) {
    if (cell[at] == '"') ++at;
    out += cell[at];
  }
  return out;
}

bool is_balanced(std::string_view cell) {
  for (const std::string_view pair : {"()", "[]", "{}"}) {
    if (std::ranges::count(cell, pair[0]) != std::ranges::count(cell, pair[1])) return false;
  }
  return true;
}

// Where a cell ends; nothing when its quotes do not.
std::optional<std::size_t> cell_end(std::string_view rest, char separator) {
  const auto start = std::min(rest.find_first_not_of(" \t"), rest.size());
  if (start == rest.size() || rest[start] != '"')
    return std::min(rest.find(separator), rest.size());
  for (auto at = start + 1; at < rest.size(); ++at) {
    if (rest[at] != '"') continue;
    if (at + 1 < rest.size() && rest[at + 1] == '"') {
      ++at;
      continue;
    }
    return std::min(rest.find(separator, at), rest.size());
  }
  return std::nullopt;
}

std::optional<Row> row_of(std::string_view line, char separator) {
  constexpr std::size_t kShortBytes = 40;
  constexpr std::ptrdiff_t kShortBlanks = 3;
  Row row;
  for (auto rest = trimmed(line);;) {
    const auto end = cell_end(rest, separator);
    if (!end) return std::nullopt;
    const auto cell = trimmed(rest.substr(0, *end));
    const bool quoted = cell.size() >= 2 && cell.starts_with('"') && cell.ends_with('"');
    row.broken = row.broken || (!quoted && !is_balanced(cell));
    row.short_cells = row.short_cells && cell.size() <= kShortBytes &&
                      std::ranges::count(cell, ' ') <= kShortBlanks;
    row.cells.push_back(quoted ? unquoted(cell) : std::string(cell));
    if (*end == rest.size()) return row;
    rest.remove_prefix(*end + 1);
    row.loose = row.loose || rest.starts_with(' ');
    if (row.cells.size() > kColumnsMax) return std::nullopt;
  }
}

// Each comma stands between digits and three more: "1,234,567".
bool groups_digits(std::string_view line) {
  for (auto at = line.find(','); at != line.npos; at = line.find(',', at + 1)) {
    const auto behind = line.substr(at + 1);
    const auto digits = std::min(behind.find_first_not_of("0123456789"), behind.size());
    if (at == 0 || !is_digit(line[at - 1]) || digits != 3) return false;
  }
  return true;
}

bool begins_lower(std::string_view line) {
  const auto text = trimmed(line);
  if (text.empty()) return false;
  const auto code = layout::decode_at(text, 0).code;
  return layout::is_letter(code) && !layout::is_upper(code);
}

std::optional<std::vector<Row>> rows_of(const TextLines& lines, char separator) {
  constexpr std::size_t kCellsMin = 3;  // Two separators: one may be by chance.
  std::vector<Row> rows;
  for (const auto line : lines) {
    auto row = row_of(line, separator);
    if (!row || row->cells.size() < kCellsMin) return std::nullopt;
    if (!rows.empty() && row->cells.size() != rows.front().cells.size()) return std::nullopt;
    rows.push_back(*std::move(row));
  }
  return rows;
}

DelimitedLines separated_by(const TextLines& lines, char separator) {
  constexpr std::size_t kLooseLinesMin = 3;
  if (separator == ',' && std::ranges::all_of(lines, groups_digits)) return {};
  auto rows = rows_of(lines, separator);
  if (!rows) return {};
  const bool loose = std::ranges::any_of(*rows, &Row::loose);
  const bool broken = std::ranges::any_of(*rows, &Row::broken);
  const bool short_cells = std::ranges::all_of(*rows, &Row::short_cells);
  // Sentences have commas too. Their lines go on in small letters or behind a comma.
  const bool many = lines.size() >= kLooseLinesMin;
  const auto ends_open = [&](std::string_view line) { return trimmed(line).ends_with(separator); };
  if (loose && std::ranges::any_of(lines, ends_open)) return {};
  if (loose && !(many && short_cells)) {
    const bool goes_on = std::any_of(lines.begin() + 1, lines.end(), begins_lower);
    return {.keeps_breaks = !goes_on && (many || short_cells)};
  }
  DelimitedLines out{.keeps_breaks = true};
  if (broken) return out;
  for (auto& row : *rows) {
    for (auto& cell : row.cells) cell = escaped(cell);
    out.rows.push_back(std::move(row.cells));
  }
  return out;
}

// Rows with equally many tabs.
TableRows tabbed_rows(const TextLines& lines) {
  TableRows rows;
  for (const auto line : lines) {
    auto& row = rows.emplace_back();
    for (auto rest = line;;) {
      const auto end = std::min(rest.find('\t'), rest.size());
      row.push_back(escaped(trimmed(rest.substr(0, end))));
      if (row.size() > kColumnsMax) return {};
      if (end == rest.size()) break;
      rest.remove_prefix(end + 1);
    }
    if (row.size() != rows.front().size() || row.size() < 2) return {};
  }
  return rows;
}

// -- times --

// By a shape: '9' is a digit, 'A' a letter, everything else itself. Answers what follows.
std::optional<std::string_view> behind_shape(std::string_view text, std::string_view shape) {
  if (text.size() < shape.size()) return std::nullopt;
  for (std::size_t at = 0; at < shape.size(); ++at) {
    const char c = text[at];
    const char wanted = shape[at];
    const bool fits = wanted == '9' ? is_digit(c) : wanted == 'A' ? is_alpha(c) : c == wanted;
    if (!fits) return std::nullopt;
  }
  return text.substr(shape.size());
}

bool is_month(std::string_view text) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"});
  return std::ranges::find(kNames, text.substr(0, 3)) != kNames.end();
}

// -- headings --

struct Words {
  std::size_t letters = 0;
  bool all_capitals = true;
  bool all_titles = true;  // Each begins with a capital, but for short ones: "Term and Notice".
  std::size_t count = 0;
};

Words words_of(std::string_view text) {
  constexpr std::size_t kShortWord = 3;
  Words words;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::size_t letters = 0;
    bool first_is_capital = false;
    for (std::size_t at = 0; at < word.size();) {
      const auto decoded = layout::decode_at(word, at);
      at += decoded.bytes;
      if (!layout::is_letter(decoded.code)) continue;
      const bool capital = layout::is_upper(decoded.code);
      if (letters++ == 0) first_is_capital = capital;
      words.all_capitals = words.all_capitals && capital;
    }
    if (letters == 0) continue;
    const bool may_be_small = words.count > 0 && letters <= kShortWord;
    words.all_titles = words.all_titles && (first_is_capital || may_be_small);
    words.letters += letters;
    ++words.count;
  }
  return words;
}

}  // namespace

DelimitedLines delimited_lines(const TextLines& lines) {
  if (lines.size() < 2) return {};
  if (auto rows = tabbed_rows(lines); !rows.empty()) return {.rows = std::move(rows)};
  for (const char separator : {';', ','}) {
    auto found = separated_by(lines, separator);
    if (found.keeps_breaks) return found;
  }
  return {};
}

bool starts_with_time(std::string_view line) {
  auto text = trimmed(line);
  if (text.starts_with('[') || text.starts_with('(')) text.remove_prefix(1);
  // "Thu Nov 19 04:36:34".
  if (const auto rest = behind_shape(text, "AAA AAA "); rest && is_month(text.substr(4))) {
    text.remove_prefix(4);
  }
  if (is_month(text)) {
    return behind_shape(text, "AAA 99 99:99:99") || behind_shape(text, "AAA  9 99:99:99");
  }
  static constexpr auto kShapes = std::to_array<std::string_view>(
      {"9999-99-99", "9999/99/99", "9999.99.99",     "99.99.9999",    "9.99.9999", "99.9.9999",
       "9.9.9999",   "99/99/9999", "9/99/9999",      "99/9/9999",     "9/9/9999",  "99-99-9999",
       "99.99.99",   "99/99/99",   "99/AAA/9999",    "99-AAA-9999",   "99:99:99",  "9:99:99",
       "99:99",      "9:99",       "9999999999.999", "9999999999999", "9999999999"});
  return std::ranges::any_of(kShapes, [&](std::string_view shape) {
    const auto rest = behind_shape(text, shape);
    if (!rest) return false;
    return rest->empty() || !(is_digit(rest->front()) || is_alpha(rest->front())) ||
           rest->front() == 'T';
  });
}

NumberedHeading numbered_heading(std::string_view line) {
  constexpr std::size_t kCapitalsBytesMax = 120;
  constexpr std::size_t kTitleBytesMax = 60;
  constexpr std::size_t kTitleWordsMax = 8;
  constexpr std::size_t kLettersMin = 3;
  auto text = trimmed(line);
  int parts = 0;
  bool closed = false;  // By a point or bracket behind the number.
  for (;;) {
    const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0 || digits > 3) break;
    ++parts;
    text.remove_prefix(digits);
    closed = text.starts_with('.') || text.starts_with(')');
    if (!closed) break;
    const bool last = text.front() == ')';
    text.remove_prefix(1);
    if (last) break;
  }
  const bool numbered = parts > 1 || (parts == 1 && closed);
  if (!numbered || !(text.starts_with(' ') || text.starts_with('\t'))) return {};
  text = trimmed(text);
  const auto words = words_of(text);
  if (words.letters < kLettersMin) return {};
  const NumberedHeading found{.level = std::min(parts + 1, 6), .is_sure = words.all_capitals};
  for (const std::string_view end : {". ", "! ", "? "}) {
    if (text.find(end) != text.npos) return {};
  }
  if (words.all_capitals) return text.size() <= kCapitalsBytesMax ? found : NumberedHeading{};
  // A date, a sentence, and what goes on are no titles.
  const bool ends_open = std::string_view(".,;:!?").find(text.back()) != std::string_view::npos;
  const bool title = words.all_titles && text.size() <= kTitleBytesMax &&
                     words.count <= kTitleWordsMax && !ends_open && !is_digit(text.back());
  return title ? found : NumberedHeading{};
}

}  // namespace millrace::document
