// UnigramTokenizer: the pieces of a text whose scores have the highest sum (SentencePiece unigram).
//
// In: the vocabulary of the Universal Sentence Encoder, vocab.json: [["▁the", -3.57], …], the
// place of an entry its token. A word is read with the space before it, ▁. No piece continues
// behind a space, so words are taken one by one.
#pragma once

#include "base/result.h"
#include "embed/text/piece_trie.h"
#include "embed/text/tokenizer.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace millrace::embed {

class UnigramTokenizer final : public Tokenizer {
 public:
  static Result<UnigramTokenizer> read(std::string_view vocab_json);

  std::vector<Token> tokens(std::string_view text) const override;
  std::size_t count(std::string_view text) const override;
  std::unique_ptr<TokenTally> tally() const override;

 private:
  struct Walk;
  template <class Take>
  void walk(std::string_view text, Take&& take) const;
  void split_word(std::string_view word, Walk& walk) const;
  struct Search;
  void count_word(std::string_view word, Search& search) const;
  class Tally;

  PieceTrie trie_;
  std::uint32_t space_ = PieceTrie::kRoot;  // The node of ' ' in the trie.
  std::vector<double> scores_;              // By token.
  std::size_t piece_bytes_longest_ = 0;
};

}  // namespace millrace::embed
