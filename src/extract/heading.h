// Headings: what the words of one say about the lines below it. Where a heading is on a page is
// reading's.
#pragma once

#include "extract/token.h"

#include <optional>
#include <span>
#include <string_view>

namespace millrace::extract {

// "Past medications", "abgesetzt"; `key` is a phrase of terms.h.
bool says_historical(std::string_view key);

// The kind of the first part of "Course and treatment" that is a heading. "Allergies and current
// medications" are two lists in one, whose medicines are no allergens: nothing.
std::optional<std::string_view> heading_of_parts(std::span<const Token> tokens);
bool all_parts_are_headings(std::span<const Token> tokens);

// Whether something stands here that somebody can be allergic to, or "NKDA".
bool names_allergen(std::span<const Token> tokens);

}  // namespace millrace::extract
