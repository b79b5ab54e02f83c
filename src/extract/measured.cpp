#include "extract/measured.h"

#include "extract/particles.h"
#include "extract/terms.h"

#include <algorithm>
#include <span>
#include <vector>

namespace millrace::extract {
namespace {

using layout::clinical::Category;
using layout::clinical::Subject;
using layout::clinical::Temporality;

constexpr std::size_t kLimitReach = 4;  // Tokens behind a name.
// Tokens to either side; no clause is longer, and a page of nothing but results takes no cube.
constexpr std::size_t kReach = 96;

bool is_head(Category category) {
  return category == Category::lab_name || category == Category::vital_sign;
}

bool is_of_result(Category category) {
  return is_head(category) || category == Category::lab_value ||
         category == Category::reference_range;
}

// What is compared with a value that is waited for.
bool is_bound(const Token& token) {
  return one_of(token.fold,
                {"<",       ">",         "≤",          "≥",         "above",      "below",
                 "over",    "under",     "less",       "greater",   "more",       "exceeds",
                 "falls",   "drops",     "rises",      "uber",      "unter",      "dessus",
                 "dessous", "superieur", "superieure", "inferieur", "inferieure", "mayor",
                 "menor",   "superior",  "inferior",   "encima",    "debajo"});
}

// Before a name whose value is compared: "transfuse when Hb < 7", "hold for SBP < 100".
bool leads_case(std::span<const Token> tokens, std::size_t at) {
  return one_of(tokens[at].fold, {"for", "if", "when", "once", "until", "unless", "whenever",
                                  "wenn", "sobald", "si", "lorsque", "quand", "cuando", "hasta"}) ||
         (tokens[at].is("falls") && falls_supposes(tokens, at));
}

// "Watch for bleeding": what may come, and not what there is.
bool says_watch(std::span<const Token> tokens) {
  return std::ranges::any_of(tokens, [](const Token& token) {
    return one_of(token.fold, {"watch", "monitor", "avoid", "vermeidung", "eviter", "evitar"});
  });
}

// Behind it stands why: "as potassium was 5.8"; but "such as", "as well as".
bool says_why(std::span<const Token> tokens, std::size_t at) {
  if (!tokens[at].is("as")) {
    return one_of(tokens[at].fold, {"given", "because", "since", "with", "due"});
  }
  const auto is_part = [&](std::size_t i) {
    return i < tokens.size() && one_of(tokens[i].fold, {"such", "well", "needed", "required"});
  };
  return !is_part(at + 1) && (at == 0 || !is_part(at - 1));
}

// A relative of whom it is said has what follows: "mother with", "father:", "die Mutter hatte".
bool says_having(const Token& token) {
  return token.is(":") || token.is("'") || (token.is("-") && !token.glued) ||
         one_of(token.fold, {"has",     "have",  "had",    "having", "with",  "whose",  "hat",
                             "haben",   "hatte", "hatten", "mit",    "a",     "ont",    "avait",
                             "avaient", "avec",  "tiene",  "tienen", "tenia", "tenian", "con"});
}

// Who does so has read a result, or heard of it, and it is another's: "mother took", "son aware
// of".
bool says_reading(const Token& token) {
  return one_of(token.fold,
                {"measured", "measures", "measuring", "took",    "takes",    "checked",
                 "checks",   "checking", "recorded",  "records", "obtained", "got",
                 "aware",    "informed", "notified",  "updated", "mass",     "misst",
                 "mesure",   "mesurait", "mide",      "midio",   "tomo",     "controlo"});
}

// What may stand between a relative and what the relative has or does.
bool is_aside(const Token& token) {
  return token.is_number() || token.is(",") || token.is("(") || token.is(")") || is_and(token) ||
         one_of(token.fold,
                {"aged",  "age",  "year", "years", "old", "also", "currently", "recently", "then",
                 "today", "now",  "at",   "home",  "who", "is",   "was",       "were",     "are",
                 "made",  "been", "qui",  "que",   "die", "der",  "auch"});
}

// What a treatment is to reach, and nobody has measured.
bool is_goal(const Token& token) {
  return one_of(token.fold, {"goal", "target", "aim", "aiming", "ziel", "zielwert", "zielbereich",
                             "objectif", "cible", "objetivo", "meta"});
}

// What a relative that is named before a result has to do with it.
enum class Relative : std::uint8_t { none, owner, reader, unclear };

class Clause {
 public:
  Clause(const Group& group, const Placed& head)
      : group_(group),
        head_(head),
        tokens_(std::span<const Token>(group.page->tokens).first(group.passage->tokens.end)),
        first_(group.passage->tokens.first) {
    const auto from = head.tokens.first - std::min(head.tokens.first, kReach);
    for (const auto& placed : group.entities) {
      if (placed.tokens.end < from || placed.tokens.first > head.tokens.end + kReach) continue;
      near_.push_back(placed);
      if (is_head(placed.category())) {
        heads_.push_back(placed.tokens);
      } else if (!is_of_result(placed.category())) {
        neutral_.push_back(placed.tokens);
      }
    }
  }

  Judgement judge_within(TokenRange range) const {
    auto part = *group_.passage;
    part.tokens = range;
    return judge(*group_.page, part, head_.tokens,
                 {.others = heads_, .neutral = neutral_, .mentioned = Mentioned::result});
  }

  TokenRange whole() const {
    return {.first = std::max(first_, head_.tokens.first - std::min(head_.tokens.first, kReach)),
            .end = std::min(tokens_.size(), head_.tokens.end + kReach)};
  }

  // From the last joint that lists no results to the next one.
  TokenRange own() const {
    TokenRange out{.first = head_.tokens.first, .end = head_.tokens.end};
    const auto all = whole();
    while (out.first > all.first && !parts(out.first - 1)) --out.first;
    if (begins_with_relative()) out.first = first_;
    if (begins_line()) out.first = head_.tokens.first;
    while (out.end < all.end && !parts(out.end)) ++out.end;
    return out;
  }

  // "Mother: gout, LDL 190 mg/dL": the line is hers. A family history names nobody.
  bool begins_with_relative() const {
    const auto relative = Terms::get().longest(tokens_, first_, bit(Is::family_before));
    const auto behind = first_ + relative.tokens;
    return relative.tokens > 0 && behind < tokens_.size() && tokens_[behind].is(":") &&
           !says_history(tokens_.subspan(first_, relative.tokens));
  }

  // What the last relative before it in this range has to do with it.
  Relative relative_in(TokenRange range) const {
    TokenRange last;
    for (auto at = range.first; at < head_.tokens.first;) {
      const auto match = Terms::get().longest(tokens_, at, bit(Is::family_before));
      const auto end = at + std::max<std::size_t>(match.tokens, 1);
      if (match.tokens > 0 && !says_history(tokens_.subspan(at, match.tokens)))
        last = {.first = at, .end = end};
      at = end;
    }
    return last.empty() ? Relative::none : relation_of(last);
  }

  // "Family history of hypercholesterolemia with LDL 240 mg/dL": nobody else is meant.
  bool tells_history() const {
    for (auto at = own().first; at < head_.tokens.first; ++at) {
      const auto match = Terms::get().longest(tokens_, at, bit(Is::family_before));
      if (match.tokens > 0 && says_history(tokens_.subspan(at, match.tokens))) return true;
    }
    return false;
  }

  // "Watch for bleeding with INR 4.5": what may come is supposed, and why it may has been measured.
  bool is_reason() const {
    if (has_bound()) return false;
    bool watched = false;
    bool why = false;
    for (auto at = own().first; at < head_.tokens.first;) {
      const auto cue =
          Terms::get().longest(tokens_.first(head_.tokens.first), at, bit(Is::hypothetical_before));
      const auto words = tokens_.subspan(at, cue.tokens);
      if (says_watch(words)) {
        watched = true;
        why = false;
      } else if (!words.empty() && !says_purpose(words) && !tokens_[at].is("falls")) {
        return false;
      } else {
        why |= watched && says_why(tokens_, at);
      }
      at += std::max<std::size_t>(cue.tokens, 1);
    }
    return why;
  }

  bool is_waited_for() const {
    const auto at = list_start();
    if (at > first_ && leads_case(tokens_, at - 1) && has_bound()) return true;
    for (auto i = at; i > first_ && at - i < 3; --i) {
      if (is_goal(tokens_[i - 1])) return true;
      const bool between = tokens_[i - 1].is(":") || tokens_[i - 1].is("of") ||
                           Terms::get().has(tokens_[i - 1].key, Is::article);
      if (!between) break;
    }
    // "HbA1c goal < 7 %"
    for (auto i = head_.tokens.first; i < value_start() && i < tokens_.size(); ++i) {
      if (is_goal(tokens_[i])) return true;
    }
    return false;
  }

  // "Previous creatinine 1.1": right before the name.
  bool is_former() const {
    for (std::size_t n = 1; n <= kPhraseTokensMax && first_ + n <= head_.tokens.first; ++n) {
      const auto cue = Terms::get().longest(tokens_.first(head_.tokens.first),
                                            head_.tokens.first - n, bit(Is::historical_before));
      // "Took temperature" took no medicine.
      if (cue.tokens == n && !one_of(tokens_[head_.tokens.first - 1].fold, {"took", "taken"}))
        return true;
    }
    return false;
  }

 private:
  Relative relation_of(TokenRange relative) const {
    const auto& last = tokens_[relative.end - 1];
    if (last.fold.ends_with("'s")) return Relative::owner;
    if (is_child_of(relative.first)) return Relative::unclear;
    // "Wife took" is one phrase.
    const bool verb = says_having(last) || says_reading(last);
    auto at = verb ? relative.end - 1 : relative.end;
    while (at < head_.tokens.first && is_aside(tokens_[at])) ++at;
    if (at >= list_start()) return Relative::owner;  // "Father LDL 240 mg/dL"
    if (says_reading(tokens_[at])) return reads_it(at + 1) ? Relative::reader : Relative::unclear;
    if (!says_having(tokens_[at])) return Relative::unclear;
    // "Mother has measured": it may be a reading of hers.
    return says_reading(tokens_[at + 1]) ? Relative::unclear : Relative::owner;
  }

  // "Infant of a diabetic mother with glucose 45 mg/dL"
  bool is_child_of(std::size_t relative) const {
    for (auto at = relative; at > first_ + 1 && relative - at < kLimitReach; --at) {
      if (one_of(tokens_[at - 1].fold, {"of", "to"}) &&
          one_of(tokens_[at - 2].fold, {"infant", "newborn", "neonate", "baby", "child", "born"}))
        return true;
    }
    return false;
  }

  // "Took his temperature", and not "takes insulin for HbA1c of 9 %".
  bool reads_it(std::size_t at) const {
    const auto end = list_start();
    if (at > end || end - at > kLimitReach) return false;
    const bool plain =
        std::none_of(tokens_.begin() + static_cast<std::ptrdiff_t>(at),
                     tokens_.begin() + static_cast<std::ptrdiff_t>(end), [](const Token& token) {
                       return one_of(token.fold, {"for", "to", "fur", "pour", "para"});
                     });
    return plain && std::ranges::none_of(neutral_, [&](const TokenRange& other) {
             return at <= other.first && other.end <= end;
           });
  }

  // "BP 128/76" on a line of its own below others.
  bool begins_line() const {
    const auto at = head_.tokens.first;
    return head_.category() == Category::vital_sign && at > first_ &&
           tokens_[at].line != tokens_[at - 1].line && tokens_[at].capital;
  }

  bool is_joint(std::size_t at) const {
    return tokens_[at].is(",") || is_and(tokens_[at]) || is_or(tokens_[at]);
  }

  // Whether another clause begins at this token; a list of results is one.
  bool parts(std::size_t at) const {
    if (tokens_[at].is(";")) return true;
    if (!is_joint(at)) return false;
    // "Her mother, who has an A1c of 10 %": the same clause goes on.
    if (at + 1 < tokens_.size() && one_of(tokens_[at + 1].fold, {"who", "whose", "qui"}))
      return false;
    return std::ranges::none_of(near_, [&](const Placed& placed) {
      const auto end = placed.tokens.end;
      return is_of_result(placed.category()) && (end == at || end + 1 == at);
    });
  }

  // Where the list of results that the head is in begins: "for SBP < 100 or HR < 55".
  std::size_t list_start() const {
    auto start = head_.tokens.first;
    for (auto at = near_.size(); at > 0; --at) {
      const auto& placed = near_[at - 1];
      if (placed.tokens.end > start || !is_of_result(placed.category())) continue;
      const auto gap = start - placed.tokens.end;
      if (gap > 1 || (gap == 1 && is_head(placed.category()) && !is_joint(start - 1))) break;
      start = placed.tokens.first;
    }
    return start;
  }

  std::size_t value_start() const {
    for (auto at = head_.tokens.first; at < tokens_.size(); ++at) {
      if (tokens_[at].is_number()) return at;
      if (at > head_.tokens.end + kLimitReach) break;
    }
    return head_.tokens.end;
  }

  bool has_bound() const {
    const auto end = std::min({tokens_.size(), head_.tokens.end + kLimitReach, value_start() + 1});
    return std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(head_.tokens.first),
                       tokens_.begin() + static_cast<std::ptrdiff_t>(end), is_bound);
  }

  const Group& group_;
  const Placed& head_;
  std::span<const Token> tokens_;
  std::size_t first_;
  std::vector<Placed> near_;
  std::vector<TokenRange> heads_;
  std::vector<TokenRange> neutral_;
};

}  // namespace

Judgement judge_result(const Group& group, const Placed& head) {
  const Clause clause(group, head);
  const auto near = clause.judge_within(clause.own());
  Judgement out{.subject = near.subject};
  const bool supposed = near.assertion.temporality == Temporality::hypothetical;
  if ((supposed && !clause.is_reason()) || clause.is_waited_for()) {
    out.assertion.temporality = Temporality::hypothetical;
  } else if (clause.is_former()) {
    out.assertion.temporality = Temporality::historical;
  }
  if (out.subject == Subject::family) {
    const auto relative = clause.relative_in(clause.own());
    const bool other = relative == Relative::reader || relative == Relative::unclear;
    if (!other || group.section == "family_history" || clause.tells_history()) return out;
    // "His mother measured a temperature of 39.2 °C": not hers, and else for a person to say.
    out.subject = Subject::patient;
    out.doubtful = relative == Relative::unclear;
    return out;
  }
  const bool wide = clause.judge_within(clause.whole()).subject == Subject::family;
  if (group.section == "family_history") {
    // Nobody notes the pulse of a relative, and a table of results has lost its heading.
    const bool own = head.category() == Category::vital_sign || group.passage->table >= 0;
    if (!own) out.subject = Subject::family;
    out.doubtful = own;
  } else {
    // "His mother has gout, uric acid 9 mg/dL": whose it is, is for a person to say.
    const auto relative = clause.relative_in(clause.whole());
    out.doubtful = wide && relative != Relative::none && relative != Relative::reader;
  }
  return out;
}

}  // namespace millrace::extract
