#include "layout/folded_text.h"

#include "layout/code_points.h"

#include <algorithm>
#include <array>
#include <optional>

namespace millrace::layout {
namespace {

bool is_dash(char32_t code) {
  return code == '-' || (code >= 0x2010 && code <= 0x2015) || code == 0x2212 || code == 0xad;
}

// What a character is compared as, when it is not itself; more than one for ligatures.
std::optional<std::u32string_view> plain(char32_t code) {
  struct Entry {
    char32_t from;
    std::u32string_view to;
  };
  static constexpr auto kTable = std::to_array<Entry>({{0x2018, U"'"},
                                                       {0x2019, U"'"},
                                                       {0x201a, U"'"},
                                                       {0x201b, U"'"},
                                                       {0x60, U"'"},
                                                       {0xb4, U"'"},
                                                       {0x201c, U"\""},
                                                       {0x201d, U"\""},
                                                       {0x201e, U"\""},
                                                       {0xab, U"\""},
                                                       {0xbb, U"\""},
                                                       {0x2026, U"..."},
                                                       {0xfb00, U"ff"},
                                                       {0xfb01, U"fi"},
                                                       {0xfb02, U"fl"},
                                                       {0xfb03, U"ffi"},
                                                       {0xfb04, U"ffl"},
                                                       {0x3bc, U"\u00b5"},  // Micro, written as mu.
                                                       {0xd7, U"x"}});
  const auto at = std::ranges::find(kTable, code, &Entry::from);
  if (at == kTable.end()) return std::nullopt;
  return at->to;
}

// A dash at the end of a line whose next line goes on with a small letter: bytes up to that letter.
std::optional<std::size_t> division_end(std::string_view text, std::size_t dash_end) {
  if (dash_end >= text.size() || text[dash_end] != '\n') return std::nullopt;
  const auto next = dash_end + 1;
  if (next >= text.size()) return std::nullopt;
  const auto after = decode_at(text, next).code;
  if (!is_letter(after) || is_upper(after)) return std::nullopt;
  return next;
}

}  // namespace

FoldedText fold(std::string_view text) {
  FoldedText out;
  out.chars.reserve(text.size());
  out.sources.reserve(text.size());
  bool space = false;
  std::uint32_t space_at = 0;
  const auto add = [&](char32_t code, std::uint32_t begin, std::uint32_t end) {
    if (space && !out.chars.empty()) {
      out.chars += U' ';
      out.sources.push_back({.begin = space_at, .end = begin});
    }
    space = false;
    out.chars += code;
    out.sources.push_back({.begin = begin, .end = end});
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = decode_at(text, at);
    const auto begin = static_cast<std::uint32_t>(at);
    at += decoded.bytes;
    const auto end = static_cast<std::uint32_t>(at);
    if (is_space(decoded.code)) {
      if (!space) space_at = begin;
      space = true;
    } else if (is_control(decoded.code)) {
      continue;
    } else if (is_dash(decoded.code)) {
      const bool in_word = !space && !out.chars.empty() && is_letter(out.chars.back());
      const auto next = in_word ? division_end(text, at) : std::nullopt;
      if (next) {
        at = *next;
      } else if (decoded.code != 0xad) {
        add(U'-', begin, end);
      }
    } else if (const auto others = plain(decoded.code)) {
      for (const auto code : *others) add(code, begin, end);
    } else {
      add(fold_case(decoded.code), begin, end);
    }
  }
  return out;
}

std::string folded_utf8(std::string_view text) {
  std::string out;
  for (const auto code : fold(text).chars) append_utf8(out, code);
  return out;
}

}  // namespace millrace::layout
