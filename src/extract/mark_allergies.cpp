// Allergies: lists under a heading, and what follows "allergic to".
#include "extract/marks.h"

#include <algorithm>
#include <initializer_list>

namespace millrace::extract {
namespace {

using layout::clinical::Category;

bool is_allergy_word(std::string_view fold) {
  return one_of(fold, {"allergy",
                       "allergies",
                       "allergic",
                       "allergie",
                       "allergien",
                       "allergisch",
                       "allergique",
                       "allergiques",
                       "alergia",
                       "alergias",
                       "alergico",
                       "alergica",
                       "intolerance",
                       "intolerances",
                       "unvertraglichkeit",
                       "unvertraglichkeiten",
                       "intolerancia",
                       "intolerancias",
                       "intolerant",
                       "hypersensitivity",
                       "hypersensibilite",
                       "hipersensibilidad",
                       "uberempfindlichkeit",
                       "nka",
                       "nkda",
                       "nkfa"});
}

bool leads_to_substance(std::string_view fold) {
  return one_of(
      fold, {"to", "gegen", "auf", "gegenuber", "a",   "au",  "aux", "al",  "la",      "le", "les",
             "l",  "los",   "las", "el",        "the", "von", "de",  "for", "against", "an"});
}

bool leads_to_reaction(std::string_view fold) {
  return one_of(fold,
                {"with",       "causes",   "causing",   "caused",        "reaction", "mit",
                 "verursacht", "fuhrt",    "reaktion",  "avec",          "provoque", "provoquant",
                 "cause",      "reaccion", "con",       "provoca",       "causa",    "manifested",
                 "->",         "→",        "resulting", "manifestation", "sous",     "forme",
                 "developed",  "gets",     "produces",  "produce",       "entraine", "entrainant",
                 "leads",      "lost",     "aus"});
}

bool cuts_list(const Chart& chart, std::size_t i) {
  return chart.sign(i, ",") || chart.sign(i, ";") || chart.sign(i, "•") ||
         one_of(chart.token(i).fold, {"and", "und", "et", "y", "e", "&"});
}

class AllergyMarker {
 public:
  AllergyMarker(const Chart& chart, Marks& marks)
      : chart_(chart), marks_(marks), items_(chart.items) {}

  void run() {
    const bool in_section = chart_.section() == "allergies";
    bool cued = false;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!is_allergy_word(chart_.token(i).fold)) continue;
      cued = true;
      mark_denied(i);
      const auto next = substance_after(i);
      if (next > i) {
        mark_list(next, kContextual);
        return;
      }
      mark_before(i);
    }
    if (in_section && !cued && !denies()) mark_list(0, kStructured);
    if (!in_section && !cued && is_bare_list()) mark_list(0, kContextual);
  }

 private:
  // "Aspirin (bronchospasm); latex (rash).": substances with what they do, and nothing else.
  bool is_bare_list() const {
    std::size_t reactions = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const auto& item = items_[i];
      if (chart_.sign(i, "(")) {
        if (i == 0 || i + 1 >= items_.size() || !items_[i + 1].is(Is::reaction)) return false;
        ++reactions;
        continue;
      }
      const bool name = item.is(Piece::term) || item.is(Piece::word) ||
                        (item.is(Piece::quantity) && item.quantity.unit.tokens == 0);
      const bool sign =
          chart_.sign(i, ")") || chart_.sign(i, ";") || chart_.sign(i, ",") || chart_.sign(i, ".");
      if ((!name && !sign) || (item.is(Is::common) && !item.is(Piece::term))) return false;
    }
    return reactions > 0 && items_.size() <= 40;
  }

  // "NKDA", "no known drug allergies", "keine bekannten Allergien": said to have none.
  void mark_denied(std::size_t i) {
    const auto& fold = chart_.token(i).fold;
    const bool code = one_of(fold, {"nka", "nkda", "nkfa"});
    if (!code && !denies()) return;
    // "No allergies to X": X is what is denied.
    if (substance_after(i) > i && i + 1 < items_.size()) return;
    // "known drug allergies", "alergias medicamentosas conocidas"
    auto first = i;
    auto last = i;
    while (first > 0 && i - first < 3 &&
           (is_known_word(chart_.token(first - 1).fold) ||
            one_of(chart_.token(first - 1).fold,
                   {"bekannten", "food", "relevant", "other", "documented"})))
      --first;
    while (last + 1 < items_.size() && last - i < 3 && is_known_word(chart_.token(last + 1).fold))
      ++last;
    marks_.add(Category::allergen,
               {.first = items_[first].tokens.first, .end = items_[last].tokens.end}, kListed);
  }

  bool denies() const {
    for (std::size_t i = 0; i < items_.size() && i < 8; ++i) {
      if (one_of(chart_.token(i).fold,
                 {"no",      "none",      "not",    "nil",   "denies",  "without", "kein",
                  "keine",   "keinerlei", "keinen", "nicht", "ohne",    "aucun",   "aucune",
                  "pas",     "sans",      "nie",    "sin",   "ninguna", "ninguno", "niega",
                  "unknown", "unbekannt", "nka",    "nkda",  "never"}))
        return true;
    }
    return false;
  }

  static bool is_known_word(std::string_view fold) {
    return one_of(fold, {"known", "bekannt", "bekannte", "connue", "connues", "conocida",
                         "conocidas", "medicamentosa", "medicamentosas", "medicamenteuse",
                         "medicamenteuses", "drug", "medication"});
  }

  // The item that the substances begin with; `i` itself when none do.
  std::size_t substance_after(std::size_t i) const {
    auto next = i + 1;
    while (next < items_.size() && next - i <= 3 && is_known_word(chart_.token(next).fold)) ++next;
    if (next < items_.size() && chart_.sign(next, ":"))
      return next + 1 < items_.size() ? next + 1 : i;
    if (next > i + 1) return i;
    bool led = false;
    while (next < items_.size() && next - i <= 3 && leads_to_substance(chart_.token(next).fold) &&
           !items_[next].is(Piece::sign)) {
      led = true;
      ++next;
    }
    if (next < items_.size() && chart_.sign(next, "'")) ++next;
    return led && next < items_.size() ? next : i;
  }

  // "penicillin allergy", "Penicillinallergie" is not cut.
  void mark_before(std::size_t i) {
    if (i == 0) return;
    const auto& item = items_[i - 1];
    const bool known = item.is(Piece::term) && (item.is(Is::allergen) || item.is(Is::drug));
    if (!known || !marks_.is_free(item.tokens)) return;
    marks_.add(Category::allergen, item.tokens, kListed);
  }

  bool ends_list(std::size_t i) const {
    if (chart_.sign(i, ".")) return true;
    const auto& fold = chart_.token(i).fold;
    return items_[i].is(Piece::word) &&
           one_of(fold,
                  {"but",     "aber",    "mais",   "pero",     "which", "who",        "otherwise",
                   "however", "is",      "are",    "ist",      "est",   "es",         "was",
                   "known",   "bekannt", "connue", "conocida", "noted", "documented", "reported"});
  }

  void mark_list(std::size_t first, double conf) {
    auto i = first;
    for (std::size_t n = 0; i < items_.size() && n < 64; ++n) {
      const auto begin = i;
      auto end = i;
      std::size_t depth = 0;
      while (end < items_.size()) {
        if (chart_.sign(end, "(") || chart_.sign(end, "[")) ++depth;
        if ((chart_.sign(end, ")") || chart_.sign(end, "]")) && depth > 0) --depth;
        if (depth == 0 && (cuts_list(chart_, end) || ends_list(end))) break;
        ++end;
      }
      if (!mark_element(begin, end, conf)) break;
      if (end >= items_.size() || ends_list(end)) break;
      i = end + 1;
    }
  }

  // "penicillin (rash)", "latex: hives", "nuts - swelling", "iodine causes a rash"
  bool mark_element(std::size_t begin, std::size_t end, double conf) {
    auto i = begin;
    while (i < end &&
           (items_[i].is(Piece::sign) || (items_[i].is(Is::common) && !items_[i].is(Piece::term))))
      ++i;
    if (i >= end) return true;
    const auto name_first = i;
    auto name_last = i;
    while (i < end) {
      const auto& item = items_[i];
      const bool cut = chart_.sign(i, "(") || chart_.sign(i, ":") || chart_.sign(i, "[") ||
                       (chart_.sign(i, "-") && !chart_.token(i).glued) || chart_.sign(i, "→") ||
                       chart_.sign(i, "=");
      const bool word =
          (item.is(Piece::word) || item.is(Piece::form)) && leads_to_reaction(chart_.token(i).fold);
      if (cut || word || item.is(Piece::date)) break;
      if (i > name_first && item.is(Piece::word) &&
          one_of(chart_.token(i).fold,
                 {"in", "since", "seit", "depuis", "desde", "diagnosed", "im"}))
        break;
      ++i;
      name_last = i;
    }
    // A reaction alone goes with the substance before it: "penicillin: rash, hives".
    const bool only_reaction = items_[name_first].is(Is::reaction) &&
                               !items_[name_first].is(Is::allergen) &&
                               items_[name_first].is(Piece::term);
    if (only_reaction && seen_) {
      marks_.add(Category::reaction, items_[name_first].tokens, kListed);
      return true;
    }
    const auto name =
        trimmed(*chart_.page, {.first = items_[name_first].tokens.first,
                               .end = items_[std::max(name_last, name_first + 1) - 1].tokens.end});
    if (name.empty() || name.size() > 8 || !has_letter(name)) return false;
    const bool listed = items_[name_first].is(Piece::term) &&
                        (items_[name_first].is(Is::allergen) || items_[name_first].is(Is::drug));
    seen_ |= marks_.add(Category::allergen, name, listed ? kListed : conf);
    mark_reaction(i, end);
    return true;
  }

  bool has_letter(TokenRange range) const {
    for (auto i = range.first; i < range.end; ++i) {
      if (chart_.page->tokens[i].is_word()) return true;
    }
    return false;
  }

  void mark_reaction(std::size_t i, std::size_t end) {
    while (i < end) {
      const auto& item = items_[i];
      const auto& fold = chart_.token(i).fold;
      const bool skip = item.is(Piece::sign) || item.is(Is::common) || leads_to_reaction(fold) ||
                        is_severity(fold) || item.is(Piece::date);
      if (!skip || item.is(Is::reaction)) break;
      ++i;
    }
    // Up to the end of the bracket, or of the words.
    const auto first = i;
    auto last = i;
    while (i < end && !chart_.sign(i, ")") && !chart_.sign(i, "]") && !chart_.sign(i, ";") &&
           !items_[i].is(Piece::date)) {
      if (chart_.sign(i, ",") && i + 1 < end &&
          (is_severity(chart_.token(i + 1).fold) || items_[i + 1].is(Piece::date) ||
           items_[i + 1].is(Is::common)))
        break;
      if (items_[i].is(Is::common) && !items_[i].is(Piece::term) && i > first &&
          one_of(chart_.token(i).fold, {"in", "since", "after", "when", "as", "seit", "nach",
                                        "depuis", "desde", "which", "during", "im", "en"}))
        break;
      ++i;
      last = i;
    }
    if (last == first) return;
    const auto tokens = trimmed(
        *chart_.page, {.first = items_[first].tokens.first, .end = items_[last - 1].tokens.end});
    if (tokens.empty() || tokens.size() > 10) return;
    const bool listed = items_[first].is(Is::reaction);
    marks_.add(Category::reaction, tokens, listed ? kListed : kContextual);
  }

  static bool is_severity(std::string_view fold) {
    return one_of(fold, {"mild", "moderate", "severe", "leicht", "mittel", "schwer", "schwere",
                         "leichte", "massig", "leger", "legere", "modere", "moderee", "severe",
                         "grave", "leve", "moderado", "moderada"});
  }

  const Chart& chart_;
  Marks& marks_;
  const std::vector<Item>& items_;
  bool seen_ = false;
};

}  // namespace

void mark_allergies(const Chart& chart, Marks& marks) { AllergyMarker(chart, marks).run(); }

}  // namespace millrace::extract
