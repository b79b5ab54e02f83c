// ExpressionParser: what stands between {{ and }}, or behind the word of a {% … %}.
//
//   expression = operand { "|" filter [ ":" operand { "," operand } ] }
//   operand    = "text" | 'text' | number | true | false | null | name { "." name }
//   condition  = both { "or" both };  both = single { "and" single }
//   single     = "not" single | "(" condition ")" | expression [ ("==" | "!=" | "<" …) expression ]
//
// Errors say what was expected; their place is that of the token. One thread, one piece of text.
#pragma once

#include "template/ast.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::templates {

class ExpressionParser {
 public:
  // `begin` and `end` delimit the piece within `source`, the text of `file`.
  ExpressionParser(std::string_view file, std::string_view source, std::size_t begin,
                   std::size_t end);

  Result<Expression> expression();
  Result<Condition> condition();
  Result<std::string> name(std::string_view what);  // "the name of a variable"
  Result<std::string> quoted(std::string_view what);
  bool take_word(std::string_view word);
  bool take_sign(std::string_view sign);
  Result<void> end(std::string_view closing);  // Nothing may follow but `closing`.
  std::unexpected<Error> expected(std::string_view what);
  Place place() const;

 private:
  enum class Kind : std::uint8_t { end, word, number, text, sign, bad };

  void next();
  void read_text(char quote);
  Result<Operand> operand();
  Result<FilterCall> filter();
  Result<Condition> both();
  Result<Condition> single();
  std::string shown() const;

  std::string_view file_;
  std::string_view source_;
  std::size_t at_;
  std::size_t end_;
  std::size_t token_begin_ = 0;
  Kind kind_ = Kind::end;
  std::string token_;
  int depth_ = 0;
};

}  // namespace millrace::templates
