#include "extract/folding.h"

#include "layout/code_points.h"

namespace millrace::extract {
namespace {

// Letters with accents as the plain letters that OCR and hurried writers make of them.
std::string_view plain_of(char32_t code) {
  switch (code) {
    case U'à':
    case U'á':
    case U'â':
    case U'ã':
    case U'ä':
    case U'å':
    case U'ā':
      return "a";
    case U'æ':
      return "ae";
    case U'ç':
    case U'ć':
    case U'č':
      return "c";
    case U'è':
    case U'é':
    case U'ê':
    case U'ë':
    case U'ē':
    case U'ę':
      return "e";
    case U'ì':
    case U'í':
    case U'î':
    case U'ï':
    case U'ī':
      return "i";
    case U'ñ':
    case U'ń':
      return "n";
    case U'ò':
    case U'ó':
    case U'ô':
    case U'õ':
    case U'ö':
    case U'ø':
    case U'ō':
      return "o";
    case U'œ':
      return "oe";
    case U'ß':
    case U'ẞ':
      return "ss";
    case U'ù':
    case U'ú':
    case U'û':
    case U'ü':
    case U'ū':
      return "u";
    case U'ý':
    case U'ÿ':
      return "y";
    case U'ﬁ':
      return "fi";
    case U'ﬂ':
      return "fl";
    case U'µ':
    case U'μ':
      return "µ";
    case U'’':
    case U'‘':
    case U'´':
    case U'`':
      return "'";
    case U'‐':
    case U'‑':
    case U'‒':
    case U'–':
    case U'—':
    case U'−':
      return "-";
    case U'×':
      return "x";
    default:
      return {};
  }
}

}  // namespace

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
