#include "extract/extract.h"
#include "extract/marks.h"
#include "extract/reading.h"
#include "extract/terms.h"
#include "layout/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::extract {
namespace {

using layout::clinical::Category;
using layout::clinical::Detection;
using layout::clinical::PassLimits;

constexpr double kHeaded = 0.95;
constexpr double kCarried = 0.85;
constexpr double kTypeSaid = 0.9;
constexpr double kTypeGuessed = 0.6;

// By what its first lines say, else by what fills it.
layout::clinical::DocumentType type_of(std::span<const PageReading> pages) {
  constexpr std::size_t kTitleTokens = 160;
  for (const auto& page : pages) {
    const auto last = std::min(page.tokens.size(), kTitleTokens);
    for (std::size_t at = 0; at < last; ++at) {
      std::string key;
      std::optional<std::string_view> found;
      for (auto i = at; i < std::min(last, at + kPhraseTokensMax); ++i) {
        if (page.tokens[i].line != page.tokens[at].line) break;
        if (i > at) key += ' ';
        key += page.tokens[i].key;
        if (const auto type = Terms::get().document_type(key)) found = type;
      }
      const bool starts = at == 0 || page.tokens[at - 1].line != page.tokens[at].line;
      if (found && page.tokens[at].capital && starts)
        return {.value = std::string(*found), .conf = kTypeSaid};
    }
  }
  std::map<std::string_view, std::size_t> weight;
  for (const auto& page : pages) {
    for (const auto& section : page.sections) weight[section.kind] += section.tokens.size();
  }
  const auto of = [&](std::string_view kind) {
    return weight.contains(kind) ? weight.at(kind) : 0;
  };
  if (of("lab_results") > 0 &&
      of("lab_results") >= of("medication_list") + of("history") + of("diagnoses"))
    return {.value = "lab_report", .conf = kTypeGuessed};
  if (of("immunizations") > 0 && of("history") == 0)
    return {.value = "immunization_record", .conf = kTypeGuessed};
  if (of("history") > 0 && of("medication_list") > 0)
    return {.value = "clinic_letter", .conf = kTypeGuessed};
  return {.value = "other", .conf = 0.5};
}

class Detector {
 public:
  Detector(std::span<const PageReading> pages, const Manner& manner, const PassLimits& limits)
      : pages_(pages), manner_(manner), limits_(limits) {}

  void run(Detection& out) {
    for (const auto& page : pages_) {
      add_sections(page, out);
      auto marks = mark_page(page);
      add_entities(page, marks, out);
    }
  }

 private:
  Marks mark_page(const PageReading& page) {
    Marks marks(page.tokens.size());
    TableMarker tables(page, manner_);
    std::vector<Chart> charts;
    SplitName split;
    charts.reserve(page.passages.size());
    for (const auto& passage : page.passages) {
      charts.push_back(chart_of(page, passage, manner_));
      mark_dates(charts.back(), marks);
      mark_people(charts.back(), marks, split);
    }
    for (std::size_t i = 0; i < charts.size(); ++i) {
      const auto& passage = page.passages[i];
      if (passage.table >= 0 && tables.mark(passage, marks)) {
        charts[i].items.clear();
        continue;
      }
      mark_allergies(charts[i], marks);
      mark_values(charts[i], marks);
      mark_medications(charts[i], marks);
      mark_conditions(charts[i], marks);
    }
    if (!split.given.empty() && !split.family.empty()) {
      people_.emplace(split.given + ' ' + split.family,
                      word_count(split.given) + word_count(split.family));
    }
    if (!mark_repeated_people(page, marks)) {
      for (const auto& mark : split.marks) marks.add(mark.category, mark.tokens, mark.conf);
    }
    return marks;
  }

  static std::size_t word_count(std::string_view phrase) { return tokens_of(phrase).size(); }

  // A name that stood behind a key or a title is the same person wherever it stands. True: there
  // was one more place.
  bool mark_repeated_people(const PageReading& page, Marks& marks) {
    constexpr std::size_t kPeopleMax = 64;
    for (const auto& mark : marks.all()) {
      if (mark.category != Category::person || mark.tokens.size() < 2) continue;
      if (people_.size() >= kPeopleMax) break;
      people_.emplace(
          phrase_of(
              std::span<const Token>(page.tokens).subspan(mark.tokens.first, mark.tokens.size())),
          mark.tokens.size());
    }
    bool found = false;
    for (std::size_t at = 0; at < page.tokens.size(); ++at) {
      if (!page.tokens[at].capital || page.passage_at(at) == nullptr) continue;
      for (const auto& [name, size] : people_) {
        if (!name.starts_with(page.tokens[at].key) || at + size > page.tokens.size()) continue;
        if (phrase_of(std::span<const Token>(page.tokens).subspan(at, size)) != name) continue;
        found |= marks.add(Category::person, {.first = at, .end = at + size}, kListed);
      }
    }
    return found;
  }

  void add_sections(const PageReading& page, Detection& out) {
    for (const auto& section : page.sections) {
      if (section.tokens.empty() || section.kind.empty() ||
          out.sections.size() >= limits_.items_max)
        continue;
      out.sections.push_back({.id = fmt::format("s{}", out.sections.size() + 1),
                              .page = page.page->info.page,
                              .kind = std::string(section.kind),
                              .words = {.first = page.tokens[section.tokens.first].word,
                                        .last = last_word(page, section.tokens)},
                              .conf = section.carried ? kCarried : kHeaded});
    }
  }

  static std::uint32_t last_word(const PageReading& page, TokenRange tokens) {
    const auto& token = page.tokens[tokens.end - 1];
    const auto words = layout::words_covering(*page.page, token.bytes);
    return words ? words->last : token.word;
  }

  // What stands behind an empty box is offered, not said.
  static bool is_offered(const layout::PageMap& page, const layout::Evidence& at) {
    return std::ranges::any_of(page.checkboxes, [&](const layout::Checkbox& box) {
      return !box.checked && box.label && box.label->first <= at.words.first &&
             at.words.last <= box.label->last;
    });
  }

  void add_entities(const PageReading& page, const Marks& marks, Detection& out) {
    auto all = marks.all();
    std::ranges::sort(all, {}, [](const Mark& mark) { return mark.tokens.first; });
    for (const auto& mark : all) {
      if (out.entities.size() >= limits_.items_max) return;
      const layout::ByteRange bytes{.begin = page.tokens[mark.tokens.first].bytes.begin,
                                    .end = page.tokens[mark.tokens.end - 1].bytes.end};
      const auto at = layout::evidence_at(*page.page, bytes);
      if (!at || bytes.size() > limits_.entity_bytes_max) continue;
      if (is_offered(*page.page, *at)) continue;
      out.entities.push_back({.id = fmt::format("e{}", out.entities.size() + 1),
                              .category = mark.category,
                              .text = std::string(page.page->text_of(bytes)),
                              .at = *at,
                              .conf = mark.conf});
    }
  }

  std::span<const PageReading> pages_;
  Manner manner_;
  PassLimits limits_;
  std::map<std::string, std::size_t> people_;
};

}  // namespace

Detection detect(const layout::SpatialMap& pages, const Context& context,
                 const PassLimits& limits) {
  std::vector<PageReading> readings;
  readings.reserve(pages.pages.size());
  std::string open(context.open_section);
  for (const auto& page : pages.pages) {
    readings.push_back(read_page(page, open));
    if (!readings.back().sections.empty()) open = readings.back().sections.back().kind;
  }
  Detection out;
  out.language = context.language.empty() ? language_of(readings) : context.language;
  out.document_type = type_of(readings);
  const auto manner = manner_of(readings, out.language);
  Detector(readings, manner, limits).run(out);
  return out;
}

Context context_after(const Detection& detection) {
  Context context{.language = detection.language};
  const layout::clinical::Section* last = nullptr;
  for (const auto& section : detection.sections) {
    if (last == nullptr || section.page > last->page ||
        (section.page == last->page && section.words.last >= last->words.last))
      last = &section;
  }
  if (last != nullptr) context.open_section = last->kind;
  return context;
}

std::string_view version() {
  static const auto text = fmt::format("{}+{:016x}", kModel, Terms::get().fingerprint());
  return text;
}

}  // namespace millrace::extract
