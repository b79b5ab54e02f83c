#include "extract/marks.h"

#include <algorithm>

namespace millrace::extract {
namespace {

using layout::clinical::Category;

bool joins_name(const Chart& chart, std::size_t item) {
  const auto& token = chart.token(item);
  return token.is("of") || token.is("the") || token.is("de") || token.is("du") || token.is("des") ||
         token.is("la") || token.is("del") || token.is("der") || token.is("d") || token.is("l") ||
         token.is("les") || token.is("el") || token.is("los") || token.is("las") || token.is("a") ||
         token.is("au") || token.is("im") || token.is("am") || token.is("in") || token.is("with") ||
         token.is("mit") || token.is("con") || token.is("avec") || token.is("en") ||
         token.is("von");
}

constexpr Kinds kNameKinds = bit(Is::drug) | bit(Is::analyte) | bit(Is::vital) | bit(Is::allergen) |
                             bit(Is::reaction) | bit(Is::condition) | bit(Is::procedure) |
                             bit(Is::vaccine);

bool is_name_word(const Item& item) {
  return item.is(Piece::term) || (item.is(Piece::word) && !item.is(Is::common));
}

// Whether a listed name ends with the range: "Bilirubin gesamt", "Insuffisance rénale chronique".
bool ends_term(std::span<const Token> tokens, TokenRange range) {
  const auto lowest = range.end - std::min(range.size(), kPhraseTokensMax);
  for (auto first = lowest; first < range.end; ++first) {
    const auto phrase = phrase_of(tokens.subspan(first, range.end - first));
    if ((Terms::get().kinds_of(phrase) & kNameKinds) != 0) return true;
  }
  return false;
}

}  // namespace

bool Marks::is_free(TokenRange range) const {
  for (auto i = range.first; i < range.end; ++i) {
    if (i >= taken_.size() || taken_[i]) return false;
  }
  return true;
}

bool Marks::add(Category category, TokenRange range, double conf) {
  if (range.empty() || !is_free(range)) return false;
  std::fill(taken_.begin() + static_cast<std::ptrdiff_t>(range.first),
            taken_.begin() + static_cast<std::ptrdiff_t>(range.end), true);
  marks_.push_back({.category = category, .tokens = range, .conf = conf});
  return true;
}

std::size_t name_end(const Chart& chart, std::size_t item, std::size_t items_max) {
  const auto last = std::min(chart.items.size(), item + items_max);
  auto end = item;
  for (auto i = item; i < last; ++i) {
    const auto& here = chart.items[i];
    if (is_name_word(here) || here.is(Piece::form)) {
      end = i + 1;
      continue;
    }
    // "CT scan of the chest": small words, when the name goes on behind them.
    if (here.is(Piece::word) && joins_name(chart, i) && end > item) continue;
    const bool glued = here.is(Piece::sign) && chart.token(i).glued && end == i &&
                       (chart.sign(i, "-") || chart.sign(i, "/") || chart.sign(i, "'"));
    if (glued) continue;
    // "type 2", "factor 8"
    if (here.is(Piece::quantity) && here.quantity.unit.tokens == 0 && end == i && i > item &&
        here.tokens.size() == 1) {
      end = i + 1;
      continue;
    }
    break;
  }
  return end;
}

TokenRange trimmed(const PageReading& page, TokenRange range) {
  const auto tokens = std::span<const Token>(page.tokens).first(range.end);
  const auto common = [&](std::size_t at) {
    return tokens[at].is_word() && Terms::get().has(tokens[at].key, Is::common);
  };
  const auto opens = [&](std::size_t end) {
    return std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(range.first),
                       tokens.begin() + static_cast<std::ptrdiff_t>(end),
                       [](const Token& token) { return token.is("("); });
  };
  while (!range.empty()) {
    const auto at = range.first;
    // "Chronic obstructive …", "Total protein": common words that a listed name begins with.
    const bool listed = Terms::get().longest(tokens, at, kNameKinds).tokens > 0;
    if (tokens[at].kind != TokenKind::punct && (!common(at) || listed)) break;
    ++range.first;
  }
  while (!range.empty()) {
    const auto& last = tokens[range.end - 1];
    // "Chromogranin A" ends with a letter, not with an article.
    const bool letter = last.fold.size() == 1 && last.capital && range.size() > 1;
    const bool named = ends_term(tokens, range);
    const bool closed = last.is(")") && opens(range.end - 1);
    const bool idle = last.kind == TokenKind::punct ? !last.is("%") && !closed
                                                    : common(range.end - 1) && !letter && !named;
    if (!idle) break;
    --range.end;
  }
  return range;
}

std::size_t numbering(const Chart& chart, std::size_t item) {
  const auto number = chart.sign(item, "(") ? item + 1 : item;
  if (number + 1 >= chart.items.size() || !chart.items[number].is(Piece::quantity)) return 0;
  const auto& quantity = chart.items[number].quantity;
  const bool small =
      quantity.tokens == 1 && quantity.unit.tokens == 0 &&
      chart.token(number).fold.find_first_not_of("0123456789") == std::string::npos &&
      chart.token(number).fold.size() < 3;
  const bool closed = chart.sign(number + 1, ")") && chart.token(number + 1).glued;
  return small && closed ? number + 2 - item : 0;
}

void mark_dates(const Chart& chart, Marks& marks) {
  for (const auto& item : chart.items) {
    if (item.is(Piece::date)) marks.add(Category::date, item.tokens, kListed);
  }
}

}  // namespace millrace::extract
