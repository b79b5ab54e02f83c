#include "chunk/text_break.h"

#include "chunk/unicode.h"

#include <algorithm>
#include <array>
#include <bitset>

namespace millrace::chunk {
namespace {

constexpr std::size_t npos = std::string_view::npos;
constexpr char32_t kEllipsis = 0x2026;
constexpr std::size_t kAbbreviationMax = 6;

// Words before a full stop that ends no sentence, and those that are such words before a number.
// Sorted, lower case.
constexpr std::string_view kAbbreviations[] = {
    "al",   "approx", "aufl", "ave", "bsp", "bzgl", "bzw",  "ca",  "cf",  "corp", "dept",
    "dipl", "doz",    "dr",   "ed",  "eds", "eg",   "evtl", "ggf", "gov", "hr",   "hrsg",
    "ie",   "inc",    "inkl", "jr",  "lt",  "ltd",  "mr",   "mrs", "ms",  "mt",   "prof",
    "rev",  "sen",    "sog",  "sr",  "st",  "vgl",  "viz",  "vs",  "zzgl"};
constexpr std::string_view kBeforeNumbers[] = {"abb",  "abs", "art", "bd",  "chap", "fig",
                                               "figs", "kap", "no",  "nos", "nr",   "pp",
                                               "ref",  "sec", "tab", "tel", "vol"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_high(char c) { return static_cast<unsigned char>(c) >= 0x80; }

// White space that a text may be parted at: not NBSP, U+2007, U+202F.
bool is_parting_space(char32_t c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\f' || c == '\v' || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200b && c != 0x2007) || c == 0x2028 || c == 0x2029 || c == 0x205f ||
         c == 0x3000;
}

bool is_space_at(std::string_view text, std::size_t position) {
  return is_parting_space(decode(text.substr(position)).c);
}

bool is_space_before(std::string_view text, std::size_t position) {
  return is_parting_space(before(text, position).c);
}

// Whether the full stop at `stop` belongs to an abbreviation, an initial or an ordinal.
bool is_inner_stop(std::string_view text, std::size_t stop, char32_t next) {
  std::size_t begin = stop;
  while (begin > 0 && stop - begin <= kAbbreviationMax && is_digit(text[begin - 1])) --begin;
  if (begin < stop) return stop - begin <= 2;
  while (begin > 0 && stop - begin <= kAbbreviationMax && is_letter(text[begin - 1])) --begin;
  const auto size = stop - begin;
  if (size == 1) return begin == 0 || !is_high(text[begin - 1]);
  if (size == 0 || size > kAbbreviationMax) return false;
  std::array<char, kAbbreviationMax> lower{};
  for (std::size_t i = 0; i < size; ++i) lower[i] = static_cast<char>(text[begin + i] | 0x20);
  const std::string_view word(lower.data(), size);
  const bool numbered = next >= '0' && next <= '9';
  return std::ranges::binary_search(kAbbreviations, word) ||
         (numbered && std::ranges::binary_search(kBeforeNumbers, word));
}

bool is_sentence_break(std::string_view text, std::size_t position) {
  const auto next = decode(text.substr(position)).c;
  if (is_parting_space(next)) return false;
  auto last = before(text, position);
  std::size_t end = position;
  std::size_t line_ends = 0;
  while (is_parting_space(last.c)) {
    if (last.c == '\n') ++line_ends;
    end = last.at;
    if (end == 0) return false;
    last = before(text, end);
  }
  const bool spaced = end < position;
  if (!spaced) {
    if (last.c < 0x80) return false;
    const auto properties = properties_of(last.c);
    if (!properties.ends_sentence() && !properties.closes()) return false;
    const auto next_properties = properties_of(next);
    if (next_properties.closes() || next_properties.ends_sentence()) return false;
  }
  if (line_ends > 1) return true;

  const auto closes = [](char32_t c) {
    return c == '*' || c == '_' || c == '`' || properties_of(c).closes();
  };
  for (int i = 0; i < 8 && last.at > 0 && closes(last.c); ++i) last = before(text, last.at);
  if (!properties_of(last.c).ends_sentence() && last.c != kEllipsis) return false;
  if (last.c >= 0x80 && last.c != kEllipsis) return true;
  if (!spaced) return false;
  if (last.c == '!' || last.c == '?') return true;
  if (next >= 'a' && next <= 'z') return false;
  return last.c != '.' || !is_inner_stop(text, last.at, next);
}

bool is_ascii_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\f' || c == '\v'; }

// Cheap: most positions are no candidates.
bool may_break(std::string_view text, std::size_t position) {
  const char last = text[position - 1];
  if (is_continuation(text[position])) return false;
  return is_ascii_space(last) || is_high(last);
}

// Characters beyond ASCII that a break may follow, by their last twelve bits: these are what the
// last two bytes of their UTF-8 hold, so that nothing has to be decoded to exclude the others.
class BreakEndings {
 public:
  bool may_be_one(std::string_view text, std::size_t position) const {
    if (position < 2) return true;
    const auto bits = [&](std::size_t at) { return static_cast<unsigned char>(text[at]) & 0x3fU; };
    return endings_[bits(position - 2) << 6U | bits(position - 1)];
  }
  static const BreakEndings& of(TextBreak kind) {
    static const BreakEndings of_sentences(true);
    static const BreakEndings of_words(false);
    return kind == TextBreak::sentence ? of_sentences : of_words;
  }

 private:
  explicit BreakEndings(bool sentences) {
    for (const auto& run : property_runs()) {
      const Properties properties(run.bits);
      if (!sentences || !(properties.ends_sentence() || properties.closes())) continue;
      for (auto c = run.first; c <= run.last; ++c) endings_.set(c & 0xfffU);
    }
    for (char32_t c = 0x80; c < 0x3001; ++c) {
      if (is_parting_space(c)) endings_.set(c & 0xfffU);
    }
    if (sentences) endings_.set(kEllipsis & 0xfffU);
  }
  std::bitset<4096> endings_;
};

// Whether a sentence or a word may begin at `position`: most places are excluded by their bytes.
bool may_begin(std::string_view text, std::size_t position, TextBreak kind,
               const BreakEndings& endings) {
  const char last = text[position - 1];
  const char next = text[position];
  if (is_high(last)) {
    return !is_continuation(next) && !is_ascii_space(next) && endings.may_be_one(text, position);
  }
  if (!is_ascii_space(last) || is_ascii_space(next)) return false;
  if (kind == TextBreak::word || position < 2) return true;
  // No sentence ends with a letter or digit and one space.
  const char before = text[position - 2];
  if (is_high(before)) return endings.may_be_one(text, position - 1);
  return !is_letter(before) && !is_digit(before);
}

// The first break in [from, to], or npos.
std::size_t find_forwards(std::string_view text, std::size_t from, std::size_t to, TextBreak kind) {
  if (kind == TextBreak::line) {
    for (auto at = from; at <= to; ++at) {
      const auto end = text.substr(0, to).find('\n', at - 1);
      if (end == npos) return npos;
      at = end + 1;
      if (is_text_break(text, at, kind)) return at;
    }
    return npos;
  }
  const auto& endings = BreakEndings::of(kind);
  for (auto at = from; at <= to; ++at) {
    if (may_begin(text, at, kind, endings) && is_text_break(text, at, kind)) return at;
  }
  return npos;
}

// The last break in [from, to), or npos.
std::size_t find_backwards(std::string_view text, std::size_t from, std::size_t to,
                           TextBreak kind) {
  if (kind == TextBreak::line) {
    for (auto at = to; at > from;) {
      // The line end stands before the break.
      const auto end = at >= 2 ? text.rfind('\n', at - 2) : npos;
      if (end == npos || end + 1 < from) return npos;
      at = end + 1;
      if (is_text_break(text, at, kind)) return at;
    }
    return npos;
  }
  const auto& endings = BreakEndings::of(kind);
  for (auto at = to; at > from;) {
    --at;
    if (may_begin(text, at, kind, endings) && is_text_break(text, at, kind)) return at;
  }
  return npos;
}

}  // namespace

bool is_text_break(std::string_view text, std::size_t position, TextBreak kind) {
  if (position == 0 || position >= text.size() || !may_break(text, position)) return false;
  bool parts = false;
  switch (kind) {
    case TextBreak::sentence:
      parts = is_sentence_break(text, position);
      break;
    case TextBreak::line:
      parts = text[position - 1] == '\n';
      break;
    case TextBreak::word:
      parts = is_space_before(text, position) && !is_space_at(text, position);
      break;
  }
  return parts && is_cluster_boundary(text, position);
}

std::size_t find_text_break(std::string_view text, const BreakRange& range, TextBreak kind) {
  if (text.empty()) return npos;
  const auto high = std::min(range.high, text.size() - 1);
  const auto target = std::max<std::size_t>(range.target, 1);
  if (const auto at = find_forwards(text, target, high, kind); at != npos) return at;
  const auto low = std::max<std::size_t>(range.low, 1);
  return find_backwards(text, low, std::min(range.target, high + 1), kind);
}

}  // namespace millrace::chunk
