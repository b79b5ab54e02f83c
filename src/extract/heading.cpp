#include "extract/heading.h"

#include "extract/terms.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace millrace::extract {
namespace {

// Beside allergies in their heading: "Allergies and reactions", "Allergies/sensitivities".
bool is_of_allergies(std::span<const Token> part) {
  const auto kind = Terms::get().heading(phrase_of(part));
  if (kind) return *kind == "allergies";
  return std::ranges::all_of(part, [](const Token& token) {
    return !token.is_word() || one_of(token.fold, {"drug",
                                                   "food",
                                                   "medication",
                                                   "environmental",
                                                   "adverse",
                                                   "reaction",
                                                   "reactions",
                                                   "intolerance",
                                                   "intolerances",
                                                   "sensitivity",
                                                   "sensitivities",
                                                   "hypersensitivities",
                                                   "known",
                                                   "side",
                                                   "effects",
                                                   "unvertraglichkeit",
                                                   "unvertraglichkeiten",
                                                   "intoleranzen",
                                                   "reaktionen",
                                                   "intolerancias",
                                                   "reacciones",
                                                   "adversas",
                                                   "effets",
                                                   "indesirables"});
  });
}

}  // namespace

bool says_historical(std::string_view key) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"discontinued", "stopped", "past medications", "previous medications", "abgesetzt", "arrete",
       "suspendid", "bisherige medikation"});
  return std::ranges::any_of(kWords,
                             [&](auto word) { return key.find(word) != std::string_view::npos; });
}

std::optional<std::string_view> heading_of_parts(std::span<const Token> tokens) {
  std::size_t begin = 0;
  const auto are_allergies = [tokens](std::size_t cut) {
    if (cut == tokens.size() || tokens[cut].is("(")) return true;
    auto from = cut + 1;
    for (auto i = from; i <= tokens.size(); ++i) {
      const bool ends = i == tokens.size() ||
                        one_of(tokens[i].fold, {"and", "und", "et", "y", "/", "&", ",", "(", "e"});
      if (!ends) continue;
      if (!is_of_allergies(tokens.subspan(from, i - from))) return false;
      if (i < tokens.size() && tokens[i].is("(")) return true;
      from = i + 1;
    }
    return true;
  };
  for (std::size_t i = 0; i <= tokens.size(); ++i) {
    const bool cut = i == tokens.size() ||
                     one_of(tokens[i].fold, {"and", "und", "et", "y", "/", "&", ",", "(", "e"});
    if (!cut) continue;
    if (i > begin) {
      if (const auto kind = Terms::get().heading(phrase_of(tokens.subspan(begin, i - begin)))) {
        return *kind == "allergies" && !are_allergies(i) ? std::nullopt : kind;
      }
    }
    begin = i + 1;
  }
  return std::nullopt;
}

bool all_parts_are_headings(std::span<const Token> tokens) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= tokens.size(); ++i) {
    const bool cut =
        i == tokens.size() || one_of(tokens[i].fold, {"and", "und", "et", "y", "/", "&", "e"});
    if (!cut) continue;
    if (i == begin || !Terms::get().heading(phrase_of(tokens.subspan(begin, i - begin))))
      return false;
    begin = i + 1;
  }
  return true;
}

bool names_allergen(std::span<const Token> tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (one_of(tokens[i].fold, {"nka", "nkda", "nkfa"}) ||
        Terms::get().longest(tokens, i, bit(Is::drug) | bit(Is::allergen)).tokens > 0)
      return true;
  }
  return false;
}

}  // namespace millrace::extract
