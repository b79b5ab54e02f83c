// LineDecoder: probabilities of characters, step by step → words with their places.
//
// The likeliest character at each step, steps with the same one taken together; then, word by word,
// where the network was in doubt, the reading that is a word of the language or a number, unless it
// is far less likely.
#pragma once

#include "document/ocr/line_reader.h"
#include "document/ocr/network/alphabet.h"
#include "document/ocr/network/line_network.h"
#include "document/ocr/network/word_list.h"

#include <cstddef>
#include <vector>

namespace millrace::document {

class LineDecoder {
 public:
  LineDecoder(Alphabet alphabet, WordList words, std::size_t null_code);

  // Positions are in steps of the network.
  std::vector<LineWord> decode(const CodeProbabilities& probabilities) const;
  // Without the punctuation around it.
  bool knows(std::string_view word) const;

 private:
  struct Choice {
    std::size_t code = 0;
    float probability = 0;
  };
  // A character: what it may be, the likeliest first.
  struct Spike {
    std::vector<Choice> choices = {};
    double at = 0;  // Middle of its steps.
  };

  Alphabet alphabet_;
  WordList words_;
  std::size_t null_code_;

  std::vector<Spike> spikes_of(const CodeProbabilities& probabilities) const;
  void add_choices(Spike& spike, std::span<const float> row) const;
  std::vector<std::size_t> best_choices(std::span<const Spike> word) const;
  double bonus(std::span<const Spike> word, std::span<const std::size_t> chosen) const;
  LineWord to_word(std::span<const Spike> spikes) const;
};

}  // namespace millrace::document
