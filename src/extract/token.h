// Token: the text of a page cut finer than its words: "500mg," is a number, a word and a comma.
//
// Tokens know their bytes, so whatever is made of them can be quoted. A word that a line end had
// divided is one token over both lines.
#pragma once

#include "layout/page.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::extract {

enum class TokenKind : std::uint8_t {
  word,    // Begins with a letter: "HbA1c", "co-amoxiclav", "b.i.d."
  number,  // Figures with points and commas between them: "12.5", "05.03.2024"
  punct,   // One sign.
};

struct Token {
  TokenKind kind = TokenKind::punct;
  bool capital = false;  // Begins with a capital letter.
  bool caps = false;     // Two letters or more, all of them capitals.
  bool glued = false;    // No space before it.
  bool apart = false;    // The gap before it is one between columns.
  layout::ByteRange bytes = {};
  std::uint32_t line = 0;
  std::uint32_t word = 0;  // Of the page; the first one.
  std::string fold = {};   // folding.h; points of abbreviations are gone ("bid").
  std::string key = {};    // For terms.

  bool is(std::string_view text) const { return fold == text; }
  bool is_word() const { return kind == TokenKind::word; }
  bool is_number() const { return kind == TokenKind::number; }
};

// Whether a folded text is one of these words.
bool one_of(std::string_view text, std::initializer_list<std::string_view> words);

// Of a page, or of a term: then lines and words are all 0.
std::vector<Token> tokens_of(const layout::PageMap& page);
std::vector<Token> tokens_of(std::string_view text);

}  // namespace millrace::extract
