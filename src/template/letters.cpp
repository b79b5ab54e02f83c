#include "template/letters.h"

#include <algorithm>
#include <array>

namespace millrace::templates {
namespace {

char32_t upper(char32_t c) {
  if (c >= 'a' && c <= 'z') return c - 32;
  if (c >= 0xE0 && c <= 0xFE && c != 0xF7) return c - 32;
  if (c == 0xFF) return 0x178;
  // Latin Extended-A: pairs, whose capital is even up to U+0137 and odd from U+0139 to U+0148.
  if ((c >= 0x100 && c <= 0x137 && c != 0x131) || (c >= 0x14A && c <= 0x177)) return c & ~1U;
  if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E)) return (c & 1U) == 0 ? c - 1 : c;
  if (c >= 0x3B1 && c <= 0x3C9 && c != 0x3C2) return c - 32;
  if (c >= 0x430 && c <= 0x44F) return c - 32;
  if (c >= 0x450 && c <= 0x45F) return c - 80;
  return c;
}

char32_t lower(char32_t c) {
  if (c >= 'A' && c <= 'Z') return c + 32;
  if (c >= 0xC0 && c <= 0xDE && c != 0xD7) return c + 32;
  if (c == 0x178) return 0xFF;
  if ((c >= 0x100 && c <= 0x137 && c != 0x130) || (c >= 0x14A && c <= 0x177)) return c | 1U;
  if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E)) return (c & 1U) == 1 ? c + 1 : c;
  if (c >= 0x391 && c <= 0x3A9) return c + 32;
  if (c >= 0x410 && c <= 0x42F) return c + 32;
  if (c >= 0x400 && c <= 0x40F) return c + 80;
  return c;
}

struct Plain {
  std::u32string_view letters;
  std::string_view plain;
};

constexpr auto kPlain = std::to_array<Plain>(
    {{U"ä", "ae"},        {U"ö", "oe"},      {U"ü", "ue"},        {U"ß", "ss"},    {U"æ", "ae"},
     {U"œ", "oe"},        {U"ø", "o"},       {U"àáâãåāăą", "a"},  {U"çćĉċč", "c"}, {U"ďđð", "d"},
     {U"èéêëēĕėęě", "e"}, {U"ĝğġģ", "g"},    {U"ìíîïĩīĭįı", "i"}, {U"ķ", "k"},     {U"ĺļľł", "l"},
     {U"ñńņň", "n"},      {U"òóôõōŏő", "o"}, {U"ŕŗř", "r"},       {U"śŝşš", "s"},  {U"ţťŧ", "t"},
     {U"ùúûũūŭůűų", "u"}, {U"ýÿŷ", "y"},     {U"źżž", "z"},       {U"þ", "th"}});

}  // namespace

char32_t take_letter(std::string_view& text) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  char32_t letter = size == 1 ? first : first & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < std::min(size, text.size()); ++i) {
    letter = letter << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  text.remove_prefix(std::min(size, text.size()));
  return letter;
}

void append_letter(char32_t letter, std::string& out) {
  const auto tail = [&](unsigned shift) {
    out += static_cast<char>(0x80U | (letter >> shift & 0x3FU));
  };
  if (letter < 0x80) {
    out += static_cast<char>(letter);
  } else if (letter < 0x800) {
    out += static_cast<char>(0xC0U | letter >> 6U);
    tail(0);
  } else if (letter < 0x10000) {
    out += static_cast<char>(0xE0U | letter >> 12U);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0U | letter >> 18U);
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string to_upper(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto letter = take_letter(text);
    if (letter == U'ß') {
      out += "SS";
    } else {
      append_letter(upper(letter), out);
    }
  }
  return out;
}

std::string to_lower(std::string_view text) {
  std::string out;
  while (!text.empty()) append_letter(lower(take_letter(text)), out);
  return out;
}

std::string to_slug(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto letter = lower(take_letter(text));
    if ((letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9')) {
      out += static_cast<char>(letter);
      continue;
    }
    const auto* found = std::ranges::find_if(
        kPlain, [&](const Plain& plain) { return plain.letters.contains(letter); });
    if (found != kPlain.end()) {
      out += found->plain;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (out.ends_with('-')) out.pop_back();
  return out;
}

std::size_t count_letters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace millrace::templates
