#include "extract/folding.h"

#include "layout/code_points.h"

#include <array>

namespace millrace::extract {
namespace {

// Letters with accents as the plain letters that OCR and hurried writers make of them.
std::string_view plain_of(char32_t code) {
  struct Row {
    std::u32string_view letters;
    std::string_view plain;
  };
  static constexpr auto kRows = std::to_array<Row>({
      {U"àáâãäåā", "a"}, {U"æ", "ae"},      {U"çćč", "c"}, {U"èéêëēę", "e"}, {U"ìíîïī", "i"},
      {U"ñń", "n"},      {U"òóôõöøō", "o"}, {U"œ", "oe"},  {U"ßẞ", "ss"},    {U"ùúûüū", "u"},
      {U"ýÿ", "y"},      {U"ﬀ", "ff"},      {U"ﬁ", "fi"},  {U"ﬂ", "fl"},     {U"ﬃ", "ffi"},
      {U"ﬄ", "ffl"},     {U"ﬅﬆ", "st"},     {U"µμ", "µ"},  {U"’‘´`", "'"},   {U"‐‑‒–—−", "-"},
      {U"×", "x"},
  });
  for (const auto& row : kRows) {
    if (row.letters.find(code) != std::u32string_view::npos) return row.plain;
  }
  return {};
}

}  // namespace

bool folds_away(char32_t code) {
  constexpr char32_t kSoftHyphen = 0xad;
  constexpr char32_t kNonJoiner = 0x200c;
  constexpr char32_t kJoiner = 0x200d;
  return (code >= 0x300 && code <= 0x36f) || code == kSoftHyphen || code == kNonJoiner ||
         code == kJoiner;
}

std::string fold(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c < 0x80) {
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : static_cast<char>(c);
      ++at;
      continue;
    }
    const auto decoded = layout::decode_at(text, at);
    at += decoded.bytes;
    if (folds_away(decoded.code)) continue;
    const auto code = layout::fold_case(decoded.code);
    const auto plain = plain_of(code);
    if (plain.empty()) {
      layout::append_utf8(out, code);
    } else {
      out += plain;
    }
  }
  return out;
}

std::string key_of(std::string_view folded) {
  std::string out(folded);
  for (std::size_t at = 1; at + 1 < out.size(); ++at) {
    if (out[at] == '-') out[at] = ' ';
  }
  return out;
}

}  // namespace millrace::extract
