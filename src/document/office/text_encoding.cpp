#include "document/office/text_encoding.h"

#include "layout/code_points.h"

#include <algorithm>
#include <utility>

namespace millrace::document {

namespace {

constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";

bool is_text_byte(unsigned char byte) {
  // Tab, line ends, form feed, escape (terminals leave it in logs); nothing else below the blank.
  return byte >= 0x20 ? byte != 0x7f : (byte >= 0x08 && byte <= 0x0d) || byte == 0x1b;
}

char16_t unit_at(std::string_view bytes, std::size_t at, TextEncoding encoding) {
  const auto a = static_cast<unsigned char>(bytes[at]);
  const auto b = static_cast<unsigned char>(bytes[at + 1]);
  return static_cast<char16_t>(encoding == TextEncoding::utf16_be ? a << 8 | b : b << 8 | a);
}

// Nearly all units of a text are below U+0100 or at least no controls and no odd surrogates.
bool is_utf16(std::string_view bytes, TextEncoding encoding) {
  if (bytes.size() % 2 != 0 || bytes.empty()) return false;
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
    const auto unit = unit_at(bytes, at, encoding);
    if (unit < 0x20 && !is_text_byte(static_cast<unsigned char>(unit))) return false;
    if (unit == 0xfffe || unit == 0xffff) return false;
    if (unit >= 0xd800 && unit < 0xe000) {
      if (unit >= 0xdc00 || at + 3 >= bytes.size()) return false;
      const auto low = unit_at(bytes, at + 2, encoding);
      if (low < 0xdc00 || low >= 0xe000) return false;
      at += 2;
    }
  }
  return true;
}

bool is_usual(char16_t unit) {
  constexpr std::pair<char16_t, char16_t> kUsual[] = {
      {0x0009, 0x000d}, {0x0020, 0x024f}, {0x0370, 0x06ff}, {0x0900, 0x0e7f}, {0x2010, 0x2044},
      {0x20a0, 0x20bf}, {0x3000, 0x30ff}, {0x4e00, 0x9fff}, {0xac00, 0xd7a3}, {0xff00, 0xffef}};
  return std::ranges::any_of(
      kUsual, [unit](const auto& range) { return unit >= range.first && unit <= range.second; });
}

// Of another script: letters of scripts that are written, and as many blanks, line ends and stops
// as a text has; read with its bytes swapped it has none of these.
bool reads_as_utf16(std::string_view bytes, TextEncoding encoding, TextEncoding swapped) {
  if (!is_utf16(bytes, encoding)) return false;
  std::size_t usual = 0;
  std::size_t between = 0;
  std::size_t swapped_between = 0;
  constexpr std::u16string_view kBetween = u" \n\r\t.,\u3001\u3002\uff0c";
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
    const auto unit = unit_at(bytes, at, encoding);
    usual += is_usual(unit) ? 1 : 0;
    between += kBetween.contains(unit) ? 1 : 0;
    swapped_between += kBetween.contains(unit_at(bytes, at, swapped)) ? 1 : 0;
  }
  const auto units = bytes.size() / 2;
  return between >= 2 && between * 50 >= units && usual * 100 >= units * 95 && swapped_between == 0;
}

// Without a mark only what is clear: every other byte is 0 in a Western text.
std::optional<TextEncoding> unmarked_utf16(std::string_view bytes) {
  std::size_t even = 0;
  std::size_t odd = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (bytes[at] != 0) continue;
    ++(at % 2 == 0 ? even : odd);
  }
  const auto units = bytes.size() / 2;
  if (units < 2) return std::nullopt;
  if (even == 0 && odd * 10 >= units * 8 && is_utf16(bytes, TextEncoding::utf16_le)) {
    return TextEncoding::utf16_le;
  }
  if (odd == 0 && even * 10 >= units * 8 && is_utf16(bytes, TextEncoding::utf16_be)) {
    return TextEncoding::utf16_be;
  }
  using enum TextEncoding;
  if (reads_as_utf16(bytes, utf16_le, utf16_be)) return utf16_le;
  if (reads_as_utf16(bytes, utf16_be, utf16_le)) return utf16_be;
  return std::nullopt;
}

// Windows' own characters in the place of the C1 controls, which no text has.
constexpr char32_t kWindows[] = {0x20ac, 0xfffd, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0xfffd, 0x017d, 0xfffd,
                                 0xfffd, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0xfffd, 0x017e, 0x0178};

std::string from_latin1(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    layout::append_utf8(text, byte >= 0x80 && byte < 0xa0 ? kWindows[byte - 0x80] : byte);
  }
  return text;
}

std::string from_utf16(std::string_view bytes, TextEncoding encoding) {
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
    char32_t code = unit_at(bytes, at, encoding);
    if (code == 0xfeff && at == 0) continue;
    if (code >= 0xd800 && code < 0xdc00 && at + 3 < bytes.size()) {
      const auto low = unit_at(bytes, at + 2, encoding);
      if (low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00U);
        at += 2;
      }
    }
    layout::append_utf8(text, code >= 0xd800 && code < 0xe000 ? layout::kReplacement : code);
  }
  return text;
}

}  // namespace

bool is_plain(std::string_view bytes) {
  return std::ranges::all_of(bytes,
                             [](char c) { return is_text_byte(static_cast<unsigned char>(c)); });
}

std::string_view to_string(TextEncoding encoding) {
  switch (encoding) {
    case TextEncoding::utf8:
      return "utf-8";
    case TextEncoding::utf16_le:
      return "utf-16le";
    case TextEncoding::utf16_be:
      return "utf-16be";
    case TextEncoding::latin1:
      return "windows-1252";
  }
  return "unknown";
}

std::optional<TextEncoding> detect_encoding(std::string_view bytes) {
  if (bytes.starts_with("\xff\xfe") && is_utf16(bytes, TextEncoding::utf16_le)) {
    return TextEncoding::utf16_le;
  }
  if (bytes.starts_with("\xfe\xff") && is_utf16(bytes, TextEncoding::utf16_be)) {
    return TextEncoding::utf16_be;
  }
  if (is_plain(bytes)) {
    if (layout::is_utf8(bytes)) return TextEncoding::utf8;
    // Random bytes have letters of Latin-1 as often as not; texts have mostly ASCII.
    const auto high = static_cast<std::size_t>(
        std::ranges::count_if(bytes, [](char c) { return static_cast<signed char>(c) < 0; }));
    if (high * 3 <= bytes.size()) return TextEncoding::latin1;
    return std::nullopt;
  }
  return unmarked_utf16(bytes);
}

std::string to_utf8(std::string_view bytes, TextEncoding encoding) {
  switch (encoding) {
    case TextEncoding::utf8:
      return std::string(bytes.starts_with(kUtf8Mark) ? bytes.substr(3) : bytes);
    case TextEncoding::latin1:
      return from_latin1(bytes);
    case TextEncoding::utf16_le:
    case TextEncoding::utf16_be:
      return from_utf16(bytes, encoding);
  }
  return {};
}

}  // namespace millrace::document
