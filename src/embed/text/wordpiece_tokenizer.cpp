#include "embed/text/wordpiece_tokenizer.h"

#include "embed/text/word_memo.h"
#include "embed/text/words.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <unicode/utf8.h>

namespace millrace::embed {
namespace {

constexpr std::size_t kWordCharactersMax = 100;  // Longer words are unknown, as in training.
constexpr std::size_t kVocabularyMax = 1'000'000;

// Calls take(std::string_view part) for the parts of a word: signs and ideographs stand alone.
template <class Take>
void for_each_part(std::string_view word, Take&& take) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at < word.size();) {
    std::size_t next = at;
    UChar32 c = 0;
    U8_NEXT(word.data(), next, word.size(), c);
    if (is_punctuation(c) || is_ideograph(c)) {
      if (begin < at) take(word.substr(begin, at - begin));
      take(word.substr(at, next - at));
      begin = next;
    }
    at = next;
  }
  if (begin < word.size()) take(word.substr(begin));
}

std::size_t characters_of(std::string_view word) {
  std::size_t count = 0;
  for (const char c : word) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  return count;
}

}  // namespace

Result<WordpieceTokenizer> WordpieceTokenizer::read(std::string_view vocab_txt) {
  WordpieceTokenizer out;
  std::vector<PieceTrie::Piece> pieces;
  std::map<std::string, Token> special = {{"[UNK]", -1}, {"[CLS]", -1}, {"[SEP]", -1}};
  while (!vocab_txt.empty()) {
    const auto end = vocab_txt.find('\n');
    std::string piece(vocab_txt.substr(0, end));
    vocab_txt.remove_prefix(end == std::string_view::npos ? vocab_txt.size() : end + 1);
    const auto token = static_cast<Token>(out.size_++);
    if (piece.empty() || out.size_ > kVocabularyMax) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("line {} of the vocabulary is empty or one too many", out.size_));
    }
    if (const auto found = special.find(piece); found != special.end()) {
      found->second = token;
    } else {
      pieces.push_back({std::move(piece), token});
    }
  }
  for (const auto& [name, token] : special) {
    if (token < 0) {
      return fail(ErrorKind::invalid_argument, fmt::format("the vocabulary has no {}", name));
    }
  }
  out.unknown_ = special["[UNK]"];
  out.begin_ = special["[CLS]"];
  out.end_ = special["[SEP]"];
  out.trie_ = PieceTrie(std::move(pieces));
  if (!out.trie_.step(out.continued_, '#') || !out.trie_.step(out.continued_, '#')) {
    return fail(ErrorKind::invalid_argument, "the vocabulary has no piece that continues a word");
  }
  return out;
}

void WordpieceTokenizer::split(std::string_view word, std::vector<Token>& pieces) const {
  pieces.clear();
  if (characters_of(word) > kWordCharactersMax) {
    pieces.push_back(unknown_);
    return;
  }
  for (std::size_t begin = 0; begin < word.size();) {
    std::uint32_t node = begin == 0 ? PieceTrie::kRoot : continued_;
    Token longest = PieceTrie::kNone;
    std::size_t end = begin;
    for (std::size_t at = begin; at < word.size() && trie_.step(node, word[at]); ++at) {
      if (const auto token = trie_.id(node); token != PieceTrie::kNone) {
        longest = token;
        end = at + 1;
      }
    }
    if (longest == PieceTrie::kNone) {  // One unknown part makes the word unknown.
      pieces.assign(1, unknown_);
      return;
    }
    pieces.push_back(longest);
    begin = end;
  }
}

template <class Take>
void WordpieceTokenizer::walk(std::string_view text, Take&& take) const {
  std::vector<Token> pieces;
  for_each_word(text, WordForm::bare, [&](std::string_view word) {
    for_each_part(word, [&](std::string_view part) {
      split(part, pieces);
      for (const auto token : pieces) take(token);
    });
  });
}

std::vector<Token> WordpieceTokenizer::tokens(std::string_view text) const {
  std::vector<Token> out;
  walk(text, [&out](Token token) { out.push_back(token); });
  return out;
}

std::size_t WordpieceTokenizer::count(std::string_view text) const {
  std::size_t out = 0;
  walk(text, [&out](Token /*token*/) { ++out; });
  return out;
}

class WordpieceTokenizer::Tally final : public TokenTally {
 public:
  explicit Tally(const WordpieceTokenizer& tokenizer) : tokenizer_(tokenizer) {}

  std::size_t count(std::string_view text) override {
    std::size_t out = 0;
    for_each_raw_word(text, [&](std::string_view raw) {
      if (const auto* found = memo_.find(raw); found != nullptr) {
        out += found->tokens;
        return;
      }
      const auto tokens = tokenizer_.count(raw);
      memo_.put(raw, {.tokens = static_cast<std::uint16_t>(tokens)});
      out += tokens;
    });
    return out;
  }

 private:
  const WordpieceTokenizer& tokenizer_;
  WordMemo memo_;
};

std::unique_ptr<TokenTally> WordpieceTokenizer::tally() const {
  return std::make_unique<Tally>(*this);
}

}  // namespace millrace::embed
