#include "base/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace millrace {

Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == '\\' && quote != '\'') {
      if (++i == text.size()) return fail(ErrorKind::invalid_argument, "a \\ ends the command");
      word += text[i];
      in_word = true;
    } else if (quote != 0) {
      if (letter == quote) {
        quote = 0;
      } else {
        word += letter;
      }
    } else if (letter == '\'' || letter == '"') {
      quote = letter;
      in_word = true;
    } else if (letter == ' ' || letter == '\t') {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else {
      word += letter;
      in_word = true;
    }
  }
  if (quote != 0) {
    return fail(ErrorKind::invalid_argument, fmt::format("a quote {} is not closed", quote));
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

std::optional<std::string> nearest_word(std::string_view word,
                                        const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  std::size_t best_edits = std::min(std::max<std::size_t>(2, word.size() / 3) + 1, word.size());
  for (const auto& candidate : candidates) {
    // Levenshtein distance, one row at a time.
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t above = row[j];
        const std::size_t replaced = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        row[j] = std::min({above + 1, row[j - 1] + 1, replaced});
        diagonal = above;
      }
    }
    if (row.back() < best_edits) {
      best_edits = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace millrace
