#include "layout/quote.h"

#include "layout/code_points.h"
#include "layout/edit_distance.h"

#include <algorithm>
#include <vector>

namespace millrace::layout {
namespace {

constexpr std::size_t kExactUpTo = 4;
constexpr std::size_t kWindow = 400;      // Characters around where a quote is said to be.
constexpr std::size_t kWordEndReach = 3;  // How far a match may be moved to a word's end.

// Two characters that no word ends between. Numbers and units often touch: those may be parted.
bool is_joined(char32_t a, char32_t b) {
  return (is_letter(a) && is_letter(b)) || (is_digit(a) && is_digit(b));
}

// Numbers as they are written, with one kind of decimal point.
std::vector<std::u32string> numbers_of(std::u32string_view text) {
  std::vector<std::u32string> numbers;
  bool open = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool point =
        open && (text[i] == '.' || text[i] == ',') && i + 1 < text.size() && is_digit(text[i + 1]);
    if (is_digit(text[i]) || point) {
      if (!open) numbers.emplace_back();
      numbers.back() += point ? U'.' : text[i];
      open = true;
    } else {
      open = false;
    }
  }
  return numbers;
}

}  // namespace

QuoteFinder::QuoteFinder(std::string_view text, QuoteOptions options)
    : options_(options), text_(fold(text)) {}

bool QuoteFinder::is_whole(std::size_t begin, std::size_t end) const {
  const auto& chars = text_.chars;
  if (begin > 0 && is_joined(chars[begin - 1], chars[begin])) return false;
  return end >= chars.size() || !is_joined(chars[end - 1], chars[end]);
}

std::size_t QuoteFinder::char_at(std::uint32_t byte) const {
  const auto at = std::ranges::lower_bound(text_.sources, byte, {}, &ByteRange::begin);
  return static_cast<std::size_t>(at - text_.sources.begin());
}

std::optional<QuoteMatch> QuoteFinder::find_exact(const FoldedText& quote, Window window,
                                                  std::optional<std::uint32_t> near) const {
  const std::u32string_view chars = std::u32string_view(text_.chars).substr(0, window.last);
  const auto wanted = near ? char_at(*near) : 0;
  std::optional<std::size_t> best;
  const auto distance = [&](std::size_t at) { return at > wanted ? at - wanted : wanted - at; };
  for (auto at = chars.find(quote.chars, window.first); at != std::u32string_view::npos;
       at = chars.find(quote.chars, at + 1)) {
    if (!is_whole(at, at + quote.chars.size())) continue;
    if (!best || distance(at) < distance(*best)) best = at;
    if (!near) break;
  }
  if (!best) return std::nullopt;
  return QuoteMatch{.bytes = text_.source_of(*best, *best + quote.chars.size()),
                    .length = quote.chars.size()};
}

std::optional<QuoteMatch> QuoteFinder::find_approximately(const FoldedText& quote,
                                                          Window window) const {
  const auto [first, last] = window;
  const auto length = quote.chars.size();
  if (length <= kExactUpTo || first >= last) return std::nullopt;
  const auto share = static_cast<std::size_t>(static_cast<double>(length) * options_.errors_share);
  const auto allowed = std::min(share, options_.errors_max);
  const std::u32string_view chars = text_.chars;
  const auto match = find_approximate(quote.chars, chars.substr(first, last - first), allowed);
  if (!match || match->begin == match->end) return std::nullopt;
  auto begin = first + match->begin;
  auto end = first + match->end;
  while (begin < end && chars[begin] == ' ') ++begin;
  while (end > begin && chars[end - 1] == ' ') --end;
  if (begin == end) return std::nullopt;
  for (std::size_t i = 0; i < kWordEndReach && begin > 0; ++i) {
    if (!is_joined(chars[begin - 1], chars[begin])) break;
    --begin;
  }
  for (std::size_t i = 0; i < kWordEndReach && end < chars.size(); ++i) {
    if (!is_joined(chars[end - 1], chars[end])) break;
    ++end;
  }
  const auto found = chars.substr(begin, end - begin);
  const auto errors = edit_distance(quote.chars, found);
  if (errors > allowed || !is_whole(begin, end) || numbers_of(quote.chars) != numbers_of(found)) {
    return std::nullopt;
  }
  return QuoteMatch{.bytes = text_.source_of(begin, end), .errors = errors, .length = length};
}

std::optional<FoldedText> QuoteFinder::folded(std::string_view quote) const {
  auto out = fold(quote.substr(0, options_.quote_max * 4 + 4));
  if (out.chars.empty() || out.chars.size() > options_.quote_max) return std::nullopt;
  return out;
}

QuoteFinder::Window QuoteFinder::window_at(std::uint32_t near, std::size_t length) const {
  const auto middle = char_at(near);
  return {.first = middle - std::min(middle, kWindow),
          .last = std::min(size(), middle + kWindow + length)};
}

std::optional<QuoteMatch> QuoteFinder::find_around(std::string_view quote,
                                                   std::uint32_t near) const {
  const auto wanted = folded(quote);
  if (!wanted) return std::nullopt;
  const auto window = window_at(near, wanted->chars.size());
  if (auto match = find_exact(*wanted, window, near)) return match;
  return find_approximately(*wanted, window);
}

std::optional<QuoteMatch> QuoteFinder::find(std::string_view quote,
                                            std::optional<std::uint32_t> near) const {
  const auto wanted = folded(quote);
  if (!wanted) return std::nullopt;
  const Window all{.first = 0, .last = size()};
  if (auto match = find_exact(*wanted, all, near)) return match;
  if (near) {
    const auto window = window_at(*near, wanted->chars.size());
    if (auto match = find_approximately(*wanted, window)) return match;
  }
  return find_approximately(*wanted, all);
}

}  // namespace millrace::layout
