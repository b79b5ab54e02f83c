#include "extract/denial.h"

namespace millrace::extract {
namespace {

constexpr std::size_t kReach = 10;  // Tokens.

// Behind these stands what there is: it is a reason, or somebody has it.
bool presupposes(const Token& token) {
  return one_of(
      token.fold,
      {"because", "due",   "given",  "despite", "since",  "owing",  "for",  "in",  "with",
       "after",   "his",   "her",    "their",   "wegen",  "trotz",  "bei",  "mit", "aufgrund",
       "seiner",  "ihrer", "seine",  "ihre",    "raison", "malgre", "pour", "par", "avec",
       "sa",      "son",   "debido", "pese",    "causa",  "cause",  "por",  "con", "su"});
}

}  // namespace

bool says_none(std::string_view fold) {
  return one_of(fold, {"no",    "none",      "not",    "nil",   "denies",  "without",  "kein",
                       "keine", "keinerlei", "keinen", "nicht", "ohne",    "aucun",    "aucune",
                       "pas",   "sans",      "nie",    "sin",   "ninguna", "ninguno",  "niega",
                       "nka",   "nkda",      "nkfa",   "never", "denied",  "verneint", "nein"});
}

bool denies_allergy(std::span<const Token> tokens, std::size_t first, std::size_t at) {
  for (auto i = at; i > first && at - i < kReach; --i) {
    const auto& before = tokens[i - 1];
    if (before.is(",") || before.is(";") || before.is(".") || presupposes(before) ||
        one_of(before.fold, {"but", "aber", "mais", "pero"}))
      return false;
    if (says_none(before.fold)) return true;
  }
  return false;
}

Answer bare_answer(std::span<const Token> tokens, std::size_t at) {
  if (at < 2 || at >= tokens.size()) return Answer::none;
  const auto& sign = tokens[at - 1];
  const bool asked =
      sign.is(":") || sign.is("=") || sign.is("?") || (sign.is("-") && !tokens[at].glued);
  if (!asked) return Answer::none;
  const bool no =
      one_of(tokens[at].fold, {"no", "none", "nein", "non", "keine", "ninguno", "ninguna", "aucun",
                               "aucune", "negative", "neg", "negativ", "negatif", "negativo",
                               "negativa", "denied", "denies", "absent", "verneint"});
  const bool yes = one_of(tokens[at].fold, {"yes", "ja", "oui", "si", "positive", "positiv",
                                            "positif", "positivo", "positiva", "present"});
  if (!no && !yes) return Answer::none;
  const auto answer = no ? Answer::no : Answer::yes;
  const auto next = at + 1;
  if (next >= tokens.size()) return answer;
  const bool same_line = tokens[next].line == tokens[at].line;
  // A line may end within a sentence: "Lungs: no / wheezing".
  if (!same_line && (!tokens[next].is_word() || tokens[next].capital)) return answer;
  if (!tokens[next].is_word()) return tokens[next].is_number() ? Answer::none : answer;
  // The next question begins: "Diabetes: No  Heart disease: Yes". "Cardiac: no chest pain" is none.
  for (auto i = next + 1; i < tokens.size() && i - next <= 6; ++i) {
    if (tokens[i].is(",") || tokens[i].is(".") || tokens[i].is(";")) break;
    const bool question = tokens[i].is(":") || tokens[i].is("=") || tokens[i].is("?") ||
                          (tokens[i].is("-") && !tokens[i].glued);
    if (question) return tokens[next].capital || !same_line ? answer : Answer::none;
  }
  return Answer::none;
}

}  // namespace millrace::extract
