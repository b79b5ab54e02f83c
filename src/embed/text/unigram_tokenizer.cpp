#include "embed/text/unigram_tokenizer.h"

#include "base/json.h"
#include "embed/text/words.h"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace millrace::embed {
namespace {

constexpr Token kUnknown = 0;
constexpr std::size_t kReserved = 6;  // Unknown, begin, end and three spare ones: never in a text.
constexpr std::size_t kVocabularyMax = 1'000'000;
constexpr std::string_view kSpace = "\u2581";

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
struct UnigramTokenizer::Tally {
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
void UnigramTokenizer::count_word(std::string_view word, Tally& tally) const {
  // The space before the word is read with it, but nobody needs to copy it there.
  const auto size = word.size() + 1;
  const auto byte = [&](std::size_t at) { return at == 0 ? ' ' : word[at - 1]; };
  auto& places = tally.places;
  const auto unreached = Tally::after(tally.end, kUnknown, 0);
  std::fill_n(places.begin(), std::min(size + 1, Tally::kPlaces), unreached);
  places[0] = tally.end;
  const auto reach = [&](const Tally::Place& from, std::size_t to, Token token, double score) {
    const double sum = from.best + score;
    auto& place = places[to % Tally::kPlaces];
    if (place.best == 0 || sum >= place.best) place = Tally::after(from, token, sum);
  };
  for (std::size_t begin = 0; begin < size;) {
    const auto from = places[begin % Tally::kPlaces];
    std::uint32_t node = PieceTrie::kRoot;
    bool found = false;
    for (std::size_t at = begin; at < size && trie_.step(node, byte(at)); ++at) {
      if (const auto token = trie_.id(node); token != PieceTrie::kNone) {
        reach(from, at + 1, token, scores_[static_cast<std::size_t>(token)]);
        found = true;
      }
    }
    const std::size_t next = std::min(begin + length_of_character(byte(begin)), size);
    if (!found) reach(from, next, kUnknown, 0);
    for (; begin < next; ++begin) places[begin % Tally::kPlaces] = unreached;
  }
  tally.end = places[size % Tally::kPlaces];
}

std::size_t UnigramTokenizer::count(std::string_view text) const {
  if (piece_bytes_longest_ >= Tally::kPlaces) return tokens(text).size();
  Tally tally;
  for_each_word(text, WordForm::compatible,
                [&](std::string_view word) { count_word(word, tally); });
  return tally.end.tokens;
}

}  // namespace millrace::embed
