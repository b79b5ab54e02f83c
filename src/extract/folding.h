// Folding: text as terms are compared. Small letters without accents, one kind of dash and quote.
//
// "Größe", "GRÖSSE" and the "Grosse" that OCR makes of it are one key. Offsets are not kept: tokens
// know where they came from.
#pragma once

#include <string>
#include <string_view>

namespace millrace::extract {

// "Œdème de Quincke" → "oedeme de quincke"
std::string fold(std::string_view text);

// Accents that are characters of their own, soft hyphens and joiners: they part no words, and
// folding leaves nothing of them.
bool folds_away(char32_t code);

// The key of a term: folded, and dashes inside words are spaces ("follow-up" is "follow up").
std::string key_of(std::string_view folded);

}  // namespace millrace::extract
