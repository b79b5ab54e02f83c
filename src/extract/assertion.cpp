#include "extract/assertion.h"

#include "extract/terms.h"

#include <algorithm>
#include <initializer_list>

namespace millrace::extract {
namespace {

using layout::clinical::Certainty;
using layout::clinical::Polarity;
using layout::clinical::Subject;
using layout::clinical::Temporality;

constexpr std::size_t kNegationReach = 14;  // Tokens.
constexpr std::size_t kShortReach = 8;
constexpr std::size_t kAfterReach = 10;

constexpr Kinds kBefore = bit(Is::negated_before) | bit(Is::family_before) |
                          bit(Is::hypothetical_before) | bit(Is::historical_before) |
                          bit(Is::possible_before) | bit(Is::probable_before);
constexpr Kinds kAfter = bit(Is::negated_after) | bit(Is::family_after) |
                         bit(Is::hypothetical_after) | bit(Is::future_after) |
                         bit(Is::historical_after) | bit(Is::possible_after) |
                         bit(Is::probable_after);
constexpr Kinds kTurns = bit(Is::ends_reach) | bit(Is::no_cue);

class Judge {
 public:
  Judge(const PageReading& page, const Passage& passage, TokenRange mention,
        std::span<const TokenRange> others, std::span<const TokenRange> neutral)
      : tokens_(std::span<const Token>(page.tokens).first(passage.tokens.end)),
        first_(passage.tokens.first),
        mention_(mention),
        others_(others),
        neutral_(neutral) {}

  Judgement run() {
    before();
    const bool denied_before = found(Is::negated_before);
    after();
    out_.denied_behind = found(Is::negated_before) && !denied_before;
    if (found(Is::family_before)) out_.subject = Subject::family;
    auto& assertion = out_.assertion;
    if (found(Is::negated_before)) assertion.polarity = Polarity::negated;
    if (found(Is::probable_before)) assertion.certainty = Certainty::probable;
    if (found(Is::possible_before)) assertion.certainty = Certainty::possible;
    if (found(Is::historical_before)) assertion.temporality = Temporality::historical;
    if (found(Is::future_before)) assertion.temporality = Temporality::future;
    if (found(Is::hypothetical_before)) assertion.temporality = Temporality::hypothetical;
    return out_;
  }

 private:
  bool found(Is cue) const { return (found_ & bit(cue)) != 0; }

  // "Should fever recur" supposes, "she should continue" does not.
  bool supposes(std::size_t at) const {
    if (!one_of(tokens_[at].fold, {"should", "sollte", "sollten", "falls"})) return true;
    return at == first_ || tokens_[at - 1].is(",") || tokens_[at - 1].is(":");
  }

  void before() {
    std::size_t since[64] = {};  // Token behind the cue, by kind; 0: none.
    const auto tokens = tokens_.first(mention_.first);
    for (auto at = first_; at < mention_.first;) {
      if (const auto next = past_neutral(at); next > at) {
        at = next;
        continue;
      }
      // "X was stopped": said of X, not of what comes behind.
      if (is_behind_mention(at)) {
        const auto passive = Terms::get().longest(tokens, at, kAfter);
        if (passive.tokens > 0) {
          at += passive.tokens;
          continue;
        }
      }
      const auto match = Terms::get().longest(tokens, at, kBefore | kTurns);
      if (match.tokens == 0) {
        turn(since, tokens_[at]);
        ++at;
        continue;
      }
      if (match.is(Is::ends_reach)) forget(since);
      if (const auto next = past_false_cue(tokens, at, match.tokens); next > at) {
        at = next;
        continue;
      }
      for (unsigned kind = 0; kind < 64; ++kind) {
        if ((match.kinds & kBefore & (Kinds{1} << kind)) == 0) continue;
        if (static_cast<Is>(kind) == Is::hypothetical_before && !supposes(at)) continue;
        since[kind] = at + match.tokens;
      }
      at += match.tokens;
    }
    keep(since, Is::negated_before, kNegationReach);
    keep(since, Is::family_before, tokens_.size());
    keep(since, Is::hypothetical_before, tokens_.size());
    keep(since, Is::future_before, kShortReach);
    keep(since, Is::historical_before, kShortReach);
    keep(since, Is::possible_before, kShortReach);
    keep(since, Is::probable_before, kShortReach);
  }

  // "There was no change": the negation is taken by a phrase that denies nothing.
  static std::size_t past_false_cue(std::span<const Token> tokens, std::size_t at,
                                    std::size_t size) {
    for (auto i = at; i < at + size; ++i) {
      const auto match = Terms::get().longest(tokens, i, bit(Is::no_cue));
      if (match.tokens > 0 && i + match.tokens >= at + size) return i + match.tokens;
    }
    return at;
  }

  // The end of the stretch without cues that this token is in; the token itself outside of all.
  std::size_t past_neutral(std::size_t at) const {
    for (const auto& range : neutral_) {
      if (range.first <= at && at < range.end) return range.end;
    }
    return at;
  }

  bool is_behind_mention(std::size_t at) const {
    return std::ranges::any_of(
        others_, [&](const TokenRange& other) { return other.end <= at && at - other.end <= 4; });
  }

  void turn(std::size_t (&since)[64], const Token& token) const {
    // A relative is done with where the patient is spoken of again.
    if (one_of(token.fold, {"she", "he", "patient", "patientin", "elle"}))
      since[static_cast<unsigned>(Is::family_before)] = 0;
    // What is past is said of the next words, not of a whole list.
    if (token.is(",")) since[static_cast<unsigned>(Is::historical_before)] = 0;
  }

  void forget(std::size_t (&since)[64]) const {
    for (const auto kind :
         {Is::negated_before, Is::historical_before, Is::possible_before, Is::probable_before})
      since[static_cast<unsigned>(kind)] = 0;
  }

  void keep(const std::size_t (&since)[64], Is kind, std::size_t reach) {
    const auto at = since[static_cast<unsigned>(kind)];
    if (at > 0 && mention_.first - at <= reach) found_ |= bit(kind);
  }

  // Some words on; doses, dates and the like are not counted.
  std::size_t reach_from(std::size_t at) const {
    for (std::size_t words = 0; words < kAfterReach && at < tokens_.size();) {
      if (const auto next = past_neutral(at); next > at) {
        at = next;
        continue;
      }
      ++at;
      ++words;
    }
    return std::min(at, tokens_.size());
  }

  // Where what is said behind the mention stops being about it.
  std::size_t end_of_after() const {
    auto end = reach_from(mention_.end);
    auto from = mention_.end;
    for (const auto& other : others_) {
      if (other.first < mention_.end || other.first >= end) continue;
      for (auto i = from; i < other.first; ++i) {
        const auto& token = tokens_[i];
        if (past_neutral(i) > i) continue;
        const bool lists =
            !token.is_word() ||
            one_of(token.fold, {"and", "or", "und", "oder", "sowie", "et", "ou", "y", "o", "e", "a",
                                "the", "der", "die", "mg", "la", "le"});
        if (!lists) return other.first;
      }
      from = other.end;
      end = reach_from(other.end);
    }
    return end;
  }

  void after() {
    const auto end = end_of_after();
    for (auto at = mention_.end; at < end;) {
      if (const auto next = past_neutral(at); next > at) {
        at = next;
        continue;
      }
      const auto match = Terms::get().longest(tokens_, at, kAfter | kTurns);
      if (match.tokens == 0) {
        ++at;
        continue;
      }
      if (match.is(Is::ends_reach) && (match.kinds & kAfter) == 0 &&
          !one_of(tokens_[at].fold, {"has", "had", "is"}))
        break;
      if (match.is(Is::negated_after)) found_ |= bit(Is::negated_before);
      if (match.is(Is::family_after)) found_ |= bit(Is::family_before);
      if (match.is(Is::hypothetical_after)) found_ |= bit(Is::hypothetical_before);
      if (match.is(Is::future_after)) found_ |= bit(Is::future_before);
      if (match.is(Is::historical_after)) found_ |= bit(Is::historical_before);
      if (match.is(Is::possible_after)) found_ |= bit(Is::possible_before);
      if (match.is(Is::probable_after)) found_ |= bit(Is::probable_before);
      at += match.tokens;
    }
  }

  std::span<const Token> tokens_;
  std::size_t first_;
  TokenRange mention_;
  std::span<const TokenRange> others_;
  std::span<const TokenRange> neutral_;
  Kinds found_ = 0;
  Judgement out_;
};

}  // namespace

Judgement judge(const PageReading& page, const Passage& passage, TokenRange mention,
                std::span<const TokenRange> others, std::span<const TokenRange> neutral,
                bool family, bool historical) {
  auto out = Judge(page, passage, mention, others, neutral).run();
  if (family) out.subject = Subject::family;
  if (historical && out.assertion.temporality == Temporality::current)
    out.assertion.temporality = Temporality::historical;
  return out;
}

}  // namespace millrace::extract
