// Particles: the small words of four languages that sentences hang together by, folded. What a
// mention is said to be depends on them; see assertion.h.
#pragma once

#include "extract/token.h"

#include <span>

namespace millrace::extract {

bool is_and(const Token& token);
bool is_or(const Token& token);

// What a phrase of its own begins with: a list of what is denied does not say how much of it.
bool says_degree(const Token& token);

// "Takes", "on", "sous": somebody has a medicine.
bool is_taking(const Token& token);

// What may stand between "lives with" and a relative.
bool is_possessive(const Token& token);

// "To", "with", "durch": behind it stands what something was changed to.
bool leads_on(const Token& token);

// "Take", "use": said to somebody who is to do so.
bool is_ordered(const Token& token);

// "Side effects", "reactions": what medicines do besides.
bool is_harm(const Token& token);

// "No reaction to", "no reaction was noted after": words that end with it, seen or not.
bool ends_with_harm_seen(std::span<const Token> tokens);

// "Family history": told of, and nobody who tells or keeps company.
bool says_history(std::span<const Token> tokens);

// "D/C", "d/c'd", "dc'd": discharged or discontinued.
bool says_discharge(std::span<const Token> tokens);

// "To prevent X", "risk of X": why something is given.
bool says_purpose(std::span<const Token> tokens);

// "Falls" supposes in German and is a noun in English: which, the words around it say.
bool falls_supposes(std::span<const Token> tokens, std::size_t at);

// "Allergies", "allergisch", "intolerance".
bool is_allergy(const Token& token);

// "Have", "show", "take": where such a verb is denied, a list of what it has is.
bool has_object(const Token& token);

// What may stand between a denial and the "on" that it denies.
bool is_between_denial_and_on(const Token& token);

}  // namespace millrace::extract
