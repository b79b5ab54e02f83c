// WordpieceTokenizer: words cut into the longest pieces that the vocabulary has (BERT, uncased).
//
// In: vocab.txt, a piece on each line, the number of the line its token; "##ing" continues a word.
// Special tokens ([CLS], [SEP]) are the encoder's business and not in the result.
#pragma once

#include "base/result.h"
#include "embed/text/piece_trie.h"
#include "embed/text/tokenizer.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace millrace::embed {

class WordpieceTokenizer final : public Tokenizer {
 public:
  static Result<WordpieceTokenizer> read(std::string_view vocab_txt);

  std::vector<Token> tokens(std::string_view text) const override;
  std::size_t count(std::string_view text) const override;
  std::unique_ptr<TokenTally> tally() const override;

  Token begin_token() const { return begin_; }
  Token end_token() const { return end_; }
  std::size_t vocabulary_size() const { return size_; }

 private:
  class Tally;
  template <class Take>
  void walk(std::string_view text, Take&& take) const;
  void split(std::string_view word, std::vector<Token>& pieces) const;

  PieceTrie trie_;
  std::uint32_t continued_ = PieceTrie::kRoot;  // The node behind "##".
  std::size_t size_ = 0;
  Token unknown_ = 0;
  Token begin_ = 0;
  Token end_ = 0;
};

}  // namespace millrace::embed
