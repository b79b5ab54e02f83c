#include "layout/clinical/assertion_cues.h"

#include "layout/code_points.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace millrace::layout::clinical {
namespace {

constexpr std::size_t kReachBytes = 160;
constexpr std::size_t kNegationReach = 6;  // Words.
constexpr std::size_t kAfterReach = 5;

constexpr auto kNegations = std::to_array<std::string_view>(
    {"no",     "not",   "denies", "denied",   "denying",  "without",  "negative",
     "never",  "nil",   "absent", "excludes", "excluded", "doesn't",  "don't",
     "didn't", "isn't", "aren't", "wasn't",   "weren't",  "hasn't",   "haven't",
     "hadn't", "won't", "can't",  "cannot",   "couldn't", "wouldn't", "shouldn't"});
constexpr auto kEnds = std::to_array<std::string_view>(
    {"but", "however", "except", "although", "though", "apart", "besides"});
constexpr auto kNoNegation = std::to_array<std::string_view>(
    {"change",  "changes",    "changed", "increase",  "only",       "doubt", "just",
     "further", "controlled", "respond", "responded", "responding", "stop",  "discontinue",
     "skip",    "exclude",    "rule",    "relieved",  "goal",       "target"});
constexpr auto kFillers = std::to_array<std::string_view>({"well", "adequately", "at"});
constexpr auto kFamily = std::to_array<std::string_view>(
    {"mother",   "father", "mother's", "father's",    "parent",      "parents",
     "brother",  "sister", "sibling",  "siblings",    "family",      "maternal",
     "paternal", "aunt",   "uncle",    "grandmother", "grandfather", "grandparent",
     "cousin",   "son",    "daughter", "fh",          "fhx"});
constexpr auto kHypothetical = std::to_array<std::string_view>({"if", "unless", "should"});
// What something is done against: supposed itself, and a reason for a medicine that is taken.
constexpr auto kPurpose =
    std::to_array<std::string_view>({"risk", "prevent", "prevention", "prophylaxis"});
constexpr auto kFound = std::to_array<std::string_view>(
    {"detected", "seen", "found", "present", "identified", "evident"});

template <std::size_t N>
bool is_in(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool ends_sentence(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == ';' || c == '!' || c == '?') return true;
  const bool last = at + 1 >= text.size();
  // A sentence that goes on in the next line goes on with a small letter, mostly; items of a list
  // do not.
  if (c == '\n') return last || text[at + 1] < 'a' || text[at + 1] > 'z';
  // A point inside a number or an abbreviation ends nothing.
  return c == '.' && (last || text[at + 1] == ' ' || text[at + 1] == '\n');
}

std::string_view before_in_sentence(std::string_view text, std::size_t end) {
  const auto lowest = end - std::min(end, kReachBytes);
  auto begin = end;
  while (begin > lowest && !ends_sentence(text, begin - 1)) --begin;
  return text.substr(begin, end - begin);
}

std::string_view after_in_sentence(std::string_view text, std::size_t begin) {
  const auto highest = std::min(text.size(), begin + kReachBytes);
  auto end = begin;
  while (end < highest && !ends_sentence(text, end)) ++end;
  return text.substr(begin, end - begin);
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool open = false;
  auto lowered = to_lower(text);
  // "doesn’t", as word processors set it.
  constexpr std::string_view kApostrophe = "\u2019";
  for (auto at = lowered.find(kApostrophe); at != lowered.npos; at = lowered.find(kApostrophe, at))
    lowered.replace(at, kApostrophe.size(), "'");
  for (const char c : lowered) {
    const bool letter = (c >= 'a' && c <= 'z') || c == '\'' || static_cast<unsigned char>(c) > 127;
    if (letter) {
      if (!open) words.emplace_back();
      words.back() += c;
    }
    open = letter;
  }
  return words;
}

bool negated_before(const std::vector<std::string>& words) {
  bool negated = false;
  std::size_t distance = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    // "Isn't well controlled on lisinopril", "not at goal on lisinopril"
    const bool filled = i + 2 < words.size() && is_in(kFillers, words[i + 1]);
    const auto next = filled ? i + 2 : i + 1;
    const bool harmless = next < words.size() && is_in(kNoNegation, words[next]);
    if (is_in(kNegations, words[i]) && !harmless) {
      negated = true;
      distance = 0;
    } else if (is_in(kEnds, words[i]) || ++distance > kNegationReach) {
      negated = false;
    }
  }
  return negated;
}

// "was ruled out", "not detected", ": negative", "denied"
bool negated_after(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < std::min(words.size(), kAfterReach); ++i) {
    const std::string_view next = i + 1 < words.size() ? words[i + 1] : std::string_view();
    if (is_in(kEnds, words[i])) return false;
    if (words[i] == "negative" || words[i] == "absent" || words[i] == "denied") return true;
    if (words[i] == "ruled" && next == "out") return true;
    if (words[i] == "not" && is_in(kFound, next)) return true;
  }
  return false;
}

}  // namespace

Cues cues_around(std::string_view text, ByteRange at) {
  if (at.begin > at.end || at.end > text.size()) return {};
  const auto before = words_of(before_in_sentence(text, at.begin));
  const auto after = words_of(after_in_sentence(text, at.end));
  const auto near_after = std::min(after.size(), kAfterReach);
  const auto names_family = [](const std::string& word) { return is_in(kFamily, word); };
  const auto supposes = [](const std::string& word) { return is_in(kHypothetical, word); };
  const auto has_purpose = [](const std::string& word) { return is_in(kPurpose, word); };
  return {
      .negated = negated_before(before) || negated_after(after),
      .family = std::ranges::any_of(before, names_family) ||
                std::any_of(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(near_after),
                            names_family),
      .hypothetical = std::ranges::any_of(before, supposes),
      .purpose = std::ranges::any_of(before, has_purpose),
  };
}

}  // namespace millrace::layout::clinical
