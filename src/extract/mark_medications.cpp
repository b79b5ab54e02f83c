// Medicines that are named without a dose, and how often, how and how long they are taken.
#include "extract/marks.h"

#include <algorithm>
#include <initializer_list>

namespace millrace::extract {
namespace {

using layout::clinical::Category;

bool is_tested(const Item& item) {
  return item.is(Is::analyte) || item.is(Is::vital) || item.is(Is::condition);
}

bool is_none(std::string_view fold) {
  return one_of(fold, {"none", "nil", "no", "keine", "keiner", "aucun", "aucune", "ninguno",
                       "ninguna", "n", "unknown", "na", "unchanged", "see"});
}

// Words behind which an unknown name can only be a medicine.
bool asks_for_medicine(const Chart& chart, std::size_t item) {
  const auto& fold = chart.token(item).fold;
  if (one_of(fold, {"takes", "taking", "prescribed", "nimmt", "prend", "toma", "verordnet",
                    "commenced", "prescrit", "prescribio"}))
    return true;
  const auto before = [&](std::size_t back) -> std::string_view {
    return item >= back ? std::string_view(chart.token(item - back).fold) : std::string_view();
  };
  if (fold == "on")
    return one_of(before(1), {"started", "maintained", "placed", "restarted", "put"});
  if (fold == "auf") return before(1) == "umstellung" || before(1) == "umgestellt";
  if (fold == "par") return one_of(before(1), {"traitement", "traite", "traitee"});
  if (fold == "con") return one_of(before(1), {"tratamiento", "tratado", "tratada"});
  if (fold == "mit") return one_of(before(1), {"therapie", "behandlung", "behandelt"});
  if (one_of(fold, {"valorarse", "considerarse", "retirado", "interrompu", "suspendido",
                    "discontinued", "retire"}))
    return true;
  if (fold == "with")
    return before(1) == "treatment" || (before(1) == "treated" && before(2) != "be");
  return false;
}

// "Norvasc 5 mg (amlodipine) daily": the same medicine by its other name.
bool is_other_name(const Chart& chart, std::size_t item, const Marks& marks) {
  if (item < 2 || !chart.sign(item - 1, "(") || !chart.sign(item + 1, ")")) return false;
  const auto& before = chart.items[item - 2];
  if (before.is(Piece::term)) return before.is(Is::drug);
  const bool dose = before.is(Piece::quantity) && is_dose_unit(before.quantity.unit.kind);
  return (dose || before.is(Piece::word)) &&
         std::ranges::any_of(marks.all(), [&](const Mark& mark) {
           return (mark.category == Category::medication_name || mark.category == Category::dose) &&
                  mark.tokens.end == before.tokens.end;
         });
}

void mark_listed(const Chart& chart, Marks& marks) {
  const auto section = chart.section();
  for (std::size_t i = 0; i < chart.items.size(); ++i) {
    const auto& item = chart.items[i];
    if (!item.is(Piece::term) || !item.is(Is::drug)) continue;
    if (is_tested(item) && section != "medication_list") continue;
    // "Vancomycin level", "penicillin allergy"
    if (i + 1 < chart.items.size() &&
        one_of(chart.token(i + 1).fold,
               {"level", "levels", "spiegel", "allergy", "allergie", "alergia", "trough"}))
      continue;
    if (is_other_name(chart, i, marks)) continue;
    auto tokens = item.tokens;
    // "Metoprolol XR": what says how it is released belongs to the name.
    if (i + 1 < chart.items.size() && chart.items[i + 1].is(Piece::form) && chart.token(i + 1).caps)
      tokens.end = chart.items[i + 1].tokens.end;
    // "insuline glargine" is one medicine of two listed words.
    while (i + 1 < chart.items.size() && chart.items[i + 1].is(Piece::term) &&
           chart.items[i + 1].is(Is::drug))
      tokens.end = chart.items[++i].tokens.end;
    marks.add(Category::medication_name, tokens, kListed);
  }
}

// The verbs of taking: what follows them is taken, however it is written.
bool is_taking(std::string_view fold) {
  return one_of(fold, {"takes", "taking", "nimmt", "prend", "toma", "discontinued", "interrompu",
                       "retirado", "valorarse", "considerarse"});
}

void mark_unknown(const Chart& chart, Marks& marks) {
  for (std::size_t i = 0; i + 1 < chart.items.size(); ++i) {
    if (!asks_for_medicine(chart, i)) continue;
    const auto& next = chart.items[i + 1];
    if (!next.is(Piece::word) || next.kinds != 0) continue;
    const auto& token = chart.token(i + 1);
    const bool fits = token.capital || Terms::get().sounds_like_drug(token.fold) ||
                      (is_taking(chart.token(i).fold) && token.fold.size() > 5);
    if (!fits) continue;
    auto end = i + 2;
    while (end < chart.items.size() && end < i + 4 &&
           ((chart.items[end].is(Piece::word) && chart.items[end].kinds == 0 &&
             chart.token(end).capital) ||
            (chart.items[end].is(Piece::form) && chart.token(end).caps)))
      ++end;
    marks.add(Category::medication_name,
              {.first = next.tokens.first, .end = chart.items[end - 1].tokens.end}, kContextual);
  }
}

// Phrases behind a name that only a medicine has.
bool is_taken(const Chart& chart, std::size_t token) {
  const auto tokens = std::span<const Token>(chart.page->tokens).first(chart.passage->tokens.end);
  return Terms::get().longest(tokens, token, bit(Is::medicine_tail)).tokens > 0;
}

// Names that sound like a medicine, or that stand where only one can.
void mark_sounding(const Chart& chart, Marks& marks) {
  if (chart.section() == "lab_results" || chart.section() == "signature") return;
  for (std::size_t i = 0; i < chart.items.size(); ++i) {
    const auto& item = chart.items[i];
    if (!item.is(Piece::word) || item.is(Is::common) || !marks.is_free(item.tokens)) continue;
    const bool sounds = Terms::get().sounds_like_drug(chart.token(i).fold);
    const bool taken = chart.token(i).capital && is_taken(chart, item.tokens.end) &&
                       chart.token(i).fold.size() > 3 &&
                       !Terms::get().sounds_like_procedure(chart.token(i).fold) &&
                       !Terms::get().sounds_like_condition(chart.token(i).fold);
    auto tokens = item.tokens;
    if (i + 1 < chart.items.size() && chart.items[i + 1].is(Piece::form) && chart.token(i + 1).caps)
      tokens.end = chart.items[i + 1].tokens.end;
    const bool behind = chart.token(i).capital && is_taken(chart, tokens.end);
    if (sounds || taken || behind) marks.add(Category::medication_name, tokens, kContextual);
  }
}

// A line of a list of medicines begins with a name, whatever it is.
void mark_list_item(const Chart& chart, Marks& marks) {
  if (chart.section() != "medication_list" || !chart.passage->item || chart.items.empty()) return;
  const auto& first = chart.items[0];
  if (!first.is(Piece::word) || first.is(Is::common) || is_none(chart.token(0).fold)) return;
  const auto end = name_end(chart, 0, 5);
  const TokenRange tokens =
      trimmed(*chart.page, {.first = first.tokens.first, .end = chart.items[end - 1].tokens.end});
  // What follows must be about taking it, or nothing.
  bool taken = end == chart.items.size() && end <= 3 && chart.token(0).capital;
  for (auto i = end; i < chart.items.size() && i < end + 8; ++i) {
    const auto& item = chart.items[i];
    taken |= item.is(Piece::frequency) || item.is(Piece::route) || item.is(Piece::form);
    taken |= item.is(Piece::quantity) && is_dose_unit(item.quantity.unit.kind);
  }
  if (taken) marks.add(Category::medication_name, tokens, kStructured);
}

// Marks of one passage follow those of the one before; the pre-pass for dates and people is first.
bool has_medicine(const Chart& chart, const Marks& marks) {
  const auto range = chart.passage->tokens;
  for (auto mark = marks.all().rbegin(); mark != marks.all().rend(); ++mark) {
    if (mark->tokens.first < range.first || mark->tokens.end > range.end) return false;
    if (mark->category == Category::medication_name) return true;
  }
  return false;
}

}  // namespace

void mark_medications(const Chart& chart, Marks& marks) {
  // What is listed among allergies is not taken, unless it is said how often.
  const bool taken =
      std::ranges::any_of(chart.items, [](const Item& item) { return item.is(Piece::frequency); });
  if (chart.section() == "allergies" && !taken) return;
  mark_list_item(chart, marks);
  mark_listed(chart, marks);
  mark_unknown(chart, marks);
  mark_sounding(chart, marks);
  if (!has_medicine(chart, marks)) return;
  for (const auto& item : chart.items) {
    if (item.is(Piece::frequency)) marks.add(Category::frequency, item.tokens, kListed);
    if (item.is(Piece::route)) marks.add(Category::route, item.tokens, kListed);
    if (item.is(Piece::duration)) marks.add(Category::duration, item.tokens, kListed);
    const bool dose = item.is(Piece::quantity) && is_dose_unit(item.quantity.unit.kind);
    if (dose) marks.add(Category::dose, item.tokens, kListed);
  }
}

}  // namespace millrace::extract
