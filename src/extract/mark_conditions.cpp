// Conditions, procedures and immunizations: listed ones wherever they stand, others in lists of
// problems and behind words that lead to one.
#include "extract/marks.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace millrace::extract {
namespace {

using layout::clinical::Category;

constexpr std::size_t kLeadTokensMax = 4;

class ConditionMarker {
 public:
  ConditionMarker(const Chart& chart, Marks& marks)
      : chart_(chart), marks_(marks), items_(chart.items), section_(chart.section()) {}

  void run() {
    if (section_ == "signature" || section_ == "demographics") return;
    if (section_ == "immunizations") mark_vaccines();
    if (chart_.passage->item) mark_item();
    mark_listed();
    if (!chart_.passage->item || section_ != "lab_results") {
      mark_done();
      mark_led();
      mark_tailed();
      mark_listed_together();
      mark_sounding();
    }
  }

 private:
  TokenRange tokens_of(std::size_t first, std::size_t end) const {
    return {.first = items_[first].tokens.first, .end = items_[end - 1].tokens.end};
  }

  void mark_vaccines() {
    for (const auto& item : items_) {
      if (item.is(Piece::term) && item.is(Is::vaccine))
        marks_.add(Category::immunization, item.tokens, kListed);
    }
    if (!chart_.passage->item || items_.empty() || !items_[0].is(Piece::word) ||
        items_[0].is(Is::common) || !chart_.token(0).capital)
      return;
    const bool dated =
        std::ranges::any_of(items_, [](const Item& item) { return item.is(Piece::date); });
    if (!dated) return;
    const auto end = name_end(chart_, 0, 5);
    marks_.add(Category::immunization, trimmed(*chart_.page, tokens_of(0, end)), kStructured);
  }

  // -- lines of lists --

  bool lists_conditions() const { return section_ == "diagnoses"; }
  bool lists_procedures() const { return section_ == "procedures"; }

  // "Status after", "suspected": said of what follows, no part of its name.
  std::size_t skip_cues(std::size_t i) const {
    for (std::size_t n = 0; n < 4 && i < items_.size(); ++n) {
      const auto at = items_[i].tokens.first;
      const auto cue = Terms::get().longest(chart_.page->tokens, at, kCues);
      if (cue.tokens > 0 && at + cue.tokens < chart_.passage->tokens.end) {
        while (i < items_.size() && items_[i].tokens.first < at + cue.tokens) ++i;
        continue;
      }
      const auto& fold = chart_.token(i).fold;
      const bool status = one_of(
          fold, {"status",    "zustand",   "etat",      "estado", "st",    "z",     "n",
                 "after",     "nach",      "post",      "apres",  "tras",  "known", "bekannte",
                 "bekannter", "bekanntes", "currently", "etiam",  "prior", "p"});
      if (!status && !(items_[i].is(Piece::sign))) break;
      ++i;
    }
    return i;
  }

  void mark_item() {
    if (!lists_conditions() && !lists_procedures()) return;
    if (items_.size() > 24) return;  // Prose.
    const auto first = skip_cues(0);
    if (first >= items_.size()) return;
    const auto& item = items_[first];
    if (!(item.is(Piece::word) || item.is(Piece::term)) ||
        (item.is(Is::common) && !item.is(Piece::term)))
      return;
    if (one_of(chart_.token(first).fold,
               {"none", "keine", "aucun", "aucune", "ninguno", "ninguna", "nil"}))
      return;
    const auto end = item_name_end(first);
    if (end <= first) return;
    auto tokens = trimmed(*chart_.page, tokens_of(first, end));
    if (tokens.empty() || tokens.size() > 12 || !marks_.is_free(tokens)) return;
    const bool sentence = std::ranges::any_of(items_, [&](const Item& part) {
      return part.is(Piece::word) && one_of(chart_.page->tokens[part.tokens.first].fold,
                                            {"she", "he", "we", "wurde", "wir", "nous", "il",
                                             "elle", "se", "was", "were", "hat", "has"});
    });
    if (sentence) return;
    auto kind = kind_of(first, end);
    // What somebody is said to be after, and no list has, was done to them more often than not.
    if (kind == Category::condition && says_after(first) && !is_disease(first, end)) {
      kind = Category::procedure;
    }
    marks_.add(kind, tokens, whole_term(first, end) ? kListed : kStructured);
  }

  bool says_after(std::size_t first) const {
    const auto begin = items_[0].tokens.first;
    for (auto i = begin; i < items_[first].tokens.first; ++i) {
      if (one_of(chart_.page->tokens[i].fold,
                 {"after", "post", "nach", "apres", "tras", "s", "zn", "n"}))
        return true;
    }
    return false;
  }

  bool is_disease(std::size_t first, std::size_t end) const {
    for (auto i = first; i < end; ++i) {
      if (items_[i].is(Is::condition) || items_[i].is(Is::condition_head)) return true;
      if (items_[i].is(Piece::word) && Terms::get().sounds_like_condition(chart_.token(i).fold))
        return true;
    }
    return false;
  }

  bool whole_term(std::size_t first, std::size_t end) const {
    return end == first + 1 && items_[first].is(Piece::term);
  }

  Category kind_of(std::size_t first, std::size_t end) const {
    for (auto i = first; i < end; ++i) {
      if (items_[i].is(Piece::term) && items_[i].is(Is::procedure)) return Category::procedure;
      if (items_[i].is(Piece::term) && items_[i].is(Is::condition)) return Category::condition;
      if (items_[i].is(Piece::word) && Terms::get().sounds_like_procedure(chart_.token(i).fold))
        return Category::procedure;
    }
    return lists_procedures() ? Category::procedure : Category::condition;
  }

  std::size_t item_name_end(std::size_t first) const {
    auto i = first;
    for (; i < items_.size(); ++i) {
      if (items_[i].is(Piece::date) || chart_.sign(i, ",") || chart_.sign(i, "(") ||
          chart_.sign(i, ":") || chart_.sign(i, "[") || chart_.sign(i, "."))
        break;
      if (chart_.sign(i, "-") && !chart_.token(i).glued) break;
      const auto& fold = chart_.token(i).fold;
      if (items_[i].is(Piece::word) && i > first &&
          one_of(fold, {"since",
                        "seit",
                        "depuis",
                        "desde",
                        "diagnosed",
                        "diagnostiziert",
                        "ed",
                        "erstdiagnose",
                        "on",
                        "am",
                        "le",
                        "el",
                        "resolved",
                        "from",
                        "dx",
                        "diagnostique",
                        "diagnosticado",
                        "first",
                        "suspected",
                        "probable",
                        "likely",
                        "possible"}))
        break;
      if (items_[i].is(Piece::word) && i > first && one_of(fold, {"in", "im", "en"}) &&
          i + 1 < items_.size() && items_[i + 1].is(Piece::date))
        break;
    }
    return i;
  }

  // -- prose --

  // "Allergies - amoxicillin": told as allergies already.
  bool is_told_allergy(std::size_t i) const {
    if (!one_of(chart_.token(i).fold, {"allergy", "allergies"})) return false;
    const auto passage = chart_.passage->tokens;
    return std::ranges::any_of(marks_.all(), [&](const Mark& mark) {
      return mark.category == Category::allergen && mark.tokens.first >= passage.first &&
             mark.tokens.end <= passage.end;
    });
  }

  // "Allergies & Meds: …": a heading of two lists.
  bool is_heading(std::size_t i) const {
    if (i > 0 || !one_of(chart_.token(i).fold, {"allergy", "allergies", "allergien"})) return false;
    for (auto at = i + 1; at < items_.size() && at < i + 6; ++at) {
      if (chart_.sign(at, ":")) return true;
    }
    return false;
  }

  void mark_listed() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const auto& item = items_[i];
      if (!item.is(Piece::term)) continue;
      if (is_told_allergy(i) || is_heading(i)) continue;
      if (item.is(Is::condition) && !(item.is(Is::analyte) && section_ == "lab_results")) {
        marks_.add(Category::condition, tokens_of(eponym_before(i), eponym_after(i)), kListed);
      } else if (item.is(Is::procedure)) {
        auto end = i + 1;
        // "CT scan of the chest"
        const auto more = name_end(chart_, i, 5);
        if (more > end && one_of(chart_.token(i + 1).fold, {"of", "de", "du", "der", "des", "del"}))
          end = more;
        marks_.add(Category::procedure, tokens_of(i, end), kListed);
      }
    }
  }

  // "Tolmer-Ruys neuropathy": capital words inside a sentence belong to the name. Where every noun
  // has a capital they say nothing, but there such names are one word.
  std::size_t eponym_before(std::size_t i) const {
    auto first = i;
    while (first > 1 && i - first < 2) {
      const auto& item = items_[first - 1];
      const bool name = item.is(Piece::word) && item.kinds == 0 &&
                        chart_.token(first - 1).capital && !chart_.token(first - 1).caps;
      if (!name || !marks_.is_free(item.tokens)) break;
      --first;
    }
    return first;
  }

  // "syndrome de Schnitzler", "maladie d'Erdheim"
  std::size_t eponym_after(std::size_t i) const {
    auto at = i + 1;
    if (at >= items_.size() || !one_of(chart_.token(at).fold, {"de", "d", "du", "del", "of"}))
      return i + 1;
    ++at;
    if (at < items_.size() && chart_.sign(at, "'")) ++at;
    auto end = at;
    while (end < items_.size() && end - at < 3 && items_[end].is(Piece::word) &&
           items_[end].kinds == 0 && chart_.token(end).capital &&
           marks_.is_free(items_[end].tokens))
      ++end;
    return end > at ? end : i + 1;
  }

  bool is_lead(std::size_t end) const {
    std::string phrase;
    const auto last = items_[end].tokens.first;  // The token behind the phrase.
    for (std::size_t n = 1; n <= kLeadTokensMax && last >= chart_.passage->tokens.first + n; ++n) {
      const auto& token = chart_.page->tokens[last - n];
      if (token.is("'")) continue;
      if (token.kind == TokenKind::punct) break;
      phrase = phrase.empty() ? token.key : token.key + ' ' + phrase;
      if (Terms::get().has(phrase, Is::condition_lead)) return true;
    }
    return false;
  }

  // What can be the name of a disease that nobody listed: one noun phrase with something unusual.
  bool is_name(std::size_t first, std::size_t end) const {
    for (auto i = first; i < end; ++i) {
      const auto& item = items_[i];
      if (item.is(Piece::term) && (item.is(Is::drug) || item.is(Is::analyte) ||
                                   item.is(Is::vital) || item.is(Is::allergen)))
        return false;
      // "Couldn't eat, nausea", "kidney injury, resolved"
      if (item.is(Is::negated_before)) return false;
      if (end == first + 1 && (Terms::get().has(chart_.token(i).key, Is::historical_after) ||
                               Terms::get().has(chart_.token(i).key, Is::state)))
        return false;
      if (item.is(Is::family_before) || item.is(Is::role) || item.is(Is::title) ||
          item.is(Is::courtesy) || item.is(Is::organization))
        return false;
    }
    return chart_.token(first).fold.size() >= 4;
  }

  // Articles and adjectives that no name begins with.
  bool is_article(std::size_t i) const {
    return items_[i].is(Piece::word) && Terms::get().has(chart_.token(i).key, Is::article);
  }

  bool joins(std::size_t i) const {
    return chart_.sign(i, ",") ||
           one_of(chart_.token(i).fold, {"and", "or", "nor", "und", "oder", "sowie", "noch", "et",
                                         "ou", "ni", "y", "o", "e"});
  }

  // What follows a word that leads to a disease, and what is listed with it.
  void mark_led() {
    for (std::size_t i = 1; i < items_.size(); ++i) {
      if (!is_lead(i)) continue;
      auto at = i;
      for (std::size_t n = 0; n < 8 && at < items_.size(); ++n) {
        while (at < items_.size() && is_article(at)) ++at;
        const auto end = mark_phrase(at, kContextual - 0.06);
        if (end == at) break;
        at = end;
        if (at >= items_.size() || !joins(at)) break;
        while (at < items_.size() && joins(at)) ++at;
      }
    }
  }

  // One phrase: marked, or marked before. Where it ends; `at` when it is none.
  std::size_t mark_phrase(std::size_t at, double conf) {
    if (at >= items_.size()) return at;
    if (!marks_.is_free(items_[at].tokens)) return items_[at].is(Piece::term) ? at + 1 : at;
    if (!items_[at].is(Piece::word) || items_[at].is(Is::common)) return at;
    const auto end = phrase_end(at);
    if (end <= at || !is_name(at, end)) return at;
    marks_.add(Category::condition, trimmed(*chart_.page, tokens_of(at, end)), conf);
    return end;
  }

  // "thigh formication or dizziness": what is listed with a condition is one.
  void mark_listed_together() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!items_[i].is(Piece::term) || !items_[i].is(Is::condition)) continue;
      auto after = i + 1;
      while (after < items_.size() && after < i + 3 && joins(after)) ++after;
      if (after > i + 1) {
        while (after < items_.size() && is_article(after)) ++after;
        mark_phrase(after, kGuessed);
      }
      if (i < 2 || !joins(i - 1)) continue;
      auto end = i - 1;
      while (end > 0 && joins(end - 1)) --end;
      auto first = end;
      while (first > 0 && end - first < 3 && items_[first - 1].is(Piece::word) &&
             !items_[first - 1].is(Is::common) && marks_.is_free(items_[first - 1].tokens))
        --first;
      if (first < end && is_name(first, end) && !chart_.token(first).caps && !is_verb(first))
        marks_.add(Category::condition, trimmed(*chart_.page, tokens_of(first, end)), kGuessed);
    }
  }

  // "Hasn't been eating, weight loss", "did not lose weight, headache": what is denied is done.
  bool is_verb(std::size_t first) const {
    if (first == 0) return false;
    const auto& before = chart_.token(first - 1).fold;
    return before.ends_with("n't") || one_of(before, {"not", "been", "being", "cannot", "nicht"});
  }

  // Words up to the next small word or sign; "allodynia of the scalp" goes on.
  std::size_t phrase_end(std::size_t first) const {
    auto end = first;
    for (auto i = first; i < items_.size() && i - first < 6; ++i) {
      const auto& item = items_[i];
      const bool word = item.is(Piece::word) && !item.is(Is::common);
      if ((word || item.is(Piece::term)) && marks_.is_free(item.tokens)) {
        end = i + 1;
        continue;
      }
      const bool joint = end == i && i > first && one_of(chart_.token(i).fold, {"of", "du", "des"});
      const bool article = end + 1 == i && chart_.token(i).fold == "the";
      if (!joint && !article) break;
    }
    return end;
  }

  // "Previous operations: X in 2017", "underwent X", "After X on 5 May 2023 we …"
  void mark_done() {
    for (std::size_t i = 0; i + 1 < items_.size(); ++i) {
      const auto& fold = chart_.token(i).fold;
      auto next = i + 1;
      if (one_of(fold, {"operations", "surgeries", "operationen", "voroperationen", "interventions",
                        "operaciones", "intervenciones"})) {
        if (!chart_.sign(next, ":")) continue;
        ++next;
      } else if (fold == "after" && i == 0) {
        // Only with a day behind it: everything can come after something.
      } else if (!one_of(fold, {"underwent", "undergoing"})) {
        continue;
      }
      while (next < items_.size() && is_article(next)) ++next;
      if (next >= items_.size() || !items_[next].is(Piece::word) || items_[next].is(Is::common))
        continue;
      const auto end = phrase_end(next);
      if (end <= next || !is_name(next, end)) continue;
      const bool dated = end + 1 < items_.size() &&
                         (items_[end].is(Piece::date) || items_[end + 1].is(Piece::date));
      if (fold == "after" && !dated) continue;
      marks_.add(Category::procedure, trimmed(*chart_.page, tokens_of(next, end)),
                 kContextual - 0.06);
    }
  }

  void mark_tailed() {
    for (std::size_t i = 1; i < items_.size(); ++i) {
      if (!items_[i].is(Piece::word) || !is_tail(items_[i].tokens.first)) continue;
      auto first = i;
      while (first > 0 && i - first < 4 && items_[first - 1].is(Piece::word) &&
             !items_[first - 1].is(Is::common) && marks_.is_free(items_[first - 1].tokens))
        --first;
      if (first == i || !is_name(first, i)) continue;
      marks_.add(Category::condition, trimmed(*chart_.page, tokens_of(first, i)),
                 kContextual - 0.06);
    }
  }

  bool is_tail(std::size_t token) const {
    const auto tokens =
        std::span<const Token>(chart_.page->tokens).first(chart_.passage->tokens.end);
    return Terms::get().longest(tokens, token, bit(Is::condition_tail)).tokens > 0;
  }

  // "Kessling arteritis": an ending of diseases, with the capital words before it.
  void mark_sounding() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const auto& item = items_[i];
      if (!item.is(Piece::word) || item.is(Is::common) || !marks_.is_free(item.tokens)) continue;
      const auto& fold = chart_.token(i).fold;
      const bool procedure = Terms::get().sounds_like_procedure(fold);
      const bool head = item.is(Is::condition_head);
      if (!procedure && !head && !Terms::get().sounds_like_condition(fold)) continue;
      auto first = i;
      while (first > 0 && i - first < 3 && items_[first - 1].is(Piece::word) &&
             !items_[first - 1].is(Is::common) && marks_.is_free(items_[first - 1].tokens))
        --first;
      const auto end = procedure ? i + 1 : eponym_after(i);
      if (head && first == i && end == i + 1) continue;
      marks_.add(procedure ? Category::procedure : Category::condition, tokens_of(first, end),
                 kGuessed);
    }
  }

  static constexpr Kinds kCues = bit(Is::negated_before) | bit(Is::historical_before) |
                                 bit(Is::possible_before) | bit(Is::probable_before);

  const Chart& chart_;
  Marks& marks_;
  const std::vector<Item>& items_;
  std::string_view section_;
};

}  // namespace

void mark_conditions(const Chart& chart, Marks& marks) { ConditionMarker(chart, marks).run(); }

}  // namespace millrace::extract
