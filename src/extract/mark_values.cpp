// Numbers with a name before them: vital signs, laboratory values, doses.
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
  return one_of(fold, {"is",       "was",           "were",      "of",      "at",
                       "von",      "bei",           "betrug",    "betragt", "a",
                       "de",       "est",           "etait",     "era",     "fue",
                       "war",      "ist",           "lag",       "liegt",   "level",
                       "levels",   "now",           "currently", "the",     "to",
                       "en",       "measured",      "value",     "wert",    "auf",
                       "mit",      "with",          "del",       "es",      "result",
                       "remained", "only",          "nur",       "un",      "una",
                       "une",      "einem",         "eine",      "ein",     "showed",
                       "au",       "approximately", "about",     "around",  "den"});
}

bool is_from(std::string_view fold) { return one_of(fold, {"from", "von", "de", "desde"}); }

bool is_towards(std::string_view fold) { return one_of(fold, {"to", "auf", "a", "au", "hasta"}); }

// Results that are words, as they stand in prose.
bool is_result(std::string_view fold) {
  return one_of(fold,
                {"positive", "negative", "nonreactive", "non-reactive", "reactive", "positiv",
                 "negativ", "positif", "negatif", "positivo", "positiva", "negativo", "negativa"});
}

// What the name before a value is, as items [first, end).
struct Name {
  std::size_t first = 0;
  std::size_t end = 0;
  Kinds kinds = 0;       // Of the listed term that it ends with.
  std::size_t term = 0;  // Where that term begins.
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
                         (item.is(Piece::range) && is_dose_unit(item.range.unit.kind));
      if (!value || !marks_.is_free(item.tokens)) continue;
      mark(i);
    }
    for (std::size_t i = 0; i < items_.size(); ++i) mark_word(i);
  }

 private:
  // -- names --

  // Skips what may stand between a name and its value.
  std::size_t skip_back(std::size_t at) const {
    auto i = at;
    for (std::size_t n = 0; n < kSkipMax && i > 0; ++n) {
      const auto& item = items_[i - 1];
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
                        (chart_.sign(i - 1, ".") && section_ == "lab_results");
      const bool word = item.is(Piece::word) && !is_letter(i - 1) &&
                        (is_connector(chart_.token(i - 1).fold) || is_course(i - 1));
      const bool form = item.is(Piece::form) && !is_release(chart_.token(i - 1).fold);
      const bool flag = item.is(Piece::flag);
      if (!sign && !word && !form && !flag && !item.is(Piece::route)) break;
      --i;
    }
    return i;
  }

  // "peaked", "stable", "has dropped": what became of a value, and no part of its name.
  bool is_course(std::size_t i) const {
    const auto kinds = Terms::get().kinds_of(chart_.token(i).key);
    return (kinds & (bit(Is::change) | bit(Is::state))) != 0;
  }

  bool is_number(std::size_t i) const {
    return i < items_.size() && (items_[i].is(Piece::quantity) || items_[i].is(Piece::pressure));
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
    if (!marks_.is_free(item.tokens)) return false;
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

  Name name_before(std::size_t value) const {
    const auto end = skip_back(value);
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
    if (whole && (name.kinds & bit(Is::drug)) == 0) return;
    if (listed) {
      // "insulin glargine" may be two listed words.
      auto first = name.term;
      while (first > name.first && items_[first - 1].is(Piece::term) &&
             items_[first - 1].is(Is::drug))
        --first;
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
    if (tested && !drug) return is_given(value) && listed_place;
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
    const bool torn = value + 2 < items_.size() && chart_.sign(value + 1, ":") &&
                      chart_.token(value + 1).glued && items_[value + 2].is(Piece::quantity) &&
                      chart_.token(value + 2).glued;
    if (torn) return;
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

  // "Leukocyte esterase positive", "HBsAg: negative"
  void mark_word(std::size_t i) {
    const auto& item = items_[i];
    if (!item.is(Piece::term) || !item.is(Is::analyte) || item.is(Is::condition)) return;
    auto value = i + 1;
    if (value < items_.size() &&
        (chart_.sign(value, ":") || chart_.sign(value, "=") ||
         one_of(chart_.token(value).fold,
                {"is", "was", "were", "are", "ist", "war", "est", "es", "fue", "remained"})))
      ++value;
    if (value >= items_.size() || !items_[value].is(Piece::word) ||
        !is_result(chart_.token(value).fold) || !marks_.is_free(items_[value].tokens))
      return;
    if (!marks_.add(Category::lab_name, item.tokens, kListed)) return;
    marks_.add(Category::lab_value, items_[value].tokens, kListed);
  }

  // A bare number is a vital sign only where it is said to be one: "Pulse: 72".
  bool is_measured(std::size_t value) const {
    const auto& item = items_[value];
    if (item.is(Piece::pressure) || item.quantity.unit.tokens > 0 || section_ == "vital_signs")
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
    if (!marks_.add(Category::medication_name, tokens_of(name), listed ? kListed : kStructured))
      return;
    marks_.add(Category::dose, items_[value].tokens, kListed);
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
      if (!items_[i].is(Piece::flag) && !items_[i].is(Piece::sign) && !spoiled) return;
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
