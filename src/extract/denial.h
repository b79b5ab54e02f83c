// Denial: words that deny a whole list, as allergies are denied: "none", "no known …", "verneint",
// and answers of one word. Both passes read them the same way: what is marked so is told so.
#pragma once

#include "extract/token.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace millrace::extract {

// "No", "none", "denies", "NKDA"; folded.
bool says_none(std::string_view fold);

// Whether what stands before a word for allergies denies it: "no known drug allergies", but not "no
// amoxicillin because of her allergy". `at` is that word, `first` where its sentence begins.
bool denies_allergy(std::span<const Token> tokens, std::size_t first, std::size_t at);

// "Diabetes: no", "Stroke - no": a whole answer to what stands before it. `at` is its word.
enum class Answer : std::uint8_t { none, no, yes };
Answer bare_answer(std::span<const Token> tokens, std::size_t at);

}  // namespace millrace::extract
