#include "document/ocr/network/line_decoder.h"

#include "layout/code_points.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace millrace::document {
namespace {

constexpr float kChoiceMin = 0.02F;     // Probability from which a second reading is considered.
constexpr std::size_t kChoicesMax = 3;  // Readings of one character.
constexpr std::size_t kDoubtsMax = 4;   // Characters of one word that are varied.
// How much likelier than another reading (logarithm) one must be to win against what is known.
constexpr double kKnownWord = 2.5;
constexpr double kNumber = 2.0;
constexpr double kKnownLetter = 1.0;

bool is_digit(std::string_view text) {
  return text.size() == 1 && text[0] >= '0' && text[0] <= '9';
}

bool is_letter(std::string_view text) {
  return !text.empty() && layout::is_letter(layout::decode_at(text, 0).code);
}

}  // namespace

LineDecoder::LineDecoder(Alphabet alphabet, WordList words, std::size_t null_code)
    : alphabet_(std::move(alphabet)), words_(std::move(words)), null_code_(null_code) {}

void LineDecoder::add_choices(Spike& spike, std::span<const float> row) const {
  spike.choices.clear();
  for (std::size_t code = 0; code < row.size(); ++code) {
    if (code == null_code_ || row[code] < kChoiceMin || alphabet_.of(code).text.empty()) continue;
    spike.choices.push_back({.code = code, .probability = row[code]});
  }
  std::ranges::sort(spike.choices, [](const Choice& a, const Choice& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.code < b.code;
  });
  if (spike.choices.size() > kChoicesMax) spike.choices.resize(kChoicesMax);
}

// At each step the likeliest code; steps with the same one are one character, and a step of nothing
// between two makes them two.
std::vector<LineDecoder::Spike> LineDecoder::spikes_of(
    const CodeProbabilities& probabilities) const {
  std::vector<Spike> out;
  std::size_t last = null_code_;
  std::size_t begin = 0;
  float peak = 0;
  for (std::size_t step = 0; step < probabilities.steps(); ++step) {
    const auto row = probabilities.at(step);
    const auto best = std::ranges::max_element(row);
    const auto code = static_cast<std::size_t>(best - row.begin());
    const bool character = code != null_code_ && !alphabet_.of(code).text.empty();
    if (character) {
      if (code != last) {
        out.emplace_back();
        begin = step;
        peak = 0;
      }
      if (*best > peak) {
        peak = *best;
        add_choices(out.back(), row);
      }
      out.back().at = static_cast<double>(begin + step + 1) / 2;
    }
    last = code;
  }
  return out;
}

double LineDecoder::bonus(std::span<const Spike> word, std::span<const std::size_t> chosen) const {
  const auto text = [&](std::size_t i) -> std::string_view {
    return alphabet_.of(word[i].choices[chosen[i]].code).text;
  };
  // Quotes, brackets, full stops around a word are not part of it.
  std::size_t begin = 0;
  std::size_t end = word.size();
  while (begin < end && !is_letter(text(begin)) && !is_digit(text(begin))) ++begin;
  while (end > begin && !is_letter(text(end - 1)) && !is_digit(text(end - 1))) --end;
  if (begin == end) return 0;
  std::vector<std::int32_t> ids;
  bool number = true;
  for (std::size_t i = begin; i < end; ++i) {
    ids.push_back(alphabet_.of(word[i].choices[chosen[i]].code).id);
    number = number && !is_letter(text(i));
  }
  if (number) return kNumber;
  if (ids.size() == 1) {
    const auto only = text(begin);
    return only == "a" || only == "A" || only == "I" ? kKnownLetter : 0;
  }
  return words_.has(ids) ? kKnownWord : 0;
}

// The combination of readings that is worth most.
std::vector<std::size_t> LineDecoder::best_choices(std::span<const Spike> word) const {
  std::vector<std::size_t> chosen(word.size(), 0);
  std::vector<std::size_t> doubts;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i].choices.size() > 1) doubts.push_back(i);
  }
  if (doubts.empty() || doubts.size() > kDoubtsMax) return chosen;
  auto best = chosen;
  double best_worth = bonus(word, chosen);
  while (true) {
    std::size_t k = 0;  // Count through all combinations.
    while (k < doubts.size() && ++chosen[doubts[k]] == word[doubts[k]].choices.size()) {
      chosen[doubts[k++]] = 0;
    }
    if (k == doubts.size()) return best;
    double worth = 0;
    for (const auto i : doubts) {
      const auto& choices = word[i].choices;
      worth += std::log(choices[chosen[i]].probability / choices[0].probability);
    }
    if (worth + kKnownWord <= best_worth) continue;  // Nothing could make up for it.
    worth += bonus(word, chosen);
    if (worth > best_worth) {
      best_worth = worth;
      best = chosen;
    }
  }
}

LineWord LineDecoder::to_word(std::span<const Spike> spikes) const {
  const auto chosen = best_choices(spikes);
  LineWord word{.x0 = spikes.front().at, .x1 = spikes.back().at};
  double sum = 0;
  double least = 1;
  for (std::size_t i = 0; i < spikes.size(); ++i) {
    const auto& choice = spikes[i].choices[chosen[i]];
    word.text += alphabet_.of(choice.code).text;
    word.centres.push_back(spikes[i].at);
    sum += choice.probability;
    least = std::min<double>(least, choice.probability);
  }
  word.conf = (sum / static_cast<double>(spikes.size()) + least) / 2;
  return word;
}

bool LineDecoder::knows(std::string_view word) const {
  std::vector<std::int32_t> ids;
  std::size_t letters_end = 0;  // Behind the last letter.
  for (std::size_t at = 0; at < word.size();) {
    const auto bytes = layout::decode_at(word, at).bytes;
    const auto character = word.substr(at, bytes);
    at += bytes;
    if (ids.empty() && !is_letter(character)) continue;
    ids.push_back(alphabet_.id_of(character));
    if (is_letter(character)) letters_end = ids.size();
  }
  ids.resize(letters_end);
  return !ids.empty() && words_.has(ids);
}

std::vector<LineWord> LineDecoder::decode(const CodeProbabilities& probabilities) const {
  std::vector<LineWord> words;
  const auto spikes = spikes_of(probabilities);
  for (std::size_t i = 0; i < spikes.size();) {
    if (alphabet_.is_space(spikes[i].choices[0].code)) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < spikes.size() && !alphabet_.is_space(spikes[end].choices[0].code)) ++end;
    words.push_back(to_word(std::span(spikes).subspan(i, end - i)));
    i = end;
  }
  return words;
}

}  // namespace millrace::document
