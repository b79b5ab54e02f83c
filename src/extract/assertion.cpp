#include "extract/assertion.h"

#include "extract/denial.h"
#include "extract/particles.h"
#include "extract/terms.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

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
                          bit(Is::possible_before) | bit(Is::probable_before) |
                          bit(Is::considered_before) | bit(Is::future_before);
constexpr Kinds kAfter = bit(Is::negated_after) | bit(Is::family_after) |
                         bit(Is::hypothetical_after) | bit(Is::future_after) |
                         bit(Is::historical_after) | bit(Is::possible_after) |
                         bit(Is::probable_after);
constexpr Kinds kMedicineBefore =
    bit(Is::stopped_before) | bit(Is::forbidden_before) | bit(Is::replaced_before);
constexpr Kinds kMedicineAfter =
    bit(Is::stopped_after) | bit(Is::forbidden_after) | bit(Is::replaced_after);
constexpr Kinds kTurns = bit(Is::ends_reach) | bit(Is::no_cue);

class Judge {
 public:
  Judge(const PageReading& page, const Passage& passage, TokenRange mention,
        const Surroundings& around)
      : tokens_(std::span<const Token>(page.tokens).first(passage.tokens.end)),
        first_(passage.tokens.first),
        mention_(mention),
        around_(around),
        medicine_(around.mentioned == Mentioned::medicine),
        result_(around.mentioned == Mentioned::result) {}

  Judgement run() {
    before();
    const bool denied_before = found(Is::negated_before);
    const auto answer = answer_behind();
    if (answer == Answer::none) after();
    out_.denied_behind = found(Is::negated_before) && !denied_before;
    if (found(Is::family_before)) out_.subject = Subject::family;
    auto& assertion = out_.assertion;
    if (found(Is::negated_before) || found(Is::forbidden_before))
      assertion.polarity = Polarity::negated;
    if (answer == Answer::no) assertion.polarity = Polarity::negated;
    if (answer == Answer::yes) assertion.polarity = Polarity::affirmed;
    if (found(Is::probable_before)) assertion.certainty = Certainty::probable;
    if (found(Is::possible_before)) assertion.certainty = Certainty::possible;
    if (found(Is::considered_before) && !medicine_) assertion.certainty = Certainty::possible;
    if (found(Is::historical_before) || found(Is::stopped_before) || found(Is::replaced_before))
      assertion.temporality = Temporality::historical;
    if (found(Is::future_before)) assertion.temporality = Temporality::future;
    if (found(Is::hypothetical_before) || (found(Is::considered_before) && medicine_))
      assertion.temporality = Temporality::hypothetical;
    // What is denied behind an allergy may be something else: "penicillin (rash), RAST negative".
    if (out_.denied_behind && around_.mentioned == Mentioned::allergy) out_.doubtful = true;
    if (assertion.polarity == Polarity::affirmed || answer != Answer::none) out_.doubtful = false;
    return out_;
  }

 private:
  using Since = std::array<std::size_t, 64>;  // Token behind the cue, by kind; 0: none.

  static std::size_t& of(Since& since, Is kind) { return since[static_cast<std::size_t>(kind)]; }

  bool found(Is cue) const { return (found_ & bit(cue)) != 0; }

  // "Should fever recur" supposes, "she should continue" does not.
  bool supposes(std::size_t at) const {
    if (!one_of(tokens_[at].fold, {"should", "sollte", "sollten", "falls"})) return true;
    if (at > first_ && !tokens_[at - 1].is(",") && !tokens_[at - 1].is(":")) return false;
    return !tokens_[at].is("falls") || falls_supposes(tokens_, at);
  }

  void before() {
    Since since = {};
    const auto tokens = tokens_.first(mention_.first);
    const auto cues = kBefore | kTurns | (medicine_ ? kMedicineBefore : 0);
    for (auto at = first_; at < mention_.first;) {
      if (const auto next = past_neutral(at); next > at) {
        at = next;
        continue;
      }
      // "X was stopped": said of X, not of what comes behind.
      if (is_behind_mention(at)) {
        const auto passive =
            Terms::get().longest(tokens, at, kAfter | (medicine_ ? kMedicineAfter : 0));
        if (passive.tokens > 0 && !is_of_next(at, passive.tokens)) {
          at += passive.tokens;
          continue;
        }
      }
      if (bare_answer(tokens_, at) != Answer::none) {
        forget(since);
        ++at;
        continue;
      }
      if (const auto next = past_company(at); next > at) {
        at = next;
        continue;
      }
      const auto match = Terms::get().longest(tokens, at, cues);
      if (match.tokens == 0) {
        turn(since, at);
        ++at;
        continue;
      }
      if (match.is(Is::ends_reach)) {
        if (is_of_denial(since, at)) {
          of(since, Is::negated_before) = at + match.tokens;  // "Did not start taking X".
        } else {
          forget(since);
        }
      }
      if (const auto next = past_false_cue(tokens, at, match.tokens); next > at) {
        at = next;
        continue;
      }
      take(since, at, match);
      at += match.tokens;
    }
    keep(since, Is::negated_before, kNegationReach);
    keep(since, Is::family_before, tokens_.size());
    keep(since, Is::hypothetical_before, tokens_.size());
    for (const auto kind :
         {Is::future_before, Is::historical_before, Is::possible_before, Is::probable_before,
          Is::considered_before, Is::stopped_before, Is::forbidden_before, Is::replaced_before})
      keep(since, kind, kShortReach);
    // A relative's medicine is one that the relative takes.
    if (medicine_ && found(Is::family_before) && !takes(of(since, Is::family_before)))
      found_ &= ~bit(Is::family_before);
    out_.doubtful = doubtful_;
  }

  void take(Since& since, std::size_t at, const Match& match) {
    const auto end = at + match.tokens;
    for (std::size_t kind = 0; kind < since.size(); ++kind) {
      if ((match.kinds & (kBefore | kMedicineBefore) & (Kinds{1} << kind)) == 0) continue;
      switch (static_cast<Is>(kind)) {
        case Is::hypothetical_before:
          // What a medicine is given against is supposed; the medicine and a result are not.
          if ((medicine_ || result_) && says_purpose(tokens_.subspan(at, match.tokens))) break;
          if (supposes(at) && !is_avoided(match)) since[kind] = end;
          break;
        case Is::forbidden_before:
          if (!is_avoided(match) || is_right_behind(end)) since[kind] = end;
          break;
        case Is::stopped_before:
          if (stops(at, end)) since[kind] = end;
          break;
        case Is::family_before:
          take_relative(since, at, end);
          break;
        case Is::replaced_before:
          if (replaces(end)) since[kind] = end;
          break;
        case Is::historical_before:
          // "History of A, B and C" is said of all three, "status post A, B" of the first.
          listed_past_ = one_of(tokens_[end - 1].fold, {"of", "de", "d", "for", "o", "includes"});
          event_past_ = listed_past_ || is_past_event(at, end);
          if (stops(at, end)) since[kind] = end;
          break;
        case Is::negated_before:
          doubtful_ = false;
          asked_not_ = at <= first_ + 2;
          of_verb_ = denies_verb(end) ? end : 0;
          since[kind] = end;
          break;
        default:
          since[kind] = end;
      }
    }
  }

  // "To avoid ibuprofen" forbids it; "to avoid a fall, ramipril" is why that is given.
  bool is_avoided(const Match& match) const {
    return medicine_ && match.is(Is::hypothetical_before) && match.is(Is::forbidden_before);
  }

  bool is_right_behind(std::size_t at) const {
    for (auto i = at; i <= at + 5 && i < tokens_.size() && !tokens_[i].is(","); ++i) {
      if (is_mention(i)) return true;
      if (is_order(i)) return false;
    }
    return false;
  }

  // "Avoid grapefruit with simvastatin": what is avoided is eaten or drunk beside the medicine.
  // "Avoid combining alcohol with tramadol" leaves it open and forbids it.
  bool is_beside_food(std::size_t forbidden, std::size_t at) const {
    if (!tokens_[at].is("with") || at - forbidden > 3) return false;
    return at > forbidden &&
           std::ranges::all_of(tokens_.subspan(forbidden, at - forbidden), [](const Token& token) {
             return one_of(token.fold, {"grapefruit", "grapefruits", "juice", "alcohol", "milk",
                                        "dairy", "products", "food", "foods", "and", "or"});
           });
  }

  // "Avoid X and take Y", "no X, use Y": from here on it is said what to take.
  bool is_order(std::size_t at) const {
    if (at <= first_) return false;
    const auto& before = tokens_[at - 1];
    return (is_and(before) || before.is(",") || before.is(";") || before.is(":") ||
            one_of(before.fold, {"then", "but", "instead", "please", "bitte", "dann", "puis"})) &&
           is_ordered(tokens_[at]);
  }

  // "Stop smoking and take aspirin", "completed physical therapy": said of something else, unless
  // a medicine stands right behind. "D/C home on X" says who goes.
  bool stops(std::size_t first, std::size_t end) const {
    if (!medicine_) return true;
    const auto& last = tokens_[end - 1].fold;
    if (says_discharge(tokens_.subspan(first, end - first))) return ends_next(end);
    if (last == "off" && end == first + 1) return mention_within(end, 1);
    const bool ended = one_of(last, {"stop", "stops", "stopped", "stopping", "quit", "completed",
                                     "finished", "completes", "finishes"});
    return !ended || is_right_behind(end);
  }

  // "Cough and fever, chills wird verneint": of one thing, and so of the last behind a comma.
  bool is_of_last(std::size_t at) const {
    if (!one_of(tokens_[at].fold, {"wird", "wurde", "ist", "was", "is", "est", "fue"}))
      return false;
    for (auto i = mention_.end; i < at; ++i) {
      if (tokens_[i].is(",") && past_neutral(i) == i && mention_between(i, at)) return true;
    }
    return false;
  }

  // "D/c'd her home metformin": a mention right behind, but for whose it is and how it is taken.
  bool ends_next(std::size_t at) const {
    for (auto i = at; i <= at + 3 && i < tokens_.size(); ++i) {
      if (is_mention(i)) return true;
      const bool between =
          is_possessive(tokens_[i]) || Terms::get().has(tokens_[i].key, Is::article) ||
          one_of(tokens_[i].fold, {"all", "both", "any", "home", "oral", "po", "iv", "old"});
      if (!between) return false;
    }
    return false;
  }

  // "Started X 10 mg daily and was d/c'd home", "started X and an echocardiogram was completed":
  // who goes, and what else was done. Only right behind the medicine, or a list of them, is it said
  // of it.
  bool is_of_another_subject(std::size_t at, std::size_t words) const {
    const auto& last = tokens_[at + words - 1].fold;
    if (!says_discharge(tokens_.subspan(at, words)) && !one_of(last, {"completed", "finished"}))
      return false;
    const auto end = at + words;
    if (end < tokens_.size() && tokens_[end].is("home")) return true;
    for (auto i = mention_.end; i < at;) {
      if (const auto next = past_neutral(i); next > i) {
        i = next;
        continue;
      }
      const auto other = std::ranges::find(around_.others, i, &TokenRange::first);
      if (other != around_.others.end()) {
        i = other->end;
        continue;
      }
      const bool lists = (tokens_[i].is(",") || is_and(tokens_[i])) && mention_within(i + 1, 1);
      const bool verb =
          one_of(
              tokens_[i].fold,
              {"has",  "have", "had",   "been",         "was",      "were",  "is",    "are",  "now",
               "then", "also", "later", "subsequently", "recently", "since", "which", "that", "(",
               ")",    "-",    ":",     "therapy",      "course"}) ||
          Terms::get().has(tokens_[i].key, Is::article) ||
          (tokens_[i].is(",") && i + 1 < at && tokens_[i + 1].is("which"));
      if (!lists && !verb) return true;
      ++i;
    }
    return false;
  }

  // "Status post stroke": what happened, and not what was done before ("previously on").
  bool is_past_event(std::size_t first, std::size_t end) const {
    const auto& last = tokens_[end - 1].fold;
    return one_of(last, {"post", "p", "nach", "n", "apres", "tras", "after"}) && end > first;
  }

  // -- relatives --

  void take_relative(Since& since, std::size_t at, std::size_t end) {
    auto& family = of(since, Is::family_before);
    // "Familial hypercholesterolemia" is a disease.
    const bool adjective =
        end == at + 1 && end == mention_.first &&
        one_of(tokens_[at].fold, {"familial", "familiale", "familiaux", "familiar", "familiar",
                                  "familiare", "familiarer", "familiares"});
    if (adjective) return;
    if (tells(end) && !says_history(tokens_.subspan(at, end - at))) {
      family = 0;
      return;
    }
    family = end;
    owner_ = at > first_ ? std::string_view(tokens_[at - 1].fold) : std::string_view();
  }

  // "Mother reports", "his mother, who states", "mother and father have noticed"; but "mother noted
  // to have".
  bool tells(std::size_t at) const {
    for (std::size_t n = 0; n < 5 && at < mention_.first; ++n) {
      const auto match =
          Terms::get().longest(tokens_, at, bit(Is::informant) | bit(Is::family_before));
      if (match.is(Is::informant)) {
        const auto next = at + match.tokens;
        return next + 1 >= tokens_.size() || !tokens_[next].is("to") ||
               !one_of(tokens_[next + 1].fold, {"have", "be", "suffer"});
      }
      const bool between =
          match.tokens > 0 || tokens_[at].is(",") || is_and(tokens_[at]) ||
          one_of(tokens_[at].fold, {"who", "also", "now", "today", "has", "have", "had", "his",
                                    "her", "qui", "que", "die", "der", "a", "ont", "auch"});
      if (!between) return false;
      at += std::max<std::size_t>(match.tokens, 1);
    }
    return false;
  }

  // "Lives with her daughter", "accompanied by his wife and son": where the company ends; `at`
  // itself when there is none. Who is spoken of next is the patient, unless the sentence goes on
  // about the relative: "cares for his mother, who has dementia".
  std::size_t past_company(std::size_t at) const {
    const auto lead = Terms::get().longest(tokens_, at, bit(Is::companion));
    if (lead.tokens == 0) return at;
    auto end = at;
    auto i = at + lead.tokens;
    for (std::size_t n = 0; n < 4 && i < mention_.first; ++n) {
      const auto relative = Terms::get().longest(tokens_, i, bit(Is::family_before));
      if (relative.tokens > 0 && says_history(tokens_.subspan(i, relative.tokens))) break;
      if (relative.tokens > 0) {
        i += relative.tokens;
        end = i;
        n = 0;
        continue;
      }
      // "Son fils": his, and a son.
      if (!is_possessive(tokens_[i]) && !(is_and(tokens_[i]) && is_company(i + 1))) break;
      ++i;
    }
    if (end == at) return at;
    const auto behind = end < mention_.first && tokens_[end].is(",") ? end + 1 : end;
    const bool goes_on = behind < mention_.first &&
                         one_of(tokens_[behind].fold, {"who", "qui", "que", "die", "der"});
    return goes_on && !tells(end) ? at : end;
  }

  bool is_company(std::size_t at) const {
    if (at < mention_.first && is_possessive(tokens_[at])) ++at;
    return at < mention_.first &&
           Terms::get().longest(tokens_, at, bit(Is::family_before)).tokens > 0;
  }

  bool takes(std::size_t since) const {
    for (auto at = since - 1; at < mention_.first; ++at) {
      if (is_taking(tokens_[at]) && !tokens_[at + 1].is("care")) return true;
    }
    return false;
  }

  // -- reach --

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
    for (const auto& range : around_.neutral) {
      if (range.first <= at && at < range.end) return range.end;
    }
    return at;
  }

  bool is_behind_mention(std::size_t at) const {
    return std::ranges::any_of(around_.others, [&](const TokenRange& other) {
      return other.end <= at && at - other.end <= 4;
    });
  }

  bool is_mention(std::size_t at) const {
    return std::ranges::any_of(around_.others,
                               [at](const TokenRange& other) { return other.first == at; });
  }

  bool mention_within(std::size_t at, std::size_t words) const {
    for (auto i = at; i <= at + words && i < tokens_.size(); ++i) {
      if (is_mention(i)) return true;
    }
    return false;
  }

  // "Continue A, stop B": said of B, which stands right behind.
  bool is_of_next(std::size_t at, std::size_t words) const {
    if (at == first_ || !(tokens_[at - 1].is(",") || is_and(tokens_[at - 1]) ||
                          one_of(tokens_[at - 1].fold, {"then", "dann", "puis", "luego", "we"})))
      return false;
    return mention_within(at + words, 1);
  }

  // "Switched from A to B", "replaced A with B"; a change from dose to dose replaces nothing, and
  // "from oral to intravenous B" leads to B.
  bool replaces(std::size_t behind) const {
    if (!mention_within(behind, 3)) return false;
    for (auto at = behind; !is_mention(at); ++at) {
      if (leads_on(tokens_[at]) && !tokens_[at].is("a")) return false;
    }
    const bool from = one_of(tokens_[behind - 1].fold, {"from", "of", "von", "de", "du"});
    for (auto at = behind + 1; at < tokens_.size() && at - behind < 16; ++at) {
      if (!leads_on(tokens_[at]) || !mention_between(behind, at)) continue;
      if (at + 1 < tokens_.size() && tokens_[at + 1].is_number()) return false;
      return from || mention_within(at + 1, 2);
    }
    return from;
  }

  // "Not taking X", "has not been started on X", "has not had Y": the verb is what is denied.
  bool is_of_denial(Since& since, std::size_t at) const {
    const auto denial = of(since, Is::negated_before);
    const auto& verb = tokens_[at].fold;
    const bool deniable =
        one_of(verb, {"has", "had", "hat", "hatte", "reports", "reported", "positive"}) ||
        (medicine_ &&
         one_of(verb,
                {"takes",      "taking",   "started",   "start",     "starts",     "starting",
                 "began",      "begin",    "beginning", "begun",     "initiate",   "initiated",
                 "initiating", "continue", "continued", "continues", "continuing", "resume",
                 "resumed",    "restart",  "restarted", "begonnen",  "se",         "debuter",
                 "poursuivre", "iniciar",  "continuar", "toma",      "nimmt",      "prend"}));
    if (denial == 0 || !deniable || at - denial > 2) return false;
    return std::ranges::all_of(tokens_.subspan(denial, at - denial), [](const Token& token) {
      return one_of(token.fold, {"been", "be", "currently", "presently", "now", "ever", "yet",
                                 "still", "actively", "regularly", "routinely", "consistently"});
    });
  }

  // Whether a list goes on with a mention right behind this comma or "and".
  bool goes_on(std::size_t at) const {
    auto next = at + 1;
    while (next < mention_.first && (is_and(tokens_[next]) || is_or(tokens_[next]) ||
                                     Terms::get().has(tokens_[next].key, Is::article)))
      ++next;
    return is_mention(next);
  }

  void turn(Since& since, std::size_t at) {
    const auto& token = tokens_[at];
    // A relative is done with where the patient is spoken of again. "Her father died when he was":
    // he is not she.
    const bool she = token.is("she") && owner_ != "his";
    const bool he = token.is("he") && owner_ != "her";
    const bool patient =
        she || he ||
        one_of(token.fold, {"patient", "patientin", "patiente", "paciente", "elle", "pt"});
    // "Her mother died when she was 60 of …" goes on about the mother.
    const bool aside =
        at > first_ && one_of(tokens_[at - 1].fold, {"when", "als", "quand", "cuando"});
    if (patient && !aside) of(since, Is::family_before) = 0;
    const bool allergy = around_.mentioned == Mentioned::allergy;
    // "No NSAIDs given aspirin allergy"
    if (allergy && one_of(token.fold, {"given", "despite", "trotz", "malgre"})) forget(since);
    // "Switched from A to B": B is what is taken now.
    auto& replaced = of(since, Is::replaced_before);
    if (replaced > 0 && leads_on(token) && mention_between(replaced, at)) replaced = 0;
    if (medicine_) turn_to_medicine(since, at);
    const bool joint = is_and(token) || is_or(token);
    if (!token.is(",") && !joint) return;
    const bool listed = goes_on(at);
    auto& past = of(since, Is::historical_before);
    // What is past is said of the next words, not of a whole list.
    if (past > 0 && listed && listed_past_) {
      past = at + 1;
    } else if (token.is(",")) {
      past = 0;
    }
    auto& denial = of(since, Is::negated_before);
    if (denial == 0) return;
    const bool verb_ends = token.is(",") && of_verb_ > 0 && !mention_between(of_verb_, at);
    if (verb_ends || ((token.is(",") || (allergy && is_and(token))) && ends_denial(denial, at))) {
      denial = 0;
    } else if (listed && (is_end_of_mention(at) || tokens_[at - 1].is(","))) {
      denial = at + 1;
    }
  }

  // "She doesn't feel well, cough and fever", "couldn't eat, nausea": a verb is denied, and what
  // stands behind the comma is not. Verbs of having and finding deny what they have or find.
  bool denies_verb(std::size_t end) const {
    const auto& cue = tokens_[end - 1].fold;
    const bool contraction =
        cue.ends_with("n't") || one_of(cue, {"doesnt", "dont", "didnt", "isnt", "arent", "wasnt",
                                             "werent", "hasnt", "havent", "not", "nicht"});
    if (!contraction) return false;
    for (auto i = end; i < tokens_.size() && i < end + 3; ++i) {
      const auto& token = tokens_[i];
      if (token.is(",")) break;
      if (has_object(token)) return false;
    }
    return true;
  }

  // "BP not at goal on lisinopril", "without fever on lisinopril": what is denied is something
  // else. "Not currently on lisinopril", "hasn't been on it" and "doesn't need to be on it" deny
  // it.
  bool is_of_another(std::size_t denial, std::size_t at) const {
    if (!mention_within(at + 1, 2) || at == denial) return false;
    const auto between = tokens_.subspan(denial, at - denial);
    const bool denied = std::ranges::all_of(between, is_between_denial_and_on);
    return !denied &&
           !one_of(between.back().fold, {"be", "been", "being", "stay", "remain", "continue"});
  }

  // "No adverse reaction to X", "denies side effects from X", "no cough with X": what X did not do.
  bool is_of_harm(std::size_t at) const {
    if (at == first_ || !mention_within(at + 1, 2)) return false;
    if (!one_of(tokens_[at].fold, {"to",  "from", "with", "auf",   "unter", "durch", "von",
                                   "mit", "sous", "avec", "a",     "au",    "aux",   "de",
                                   "con", "por",  "al",   "after", "nach",  "apres", "tras"}))
      return false;
    if (ends_with_harm_seen(tokens_.first(at))) return true;
    return one_of(tokens_[at].fold,
                  {"from", "with", "after", "mit", "nach", "avec", "apres", "con", "tras"}) &&
           ends_with_harm(at);
  }

  bool ends_with_harm(std::size_t end) const {
    constexpr auto kHarm = bit(Is::condition) | bit(Is::reaction);
    for (std::size_t n = 1; n <= 4 && first_ + n <= end; ++n) {
      if (Terms::get().longest(tokens_.first(end), end - n, kHarm).tokens == n) return true;
    }
    return false;
  }

  // "A history of hypertension on lisinopril", "s/p MI, on aspirin": what is past was the disease.
  // "Avoid A, use B": what was forbidden was the other one.
  void turn_to_medicine(Since& since, std::size_t at) {
    const auto& token = tokens_[at];
    const bool before = at > first_;
    const bool taken =
        one_of(token.fold, {"on", "sous", "unter"}) ||
        (before && token.is("tratamiento") && tokens_[at - 1].is("en")) ||
        (before && token.is("with") && one_of(tokens_[at - 1].fold, {"managed", "controlled"}));
    auto& past = of(since, Is::historical_before);
    // "A history of being on metformin"
    const bool was = before && one_of(tokens_[at - 1].fold, {"being", "been", "was", "were"});
    if (taken && event_past_ && past < at && !was) past = 0;
    const bool anew = before && (tokens_[at - 1].is(",") || is_and(tokens_[at - 1]));
    if (taken && anew) forget(since);
    auto& denial = of(since, Is::negated_before);
    if (denial > 0 && (is_of_harm(at) || (taken && is_of_another(denial, at)))) denial = 0;
    auto& forbidden = of(since, Is::forbidden_before);
    if (forbidden > 0 && is_beside_food(forbidden, at)) forbidden = 0;
    if (!is_order(at)) return;
    for (const auto kind : {Is::historical_before, Is::stopped_before, Is::forbidden_before})
      of(since, kind) = 0;
    if (asked_not_) of(since, Is::negated_before) = 0;
  }

  bool mention_between(std::size_t first, std::size_t end) const {
    return std::ranges::any_of(around_.others, [first, end](const TokenRange& other) {
      return first <= other.first && other.end <= end;
    });
  }

  // "Without wheezing, moderate edema": another phrase begins behind the comma. Where an "or" makes
  // it one list again it is denied as well, and an "and" leaves it to a person.
  bool ends_denial(std::size_t denial, std::size_t comma) {
    if (around_.mentioned == Mentioned::allergy) return ends_allergies(denial, comma);
    if (comma + 1 >= tokens_.size()) return false;
    if (one_of(tokens_[comma + 1].fold, {"with", "mit", "avec", "con"})) return true;
    bool degree = says_degree(tokens_[comma + 1]);
    bool joined = false;
    bool first_part = true;
    // A list is no longer, and a passage of nothing but commas takes no square of its length.
    const auto end = std::min(tokens_.size(), comma + 48);
    for (auto at = comma + 1; at < end; ++at) {
      const auto& token = tokens_[at];
      first_part = first_part && !token.is(",") && !is_and(token) && !is_or(token);
      if (!first_part && !degree) return false;
      if (token.is(";") || token.is(".")) break;
      const auto cue = Terms::get().longest(tokens_, at, kTurns | bit(Is::negated_before));
      if (cue.tokens > 0 && at > comma + 1 && !is_or(token)) break;
      // "edema moderado": behind the mention.
      degree |= first_part && at > comma + 1 && is_end_of_mention(at) && says_degree(token);
      if (is_or(token)) return false;
      joined |= is_and(token);
    }
    if (!degree) return false;
    if (!joined) return true;
    doubtful_ = true;
    return false;
  }

  bool is_end_of_mention(std::size_t at) const {
    return std::ranges::any_of(around_.others,
                               [at](const TokenRange& other) { return other.end == at; });
  }

  bool says_allergy(std::size_t first, std::size_t end) const {
    return std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(first),
                       tokens_.begin() + static_cast<std::ptrdiff_t>(end), is_allergy);
  }

  // "No known food allergies, penicillin (rash)": what was denied is complete, or it is said anew
  // what follows, or what it does. An "and" by itself leaves it to a person: "no children and an
  // allergy to X", "no asthma and allergy to X".
  bool ends_allergies(std::size_t denial, std::size_t joint) {
    const bool none = std::ranges::any_of(around_.others, [&](const TokenRange& other) {
      return denial < other.end && other.end <= joint && says_allergy(other.first, other.end);
    });
    const auto behind = mention_.end;
    const bool does =
        behind < tokens_.size() && (tokens_[behind].is("(") || tokens_[behind].is(":") ||
                                    (tokens_[behind].is("-") && !tokens_[behind].glued));
    const bool anew = says_allergy(joint, mention_.first);
    if (does || !is_and(tokens_[joint])) return anew || none || does;
    if (is_allergic_within(joint, mention_.first)) return true;
    doubtful_ |= (anew || none) && !says_allergy(mention_.first, mention_.end);
    return false;
  }

  bool is_allergic_within(std::size_t first, std::size_t end) const {
    return std::ranges::any_of(tokens_.subspan(first, end - first), [](const Token& token) {
      return one_of(token.fold, {"allergic", "allergisch", "allergique", "alergico", "alergica"});
    });
  }

  static void forget(Since& since) {
    for (const auto kind :
         {Is::negated_before, Is::historical_before, Is::possible_before, Is::probable_before,
          Is::considered_before, Is::stopped_before, Is::forbidden_before, Is::replaced_before})
      of(since, kind) = 0;
  }

  void keep(Since& since, Is kind, std::size_t reach) {
    const auto at = of(since, kind);
    if (at > 0 && mention_.first - at <= reach) found_ |= bit(kind);
  }

  // -- behind the mention --

  // "Diabetes: no", "Stroke (2019) - no"
  Answer answer_behind() const {
    auto at = mention_.end;
    // "Latex allergy: no" is marked without the word.
    const bool allergy = around_.mentioned == Mentioned::allergy;
    if (allergy && at < tokens_.size() && is_allergy(tokens_[at])) ++at;
    if (at < tokens_.size() && tokens_[at].is("(")) {
      while (at < tokens_.size() && at - mention_.end < 8 && !tokens_[at].is(")")) ++at;
      if (at >= tokens_.size() || !tokens_[at].is(")")) return Answer::none;
      ++at;
    }
    return bare_answer(tokens_, at + 1);
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
    for (const auto& other : around_.others) {
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

  // "Warfarin 5 mg daily, which was stopped": said of what stands before it.
  bool is_relative(std::size_t at) const {
    if (!one_of(tokens_[at].fold, {"which", "qui", "que"})) return false;
    for (auto i = mention_.end; i < at;) {
      const auto next = past_neutral(i);
      if (next == i && !tokens_[i].is(",")) return false;
      i = std::max(next, i + 1);
    }
    return true;
  }

  void after() {
    const auto end = end_of_after();
    // "Hb 6.8, transfusion should be considered": that, and not what was measured.
    const auto about = result_ ? kAfter & ~bit(Is::hypothetical_after) : kAfter;
    const auto cues = about | kTurns | (medicine_ ? kMedicineAfter : 0);
    for (auto at = mention_.end; at < end;) {
      if (const auto next = past_neutral(at); next > at) {
        at = next;
        continue;
      }
      const auto match = Terms::get().longest(tokens_, at, cues);
      if (match.tokens == 0) {
        ++at;
        continue;
      }
      if (match.is(Is::ends_reach) && (match.kinds & (kAfter | kMedicineAfter)) == 0 &&
          !one_of(tokens_[at].fold, {"has", "had", "is"}) && !is_relative(at))
        break;
      if (is_of_next(at, match.tokens)) break;
      if (match.is(Is::negated_after) && is_of_last(at)) break;
      if (match.is(Is::stopped_after) && is_of_another_subject(at, match.tokens)) break;
      for (const auto& [behind, cue] : {std::pair(Is::negated_after, Is::negated_before),
                                        std::pair(Is::family_after, Is::family_before),
                                        std::pair(Is::hypothetical_after, Is::hypothetical_before),
                                        std::pair(Is::future_after, Is::future_before),
                                        std::pair(Is::historical_after, Is::historical_before),
                                        std::pair(Is::possible_after, Is::possible_before),
                                        std::pair(Is::probable_after, Is::probable_before),
                                        std::pair(Is::stopped_after, Is::stopped_before),
                                        std::pair(Is::forbidden_after, Is::forbidden_before)}) {
        if (match.is(behind)) found_ |= bit(cue);
      }
      // "Was changed to another medicine"; to another dose is no end of it.
      if (match.is(Is::replaced_after) && mention_within(at + match.tokens, 2))
        found_ |= bit(Is::replaced_before);
      at += match.tokens;
    }
  }

  std::span<const Token> tokens_;
  std::size_t first_;
  TokenRange mention_;
  const Surroundings& around_;
  bool medicine_;
  bool result_;
  bool listed_past_ = false;
  bool event_past_ = false;  // The cue is of what happened: "status post".
  std::size_t of_verb_ = 0;  // Behind a denial that is one of a verb.
  bool asked_not_ = false;   // The denial is an order: "do not take".
  bool doubtful_ = false;
  std::string_view owner_ = {};  // "her" of "her father".
  Kinds found_ = 0;
  Judgement out_;
};

}  // namespace

Judgement judge(const PageReading& page, const Passage& passage, TokenRange mention,
                const Surroundings& around) {
  auto out = Judge(page, passage, mention, around).run();
  if (around.family) out.subject = Subject::family;
  if (around.historical && out.assertion.temporality == Temporality::current)
    out.assertion.temporality = Temporality::historical;
  return out;
}

}  // namespace millrace::extract
