// Tokenizer: a text as the numbers of pieces that a model knows. Immutable, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace millrace::embed {

using Token = std::int32_t;

// Counts as its tokenizer does, text after text, and remembers words from one to the next. One
// thread; the tokenizer outlives it.
class TokenTally {
 public:
  virtual ~TokenTally() = default;
  virtual std::size_t count(std::string_view text) = 0;
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  // Text that is no UTF-8 is read with U+FFFD in its place. Only what has a meaning gives tokens:
  // an empty text and one of spaces give none.
  virtual std::vector<Token> tokens(std::string_view text) const = 0;
  // How many tokens() would give; needs room for the longest word only.
  virtual std::size_t count(std::string_view text) const = 0;
  virtual std::unique_ptr<TokenTally> tally() const = 0;
};

}  // namespace millrace::embed
