#include "layout/sources/estimated_words.h"

#include "layout/code_points.h"
#include "layout/raw_page.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace millrace::layout {
namespace {

// Width of a character as a share of the height of its line, on average.
constexpr double kCharacterWidth = 0.5;

using TextLine = std::vector<std::string>;

std::size_t length_of(const TextLine& line) {
  std::size_t length = line.empty() ? 0 : line.size() - 1;
  for (const auto& word : line) length += count_code_points(word);
  return length;
}

std::vector<TextLine> given_lines(std::string_view text) {
  std::vector<TextLine> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto words = words_in(text.substr(0, end));
    if (!words.empty()) lines.push_back(std::move(words));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// n characters on L lines of a box w wide and h high: n / L * kCharacterWidth * h / L = w.
std::size_t line_count(std::size_t length, const Box& box, double aspect) {
  if (!(box.width() > 0)) return 1;
  const auto shape = box.height() * aspect / box.width();
  const auto lines = std::round(std::sqrt(static_cast<double>(length) * kCharacterWidth * shape));
  return static_cast<std::size_t>(std::clamp(lines, 1.0, 1000.0));
}

std::vector<TextLine> wrapped(TextLine words, std::size_t lines) {
  const auto room = (length_of(words) + lines - 1) / lines;
  std::vector<TextLine> out(1);
  std::size_t used = 0;
  for (auto& word : words) {
    const auto length = count_code_points(word);
    if (!out.back().empty() && used + 1 + length > room && out.size() < lines) {
      out.emplace_back();
      used = 0;
    }
    used += length + (out.back().empty() ? 0 : 1);
    out.back().push_back(std::move(word));
  }
  return out;
}

}  // namespace

std::vector<EstimatedWord> estimate_words(std::string_view text, const Box& box, double aspect) {
  auto lines = given_lines(text);
  if (lines.size() == 1) {
    const auto count = line_count(length_of(lines[0]), box, aspect);
    lines = wrapped(std::move(lines[0]), count);
  }
  std::size_t longest = 1;
  for (const auto& line : lines) longest = std::max(longest, length_of(line));
  const auto per_character = box.width() / static_cast<double>(longest);
  const auto per_line = box.height() / static_cast<double>(std::max<std::size_t>(lines.size(), 1));
  std::vector<EstimatedWord> out;
  for (std::uint32_t l = 0; l < lines.size(); ++l) {
    std::size_t at = 0;
    for (auto& word : lines[l]) {
      const auto length = count_code_points(word);
      const Box place{.x0 = box.x0 + per_character * static_cast<double>(at),
                      .y0 = box.y0 + per_line * l,
                      .x1 = box.x0 + per_character * static_cast<double>(at + length),
                      .y1 = box.y0 + per_line * (l + 1)};
      out.push_back({.text = std::move(word), .box = rounded(place), .line = l});
      at += length + 1;
    }
  }
  return out;
}

}  // namespace millrace::layout
