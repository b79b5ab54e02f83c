// for_each_word: a text between its spaces, each word in one of the forms of Unicode.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::embed {

enum class WordForm {
  compatible,  // NFKC: what looks the same is the same, accents and their letters are one.
  bare,        // Small letters without accents (lower case, NFD, no combining marks), no U+FFFD.
};

// Appends `text` in that form. Whatever counts as space becomes ' ', characters without an
// appearance (controls, soft hyphens, joiners, marks of direction) go, broken UTF-8 becomes U+FFFD.
void append_normalised(std::string_view text, WordForm form, std::string& out);

// Whether append_normalised() surely leaves a word without spaces in the compatible form as it is.
bool is_compatible(std::string_view word);

inline bool is_ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Letters that stand for words of their own: Chinese characters as BERT counts them.
bool is_ideograph(std::int32_t code_point);
// Not a letter, digit, mark or space: ASCII signs and Unicode's punctuation.
bool is_punctuation(std::int32_t code_point);

// Calls take(std::string_view raw) for what stands between ASCII's spaces, in order. Such a part is
// a word, or several, or none, whatever stands around it.
template <class Take>
void for_each_raw_word(std::string_view text, Take&& take) {
  for (std::size_t at = 0; at < text.size();) {
    while (at < text.size() && is_ascii_space(text[at])) ++at;
    const auto begin = at;
    while (at < text.size() && !is_ascii_space(text[at])) ++at;
    if (at > begin) take(text.substr(begin, at - begin));
  }
}

// Whether the form leaves a raw word as it is, one word.
bool has_form(std::string_view raw, WordForm form);

// Calls take(std::string_view word) for the words of a raw one; they are never empty. The view
// lives for the call; `buffer` is room to work in.
template <class Take>
void for_each_word_of(std::string_view raw, WordForm form, std::string& buffer, Take&& take) {
  if (has_form(raw, form)) return take(raw);
  buffer.clear();
  append_normalised(raw, form, buffer);
  for (std::string_view rest = buffer; !rest.empty();) {  // It may contain spaces now.
    const auto end = rest.find(' ');
    if (end != 0) take(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
}

// Calls take(std::string_view word) for every word of a text, in order.
template <class Take>
void for_each_word(std::string_view text, WordForm form, Take&& take) {
  std::string buffer;
  for_each_raw_word(text, [&](std::string_view raw) { for_each_word_of(raw, form, buffer, take); });
}

}  // namespace millrace::embed
