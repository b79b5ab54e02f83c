#include "layout/compare.h"

#include "layout/code_points.h"
#include "layout/edit_distance.h"
#include "layout/folded_text.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace millrace::layout {
namespace {

std::u32string normal(std::string_view text, CompareOptions options) {
  if (options.folded) return fold(text).chars;
  std::u32string out;
  bool space = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = decode_at(text, at);
    at += decoded.bytes;
    if (is_space(decoded.code)) {
      space = true;
      continue;
    }
    if (space && !out.empty()) out += U' ';
    space = false;
    out += decoded.code;
  }
  return out;
}

std::vector<std::u32string> words_of(std::u32string_view text) {
  std::vector<std::u32string> words;
  while (!text.empty()) {
    const auto end = std::min(text.find(U' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace

ErrorCount character_errors(std::string_view truth, std::string_view reading,
                            CompareOptions options) {
  const auto expected = normal(truth, options);
  const auto found = normal(reading, options);
  return {.errors = edit_distance(expected, found), .expected = expected.size()};
}

ErrorCount word_errors(std::string_view truth, std::string_view reading, CompareOptions options) {
  // Each different word becomes a character of its own.
  std::map<std::u32string, char32_t> names;
  const auto numbers = [&](std::string_view text) {
    std::u32string out;
    for (auto& word : words_of(normal(text, options))) {
      out += names.try_emplace(std::move(word), static_cast<char32_t>(names.size())).first->second;
    }
    return out;
  };
  const auto expected = numbers(truth);
  const auto found = numbers(reading);
  return {.errors = edit_distance(expected, found), .expected = expected.size()};
}

WordScore compare_words(std::string_view truth, std::string_view reading, CompareOptions options) {
  std::map<std::u32string, std::size_t> left;
  WordScore score;
  for (auto& word : words_of(normal(truth, options))) {
    ++left[std::move(word)];
    ++score.expected;
  }
  for (const auto& word : words_of(normal(reading, options))) {
    ++score.found;
    const auto at = left.find(word);
    if (at == left.end() || at->second == 0) continue;
    --at->second;
    ++score.right;
  }
  return score;
}

WordScore compare_boxes(std::span<const Word> truth, std::span<const Word> reading,
                        double iou_min) {
  std::multimap<std::string_view, const Word*> left;
  for (const auto& word : truth) left.emplace(word.text, &word);
  WordScore score{.expected = truth.size(), .found = reading.size()};
  for (const auto& word : reading) {
    const auto [first, last] = left.equal_range(word.text);
    auto best = last;
    double best_overlap = iou_min;
    for (auto at = first; at != last; ++at) {
      const auto overlap = intersection_over_union(at->second->box, word.box);
      if (overlap < best_overlap) continue;
      best = at;
      best_overlap = overlap;
    }
    if (best == last) continue;
    left.erase(best);
    ++score.right;
  }
  return score;
}

}  // namespace millrace::layout
