#include "extract/terms.h"

#include "extract/folding.h"
#include "layout/clinical/detection.h"

#include <algorithm>
#include <utility>

namespace millrace::extract {
namespace {

struct TermFile {
  std::string_view name;
  std::string_view text;
};

#include "extract/term_files.inc"

// Lists that are one kind each, and labels within lists that are.
constexpr auto kListKinds = std::to_array<std::pair<std::string_view, Is>>({
    {"drugs", Is::drug},
    {"analytes", Is::analyte},
    {"vitals", Is::vital},
    {"allergens", Is::allergen},
    {"reactions", Is::reaction},
    {"conditions", Is::condition},
    {"procedures", Is::procedure},
    {"vaccines", Is::vaccine},
    {"routes", Is::route},
    {"forms", Is::form},
    {"frequencies", Is::frequency},
});
constexpr auto kLabelKinds = std::to_array<std::pair<std::string_view, Is>>({
    {"title", Is::title},
    {"courtesy", Is::courtesy},
    {"credential", Is::credential},
    {"role", Is::role},
    {"patient_key", Is::patient_key},
    {"birth_key", Is::birth_key},
    {"sex_key", Is::sex_key},
    {"id_key", Is::id_key},
    {"practitioner_key", Is::practitioner_key},
    {"given_key", Is::given_key},
    {"family_key", Is::family_key},
    {"relative", Is::family_before},
    {"female", Is::female},
    {"male", Is::male},
    {"organization", Is::organization},
    {"negated_before", Is::negated_before},
    {"negated_after", Is::negated_after},
    {"family_before", Is::family_before},
    {"family_after", Is::family_after},
    {"hypothetical_before", Is::hypothetical_before},
    {"hypothetical_after", Is::hypothetical_after},
    {"future_before", Is::future_before},
    {"future_after", Is::future_after},
    {"historical_before", Is::historical_before},
    {"historical_after", Is::historical_after},
    {"possible_before", Is::possible_before},
    {"probable_before", Is::probable_before},
    {"possible_after", Is::possible_after},
    {"probable_after", Is::probable_after},
    {"ends", Is::ends_reach},
    {"pseudo", Is::no_cue},
    {"stopped_before", Is::stopped_before},
    {"stopped_after", Is::stopped_after},
    {"forbidden_before", Is::forbidden_before},
    {"forbidden_after", Is::forbidden_after},
    {"considered_before", Is::considered_before},
    {"replaced_before", Is::replaced_before},
    {"replaced_after", Is::replaced_after},
    {"companion", Is::companion},
    {"informant", Is::informant},
    {"change", Is::change},
    {"state", Is::state},
    {"condition_lead", Is::condition_lead},
    {"condition_tail", Is::condition_tail},
    {"medicine_tail", Is::medicine_tail},
    {"article", Is::article},
});
constexpr auto kColumns = std::to_array<std::pair<std::string_view, Column>>({
    {"drug", Column::drug},
    {"dose", Column::dose},
    {"frequency", Column::frequency},
    {"route", Column::route},
    {"duration", Column::duration},
    {"start", Column::start},
    {"end", Column::end},
    {"indication", Column::indication},
    {"status", Column::status},
    {"test", Column::test},
    {"value", Column::value},
    {"unit", Column::unit},
    {"range", Column::range},
    {"flag", Column::flag},
    {"date", Column::date},
    {"allergen", Column::allergen},
    {"reaction", Column::reaction},
    {"severity", Column::severity},
    {"condition", Column::condition},
    {"onset", Column::onset},
    {"procedure", Column::procedure},
    {"vaccine", Column::vaccine},
    {"lot", Column::lot},
    {"site", Column::site},
    {"role", Column::role},
});

template <class Table>
auto found_in(const Table& table, std::string_view name) {
  return std::ranges::find(table, name, [](const auto& row) { return row.first; });
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// The name as the forms have it: a view that outlives the table.
std::string_view known_name(std::span<const std::string_view> names, std::string_view name) {
  const auto at = std::ranges::find(names, name);
  return at == names.end() ? std::string_view() : *at;
}

std::string_view first_word(std::string_view key) { return key.substr(0, key.find(' ')); }

bool ends_with_any(std::string_view word, const std::vector<std::string>& endings,
                   std::size_t before_min) {
  return std::ranges::any_of(endings, [&](const std::string& ending) {
    return word.size() >= ending.size() + before_min && word.ends_with(ending);
  });
}

}  // namespace

std::string phrase_of(std::span<const Token> tokens) {
  std::string out;
  for (const auto& token : tokens) {
    if (!out.empty()) out += ' ';
    out += token.key;
  }
  return out;
}

std::string phrase_of(std::string_view text) { return phrase_of(tokens_of(text)); }

const Terms& Terms::get() {
  static const Terms terms;
  return terms;
}

Terms::Terms() {
  for (const auto& file : kTermFiles) read(file.name, file.text);
}

void Terms::read(std::string_view name, std::string_view text) {
  for (const char c : text) {
    fingerprint_ = (fingerprint_ ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  const bool labelled = found_in(kListKinds, name) == kListKinds.end();
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    std::string_view label;
    if (const auto colon = line.find(": "); labelled && colon != std::string_view::npos) {
      label = line.substr(0, colon);
      line.remove_prefix(colon + 2);
    }
    while (!line.empty()) {
      const auto comma = std::min(line.find(','), line.size());
      if (const auto term = trimmed(line.substr(0, comma)); !term.empty()) add(name, label, term);
      line.remove_prefix(std::min(comma + 1, line.size()));
    }
  }
}

void Terms::add(std::string_view list, std::string_view label, std::string_view term) {
  if (list == "drug_suffixes") {
    drug_endings_.push_back(fold(term));
    return;
  }
  if (list == "procedure_endings") {
    procedure_endings_.push_back(fold(term));
    return;
  }
  if (list == "condition_heads" && term.starts_with('-')) {
    condition_endings_.push_back(fold(term.substr(1)));
    return;
  }
  auto key = phrase_of(term);
  auto& reach = longest_[std::string(first_word(key))];
  const auto words = static_cast<std::size_t>(std::ranges::count(key, ' ')) + 1;
  reach =
      static_cast<std::uint8_t>(std::max<std::size_t>(reach, std::min(words, kPhraseTokensMax)));
  if (list == "condition_heads") {
    kinds_[key] |= bit(Is::condition_head);
  } else if (list == "headings") {
    headings_.emplace(std::move(key), known_name(layout::clinical::section_kinds(), label));
  } else if (list == "documents") {
    documents_.emplace(std::move(key), known_name(layout::clinical::document_types(), label));
  } else if (list == "columns") {
    const auto role = found_in(kColumns, label);
    if (role != kColumns.end()) columns_[key] |= 1U << static_cast<unsigned>(role->second);
  } else if (list == "words") {
    const auto language = std::ranges::find(kLanguageNames, label) - kLanguageNames.begin();
    languages_[key] |= static_cast<std::uint8_t>(1U << static_cast<unsigned>(language));
    kinds_[key] |= bit(Is::common);
  } else if (const auto kind = found_in(kListKinds, list); kind != kListKinds.end()) {
    kinds_[key] |= bit(kind->second);
  } else if (const auto by_label = found_in(kLabelKinds, label); by_label != kLabelKinds.end()) {
    kinds_[key] |= bit(by_label->second);
  }
}

Match Terms::longest(std::span<const Token> tokens, std::size_t at, Kinds among) const {
  Match match;
  if (at >= tokens.size()) return match;
  // Most words begin no phrase at all.
  const auto reach = longest_.find(first_word(tokens[at].key));
  if (reach == longest_.end()) return match;
  std::string key;
  const auto last = std::min<std::size_t>(tokens.size(), at + reach->second);
  for (auto i = at; i < last; ++i) {
    if (i > at) key += ' ';
    key += tokens[i].key;
    const auto found = kinds_of(key) & among;
    if (found != 0) match = {.tokens = i - at + 1, .kinds = found};
  }
  return match;
}

Kinds Terms::kinds_of(std::string_view key) const {
  const auto at = kinds_.find(key);
  return at == kinds_.end() ? 0 : at->second;
}

std::optional<std::string_view> Terms::heading(std::string_view key) const {
  const auto at = headings_.find(key);
  return at == headings_.end() ? std::nullopt : std::optional(at->second);
}

std::uint32_t Terms::columns(std::string_view key) const {
  const auto at = columns_.find(key);
  return at == columns_.end() ? 0 : at->second;
}

std::optional<std::string_view> Terms::document_type(std::string_view key) const {
  const auto at = documents_.find(key);
  return at == documents_.end() ? std::nullopt : std::optional(at->second);
}

std::uint8_t Terms::languages(std::string_view key) const {
  const auto at = languages_.find(key);
  return at == languages_.end() ? 0 : at->second;
}

bool Terms::sounds_like_drug(std::string_view word) const {
  return word.size() >= 6 && ends_with_any(word, drug_endings_, 3);
}

bool Terms::sounds_like_condition(std::string_view word) const {
  return word.size() >= 6 && ends_with_any(word, condition_endings_, 3);
}

bool Terms::sounds_like_procedure(std::string_view word) const {
  return word.size() >= 8 && ends_with_any(word, procedure_endings_, 3);
}

}  // namespace millrace::extract
