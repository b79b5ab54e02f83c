// Allergies: lists under a heading, and what follows "allergic to".
#include "extract/denial.h"
#include "extract/marks.h"

#include <algorithm>
#include <initializer_list>
#include <span>

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
  return one_of(fold, {"to",  "gegen", "auf", "gegenuber", "a",   "au",  "aux", "al",
                       "la",  "le",    "les", "l",         "los", "las", "el",  "the",
                       "von", "de",    "for", "against",   "an",  "of",  "any", "either"});
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

// What makes a reaction one of an allergy, or like one.
bool says_adverse(std::string_view fold) {
  return one_of(fold, {"adverse",
                       "allergic",
                       "bad",
                       "severe",
                       "serious",
                       "moderate",
                       "mild",
                       "anaphylactic",
                       "anaphylactoid",
                       "hypersensitivity",
                       "skin",
                       "cutaneous",
                       "idiosyncratic",
                       "dystonic",
                       "untoward",
                       "unknown",
                       "terrible",
                       "violent",
                       "life-threatening",
                       "allergische",
                       "allergischer",
                       "allergischen",
                       "schwere",
                       "schwerer",
                       "starke",
                       "starker",
                       "heftige",
                       "heftiger",
                       "anaphylaktische",
                       "anaphylaktischer",
                       "unerwunschte",
                       "uberempfindlichkeits"});
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

// What somebody is allergic to, by the lists.
bool is_substance(const Item& item) {
  return item.is(Piece::term) && (item.is(Is::allergen) || item.is(Is::drug));
}

// "Latex or iodine" are two, "food or drug allergies" is one thing to have none of.
bool is_or_before_substance(const Chart& chart, std::size_t i) {
  if (!one_of(chart.token(i).fold, {"or", "nor", "oder", "noch", "ou", "ni", "o"})) return false;
  // "Jod" is too short a word to be a term by itself.
  const auto is_one = [&](const Item& item) { return is_substance(item) || item.is(Is::allergen); };
  auto next = i + 1;
  while (next < chart.items.size() && next < i + 4 && !is_one(chart.items[next]) &&
         (leads_to_substance(chart.token(next).fold) || chart.sign(next, "'")))
    ++next;
  return next < chart.items.size() && is_one(chart.items[next]);
}

bool cuts_list(const Chart& chart, std::size_t i) {
  return chart.sign(i, ",") || chart.sign(i, ";") || chart.sign(i, "•") ||
         one_of(chart.token(i).fold, {"and", "und", "et", "y", "e", "&"}) ||
         is_or_before_substance(chart, i);
}

// What a form asks of an allergy besides the substance and what it does.
bool is_detail_key(std::string_view fold) {
  return one_of(
      fold, {"severity",   "criticality", "type",         "category",  "source",      "comments",
             "comment",    "verified",    "verification", "status",    "onset",       "date",
             "recorded",   "entered",     "noted",        "reported",  "notes",       "schweregrad",
             "typ",        "kategorie",   "quelle",       "bemerkung", "bemerkungen", "kommentar",
             "datum",      "gravite",     "severite",     "categorie", "remarque",    "commentaire",
             "statut",     "gravedad",    "severidad",    "tipo",      "categoria",   "fuente",
             "comentario", "comentarios", "fecha",        "estado"});
}

// What a form asks for: "Food: shellfish", "Drug: codeine".
bool is_substance_key(std::string_view fold) {
  return one_of(fold, {"food",         "foods",          "drug",
                       "drugs",        "medication",     "medications",
                       "medicine",     "environmental",  "environment",
                       "allergen",     "allergens",      "substance",
                       "agent",        "other",          "others",
                       "contact",      "nahrungsmittel", "lebensmittel",
                       "medikament",   "medikamente",    "arzneimittel",
                       "allergene",    "substanz",       "sonstige",
                       "umwelt",       "aliment",        "aliments",
                       "alimentaire",  "alimentaires",   "medicament",
                       "medicaments",  "medicamenteuse", "medicamenteuses",
                       "allergene",    "autre",          "autres",
                       "alimento",     "alimentos",      "medicamento",
                       "medicamentos", "alergeno",       "alergenos",
                       "sustancia",    "otros"});
}

bool is_yes(std::string_view fold) { return one_of(fold, {"yes", "ja", "oui", "si"}); }

class AllergyMarker {
 public:
  AllergyMarker(const Chart& chart, Marks& marks)
      : chart_(chart), marks_(marks), items_(chart.items) {}

  void run() {
    const bool in_section = chart_.section() == "allergies";
    bool cued = false;
    bool listed = false;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (mark_reaction_to(i)) {
        listed = true;
        continue;
      }
      if (mark_compound(i)) {
        listed = true;
        continue;
      }
      if (!names_allergy(i) || in_brackets(i) || is_tolerated(i)) continue;
      cued = true;
      if (mark_answered(i)) {
        listed = true;
        continue;
      }
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
      if (!denies(i)) {
        mark_before(i);
      } else if (is_allergy_word(fold_at(i))) {
        mark_none(i);
      }
    }
    if (listed) return;
    // What is prose under such a heading is not a list of names, whoever they are.
    if (in_section) mark_list(0, chart_.passage->item || has_keys() ? kStructured : kGuessed);
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

  // "Allergy", "adverse drug reaction", "reacción adversa": the last word of each.
  bool names_allergy(std::size_t i) const {
    const auto fold = fold_at(i);
    if (is_allergy_word(fold)) return true;
    if (one_of(fold, {"allergen", "allergene", "alergeno"})) return chart_.sign(i + 1, ":");
    if (one_of(fold, {"adversa", "adversas", "indesirable"}))
      return i > 0 && one_of(fold_at(i - 1), {"reaccion", "reacciones", "reaction", "effet"});
    if (!is_reaction_word(fold)) return false;
    const auto before = i > 1 && is_known_word(fold_at(i - 1)) ? i - 2 : i - 1;
    return i > 0 && fold_at(before) == "adverse";
  }

  // "Reaction: hives" on a line of its own.
  bool is_reaction_key(std::size_t i) const {
    return chart_.sign(i + 1, ":") &&
           (is_reaction_word(fold_at(i)) ||
            one_of(fold_at(i), {"manifestation", "manifestations", "manifestationen", "symptoms",
                                "symptome", "manifestacion", "manifestaciones"}));
  }

  bool has_keys() const {
    for (std::size_t i = 1; i + 1 < items_.size(); ++i) {
      if (is_reaction_key(i) || is_detail(i)) return true;
    }
    return false;
  }

  // "Severity: severe", "Date noted: 2019"
  bool is_detail(std::size_t i) const {
    if (!is_detail_key(fold_at(i))) return false;
    return chart_.sign(i + 1, ":") ||
           (items_.size() > i + 2 && items_[i + 1].is(Piece::word) && chart_.sign(i + 2, ":"));
  }

  bool is_question(std::size_t i) const {
    return chart_.sign(i, ":") || chart_.sign(i, "?") || chart_.sign(i, "=") || is_free_dash(i);
  }

  bool is_free_dash(std::size_t i) const { return chart_.sign(i, "-") && !chart_.token(i).glued; }

  // Whether the item is "no" or "yes" and nothing else is said of what stands before it.
  Answer answer_at(std::size_t i) const {
    if (i >= items_.size()) return Answer::none;
    const auto tokens = std::span<const Token>(chart_.page->tokens);
    return bare_answer(tokens.first(chart_.passage->tokens.end), items_[i].tokens.first);
  }

  // "Latex allergy: no", "penicillin allergy: anaphylaxis", "food allergies: none": what stands
  // before the word is what is asked about, and behind it stands the answer.
  bool mark_answered(std::size_t i) {
    if (i == 0 || !is_question(i + 1) || i + 2 >= items_.size()) return false;
    const auto answer = answer_at(i + 2);
    const auto& before = items_[i - 1];
    if (is_substance(before)) {
      if (!marks_.is_free(before.tokens)) return false;
      marks_.add(Category::allergen, before.tokens, kListed);
      const auto first = answer == Answer::none && !is_yes(fold_at(i + 2)) ? i + 2 : i + 3;
      if (answer != Answer::no) mark_reaction(first, end_of_answer(first));
      return true;
    }
    if (answer == Answer::none) return false;
    if (is_known_word(fold_at(i - 1))) {
      if (answer == Answer::no) mark_none(i);
      return true;
    }
    const bool named = before.is(Piece::word) && !before.is(Is::common) &&
                       !says_none(fold_at(i - 1)) && fold_at(i - 1).size() > 2;
    return named && marks_.add(Category::allergen, before.tokens, kContextual);
  }

  // Where the answer ends and another question begins: "Penicillin allergy: rash Latex allergy:
  // no".
  std::size_t end_of_answer(std::size_t first) const {
    for (auto i = first; i < items_.size(); ++i) {
      if (ends_list(i) || chart_.sign(i, ";") || is_substance(items_[i])) return i;
    }
    return items_.size();
  }

  // "Penicillinallergie", "Latex-Allergie": a word of the substance and of what it is.
  bool mark_compound(std::size_t i) {
    const auto fold = fold_at(i);
    for (const std::string_view ending :
         {"allergie", "allergien", "intoleranz", "unvertraglichkeit"}) {
      if (!items_[i].is(Piece::word) || fold.size() <= ending.size() || !fold.ends_with(ending))
        continue;
      auto head = fold.substr(0, fold.size() - ending.size());
      if (head.ends_with('-')) head.remove_suffix(1);
      const auto& terms = Terms::get();
      if (!terms.has(head, Is::allergen) && !terms.has(head, Is::drug)) return false;
      if (!marks_.add(Category::allergen, items_[i].tokens, kListed)) return false;
      const auto behind = is_known_word(fold_at(i + 1)) ? i + 2 : i + 1;
      if (chart_.sign(behind, "(")) mark_reaction(behind, bracket_end(behind));
      return true;
    }
    return false;
  }

  // "Bad reaction", "had a reaction", "history of reaction"; "good clinical reaction" is none.
  bool is_adverse(std::size_t i) const {
    if (chart_.section() == "allergies") return true;
    for (auto at = i; at > 0 && i - at < 2; --at) {
      if (says_adverse(fold_at(at - 1))) return true;
    }
    const auto before = i > 0 && one_of(fold_at(i - 1), {"a", "an"}) ? i - 1 : i;
    if (before == 0) return false;
    const auto word = fold_at(before - 1);
    return one_of(word, {"had", "developed", "prior", "previous"}) ||
           (word == "of" && before > 1 && fold_at(before - 2) == "history");
  }

  // "No adverse reaction to lisinopril": it is taken, and nobody asked about allergies.
  bool is_tolerated(std::size_t i) const {
    const bool seen = is_reaction_word(fold_at(i + 1)) && fold_at(i + 2) != "to" && i > 0 &&
                      one_of(fold_at(i - 1), {"no", "without"});  // "No allergic reaction."
    return chart_.section() != "allergies" && (is_reaction_word(fold_at(i)) || seen) && denies(i) &&
           exception_after(i) == i;
  }

  // "Anaphylaxis to peanuts", "had a bad reaction to codeine": of listed substances only.
  bool mark_reaction_to(std::size_t i) {
    const bool reaction = items_[i].is(Piece::term) && items_[i].is(Is::reaction);
    if (!reaction && !(is_reaction_word(fold_at(i)) && is_adverse(i))) return false;
    if (chart_.section() != "allergies" && denies(i)) return false;
    if (!one_of(fold_at(i + 1), {"to", "auf", "gegen", "a", "al", "au", "aux"})) return false;
    auto next = i + 2;
    while (next < items_.size() && next < i + 5 && !is_substance(items_[next]) &&
           (leads_to_substance(fold_at(next)) || chart_.sign(next, "'")))
      ++next;
    if (next >= items_.size() || !is_substance(items_[next])) return false;
    if (!marks_.is_free(items_[next].tokens)) return false;
    if (reaction) marks_.add(Category::reaction, items_[i].tokens, kListed);
    auto last = next;
    for (; next < items_.size() && is_substance(items_[next]); next += 2) {
      marks_.add(Category::allergen, items_[next].tokens, kListed);
      last = next;
      if (next + 1 >= items_.size() || !cuts_list(chart_, next + 1)) break;
    }
    next = last;  // Behind "and" may stand what is no substance, with brackets of its own.
    if (chart_.sign(next + 1, "(")) mark_reaction(next + 1, bracket_end(next + 1));
    return true;
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
    while (first > 0 && i - first < 5) {
      // "No known food or drug allergies" says it of both.
      const bool both = is_joint(fold_at(first - 1)) && first > 1 && first < i &&
                        is_known_word(fold_at(first - 2));
      if (!both && !is_known_word(fold_at(first - 1))) break;
      first -= both ? 2 : 1;
    }
    while (last + 1 < items_.size() && last - i < 3 && is_known_word(fold_at(last + 1))) ++last;
    // "Allergic to any medications": a word for being so says nothing by itself.
    auto kind = last;
    for (auto at = last + 1; at < items_.size() && at - last < 6; ++at) {
      const auto fold = fold_at(at);
      const bool of_kind = is_kind_word(fold) || is_known_word(fold);
      if (!of_kind && !leads_to_substance(fold)) break;
      if (of_kind && !is_joint(fold)) kind = at;
    }
    marks_.add(Category::allergen,
               {.first = items_[first].tokens.first, .end = items_[kind].tokens.end}, kListed);
  }

  static bool is_joint(std::string_view fold) {
    return one_of(fold, {"or", "and", "oder", "und", "ou", "et", "o", "d", "'", "any"});
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
    while (next < items_.size() && next - i <= 3 &&
           (is_known_word(fold_at(next)) ||
            one_of(fold_at(next), {"reviewed", "verified", "updated", "confirmed"})))
      ++next;
    // "Allergies (drug): penicillin"
    const auto behind = chart_.sign(next, "(") ? bracket_end(next) + 1 : next;
    if (behind - next < 5 && chart_.sign(behind, ":")) next = behind;
    const bool headed = chart_.sign(next, ":") || (is_free_dash(next) && opens(i));
    if (headed) return next + 1 < items_.size() ? next + 1 : i;
    const bool told = one_of(
        fold_at(next), {"include", "includes", "including", "umfassen", "comprennent", "incluyen"});
    const bool listed = one_of(fold_at(next), {"are", "were", "sind", "sont", "son"});
    if (next + 1 < items_.size() && (told || (listed && is_substance(items_[next + 1]))))
      return next + 1;
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
    // "Allergies to medications: penicillin"
    if (is_kind_word(fold_at(next)) && chart_.sign(next + 1, ":") && next + 2 < items_.size())
      return next + 2;
    // "No allergies to medications": to none of them.
    const bool none = is_kind_word(fold_at(next)) || is_known_word(fold_at(next));
    return none && denies(i) ? i : next;
  }

  // Whether the passage begins with this word, or with what kind of allergies it is about.
  bool opens(std::size_t i) const {
    for (std::size_t at = 0; at < i; ++at) {
      if (!is_known_word(fold_at(at))) return false;
    }
    return true;
  }

  // "penicillin allergy (rash)"; "Penicillinallergie" is not cut.
  void mark_before(std::size_t i) {
    if (i == 0) return;
    const auto& item = items_[i - 1];
    if (!is_substance(item) || !marks_.is_free(item.tokens)) return;
    marks_.add(Category::allergen, item.tokens, kListed);
    if (!chart_.sign(i + 1, "(")) return;
    mark_reaction(i + 1, bracket_end(i + 1));
  }

  std::size_t bracket_end(std::size_t open) const {
    auto end = open;
    while (end < items_.size() && !chart_.sign(end, ")")) ++end;
    return end;
  }

  bool ends_list(std::size_t i) const {
    if (chart_.sign(i, ".")) return true;
    const auto& fold = chart_.token(i).fold;
    return items_[i].is(Piece::word) &&
           one_of(fold,
                  {"but",        "aber",       "mais",     "pero",      "which",     "who",
                   "otherwise",  "however",    "is",       "are",       "ist",       "est",
                   "es",         "was",        "known",    "bekannt",   "connue",    "conocida",
                   "noted",      "documented", "reported", "carries",   "has",       "takes",
                   "uses",       "had",        "wears",    "avoids",    "tolerates", "tolerated",
                   "tolerating", "tolerate",   "vertragt", "vertragen", "toleriert", "tolere",
                   "tolera",     "tolero",     "can",      "able",      "kann",      "peut",
                   "puede"});
  }

  void mark_list(std::size_t first, double conf) {
    auto i = first;
    for (std::size_t n = 0; i < items_.size() && n < 64; ++n) {
      i += numbering(chart_, i);
      const auto begin = i;
      auto end = i;
      std::size_t depth = 0;
      while (end < items_.size() && (depth > 0 || numbering(chart_, end) == 0)) {
        if (chart_.sign(end, "(") || chart_.sign(end, "[")) ++depth;
        if ((chart_.sign(end, ")") || chart_.sign(end, "]")) && depth > 0) --depth;
        if (depth == 0 && (cuts_list(chart_, end) || (ends_list(end) && !known_none(begin, end))))
          break;
        ++end;
      }
      const auto name = past_substance_key(begin, end);
      // "Food: none" says it of food only, for which there is no name to give.
      const bool none = name > begin && end == name + 1 && says_none(fold_at(name));
      const bool done = none || is_unsaid(name, end) || mark_denied(name, end, conf) ||
                        mark_element(name, end, conf);
      if (!done || end >= items_.size()) break;
      if (ends_list(end)) {
        // "Morphine, which causes itching"
        const bool relative = one_of(fold_at(end), {"which", "qui", "que"});
        if (relative && leads_to_reaction(fold_at(end + 1)))
          mark_reaction(end + 1, end_of_answer(end + 1));
        break;
      }
      i = numbering(chart_, end) > 0 ? end : end + 1;
    }
  }

  // Behind "Food:", "Drug allergen:".
  std::size_t past_substance_key(std::size_t begin, std::size_t end) const {
    auto i = begin;
    while (i < end && i < begin + 3 && is_substance_key(fold_at(i))) ++i;
    return i > begin && i + 1 < end && chart_.sign(i, ":") ? i + 1 : begin;
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
      allergy |= is_allergy_word(fold) && !says_none(fold);  // "NKDA" is both.
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

  // Whether the name of a substance ends before this item.
  bool ends_name(std::size_t i, std::size_t first) const {
    const auto& item = items_[i];
    const bool cut = chart_.sign(i, "(") || chart_.sign(i, ":") || chart_.sign(i, "[") ||
                     (chart_.sign(i, "-") && !chart_.token(i).glued) || chart_.sign(i, "→") ||
                     chart_.sign(i, "=");
    const bool word =
        (item.is(Piece::word) || item.is(Piece::form)) && leads_to_reaction(chart_.token(i).fold);
    const bool key = i > first && (is_detail(i) || is_reaction_key(i));
    if (cut || word || key || item.is(Piece::date) || past_exception(i) > i) return true;
    return i > first && item.is(Piece::word) &&
           one_of(chart_.token(i).fold,
                  {"in", "since", "seit", "depuis", "desde", "diagnosed", "im", "as", "when",
                   "during", "after", "als", "nach", "quand", "lors", "cuando", "durante"});
  }

  // Where behind a name it is said what the substance does.
  std::size_t reaction_behind(std::size_t i, std::size_t end) const {
    // "Sulfa (sulfonamide antibiotics) - rash": another name for it.
    if (chart_.sign(i, "(") && i + 1 < end && is_substance(items_[i + 1]) &&
        !items_[i + 1].is(Is::reaction))
      i = std::min(bracket_end(i) + 1, end);
    // "Penicillin as a child (rash)": when it was is not what it does.
    if (i < end && items_[i].is(Piece::word) && !leads_to_reaction(fold_at(i)) &&
        past_exception(i) == i) {
      while (i < end && !chart_.sign(i, "(") && !leads_to_reaction(fold_at(i)) &&
             !items_[i].is(Is::reaction))
        ++i;
    }
    for (auto at = i; at < end; ++at) {
      if (is_reaction_key(at)) i = at;
    }
    return i;
  }

  // "penicillin (rash)", "latex: hives", "nuts - swelling", "iodine causes a rash"
  bool mark_element(std::size_t begin, std::size_t end, double conf) {
    auto i = begin;
    const auto is_idle = [&](std::size_t at) {
      return items_[at].is(Piece::sign) ||
             (items_[at].is(Is::common) && !items_[at].is(Piece::term));
    };
    while (i < end && items_[i].is(Piece::sign)) ++i;
    if (i < end && is_detail(i)) return true;
    if (i < end && is_reaction_key(i)) {
      mark_reaction(i + 2, end);
      return true;
    }
    while (i < end && is_idle(i)) ++i;
    if (i >= end) return true;
    const auto first = i;
    while (i < end && !ends_name(i, first)) ++i;
    // "Blood pressure 126/60": the list has ended, though its next heading was not seen.
    for (auto at = first; at < i; ++at) {
      if (items_[at].is(Piece::pressure) ||
          (items_[at].is(Piece::term) && items_[at].is(Is::vital)))
        return false;
    }
    // A reaction alone goes with the substance before it: "penicillin: rash, hives".
    const auto& head = items_[first];
    if (head.is(Is::reaction) && !head.is(Is::allergen) && head.is(Piece::term)) {
      marks_.add(Category::reaction, head.tokens, kListed);
      return true;
    }
    const auto name = trimmed(*chart_.page, {.first = head.tokens.first,
                                             .end = items_[std::max(i, first + 1) - 1].tokens.end});
    if (name.empty() || name.size() > 8 || !has_letter(name)) return false;
    marks_.add(Category::allergen, name, is_substance(head) ? kListed : conf);
    mark_reaction(reaction_behind(i, end), end);
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
           !items_[i].is(Piece::date) && !is_detail(i)) {
      // "Angioedema 2 hours after dose": when it came.
      const bool when = items_[i].is(Piece::quantity) || items_[i].is(Piece::range) ||
                        items_[i].is(Piece::duration) || items_[i].is(Piece::frequency);
      if (i > first && when &&
          !one_of(chart_.token(i - 1).fold, {"grade", "grad", "grado", "stage"}))
        break;
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
};

}  // namespace

void mark_allergies(const Chart& chart, Marks& marks) { AllergyMarker(chart, marks).run(); }

}  // namespace millrace::extract
