#include "page_words.h"

#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace millrace::test {
namespace {

using Words = std::vector<std::string>;

constexpr auto kDoseUnits = std::to_array<std::string_view>(
    {"mg", "g", "mcg", "\u00b5g", "\u03bcg", "ml", "units", "iu", "puffs", "tablets"});
constexpr auto kMonths =
    std::to_array<std::string_view>({"january", "february", "march", "april", "may", "june", "july",
                                     "august", "september", "october", "november", "december"});
constexpr auto kNoNames = std::to_array<std::string_view>(
    {"with", "take", "dose", "about", "from", "than", "over", "under", "and", "the", "for"});

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

template <class List>
bool is_in(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || text.empty() || text.find_first_not_of("0123456789.") != text.npos) {
    return std::nullopt;
  }
  return value;
}

bool is_name(std::string_view word) {
  const auto core = core_of(word);
  return core.size() >= 4 && std::isalpha(static_cast<unsigned char>(core.front())) != 0 &&
         core.find_first_of("0123456789:") == core.npos && !is_in(kNoNames, lower(core)) &&
         core.size() == word.size();
}

bool is_lab_unit(std::string_view unit) { return unit.contains('/') || unit.contains('%'); }

// Phrases by category; the longest that fits counts.
struct Phrase {
  std::string_view category;
  std::string_view words;
};
constexpr auto kPhrases = std::to_array<Phrase>({
    {"FREQUENCY", "once daily"},
    {"FREQUENCY", "twice daily"},
    {"FREQUENCY", "three times daily"},
    {"FREQUENCY", "four times daily"},
    {"FREQUENCY", "every morning"},
    {"FREQUENCY", "at night"},
    {"FREQUENCY", "as needed"},
    {"FREQUENCY", "daily"},
    {"FREQUENCY", "weekly"},
    {"FREQUENCY", "bid"},
    {"FREQUENCY", "tid"},
    {"ROUTE", "by mouth"},
    {"ROUTE", "orally"},
    {"ROUTE", "subcutaneously"},
    {"CONDITION", "pneumonia"},
    {"CONDITION", "diabetes"},
    {"CONDITION", "type 2 diabetes"},
    {"CONDITION", "hypertension"},
    {"CONDITION", "asthma"},
    {"CONDITION", "heart failure"},
    {"CONDITION", "chest pain"},
    {"CONDITION", "atrial fibrillation"},
    {"CONDITION", "anaemia"},
    {"CONDITION", "anemia"},
    {"CONDITION", "sepsis"},
    {"CONDITION", "stroke"},
    {"CONDITION", "migraine"},
    {"CONDITION", "depression"},
    {"CONDITION", "osteoarthritis"},
    {"CONDITION", "hypothyroidism"},
    {"REACTION", "rash"},
    {"REACTION", "urticaria"},
    {"REACTION", "anaphylaxis"},
    {"PROCEDURE", "appendectomy"},
    {"PROCEDURE", "appendicectomy"},
    {"PROCEDURE", "colonoscopy"},
    {"PROCEDURE", "cholecystectomy"},
    {"IMMUNIZATION", "influenza vaccine"},
    {"IMMUNIZATION", "tetanus vaccine"},
});

class Finder {
 public:
  explicit Finder(const PageLine& line) {
    for (const auto& word : line.words) {
      words_.push_back(word.text);
      lower_.push_back(lower(core_of(word.text)));
    }
  }

  std::vector<Mention> find() {
    for (std::size_t i = 0; i < words_.size();) i = std::max(i + 1, look_at(i));
    return std::move(out_);
  }

 private:
  // Where to go on.
  std::size_t look_at(std::size_t i) {
    if (const auto next = date_at(i)) return *next;
    if (const auto next = quantity_at(i)) return *next;
    if (const auto next = allergy_at(i)) return *next;
    if (const auto next = person_at(i)) return *next;
    if (const auto next = phrase_at(i)) return *next;
    return i + 1;
  }

  void add(std::string_view category, std::size_t first, std::size_t last) {
    out_.push_back({.category = std::string(category), .first = first, .last = last});
  }

  std::optional<std::size_t> date_at(std::size_t i) {
    const bool spelled = i + 2 < words_.size() && number_of(lower_[i]) &&
                         is_in(kMonths, lower_[i + 1]) && lower_[i + 2].size() == 4 &&
                         number_of(lower_[i + 2]);
    const bool iso = date_of(lower_[i]).has_value();
    if (!spelled && !iso) return std::nullopt;
    const auto last = spelled ? i + 2 : i;
    add("DATE", i, last);
    return last + 1;
  }

  // A name before it, a frequency or a range behind it are found by themselves.
  std::optional<std::size_t> quantity_at(std::size_t i) {
    std::size_t last = i;
    auto quantity = quantity_of(lower_[i]);
    if (!quantity && i + 1 < words_.size()) {
      quantity = quantity_of(lower_[i] + " " + lower_[i + 1]);
      last = i + 1;
    }
    if (!quantity || i == 0) return std::nullopt;
    const bool dose = is_in(kDoseUnits, quantity->unit);
    const bool lab = is_lab_unit(quantity->unit);
    const bool free = out_.empty() || out_.back().last < i - 1;
    if ((!dose && !lab) || !free || !is_name(words_[i - 1])) return std::nullopt;
    add(dose ? "MEDICATION_NAME" : "LAB_NAME", i - 1, i - 1);
    add(dose ? "DOSE" : "LAB_VALUE", i, last);
    return lab ? range_at(last + 1) : last + 1;
  }

  std::size_t range_at(std::size_t i) {
    const bool is_range = i + 2 < words_.size() && number_of(lower_[i]) &&
                          (words_[i + 1] == "-" || words_[i + 1] == "\u2013") &&
                          number_of(lower_[i + 2]);
    if (!is_range) return i;
    add("REFERENCE_RANGE", i, i + 2);
    return i + 3;
  }

  std::optional<std::size_t> allergy_at(std::size_t i) {
    const bool found = i + 2 < words_.size() && lower_[i] == "allergic" && lower_[i + 1] == "to";
    if (!found) return std::nullopt;
    add("ALLERGEN", i + 2, i + 2);
    return i + 3;
  }

  std::optional<std::size_t> person_at(std::size_t i) {
    if (words_[i] != "Name:" && words_[i] != "Patient:") return std::nullopt;
    std::size_t last = i;
    while (last + 1 < words_.size() && last < i + 3 && !words_[last + 1].ends_with(':') &&
           std::islower(static_cast<unsigned char>(words_[last + 1].front())) == 0 &&
           number_of(lower_[last + 1]) == std::nullopt) {
      ++last;
    }
    if (last == i) return std::nullopt;
    add("PERSON", i + 1, last);
    return last + 1;
  }

  std::optional<std::size_t> phrase_at(std::size_t i) {
    const Phrase* best = nullptr;
    std::size_t best_count = 0;
    for (const auto& phrase : kPhrases) {
      const auto count = static_cast<std::size_t>(std::ranges::count(phrase.words, ' ')) + 1;
      if (count <= best_count || i + count > words_.size()) continue;
      std::string here = lower_[i];
      for (std::size_t k = 1; k < count; ++k) here += " " + lower_[i + k];
      if (here != phrase.words) continue;
      best = &phrase;
      best_count = count;
    }
    if (best == nullptr) return std::nullopt;
    add(best->category, i, i + best_count - 1);
    return i + best_count;
  }

  Words words_;
  Words lower_;
  std::vector<Mention> out_;
};

std::string sentence_before(std::string_view line, std::string_view mention) {
  const auto at = std::min(line.find(mention), line.size());
  const auto stop = line.substr(0, at).rfind(". ");
  const auto from = stop == line.npos ? 0 : stop + 2;
  return " " + lower(line.substr(from, at - from));
}

std::optional<PageLine> content_line(std::string_view line) {
  const auto bar = line.find("| ");
  std::uint32_t index = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), index);
  if (bar == line.npos || error != std::errc() || end != line.data() + bar) return std::nullopt;
  auto text = line.substr(bar + 2);
  if (text.starts_with("# ") || text.starts_with("~ ")) text.remove_prefix(2);
  PageLine out{.text = std::string(text)};
  while (!text.empty()) {
    const auto space = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, space);
    if (!word.empty() && word != "|") {
      out.words.push_back({.text = std::string(word), .index = index++});
    }
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return out;
}

std::optional<ListedEntity> entity_line(std::string_view line) {
  if (!line.starts_with("    ")) return std::nullopt;
  line.remove_prefix(4);
  const auto first = line.find(' ');
  const auto second = first == line.npos ? first : line.find(' ', first + 1);
  if (second == line.npos) return std::nullopt;
  const auto text = parse_json(line.substr(second + 1));
  if (!text || !text->is_string()) return std::nullopt;
  return ListedEntity{.id = std::string(line.substr(0, first)),
                      .category = std::string(line.substr(first + 1, second - first - 1)),
                      .text = std::string(text->get_string())};
}

}  // namespace

std::vector<PageLine> read_page_lines(std::string_view input) {
  constexpr std::string_view kHeader = "== page ";
  std::vector<PageLine> out;
  std::uint32_t page = 0;
  while (!input.empty()) {
    const auto end = std::min(input.find('\n'), input.size());
    const auto line = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
    if (line.starts_with(kHeader)) {
      std::from_chars(line.data() + kHeader.size(), line.data() + line.size(), page);
    } else if (auto entity = entity_line(line)) {
      if (!out.empty()) out.back().entities.push_back(*std::move(entity));
    } else if (auto content = content_line(line)) {
      content->page = page;
      out.push_back(*std::move(content));
    }
  }
  return out;
}

std::vector<Mention> mentions_in(const PageLine& line) { return Finder(line).find(); }

std::string_view core_of(std::string_view word) {
  constexpr std::string_view kAround = "()[],;:\"'";
  const auto first = word.find_first_not_of(kAround);
  if (first == word.npos) return word;
  word = word.substr(first, word.find_last_not_of(kAround) - first + 1);
  if (word.ends_with('.') && word.size() > 1) word.remove_suffix(1);
  return word;
}

std::string text_of(const PageLine& line, const Mention& mention) {
  std::string text;
  for (auto i = mention.first; i <= mention.last; ++i) {
    if (!text.empty()) text += ' ';
    text += line.words[i].text;
  }
  return std::string(core_of(text));
}

std::optional<Quantity> quantity_of(std::string_view text) {
  const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto value = number_of(text.substr(0, end));
  auto unit = text.substr(end);
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  if (!value || unit.empty() || unit.contains(' ') || unit.size() > 12) return std::nullopt;
  if (std::isdigit(static_cast<unsigned char>(unit.front())) != 0) return std::nullopt;
  return Quantity{.value = *value, .unit = std::string(unit)};
}

std::optional<std::string> date_of(std::string_view text) {
  const bool iso =
      text.size() == 10 && text[4] == '-' && text[7] == '-' &&
      std::ranges::count_if(text, [](unsigned char c) { return std::isdigit(c); }) == 8;
  if (iso) return std::string(text);
  const auto first = text.find(' ');
  const auto second = first == text.npos ? first : text.find(' ', first + 1);
  if (second == text.npos) return std::nullopt;
  const auto day = number_of(text.substr(0, first));
  const auto year = number_of(text.substr(second + 1));
  const auto* const month =
      std::ranges::find(kMonths, lower(text.substr(first + 1, second - first - 1)));
  if (!day || !year || month == kMonths.end()) return std::nullopt;
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(*year), month - kMonths.begin() + 1,
                     static_cast<int>(*day));
}

bool is_negated(std::string_view line, std::string_view mention) {
  const auto before = sentence_before(line, mention);
  return std::ranges::any_of(
      std::to_array<std::string_view>({" no ", " denies ", " without ", " not ", " negative for "}),
      [&](std::string_view cue) { return before.contains(cue); });
}

bool is_of_family(std::string_view line, std::string_view mention) {
  const auto before = sentence_before(line, mention);
  return std::ranges::any_of(
      std::to_array<std::string_view>({"mother", "father", "sister", "brother", "family"}),
      [&](std::string_view cue) { return before.contains(cue); });
}

}  // namespace millrace::test
