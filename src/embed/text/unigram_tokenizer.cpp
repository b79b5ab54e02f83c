#include "embed/text/unigram_tokenizer.h"

#include "base/json.h"
#include "embed/text/word_memo.h"
#include "embed/text/words.h"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace millrace::embed {
namespace {

constexpr Token kUnknown = 0;
constexpr std::size_t kReserved = 6;  // Unknown, begin, end and three spare ones: never in a text.
constexpr std::size_t kVocabularyMax = 1'000'000;
constexpr std::string_view kSpace = "\u2581";
// Of two sums: far more than what rounding makes of sums above -100 000, and far less than what
// scores differ by.
constexpr double kAsGoodAsEqual = 1e-6;

// Spaces are written ' ' here: one byte for the most frequent character.
std::string with_spaces(std::string_view piece) {
  std::string out;
  for (std::size_t at = 0; at < piece.size();) {
    if (piece.substr(at).starts_with(kSpace)) {
      out += ' ';
      at += kSpace.size();
    } else {
      out += piece[at++];
    }
  }
  return out;
}

std::size_t length_of_character(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte < 0x80) return 1;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

}  // namespace

// What the search knows of the word at hand, and the sum that it begins with.
struct UnigramTokenizer::Walk {
  struct Place {
    double best = 0;  // 0: not reached yet.
    Token token = kUnknown;
    std::uint32_t from = 0;
  };
  std::string word;
  std::vector<Place> places;
  std::vector<Token> reversed;
  double sum = 0;
};

// What counting knows: the same search, but nobody asks for the way. Every place knows how many
// tokens lead to it, and as pieces are short only the places within reach of one are kept.
struct UnigramTokenizer::Search {
  static constexpr std::size_t kPlaces = 32;
  struct Place {
    double best = 0;  // 0: not reached yet.
    std::uint32_t tokens = 0;
    bool unknown = false;  // The last token is.
  };
  // Unknown characters beside each other are one.
  static Place after(const Place& from, Token token, double sum) {
    const bool unknown = token == kUnknown;
    return {.best = sum,
            .tokens = from.tokens + (unknown && from.unknown ? 0U : 1U),
            .unknown = unknown};
  }

  std::array<Place, kPlaces> places;
  Place end;  // Of the text so far.

  // What words were met since these were cleared. For most it does not matter how large the sum
  // before them is; it does where a place is taken for one that was not reached,
  bool sum_matters = false;
  // and its last bits do where two ways of different numbers of tokens are as good as equal.
  bool bits_matter = false;
};

Result<UnigramTokenizer> UnigramTokenizer::read(std::string_view vocab_json) {
  MR_TRY(const auto parsed, parse_json(vocab_json, {.max_bytes = 16 * 1024 * 1024}));
  const auto* entries = parsed.if_array();
  if (entries == nullptr || entries->size() <= kReserved || entries->size() > kVocabularyMax) {
    return fail(ErrorKind::invalid_argument, "the vocabulary is not a list of pieces");
  }
  UnigramTokenizer out;
  std::vector<PieceTrie::Piece> pieces;
  for (const auto& entry : *entries) {
    const auto* pair = entry.if_array();
    const auto* text = pair != nullptr && pair->size() == 2 ? (*pair)[0].if_string() : nullptr;
    if (text == nullptr || text->empty() || !((*pair)[1].is_number() || (*pair)[1].is_null())) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("entry {} of the vocabulary is not a piece with its score",
                              out.scores_.size()));
    }
    auto piece = with_spaces(*text);
    if (piece.find(' ', 1) != std::string::npos) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("entry {} of the vocabulary has a space inside", out.scores_.size()));
    }
    // Pieces around ':' came into the published vocabulary without a score; they count as 0.
    const double score = (*pair)[1].is_null() ? 0.0 : (*pair)[1].to_number<double>();
    const auto token = static_cast<Token>(out.scores_.size());
    out.scores_.push_back(score);
    if (out.scores_.size() <= kReserved) continue;
    out.piece_bytes_longest_ = std::max(out.piece_bytes_longest_, piece.size());
    pieces.push_back({std::move(piece), token});
  }
  out.trie_ = PieceTrie(std::move(pieces));
  out.trie_.step(out.space_, ' ');
  return out;
}

// The sums of the whole text so far go on in every word and 0 stands for "not reached", as in the
// implementation that the model is published with: equal sums are then broken in the same way.
void UnigramTokenizer::split_word(std::string_view word, Walk& walk) const {
  auto& places = walk.places;
  places.assign(word.size() + 1, {});
  places[0].best = walk.sum;
  const auto reach = [&](std::size_t from, std::size_t to, Token token, double score) {
    const double sum = places[from].best + score;
    auto& place = places[to];
    if (place.best == 0 || sum >= place.best) {
      place = {.best = sum, .token = token, .from = static_cast<std::uint32_t>(from)};
    }
  };
  for (std::size_t begin = 0; begin < word.size();) {
    std::uint32_t node = PieceTrie::kRoot;
    bool found = false;
    for (std::size_t at = begin; at < word.size() && trie_.step(node, word[at]); ++at) {
      if (const auto token = trie_.id(node); token != PieceTrie::kNone) {
        reach(begin, at + 1, token, scores_[static_cast<std::size_t>(token)]);
        found = true;
      }
    }
    const std::size_t next = std::min(begin + length_of_character(word[begin]), word.size());
    if (!found) reach(begin, next, kUnknown, 0);
    begin = next;
  }
  walk.reversed.clear();
  for (std::size_t at = word.size(); at > 0; at = places[at].from) {
    walk.reversed.push_back(places[at].token);
  }
  walk.sum = places[word.size()].best;
}

template <class Take>
void UnigramTokenizer::walk(std::string_view text, Take&& take) const {
  Walk walk;
  Token last = -1;
  for_each_word(text, WordForm::compatible, [&](std::string_view word) {
    walk.word = ' ';
    walk.word += word;
    split_word(walk.word, walk);
    for (auto token = walk.reversed.rbegin(); token != walk.reversed.rend(); ++token) {
      // Unknown characters beside each other are one.
      if (*token != kUnknown || last != kUnknown) take(*token);
      last = *token;
    }
  });
}

std::vector<Token> UnigramTokenizer::tokens(std::string_view text) const {
  std::vector<Token> out;
  walk(text, [&out](Token token) { out.push_back(token); });
  return out;
}

// split_word() step by step; what it makes of a place that no piece reaches included: there, the
// way back leads to the beginning of the word with one unknown token.
void UnigramTokenizer::count_word(std::string_view word, Search& search) const {
  // The space before the word is read with it, but nobody needs to copy it there.
  const auto size = word.size() + 1;
  auto& places = search.places;
  const auto unreached = Search::after(search.end, kUnknown, 0);
  std::fill_n(places.begin(), std::min(size + 1, Search::kPlaces), unreached);
  places[0] = search.end;
  const auto reach = [&](const Search::Place& from, std::size_t to, Token token, double score) {
    const auto next = Search::after(from, token, from.best + score);
    auto& place = places[to % Search::kPlaces];
    if (place.best != 0) {
      const bool same = next.tokens == place.tokens && next.unknown == place.unknown;
      if (!same && std::abs(next.best - place.best) < kAsGoodAsEqual) search.bits_matter = true;
      if (next.best < place.best) return;
    }
    place = next;
  };
  for (std::size_t begin = 0; begin < size;) {
    const auto from = places[begin % Search::kPlaces];
    if (begin > 0 && from.best == 0) search.sum_matters = true;
    bool found = false;
    auto node = begin == 0 ? space_ : PieceTrie::kRoot;
    for (auto at = begin == 0 ? std::size_t{1} : begin;;) {
      if (const auto token = trie_.id(node); token != PieceTrie::kNone) {
        const auto score = scores_[static_cast<std::size_t>(token)];
        if (score >= 0) search.sum_matters = true;
        reach(from, at, token, score);
        found = true;
      }
      if (at == size || !trie_.step(node, word[at - 1])) break;
      ++at;
    }
    const auto length = begin == 0 ? 1 : length_of_character(word[begin - 1]);
    const auto next = std::min(begin + length, size);
    if (!found) reach(from, next, kUnknown, 0);
    for (; begin < next; ++begin) places[begin % Search::kPlaces] = unreached;
  }
  search.end = places[size % Search::kPlaces];
  if (search.end.best == 0) search.sum_matters = true;
}

std::size_t UnigramTokenizer::count(std::string_view text) const {
  if (piece_bytes_longest_ >= Search::kPlaces) return tokens(text).size();
  Search search;
  for_each_word(text, WordForm::compatible,
                [&](std::string_view word) { count_word(word, search); });
  return search.end.tokens;
}

// A word has the same tokens wherever it stands, but for the few whose tokens depend on the sum
// before them. Those are never remembered; and where one of them follows words that were, whose sum
// may differ in its last bits from what tokens() has there, all is counted again without memory.
class UnigramTokenizer::Tally final : public TokenTally {
 public:
  explicit Tally(const UnigramTokenizer& tokenizer)
      : tokenizer_(tokenizer),
        // Then no word begins with an unknown token, and none is one with that of the word before.
        remembers_(tokenizer.piece_bytes_longest_ < Search::kPlaces &&
                   tokenizer.trie_.id(tokenizer.space_) != PieceTrie::kNone) {}

  std::size_t count(std::string_view text) override {
    exact_ = true;
    doubtful_ = !remembers_;
    search_.end = {};
    if (!doubtful_) for_each_raw_word(text, [this](std::string_view raw) { take(raw); });
    return doubtful_ ? tokenizer_.count(text) : search_.end.tokens;
  }

 private:
  // Sums between these are below 0 for certain, and their last bits are worth less than a millionth
  // of what parts two ways.
  static constexpr double kSumMax = -1e-3;
  static constexpr double kSumMin = -1e5;

  void take(std::string_view raw) {
    auto& end = search_.end;
    if (!exact_ && (end.best > kSumMax || end.best < kSumMin)) doubtful_ = true;
    if (doubtful_) return;
    if (end.best < kSumMax) {
      if (const auto* found = memo_.find(raw); found != nullptr) {
        end = {.best = end.best + found->sum,
               .tokens = end.tokens + found->tokens,
               .unknown = found->ends_unknown};
        exact_ = false;
        return;
      }
    }
    const auto before = end;
    search_.sum_matters = search_.bits_matter = false;
    for_each_word_of(raw, WordForm::compatible, buffer_,
                     [this](std::string_view word) { tokenizer_.count_word(word, search_); });
    if (search_.bits_matter && !exact_) doubtful_ = true;
    if (search_.bits_matter || search_.sum_matters || end.tokens == before.tokens) return;
    memo_.put(raw, {.sum = end.best - before.best,
                    .tokens = static_cast<std::uint16_t>(end.tokens - before.tokens),
                    .ends_unknown = end.unknown});
  }

  const UnigramTokenizer& tokenizer_;
  const bool remembers_;
  WordMemo memo_;
  Search search_;
  bool exact_ = true;      // search_.end.best is, bit for bit, what tokens() has there.
  bool doubtful_ = false;  // The count may not be what tokens() has.
  std::string buffer_;
};

std::unique_ptr<TokenTally> UnigramTokenizer::tally() const {
  return std::make_unique<Tally>(*this);
}

}  // namespace millrace::embed
