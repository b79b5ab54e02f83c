#include "extract/token.h"

#include "extract/folding.h"
#include "layout/code_points.h"

#include <algorithm>

namespace millrace::extract {
namespace {

bool is_figure(char c) { return c >= '0' && c <= '9'; }

bool is_superscript(char32_t code) {
  return code == 0xb2 || code == 0xb3 || code == 0xb9 || (code >= 0x2070 && code <= 0x2079);
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) {
      const auto decoded = layout::decode_at(text_, at_);
      if (layout::is_space(decoded.code) || layout::is_control(decoded.code)) {
        at_ += decoded.bytes;
        spaced_ = true;
        continue;
      }
      if (folds_away(decoded.code)) {
        at_ += decoded.bytes;
        continue;
      }
      const auto begin = at_;
      next(decoded);
      spaced_ = parts_words(begin, decoded);
    }
    return std::move(out_);
  }

 private:
  // "Bactrim—rash" is written without spaces and is no name; "3.5—5.1" is a range.
  bool parts_words(std::size_t begin, const layout::Decoded& decoded) const {
    constexpr char32_t kEmDash = 0x2014;
    return decoded.code == kEmDash && !figure_at(begin + decoded.bytes) &&
           (begin == 0 || !is_figure(text_[begin - 1]));
  }

  void next(const layout::Decoded& decoded) {
    const auto begin = at_;
    Token token{.glued = !spaced_ && begin > 0 && !parts_words(begin, decoded)};
    if (layout::is_digit(decoded.code) || leads_figures(begin)) {
      token.kind = TokenKind::number;
      at_ = number_end(begin);
    } else if (starts_word(decoded)) {
      token.kind = TokenKind::word;
      at_ = word_end(begin);
    } else {
      at_ += decoded.bytes;
    }
    token.bytes = {.begin = static_cast<std::uint32_t>(begin),
                   .end = static_cast<std::uint32_t>(at_)};
    finish(token);
    out_.push_back(std::move(token));
  }

  bool starts_word(const layout::Decoded& decoded) const {
    // "°C" is a word, the sign alone is not.
    if (decoded.code == 0xb0) {
      const auto next = at_ + decoded.bytes;
      return next < text_.size() && layout::is_letter(layout::decode_at(text_, next).code);
    }
    return layout::is_letter(decoded.code) || decoded.code == 0xb5;
  }

  bool figure_at(std::size_t at) const { return at < text_.size() && is_figure(text_[at]); }

  // ".5 mg", "<.04": a point that begins a number. Read without it the number is ten times larger.
  bool leads_figures(std::size_t at) const {
    if (text_[at] != '.' || !figure_at(at + 1)) return false;
    return at == 0 || std::string_view(" \n\t([<>=~:|").contains(text_[at - 1]);
  }

  std::size_t number_end(std::size_t at) const {
    while (at < text_.size()) {
      const bool joint = (text_[at] == '.' || text_[at] == ',') && figure_at(at + 1);
      if (!is_figure(text_[at]) && !joint) {
        const auto sign = thousands_sign(at);
        if (sign == 0) break;
        at += sign;
      }
      ++at;
    }
    return at;
  }

  // The Swiss "250'000": bytes of the sign, when three figures follow it and no fourth.
  std::size_t thousands_sign(std::size_t at) const {
    const auto decoded = layout::decode_at(text_, at);
    if (!is_apostrophe(decoded.code)) return 0;
    const auto next = at + decoded.bytes;
    const bool three = figure_at(next) && figure_at(next + 1) && figure_at(next + 2);
    return three && !figure_at(next + 3) ? decoded.bytes : 0;
  }

  bool letter_at(std::size_t at) const {
    if (at >= text_.size()) return false;
    const auto code = layout::decode_at(text_, at).code;
    return layout::is_letter(code);
  }

  // "b.i.d.", "i.v.": single letters with points.
  std::size_t abbreviation_end(std::size_t begin) const {
    auto at = begin;
    std::size_t letters = 0;
    for (;;) {
      if (!letter_at(at)) break;
      const auto size = layout::decode_at(text_, at).bytes;
      if (at + size >= text_.size() || text_[at + size] != '.') break;
      at += size + 1;
      ++letters;
    }
    if (letters < 2) return begin;
    return letter_at(at) || (at < text_.size() && is_figure(text_[at])) ? begin : at;
  }

  std::size_t word_end(std::size_t begin) {
    if (const auto end = abbreviation_end(begin); end > begin) return end;
    auto at = begin;
    // "3x500 mg": a sign between two numbers.
    if (text_[at] == 'x' && figure_at(at + 1) && begin > 0 && is_figure(text_[at - 1]))
      return at + 1;
    std::size_t letters = 0;
    while (at < text_.size()) {
      const auto decoded = layout::decode_at(text_, at);
      const auto code = decoded.code;
      if (folds_away(code)) {
        at += decoded.bytes;
        continue;
      }
      if (layout::is_letter(code) || layout::is_digit(code) || code == 0xb5 || code == 0xb0 ||
          is_superscript(code)) {
        at += decoded.bytes;
        ++letters;
        continue;
      }
      const auto next = at + decoded.bytes;
      if (is_apostrophe(code) && letter_at(next)) {
        // "l'asthme": the article is a word of its own; "mother's" is one.
        if (elides(begin, at, letters)) return at;
        at = next;
        continue;
      }
      if (is_dash(code) && next < text_.size() && (letter_at(next) || is_figure(text_[next]))) {
        at = next;
        continue;
      }
      break;
    }
    return at;
  }

  static bool is_apostrophe(char32_t code) { return code == '\'' || code == 0x2019; }
  static bool is_dash(char32_t code) { return code == '-' || code == 0x2010 || code == 0x2011; }

  bool elides(std::size_t begin, std::size_t at, std::size_t letters) const {
    return letters == 1 || (letters == 2 && fold(text_.substr(begin, at - begin)) == "qu");
  }

  void finish(Token& token) const {
    const auto text = text_.substr(token.bytes.begin, token.bytes.size());
    token.fold = fold(text);
    if (token.kind == TokenKind::word) {
      if (token.fold.find('.') != std::string::npos) std::erase(token.fold, '.');
      read_case(token, text);
    }
    token.key = key_of(token.fold);
  }

  static void read_case(Token& token, std::string_view text) {
    std::size_t letters = 0;
    std::size_t capitals = 0;
    for (std::size_t at = 0; at < text.size();) {
      const auto decoded = layout::decode_at(text, at);
      if (layout::is_letter(decoded.code) && !folds_away(decoded.code)) {
        const bool upper = layout::is_upper(decoded.code);
        if (letters == 0) token.capital = upper;
        ++letters;
        capitals += upper ? 1 : 0;
      }
      at += decoded.bytes;
    }
    token.caps = letters >= 2 && capitals == letters;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool spaced_ = true;
  std::vector<Token> out_;
};

// Heights of words between columns; a blank is a third of one.
constexpr double kColumnGap = 0.9;

bool stands_apart(const layout::PageMap& page, std::uint32_t word) {
  const auto& left = page.words[word - 1];
  const auto& right = page.words[word];
  const auto height = page.info.aspect() * std::max(left.box.height(), right.box.height());
  return left.line == right.line && right.box.x0 - left.box.x1 > kColumnGap * height;
}

bool starts_small(std::string_view text, layout::ByteRange bytes) {
  const auto code = layout::decode_at(text, bytes.begin).code;
  return layout::is_letter(code) && !layout::is_upper(code);
}

// A word at the end of a line and one that can go on with it at the beginning of the next.
bool goes_on(const layout::PageMap& page, const Token& word, const Token& next) {
  if (!word.is_word() || !next.is_word() || next.glued || next.line != word.line + 1) return false;
  if (page.lines[next.line].block != page.lines[word.line].block) return false;
  const auto block = page.lines[word.line].block;
  return page.blocks[block].kind != layout::BlockKind::table && word.fold.size() > 1 &&
         starts_small(page.text, next.bytes);
}

// "hyper-" and "tension" on the next line.
bool divides(const layout::PageMap& page, const Token& word, const Token& dash, const Token& next) {
  return dash.is("-") && dash.glued && dash.line == word.line && goes_on(page, word, next);
}

// The same with a soft hyphen, which is a part of its word.
bool divides_softly(const layout::PageMap& page, const Token& word, const Token& next) {
  const auto text = std::string_view(page.text).substr(0, word.bytes.end);
  return text.ends_with("\u00ad") && goes_on(page, word, next);
}

}  // namespace

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

std::vector<Token> tokens_of(std::string_view text) { return Tokenizer(text).run(); }

std::vector<Token> tokens_of(const layout::PageMap& page) {
  auto tokens = tokens_of(std::string_view(page.text));
  std::uint32_t word = 0;
  for (auto& token : tokens) {
    while (word + 1 < page.words.size() && page.words[word].bytes.end <= token.bytes.begin) ++word;
    if (page.words.empty()) break;
    token.apart =
        word > 0 && token.bytes.begin <= page.words[word].bytes.begin && stands_apart(page, word);
    token.word = word;
    token.line = page.words[word].line;
  }
  std::vector<Token> out;
  out.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool dashed =
        i >= 2 && out.size() >= 2 && divides(page, out[out.size() - 2], out.back(), tokens[i]);
    if (dashed || (!out.empty() && divides_softly(page, out.back(), tokens[i]))) {
      if (dashed) out.pop_back();
      auto& whole = out.back();
      whole.bytes.end = tokens[i].bytes.end;
      whole.fold += tokens[i].fold;
      whole.key = key_of(whole.fold);
      whole.caps = false;
      continue;
    }
    out.push_back(std::move(tokens[i]));
  }
  return out;
}

}  // namespace millrace::extract
