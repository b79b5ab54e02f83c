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

}  // namespace millrace::extract
