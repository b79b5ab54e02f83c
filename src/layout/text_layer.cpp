#include "layout/text_layer.h"

#include "layout/code_points.h"

#include <algorithm>

namespace millrace::layout {
namespace {

struct Tally {
  double words = 0;
  double characters = 0;
  double unreadable = 0;
  double letters_and_digits = 0;
  double single_letters = 0;
  double long_latin = 0;
  double no_vowel = 0;
  double no_box = 0;
};

bool is_unreadable(char32_t code) {
  return code == kReplacement || (code >= 0xe000 && code <= 0xf8ff) || is_control(code);
}

bool is_vowel(char32_t code) {
  if (code >= 0xc0) return true;  // With accents: taken for one, to be on the safe side.
  return std::u32string_view(U"aeiouyAEIOUY").find(code) != std::u32string_view::npos;
}

void add_word(Tally& tally, const RawWord& word) {
  const auto codes = to_code_points(word.text);
  const bool latin =
      std::ranges::all_of(codes, [](char32_t code) { return is_letter(code) && code < 0x250; });
  const auto count = static_cast<double>(codes.size());
  ++tally.words;
  tally.characters += count;
  tally.unreadable += static_cast<double>(std::ranges::count_if(codes, is_unreadable));
  tally.letters_and_digits += static_cast<double>(std::ranges::count_if(
      codes, [](char32_t code) { return is_letter(code) || is_digit(code); }));
  if (codes.size() == 1 && is_letter(codes[0]) && !is_ideograph(codes[0])) ++tally.single_letters;
  if (word.box.area() <= 0) ++tally.no_box;
  // Abbreviations in capitals have no vowels as a rule.
  const bool capitals = std::ranges::all_of(codes, is_upper);
  if (latin && !capitals && codes.size() >= 4) {
    ++tally.long_latin;
    if (std::ranges::none_of(codes, is_vowel)) ++tally.no_vowel;
  }
}

}  // namespace

TextLayerVerdict judge_text_layer(const RawPage& page, TextLayerRules rules) {
  Tally tally;
  for (const auto& word : page.words) add_word(tally, word);
  if (tally.characters < static_cast<double>(rules.characters_min)) {
    return {.reason = "too little text"};
  }
  if (tally.unreadable > rules.unreadable_max * tally.characters) {
    return {.reason = "characters without meaning"};
  }
  if (tally.characters - tally.letters_and_digits > rules.symbols_max * tally.characters) {
    return {.reason = "mostly neither letters nor digits"};
  }
  if (tally.single_letters > rules.single_letters_max * tally.words) {
    return {.reason = "mostly single letters"};
  }
  if (tally.long_latin >= 10 && tally.no_vowel > rules.no_vowel_max * tally.long_latin) {
    return {.reason = "words that are none"};
  }
  if (tally.no_box > rules.no_box_max * tally.words) return {.reason = "words without a place"};
  return {.trusted = true};
}

}  // namespace millrace::layout
