#include "document/ocr/network/line_decoder.h"

#include <algorithm>

namespace millrace::document {
namespace {

struct Spike {
  std::size_t code = 0;
  double at = 0;  // Middle of its steps.
  float conf = 0;
};

// At each step the likeliest code; steps with the same one are one character, and nothing between
// two makes them two.
std::vector<Spike> spikes_of(const CodeProbabilities& probabilities, std::size_t null_code) {
  std::vector<Spike> out;
  std::size_t last = null_code;
  std::size_t begin = 0;
  for (std::size_t step = 0; step < probabilities.steps(); ++step) {
    const auto row = probabilities.at(step);
    const auto best = std::ranges::max_element(row);
    const auto code = static_cast<std::size_t>(best - row.begin());
    if (code != null_code) {
      if (code != last) {
        out.push_back({.code = code});
        begin = step;
      }
      out.back().conf = std::max(out.back().conf, *best);
      out.back().at = static_cast<double>(begin + step + 1) / 2;
    }
    last = code;
  }
  return out;
}

}  // namespace

std::vector<LineWord> decode_line(const CodeProbabilities& probabilities, std::size_t null_code,
                                  const Alphabet& alphabet) {
  std::vector<LineWord> words;
  bool open = false;
  float least = 1;
  double sum = 0;
  for (const auto& spike : spikes_of(probabilities, null_code)) {
    const auto& character = alphabet.of(spike.code);
    if (character.text.empty()) continue;
    if (alphabet.is_space(spike.code)) {
      open = false;
      continue;
    }
    if (!open) {
      words.push_back({.x0 = spike.at});
      open = true;
      least = 1;
      sum = 0;
    }
    auto& word = words.back();
    word.text += character.text;
    word.centres.push_back(spike.at);
    word.x1 = spike.at;
    least = std::min(least, spike.conf);
    sum += spike.conf;
    word.conf = (sum / static_cast<double>(word.centres.size()) + least) / 2;
  }
  return words;
}

}  // namespace millrace::document
