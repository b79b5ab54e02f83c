// Words: a command split into its words, and the word that somebody probably meant.
#pragma once

#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

// "python3 'my script.py' --fast" as words; quotes group, a backslash takes the next letter as is.
// No variables, no globs: nothing here is a shell.
Result<std::vector<std::string>> split_words(std::string_view text);

// The candidate with the fewest edits from `word`, when it is near enough to be meant. Quadratic:
// callers bound the length.
std::optional<std::string> nearest_word(std::string_view word,
                                        const std::vector<std::string>& candidates);

}  // namespace millrace
