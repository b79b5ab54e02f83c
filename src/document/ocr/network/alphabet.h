// Alphabet: what the codes of a network mean.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::document {

struct Character {
  std::string text;      // UTF-8; a space for the space.
  std::int32_t id = -1;  // In the language's word lists.
};

class Alphabet {
 public:
  // invalid_argument unless each code is one character: scripts with more are Tesseract's.
  static Result<Alphabet> parse(std::string_view characters, std::string_view codes,
                                std::size_t code_count);

  const Character& of(std::size_t code) const { return by_code_[code]; }
  std::int32_t id_of(std::string_view text) const;  // -1 when there is no such character.
  bool is_space(std::size_t code) const { return by_code_[code].text == " "; }

 private:
  std::vector<Character> by_code_;
  std::map<std::string, std::int32_t, std::less<>> ids_;
};

}  // namespace millrace::document
