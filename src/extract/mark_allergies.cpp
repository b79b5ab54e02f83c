// Allergies: lists under a heading, and what follows "allergic to".
#include "extract/denial.h"
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

bool is_reaction_word(std::string_view fold) {
  return one_of(fold,
                {"reaction", "reactions", "reaktion", "reaktionen", "reaccion", "reacciones"});
}

// "known drug allergies", "alergias medicamentosas conocidas"
bool is_known_word(std::string_view fold) {
  return one_of(
      fold, {"known",          "bekannt",         "bekannte",     "bekannten",     "connue",
             "connues",        "conocida",        "conocidas",    "medicamentosa", "medicamentosas",
             "medicamenteuse", "medicamenteuses", "drug",         "medication",    "food",
             "relevant",       "other",           "documented",   "environmental", "alimentaire",
             "alimentaires",   "alimentaria",     "alimentarias", "any",           "reported",
             "recorded"});
}

// What nothing is said to be of: "to medications", "against drugs".
bool is_kind_word(std::string_view fold) {
  return one_of(fold, {"medications", "medicines", "drugs", "foods", "medikamente", "medikamenten",
                       "arzneimittel", "medicaments", "medicamentos", "aliments", "alimentos",
                       "anything", "or", "and", "oder", "ou", "d", "'"});
}

// What says of a reaction that nobody knows it.
bool says_unknown(std::string_view fold) {
  return is_reaction_word(fold) ||
         one_of(fold, {"unknown",    "unspecified", "uncertain",   "unclear",    "not",
                       "documented", "recorded",    "specified",   "allergic",   "unbekannt",
                       "unbekannte", "unklar",      "unklare",     "nicht",      "inconnue",
                       "inconnu",    "non",         "precisee",    "allergique", "allergische",
                       "alergica",   "desconocida", "desconocido", "no",         "especificada"});
}

// "Not on file", "nicht erhoben": words with which it is said that nobody asked.
bool says_unasked(std::string_view fold) {
  return one_of(fold, {"on", "file", "available", "assessed", "obtained", "unbekannte", "erhoben",
                       "erfragt", "vorliegend", "inconnus", "inconnues", "precisees", "renseignee",
                       "renseignees", "desconocidas", "desconocidos", "especificadas"});
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
    bool listed = false;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!is_allergy_word(chart_.token(i).fold) || in_brackets(i)) continue;
      cued = true;
      // "No known allergies but for X": then there are some.
      const auto but = exception_after(i);
      const auto next = but > i ? but : substance_after(i);
      if (next > i) {
        mark_list(next, kContextual);
        listed = true;
        continue;
      }
      // "Allergic to X, no other allergies": only another list says more.
      if (listed) continue;
      if (denies(i)) {
        mark_none(i);
      } else {
        mark_before(i);
      }
    }
    if (listed) return;
    if (in_section) mark_list(0, kStructured);
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

  std::string_view fold_at(std::size_t i) const {
    return i < items_.size() ? std::string_view(chart_.token(i).fold) : std::string_view();
  }

  bool in_brackets(std::size_t i) const {
    for (auto at = i; at > 0 && i - at < 12; --at) {
      if (chart_.sign(at - 1, ")")) return false;
      if (chart_.sign(at - 1, "(")) return true;
    }
    return false;
  }

  // "NKDA", "no known drug allergies", "keine bekannten Allergien": said to have none.
  void mark_none(std::size_t i) {
    auto first = i;
    auto last = i;
    while (first > 0 && i - first < 3 && is_known_word(fold_at(first - 1))) --first;
    while (last + 1 < items_.size() && last - i < 3 && is_known_word(fold_at(last + 1))) ++last;
    marks_.add(Category::allergen,
               {.first = items_[first].tokens.first, .end = items_[last].tokens.end}, kListed);
  }

  bool denies(std::size_t i) const {
    return one_of(fold_at(i), {"nka", "nkda", "nkfa"}) ||
           denies_allergy(chart_.page->tokens, items_.front().tokens.first, items_[i].tokens.first);
  }

  // Behind "except", "other than", "mit Ausnahme von": the item there; `i` when this is none.
  std::size_t past_exception(std::size_t i) const {
    const auto first = fold_at(i);
    const auto second = fold_at(i + 1);
    auto next = i;
    if (one_of(first, {"except", "excepting", "besides", "ausser", "sauf", "hormis", "excepte",
                       "excepto", "salvo"})) {
      next = i + 1;
    } else if ((second == "than" && first == "other") || (second == "auf" && first == "bis") ||
               (second == "from" && (first == "apart" || first == "aside")) ||
               (second == "part" && first == "a") || (second == "de" && first == "aparte")) {
      next = i + 2;
    } else if (one_of(first, {"with", "mit", "a", "con", "by"})) {
      for (auto at = i + 1; at < i + 5; ++at) {
        if (one_of(fold_at(at), {"exception", "ausnahme", "excepcion"})) next = at + 1;
      }
    }
    if (next == i) return i;
    while (next < items_.size() &&
           (leads_to_substance(fold_at(next)) || chart_.sign(next, "'") ||
            one_of(fold_at(next), {"of", "des", "du", "der", "a", "einer", "eine", "un", "une"})))
      ++next;
    return next < items_.size() ? next : i;
  }

  // "Allergies to medications except X": where X begins; `i` when nothing is excepted.
  std::size_t exception_after(std::size_t i) const {
    if (!denies(i)) return i;
    for (auto next = i + 1; next < items_.size() && next - i < 6; ++next) {
      if (const auto past = past_exception(next); past > next) return past;
      const bool between = is_known_word(fold_at(next)) || is_kind_word(fold_at(next)) ||
                           leads_to_substance(fold_at(next)) || chart_.sign(next, ",") ||
                           chart_.sign(next, "(");
      if (!between) break;
    }
    return i;
  }

  // The item that the substances begin with; `i` itself when none do.
  std::size_t substance_after(std::size_t i) const {
    auto next = i + 1;
    while (next < items_.size() && next - i <= 3 && is_known_word(fold_at(next))) ++next;
    if (next < items_.size() && chart_.sign(next, ":"))
      return next + 1 < items_.size() ? next + 1 : i;
    if (next > i + 1) return i;
    // "An allergic reaction to X"
    if (is_reaction_word(fold_at(next))) ++next;
    const auto lead = next;
    bool led = false;
    while (next < items_.size() && next - lead <= 2 && leads_to_substance(fold_at(next)) &&
           !items_[next].is(Piece::sign)) {
      led = true;
      ++next;
    }
    if (next < items_.size() && (chart_.sign(next, "'") || chart_.sign(next, ":"))) ++next;
    if (!led || next >= items_.size()) return i;
    // "No allergies to medications": to none of them.
    const bool none = is_kind_word(fold_at(next)) || is_known_word(fold_at(next));
    return none && denies(i) ? i : next;
  }

  // "penicillin allergy (rash)"; "Penicillinallergie" is not cut.
  void mark_before(std::size_t i) {
    if (i == 0) return;
    const auto& item = items_[i - 1];
    const bool known = item.is(Piece::term) && (item.is(Is::allergen) || item.is(Is::drug));
    if (!known || !marks_.is_free(item.tokens)) return;
    seen_ |= marks_.add(Category::allergen, item.tokens, kListed);
    if (!chart_.sign(i + 1, "(")) return;
    auto end = i + 2;
    while (end < items_.size() && !chart_.sign(end, ")")) ++end;
    mark_reaction(i + 1, end);
  }

  bool ends_list(std::size_t i) const {
    if (chart_.sign(i, ".")) return true;
    const auto& fold = chart_.token(i).fold;
    return items_[i].is(Piece::word) &&
           one_of(fold,
                  {"but",     "aber",    "mais",   "pero",     "which", "who",        "otherwise",
                   "however", "is",      "are",    "ist",      "est",   "es",         "was",
                   "known",   "bekannt", "connue", "conocida", "noted", "documented", "reported",
                   "carries", "has",     "takes",  "uses",     "had",   "wears",      "avoids"});
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
        if (depth == 0 && (cuts_list(chart_, end) || (ends_list(end) && !known_none(begin, end))))
          break;
        ++end;
      }
      const bool done =
          is_unsaid(begin, end) || mark_denied(begin, end, conf) || mark_element(begin, end, conf);
      if (!done) break;
      if (end >= items_.size() || ends_list(end)) break;
      i = end + 1;
    }
  }

  // "None known": the word that ends other lists is a part of this one.
  bool known_none(std::size_t begin, std::size_t end) const {
    return end > begin && is_known_word(fold_at(end)) && says_none(fold_at(end - 1));
  }

  // "Unknown", "not recorded", "unknown reaction": nobody knows, which is neither an allergy nor
  // none.
  bool is_unsaid(std::size_t begin, std::size_t end) const {
    bool unknown = false;
    for (auto i = begin; i < end; ++i) {
      if (items_[i].is(Piece::sign)) continue;
      const auto fold = fold_at(i);
      if (!says_unknown(fold) && !says_unasked(fold) && !is_known_word(fold)) return false;
      unknown |= says_unasked(fold) ||
                 one_of(fold, {"unknown", "unspecified", "uncertain", "unclear", "unbekannt",
                               "unklar", "unklare", "inconnue", "inconnu", "desconocida",
                               "desconocido", "not", "nicht", "non"});
    }
    return unknown;
  }

  // An element that says of nothing that it is an allergy, or of all but one thing. False: it has
  // to be looked at for a substance.
  bool mark_denied(std::size_t begin, std::size_t end, double conf) {
    auto i = begin;
    while (i < end && items_[i].is(Piece::sign)) ++i;
    auto said = i;
    bool denied = false;
    bool allergy = false;
    for (; i < end; ++i) {
      const auto fold = fold_at(i);
      if (const auto past = past_exception(i); past > i && denied) {
        return past >= end || mark_element(past, end, conf);
      }
      // "Patient reports no allergies": others' words before the denial say nothing.
      if (!denied && !says_none(fold)) {
        if (!items_[i].is(Is::common) || items_[i].is(Piece::term)) return false;
        said = i + 1;
        continue;
      }
      denied |= says_none(fold);
      allergy |= is_allergy_word(fold);
      if (!(says_none(fold) || is_known_word(fold) || is_kind_word(fold) || is_allergy_word(fold) ||
            leads_to_substance(fold) || items_[i].is(Piece::sign)))
        return false;
    }
    if (!denied) return false;
    // Where the word for it stands, that is marked; "none" by itself is all that there is.
    if (!allergy) {
      const auto words = trimmed_signs(said, end);
      if (!words.empty()) marks_.add(Category::allergen, words, kListed);
    }
    return true;
  }

  TokenRange trimmed_signs(std::size_t first, std::size_t end) const {
    while (end > first && items_[end - 1].is(Piece::sign)) --end;
    if (end == first) return {};
    return {.first = items_[first].tokens.first, .end = items_[end - 1].tokens.end};
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
      if (cut || word || item.is(Piece::date) || past_exception(i) > i) break;
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
    bool told = false;
    for (auto at = tokens.first; at < tokens.end; ++at)
      told |= chart_.page->tokens[at].is_word() && !says_unknown(chart_.page->tokens[at].fold);
    if (!told) return;
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
