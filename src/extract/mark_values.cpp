// Numbers with a name before them: vital signs, laboratory values, doses.
#include "extract/frequency.h"
#include "extract/marks.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace millrace::extract {
namespace {

using layout::clinical::Category;

constexpr std::size_t kNameItemsMax = 6;
constexpr std::size_t kSkipMax = 8;
constexpr std::size_t kAfterMax = 8;

bool is_connector(std::string_view fold) {
  return one_of(fold, {"is",          "was",           "were",       "of",           "at",
                       "von",         "bei",           "betrug",     "betragt",      "a",
                       "de",          "est",           "etait",      "era",          "fue",
                       "war",         "ist",           "lag",        "liegt",        "level",
                       "levels",      "now",           "currently",  "the",          "to",
                       "en",          "measured",      "value",      "wert",         "auf",
                       "mit",         "with",          "del",        "es",           "result",
                       "remained",    "only",          "nur",        "un",           "una",
                       "une",         "einem",         "eine",       "ein",          "showed",
                       "au",          "approximately", "about",      "around",       "den",
                       "be",          "been",          "found",      "noted",        "returned",
                       "resulted",    "came",          "back",       "estaba",       "encontro",
                       "jetzt",       "aktuell",       "maintenant", "actuellement", "ahora",
                       "actualmente", "revenue",       "revenu",     "titer",        "titre",
                       "titers",      "titel",         "titulo",     "mix",          "sont",
                       "sind",        "waren",         "son",        "eran",         "fueron",
                       "etaient"});
}

// When something was measured, or of whom: "on admission", "this morning", "à l'entrée", "bei
// Aufnahme", "der Patientin".
bool is_occasion(std::string_view fold) {
  return one_of(
      fold, {"admission",   "arrival",   "presentation", "discharge", "today",       "yesterday",
             "morning",     "initially", "initial",      "aufnahme",  "aufnahmetag", "entlassung",
             "heute",       "gestern",   "initialen",    "entree",    "sortie",      "arrivee",
             "aujourd'hui", "aujourd",   "hui",          "hier",      "jour",        "ingreso",
             "alta",        "llegada",   "hoy",          "ayer",      "admision",    "egreso",
             "patient",     "patientin", "patienten",    "patiente",  "paciente"});
}

// Before an occasion or a date only: "hemoglobin on 2 occasions" has no result.
bool leads_occasion(std::string_view fold) {
  return one_of(fold, {"on",  "at",    "upon",  "this", "from", "of", "the", "bei", "am",
                       "vom", "zum",   "le",    "l",    "du",   "ce", "al",  "el",  "en",
                       "'",   "dated", "drawn", "der",  "des",  "de", "la",  "del"});
}

// Which part or state of a substance was measured: "Bilirubin, Total", "Glucose, fasting".
bool is_fraction(std::string_view fold) {
  return one_of(fold, {"total",
                       "direct",
                       "indirect",
                       "ionized",
                       "ionised",
                       "fasting",
                       "random",
                       "serum",
                       "plasma",
                       "urine",
                       "free",
                       "intact",
                       "calculated",
                       "conjugated",
                       "unconjugated",
                       "corrected",
                       "absolute",
                       "whole",
                       "blood",
                       "venous",
                       "arterial",
                       "capillary",
                       "nonfasting",
                       "non-fasting",
                       "estimated",
                       "quantitative",
                       "gesamt",
                       "direkt",
                       "indirekt",
                       "frei",
                       "freies",
                       "ionisiert",
                       "nuchtern",
                       "urin",
                       "totale",
                       "totales",
                       "directe",
                       "indirecte",
                       "libre",
                       "ionise",
                       "serique",
                       "plasmatique",
                       "urinaire",
                       "directa",
                       "indirecta",
                       "ionico",
                       "ionizado",
                       "serico",
                       "serica",
                       "calc",
                       "corrige",
                       "corregido",
                       "korrigiert",
                       "berechnet",
                       "s",
                       "p",
                       "u",
                       "sangre",
                       "orina",
                       "sang"});
}

// What a value was before: "(baseline 1.1)".
bool is_former(std::string_view fold) {
  return one_of(fold, {"baseline", "prior", "previous", "previously", "last", "formerly", "vorher",
                       "zuvor", "vorbefund", "vorwert", "basal", "anterieur", "anterieure",
                       "precedent", "previo", "previa", "anterior"});
}

// Strengths of solutions and daily rates, which medicines have; levels of them are in ng/mL.
bool is_strength(std::string_view code) {
  return one_of(code, {"mg/mL", "g/mL", "[iU]/mL", "U/mL", "meq/mL", "mmol/mL", "mg/(24.h)",
                       "g/(24.h)", "ug/(24.h)"});
}

bool is_from(std::string_view fold) { return one_of(fold, {"from", "von", "de", "desde"}); }

bool is_towards(std::string_view fold) { return one_of(fold, {"to", "auf", "a", "au", "hasta"}); }

// Results that are words, as they stand in prose.
bool is_result(std::string_view fold) {
  return one_of(
      fold,
      {"positive", "negative", "nonreactive", "non-reactive", "reactive", "positiv",  "negativ",
       "positif",  "negatif",  "positivo",    "positiva",     "negativo", "negativa", "trace",
       "traces",   "spur",     "spuren",      "trazas",       "indicios", "neg",      "pos"});
}

bool is_negative(std::string_view fold) {
  return fold.starts_with("neg") || fold == "nonreactive" || fold == "non-reactive";
}

// What the name before a value is, as items [first, end).
struct Name {
  std::size_t first = 0;
  std::size_t end = 0;
  Kinds kinds = 0;       // Of the listed term that it ends with.
  std::size_t term = 0;  // Where that term begins.
  bool whole = false;    // Its last words belong to it, however common: "Bilirubin, Total".
  bool empty() const { return first >= end; }
};

class ValueMarker {
 public:
  ValueMarker(const Chart& chart, Marks& marks)
      : chart_(chart), marks_(marks), items_(chart.items), section_(chart.section()) {}

  void run() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const auto& item = items_[i];
      const bool value = item.is(Piece::quantity) || item.is(Piece::pressure) ||
                         (item.is(Piece::range) &&
                          (is_dose_unit(item.range.unit.kind) || is_counted(item.range.unit.code)));
      if (!value || !marks_.is_free(item.tokens)) continue;
      mark(i);
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
      mark_word(i);
      mark_pluses(i);
    }
  }

 private:
  // -- names --

  // Skips what may stand between a name and its value.
  std::size_t skip_back(std::size_t at) const {
    auto i = at;
    for (std::size_t n = 0; n < kSkipMax && i > 0; ++n) {
      const auto& item = items_[i - 1];
      // "4.2 -> 2.1", "Novolin 70/30"
      if ((is_arrow(i - 1) && i > 1 && is_number(i - 2)) || is_ratio(i - 1)) {
        i -= is_arrow(i - 1) ? 2 : 1;
        continue;
      }
      // "rose from 1.1 to 2.3": the value that was.
      if (is_change_at(i)) {
        i -= 3;
        continue;
      }
      if (chart_.sign(i - 1, ")")) {
        const auto open = opening(i - 1);
        if (open == i - 1) break;
        i = open;
        continue;
      }
      const bool sign = chart_.sign(i - 1, ":") || chart_.sign(i - 1, "=") ||
                        chart_.sign(i - 1, "(") || chart_.sign(i - 1, "-") ||
                        chart_.sign(i - 1, "|") || chart_.sign(i - 1, "~") ||
                        (chart_.sign(i - 1, ".") && section_ == "lab_results") || is_charge(i - 1);
      const bool word = item.is(Piece::word) && !is_letter(i - 1) &&
                        (is_connector(chart_.token(i - 1).fold) || is_course(i - 1));
      const bool form = item.is(Piece::form) && !is_release(chart_.token(i - 1).fold);
      const bool flag = item.is(Piece::flag);
      if (!sign && !word && !form && !flag && !item.is(Piece::route) && !is_when(i - 1, at)) {
        // "3 x 500 mg"
        if (!is_multiplier(i - 1) || i < 2) break;
        --i;
      }
      --i;
    }
    return i;
  }

  // "Na+", "Ca²⁺": right behind a name.
  bool is_charge(std::size_t i) const {
    return chart_.token(i).glued && items_[i].is(Piece::sign) &&
           (chart_.sign(i, "+") || chart_.sign(i, "⁺") || chart_.sign(i, "⁻"));
  }

  // "on admission", "on 3/14/2024": when it was measured, before a value.
  bool is_when(std::size_t i, std::size_t value) const {
    if (items_[i].is(Piece::date) || is_moment(i)) return true;
    const auto& fold = chart_.token(i).fold;
    if (is_occasion(fold)) return true;
    if (!leads_occasion(fold) || i + 1 >= value) return false;
    const auto& behind = chart_.token(i + 1).fold;
    return items_[i + 1].is(Piece::date) || is_moment(i + 1) || is_occasion(behind) ||
           behind == "'" || behind == "l";
  }

  // "1:30 pm", "1/15"
  bool is_moment(std::size_t i) const {
    return items_[i].is(Piece::word) && items_[i].tokens.size() >= 3 && chart_.token(i).is_number();
  }

  // "3 x" before a dose.
  bool is_multiplier(std::size_t i) const {
    return i > 0 && chart_.token(i).is("x") && items_[i - 1].is(Piece::quantity) &&
           items_[i - 1].quantity.tokens == 1;
  }

  // "peaked", "stable", "has dropped": what became of a value, and no part of its name.
  bool is_course(std::size_t i) const {
    const auto kinds = Terms::get().kinds_of(chart_.token(i).key);
    return (kinds & (bit(Is::change) | bit(Is::state))) != 0;
  }

  bool is_number(std::size_t i) const {
    return i < items_.size() && (items_[i].is(Piece::quantity) || items_[i].is(Piece::pressure));
  }

  bool is_arrow(std::size_t i) const {
    return items_[i].is(Piece::sign) &&
           (chart_.token(i).is("→") || items_[i].tokens.size() == 2 || chart_.token(i).is("➔"));
  }

  // The shares of a mixture right behind its name: "Novolin 70/30", "Pherix 30/500 2 tabs".
  bool is_ratio(std::size_t i) const {
    if (i == 0 || !items_[i].is(Piece::pressure) || items_[i].quantity.unit.tokens > 0)
      return false;
    if (items_[i - 1].is(Piece::term)) return items_[i - 1].is(Is::drug);
    return items_[i - 1].is(Piece::word) && chart_.token(i - 1).capital && i + 1 < items_.size() &&
           items_[i + 1].is(Piece::quantity) &&
           items_[i + 1].quantity.unit.kind == UnitClass::count &&
           items_[i + 1].quantity.unit.tokens > 0;
  }

  // "from 1.1 to" right before this item.
  bool is_change_at(std::size_t i) const {
    return i >= 3 && is_towards(chart_.token(i - 1).fold) && is_number(i - 2) &&
           is_from(chart_.token(i - 3).fold);
  }

  // "XR", "retard": a part of the name, not a thing to take.
  static bool is_release(std::string_view fold) {
    return one_of(fold, {"er", "xr", "sr", "xl", "cr", "dr", "ec", "la", "mr", "odt", "retard",
                         "lp", "hfa", "dpi", "extended release"});
  }

  // "Chromogranin A": a capital letter behind a word is a part of its name.
  bool is_letter(std::size_t i) const {
    const auto& token = chart_.token(i);
    return i > 0 && token.fold.size() == 1 && token.capital && items_[i - 1].is(Piece::word);
  }

  std::size_t opening(std::size_t close) const {
    for (auto i = close; i > 0 && close - i < kSkipMax; --i) {
      if (chart_.sign(i - 1, "(")) return i - 1;
    }
    return close;
  }

  bool is_name_item(std::size_t i) const {
    const auto& item = items_[i];
    // "Mother's HbA1c": whose it is, is no part of its name.
    if (!marks_.is_free(item.tokens) || item.is(Is::family_before)) return false;
    if (item.is(Piece::term)) return true;
    if (item.is(Piece::form)) return is_release(chart_.token(i).fold);
    if (item.is(Piece::word) && is_letter(i)) return true;
    // "(max 2000 mg)": a limit, and no medicine of that name.
    if (one_of(chart_.token(i).fold,
               {"max", "maximum", "maximal", "maximale", "maximo", "maxima", "hochstens"}))
      return false;
    return item.is(Piece::word) && !item.is(Is::common) && !item.is(Is::title) &&
           !item.is(Is::courtesy);
  }

  bool is_joint(std::size_t i) const {
    if (i == 0 || i + 1 >= items_.size()) return false;
    const bool sign = chart_.sign(i, "-") || chart_.sign(i, "/") || chart_.sign(i, "+") ||
                      chart_.sign(i, "'") || chart_.sign(i, ".");
    return sign && chart_.token(i).glued && chart_.token(i + 1).glued;
  }

  // A small whole number at the end of a name: "Pentraxin 3".
  bool is_ordinal(std::size_t i) const {
    if (i == 0 || !items_[i].is(Piece::quantity) || !is_name_item(i - 1)) return false;
    const auto& quantity = items_[i].quantity;
    return quantity.unit.tokens == 0 && quantity.tokens == 1 && chart_.token(i).fold.size() <= 2 &&
           items_[i - 1].is(Piece::word);
  }

  // "Bilirubin, Total", "Protein, total, serum" before a value; empty when it is anything else.
  Name name_with_fraction(std::size_t end) const {
    auto first = end;
    while (first > 0 && (chart_.sign(first - 1, ",") || chart_.sign(first - 1, "-") ||
                         is_fraction_at(first - 1)))
      --first;
    if (first == 0 || first == end || !chart_.sign(first, ",")) return {};
    const auto& term = items_[first - 1];
    if (!term.is(Piece::term) || !term.is(Is::analyte) || !marks_.is_free(term.tokens)) return {};
    return {.first = first - 1,
            .end = end,
            .kinds = bit(Is::analyte),
            .term = first - 1,
            .whole = true};
  }

  // Also "25-OH" of "Vitamin D, 25-OH".
  bool is_fraction_at(std::size_t i) const {
    const auto& fold = chart_.token(i).fold;
    if (is_fraction(fold)) return true;
    const bool hydroxy = one_of(fold, {"oh", "hydroxy"}) && i > 1 && chart_.sign(i - 1, "-");
    return hydroxy || (fold == "25" && i + 2 < items_.size() &&
                       one_of(chart_.token(i + 2).fold, {"oh", "hydroxy"}));
  }

  Name name_before(std::size_t value) const {
    const auto end = skip_back(value);
    if (const auto name = name_with_fraction(end); !name.empty()) return name;
    Name name{.first = end, .end = end};
    if (end > 0 && end == value && is_ordinal(end - 1) && !items_[value].is(Piece::pressure))
      --name.first;
    while (name.first > 0 && name.end - name.first < kNameItemsMax) {
      const auto i = name.first - 1;
      if (is_name_item(i) || is_joint(i)) {
        name.first = i;
        continue;
      }
      // A number glued to the rest: "25-OH", "5'-nucleotidase".
      const bool glued = name.first < end && items_[i].is(Piece::quantity) &&
                         chart_.token(name.first).glued && items_[i].quantity.unit.tokens == 0;
      if (!glued) break;
      name.first = i;
    }
    while (name.first < name.end && is_joint_start(name.first)) ++name.first;
    find_term(name);
    narrow(name);
    return name;
  }

  bool is_joint_start(std::size_t i) const { return items_[i].is(Piece::sign); }

  void find_term(Name& name) const {
    for (auto i = name.end; i > name.first; --i) {
      if (!items_[i - 1].is(Piece::term)) continue;
      name.kinds = items_[i - 1].kinds;
      name.term = i - 1;
      return;
    }
  }

  // In prose a name that no list has begins with its first capital: "revealed elevated Copeptin".
  void narrow(Name& name) const {
    if (name.empty()) return;
    constexpr auto kValued = bit(Is::drug) | bit(Is::analyte) | bit(Is::vital);
    const bool listed = (name.kinds & kValued) != 0;
    // A line of results begins with all of a name ("Serum creatinine"); medicines are listed whole.
    const bool whole = chart_.passage->item && name.first == 0;
    if (whole && (name.kinds & bit(Is::drug)) == 0) {
      // "Unter Marcumar INR 2,8": the test, and not what it is done for.
      for (auto i = name.first; listed && i < name.term; ++i) {
        if (items_[i].is(Piece::term) && items_[i].is(Is::drug) && !items_[i].is(Is::analyte))
          name.first = i + 1;
      }
      return;
    }
    if (listed) {
      // "insulin glargine" may be two listed words.
      auto first = name.term;
      const auto drug_at = [&](std::size_t i) {
        return items_[i].is(Piece::term) && items_[i].is(Is::drug);
      };
      // "amlodipine/benazepril" is one of two.
      while (first > name.first) {
        const bool joined = first > name.first + 1 && chart_.sign(first - 1, "/") &&
                            is_joint(first - 1) && drug_at(first - 2) && drug_at(first);
        if (!joined && !drug_at(first - 1)) break;
        first -= joined ? 2 : 1;
      }
      name.first = first;
      return;
    }
    for (auto i = name.first; i < name.end; ++i) {
      const auto& token = chart_.token(i);
      if (items_[i].is(Piece::form)) continue;  // "XR"
      if (!token.is_word() || token.capital) {
        if (token.is_word()) name.first = i;
        return;
      }
    }
  }

  TokenRange tokens_of(const Name& name) const {
    if (name.whole)
      return {.first = items_[name.first].tokens.first, .end = items_[name.end - 1].tokens.end};
    // "Mg 2.0": magnesium, though "mg" is a common word.
    if (name.end == name.first + 1 && items_[name.first].is(Piece::term))
      return items_[name.first].tokens;
    return trimmed(*chart_.page, {.first = items_[name.first].tokens.first,
                                  .end = items_[name.end - 1].tokens.end});
  }

  // -- evidence --

  bool is_given(std::size_t value) const {
    for (auto i = value + 1; i < items_.size() && i - value <= kAfterMax; ++i) {
      const auto& item = items_[i];
      if (item.is(Piece::frequency) || item.is(Piece::route) || item.is(Piece::duration))
        return true;
      if (item.is(Piece::quantity) && item.quantity.unit.kind == UnitClass::mass) return false;
      if (chart_.sign(i, ";")) return false;
    }
    return value > 0 && items_[value - 1].is(Piece::route);
  }

  bool is_prescribed(const Name& name) const {
    for (std::size_t n = 0, i = name.first; n < 4 && i > 0; ++n, --i) {
      const auto& fold = chart_.token(i - 1).fold;
      if (one_of(
              fold,
              {"started",   "start",      "commenced", "given",        "received",  "prescribed",
               "takes",     "taking",     "take",      "continue",     "continued", "added",
               "increased", "reduced",    "initiated", "administered", "stopped",   "discontinued",
               "erhalt",    "erhielt",    "nimmt",     "begonnen",     "verordnet", "angesetzt",
               "gabe",      "einnahme",   "abgesetzt", "prend",        "recu",      "prescrit",
               "instaure",  "introduit",  "debute",    "toma",         "recibe",    "recibio",
               "inicio",    "prescribio", "pauto",     "anadio",       "inicia"})) {
        return true;
      }
    }
    return false;
  }

  std::size_t range_after(std::size_t value) const {
    for (auto i = value + 1; i < items_.size() && i - value <= kAfterMax; ++i) {
      const auto& item = items_[i];
      if (item.is(Piece::range)) return i;
      const bool between = item.is(Piece::flag) || item.is(Piece::unit) || chart_.sign(i, "(") ||
                           chart_.sign(i, "[") || chart_.sign(i, ":") || chart_.sign(i, ",") ||
                           chart_.sign(i, ")") || chart_.sign(i, ".") || chart_.sign(i, "*") ||
                           (item.is(Piece::word) &&
                            one_of(chart_.token(i).fold,
                                   {"normal",      "ref",        "reference",  "norm",
                                    "range",       "h",          "l",          "norme",
                                    "normes",      "referencia", "referenz",   "referenzbereich",
                                    "normbereich", "high",       "low",        "n",
                                    "vn",          "vr",         "valeur",     "valeurs",
                                    "values",      "value",      "valores",    "rango",
                                    "de",          "interval",   "intervalle", "intervalo",
                                    "normale",     "goal",       "bereich"}));
      // A unit that OCR spoiled.
      const bool spoiled = item.is(Piece::word) && chart_.token(i).fold.size() <= 4 &&
                           chart_.passage->item && section_ == "lab_results";
      if (!between && !spoiled) break;
    }
    return 0;
  }

  bool is_medicine(std::size_t value, const Name& name) const {
    const auto& item = items_[value];
    const auto unit = item.is(Piece::range) ? item.range.unit.kind : item.quantity.unit.kind;
    if (!is_dose_unit(unit) || name.empty()) return false;
    const bool drug = (name.kinds & bit(Is::drug)) != 0;
    const bool tested = (name.kinds & (bit(Is::analyte) | bit(Is::vital))) != 0;
    if (section_ == "lab_results" || section_ == "vital_signs") {
      return !tested && is_given(value) && range_after(value) == 0;
    }
    if (range_after(value) > 0) return false;
    const bool listed_place = section_ == "medication_list";
    if (tested && !drug) return is_given(value) && (listed_place || is_prescribed(name));
    if (drug && !tested) return true;
    if (is_given(value) || listed_place) return true;
    if (unit == UnitClass::percent || unit == UnitClass::volume) return false;
    return is_prescribed(name) || sounds_like_drug(name);
  }

  bool sounds_like_drug(const Name& name) const {
    for (auto i = name.first; i < name.end; ++i) {
      if (items_[i].is(Piece::word) && Terms::get().sounds_like_drug(chart_.token(i).fold))
        return true;
    }
    return false;
  }

  bool is_lab(std::size_t value, const Name& name) const {
    if (name.empty() || !items_[value].is(Piece::quantity)) return false;
    const auto& quantity = items_[value].quantity;
    const bool analyte = (name.kinds & bit(Is::analyte)) != 0;
    const bool drug = (name.kinds & bit(Is::drug)) != 0;
    if ((drug || sounds_like_drug(name)) && !analyte && is_strength(quantity.unit.code))
      return false;
    if (is_given(value) && quantity.unit.kind != UnitClass::concentration) return false;
    if (analyte) return true;
    if (quantity.unit.kind == UnitClass::concentration) return section_ != "medication_list";
    if (range_after(value) > 0) return true;
    return section_ == "lab_results" && chart_.passage->item && name.first == 0;
  }

  // -- marks --

  void mark(std::size_t value) {
    // "Pentraxin 3 6.8 ng/mL": the first number is a part of the name.
    const bool goes_on = value + 1 < items_.size() && items_[value + 1].is(Piece::quantity);
    if (goes_on && is_ordinal(value)) return;
    // "Pentraxin 3 ee, ng/mL": its value was not legible, and three is not it.
    const bool spoiled =
        value + 1 < items_.size() && items_[value + 1].is(Piece::word) && is_ordinal(value);
    if (spoiled && !is_connector(chart_.token(value + 1).fold)) return;
    // "3:26 mg/L": no number at all is better than half of one.
    if (items_[value].is(Piece::range) && is_counted(items_[value].range.unit.code)) {
      mark_counted(value);
      return;
    }
    if (mark_grade(value)) return;
    const bool torn = value + 2 < items_.size() && chart_.sign(value + 1, ":") &&
                      chart_.token(value + 1).glued && items_[value + 2].is(Piece::quantity) &&
                      chart_.token(value + 2).glued;
    if (torn || is_prefix(value) || is_past(value)) return;
    // "from 1.1 to 2.3 mg/dL": the second one is what it is now.
    if (is_number(value + 2) && is_change_at(value + 2)) return;
    const auto name = name_before(value);
    if (name.empty()) return;
    const bool vital =
        (name.kinds & bit(Is::vital)) != 0 && name.term + 1 == name.end && is_measured(value);
    if (vital) {
      mark_vital(value, name);
    } else if (is_medicine(value, name)) {
      mark_dose(value, name);
    } else if (is_lab(value, name)) {
      mark_lab(value, name);
    }
  }

  // "(baseline 1.1)", "4.2 -> 2.1": what it was before.
  bool is_past(std::size_t value) const {
    if (value + 2 < items_.size() && is_arrow(value + 1) && is_number(value + 2)) return true;
    for (auto i = value; i > 0 && value - i < 4; --i) {
      const auto& fold = chart_.token(i - 1).fold;
      if (is_former(fold)) return i > 1 && (chart_.sign(i - 2, "(") || chart_.sign(i - 2, "["));
      if (!items_[i - 1].is(Piece::word) && !chart_.sign(i - 1, ":")) return false;
    }
    return false;
  }

  // "25-OH": a number that a dash joins to a word is a part of a name.
  bool is_prefix(std::size_t value) const {
    return value + 2 < items_.size() && items_[value].is(Piece::quantity) &&
           items_[value].quantity.unit.tokens == 0 && chart_.sign(value + 1, "-") &&
           chart_.token(value + 1).glued && chart_.token(value + 2).is_word() &&
           chart_.token(value + 2).glued;
  }

  // "ANA 1:160", "Urine protein 2+": results as they are written. True: it is no number.
  bool mark_grade(std::size_t value) {
    const auto first = items_[value].tokens.first;
    const auto tokens =
        std::span<const Token>(chart_.page->tokens).first(chart_.passage->tokens.end);
    const auto used = read_grade(tokens, first);
    if (used == 0) return false;
    // "Check TSH + free T4", "calcium + vitamin D": a sign between two things.
    if (used == 1 && first + 1 < tokens.size() && tokens[first + 1].line == tokens[first].line &&
        tokens[first + 1].kind != TokenKind::punct)
      return false;
    const TokenRange range{.first = first, .end = first + used};
    // "ANA positive 1:320" is one result.
    if (value > 0 && is_result(chart_.token(value - 1).fold)) {
      for (auto i = value - 1; i > 0 && value - i < 4; --i) mark_word(i - 1);
      return true;
    }
    const auto name = name_before(value);
    const bool analyte = !name.empty() && (name.kinds & bit(Is::analyte)) != 0;
    if (!analyte || !marks_.is_free(range)) return used == 2 && !analyte;
    if (marks_.add(Category::lab_name, tokens_of(name), kListed))
      marks_.add(Category::lab_value, range, kListed);
    return true;
  }

  // Cells of a field of view are told by a range: "5-10 /hpf".
  static bool is_counted(std::string_view code) {
    return code.ends_with("[HPF]") || code.ends_with("[LPF]");
  }

  void mark_counted(std::size_t value) {
    const auto name = name_before(value);
    if (name.empty() || (name.kinds & bit(Is::analyte)) == 0) return;
    if (marks_.add(Category::lab_name, tokens_of(name), kListed))
      marks_.add(Category::lab_value, items_[value].tokens, kListed);
  }

  // "Protein ++"
  void mark_pluses(std::size_t i) {
    if (!chart_.sign(i, "+") || chart_.token(i).glued || i == 0) return;
    mark_grade(i);
  }

  // "Leukocyte esterase positive", "HBsAg: negative"
  void mark_word(std::size_t i) {
    const auto& item = items_[i];
    if (!item.is(Piece::term) || !item.is(Is::analyte)) return;
    auto value = i + 1;
    if (value < items_.size() &&
        (chart_.sign(value, ":") || chart_.sign(value, "=") ||
         one_of(chart_.token(value).fold,
                {"is", "was", "were", "are", "ist", "war", "est", "es", "fue", "remained"})))
      ++value;
    if (value >= items_.size() || !items_[value].is(Piece::word) ||
        !is_result(chart_.token(value).fold) || !marks_.is_free(items_[value].tokens))
      return;
    // "HIV positive" is a disease, "HIV negative" a result.
    if (item.is(Is::condition) && !is_negative(chart_.token(value).fold)) return;
    auto range = items_[value].tokens;
    const auto tokens =
        std::span<const Token>(chart_.page->tokens).first(chart_.passage->tokens.end);
    range.end += read_grade(tokens, range.end);
    if (!marks_.add(Category::lab_name, item.tokens, kListed)) return;
    marks_.add(Category::lab_value, range, kListed);
  }

  // A bare number is a vital sign only where it is said to be one: "Pulse: 72".
  bool is_measured(std::size_t value) const {
    const auto& item = items_[value];
    if (item.is(Piece::pressure) || item.quantity.unit.tokens > 0 || section_ == "vital_signs")
      return true;
    // "RR 22": nothing else is written so.
    const auto& name = chart_.page->tokens[items_[value].tokens.first - 1];
    if (value > 0 && items_[value - 1].is(Piece::term) && name.caps && name.fold.size() <= 4)
      return true;
    return value > 0 &&
           (chart_.sign(value - 1, ":") || chart_.sign(value - 1, "=") ||
            (items_[value - 1].is(Piece::word) && is_connector(chart_.token(value - 1).fold)));
  }

  void mark_vital(std::size_t value, const Name& name) {
    const TokenRange all{.first = items_[name.term].tokens.first, .end = items_[value].tokens.end};
    marks_.add(Category::vital_sign, all, kListed);
  }

  void mark_dose(std::size_t value, const Name& name) {
    const bool listed = (name.kinds & bit(Is::drug)) != 0;
    const auto tokens = tokens_of(name);
    if (!has_word(tokens)) return;
    if (!marks_.add(Category::medication_name, tokens, listed ? kListed : kStructured)) return;
    marks_.add(Category::dose, items_[value].tokens, kListed);
    mark_times(value);
  }

  // "1" of "Sig: take 1/2 tablet" names nothing.
  bool has_word(TokenRange range) const {
    for (auto i = range.first; i < range.end; ++i) {
      const auto& token = chart_.page->tokens[i];
      if (token.is_word() && token.fold.size() > 1) return true;
    }
    return false;
  }

  // "Daily", "pro Tag", "par jour"; "once daily" and "jeden Tag" have a count of their own.
  bool counts_by_day(TokenRange frequency) const {
    for (auto i = frequency.first; i < frequency.end; ++i) {
      if (!one_of(chart_.page->tokens[i].fold,
                  {"daily", "per",    "a",       "day",     "d",         "/",    "taglich", "tgl",
                   "pro",   "am",     "tag",     "d",       "par",       "jour", "j",       "al",
                   "dia",   "diario", "diarios", "diarias", "quotidien", "."}))
        return false;
    }
    return true;
  }

  // "3 x 500 mg täglich": three times a day; before another frequency it is how many at once.
  void mark_times(std::size_t value) {
    if (value < 2 || !is_multiplier(value - 1) || value + 1 >= items_.size()) return;
    if (!items_[value + 1].is(Piece::frequency)) return;
    const auto said = chart_.page->text_of(items_[value + 1].tokens);
    if (normal_frequency(said) != "QD" || !counts_by_day(items_[value + 1].tokens)) return;
    marks_.add(Category::frequency,
               {.first = items_[value - 2].tokens.first, .end = items_[value - 1].tokens.end},
               kListed);
  }

  void mark_lab(std::size_t value, const Name& name) {
    const bool listed = (name.kinds & bit(Is::analyte)) != 0;
    if (!marks_.add(Category::lab_name, tokens_of(name), listed ? kListed : kStructured)) return;
    const auto& item = items_[value];
    marks_.add(Category::lab_value, item.tokens, item.quantity.misread ? kGuessed : kListed);
    if (item.quantity.unit.tokens == 0) mark_unit(value);
    if (const auto range = range_after(value); range > 0) {
      marks_.add(Category::reference_range, items_[range].tokens, kListed);
    }
  }

  // A unit that a flag parts from its value.
  void mark_unit(std::size_t value) {
    for (auto i = value + 1; i < items_.size() && i - value <= 3; ++i) {
      if (items_[i].is(Piece::unit)) {
        marks_.add(Category::lab_value, items_[i].tokens, kListed);
        return;
      }
      // A mark that OCR spoiled: "129 iL mmol/L".
      const bool spoiled = items_[i].is(Piece::word) && chart_.token(i).fold.size() <= 2;
      if (!items_[i].is(Piece::flag) && !items_[i].is(Piece::sign) && !items_[i].is(Piece::range) &&
          !spoiled)
        return;
    }
  }

  const Chart& chart_;
  Marks& marks_;
  const std::vector<Item>& items_;
  std::string_view section_;
};

}  // namespace

void mark_values(const Chart& chart, Marks& marks) { ValueMarker(chart, marks).run(); }

}  // namespace millrace::extract
