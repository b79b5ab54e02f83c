// What the chunker knows of characters: UTF-8, canonical composition, grapheme clusters.
//
// The tables come from tools/unicode_text and are of one Unicode version; nothing here asks a
// locale. Pure functions, any thread.
#pragma once

#include "chunk/unicode_data.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::chunk {

inline constexpr char32_t kReplacement = 0xfffd;
inline constexpr std::string_view kReplacementUtf8 = "\xef\xbf\xbd";

// Classes of extended grapheme clusters (UAX #29); the numbers are those of the tables.
enum class ClusterBreak : std::uint8_t {
  other,
  cr,
  lf,
  control,
  extend,
  zwj,
  regional,
  prepend,
  spacing_mark,
  hangul_l,
  hangul_v,
  hangul_t,
  hangul_lv,
  hangul_lvt,
  pictographic,
};

class Properties {
 public:
  constexpr explicit Properties(std::uint16_t bits) : bits_(bits) {}
  std::uint8_t combining_class() const { return static_cast<std::uint8_t>(bits_ & 0xff); }
  bool nfc_maybe() const { return (bits_ & 0x100) != 0; }
  bool nfc_no() const { return (bits_ & 0x200) != 0; }
  // Stays as it is whatever stands before it: class 0 and quick check "yes".
  bool nfc_plain() const { return (bits_ & 0x3ff) == 0; }
  ClusterBreak cluster() const { return static_cast<ClusterBreak>((bits_ >> 10) & 15); }
  bool ends_sentence() const { return (bits_ & 0x4000) != 0; }
  bool closes() const { return (bits_ & 0x8000) != 0; }  // Quotes and closing brackets.

 private:
  std::uint16_t bits_;
};

inline Properties properties_of(char32_t c);
ClusterBreak cluster_break_of(char32_t c);  // Hangul syllables included.

// One step of the canonical decomposition of `c`, or nullptr. Hangul syllables have none here.
const Decomposition* decomposition_of(char32_t c);
// The primary composite of two characters, Hangul included; 0 when there is none.
char32_t composite_of(char32_t first, char32_t second);

struct Decoded {
  char32_t c;
  std::uint32_t size;  // Bytes it takes, at least 1.
  bool valid;          // Else `c` is U+FFFD and `size` the maximal subpart that it stands for.
};
// `text` is not empty. A sequence that `text` cuts off is not valid.
inline Decoded decode(std::string_view text);
// The character that ends at `position` > 0; what is no whole one is U+FFFD and one byte, or the
// maximal subpart that it stands for.
struct Before {
  char32_t c;
  std::size_t at;  // Where it begins.
};
inline Before before(std::string_view text, std::size_t position);
// The bytes of `text`, 1 to 3 at its end, that begin a sequence which may still become valid.
std::size_t unfinished_tail(std::string_view text);
inline void append_utf8(std::string& out, char32_t c);

inline bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }
// The greatest position not after `position` that is in no UTF-8 sequence.
std::size_t code_point_floor(std::string_view text, std::size_t position);
std::uint64_t count_code_points(std::string_view text);

// Whether `position` is between two extended grapheme clusters; `text` begins with one.
bool is_cluster_boundary(std::string_view text, std::size_t position);
// The greatest cluster boundary in (low, position]; where one cluster fills all of it, the greatest
// position between code points, so that something can always be cut off.
std::size_t cluster_floor(std::string_view text, std::size_t low, std::size_t position);

// Every character of every text goes through these: they are to be inlined.

namespace utf8 {

// 0 for what begins no sequence.
constexpr std::size_t sequence_size(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

// Whether a sequence's second byte keeps it in range: no overlong forms, surrogates, or beyond the
// last plane.
constexpr bool second_fits(unsigned char lead, unsigned char second) {
  if ((second & 0xc0) != 0x80) return false;
  if (lead == 0xe0) return second >= 0xa0;
  if (lead == 0xed) return second < 0xa0;
  if (lead == 0xf0) return second >= 0x90;
  if (lead == 0xf4) return second < 0x90;
  return true;
}

}  // namespace utf8

[[gnu::always_inline]] inline Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const auto size = utf8::sequence_size(lead);
  if (size == 0) return {kReplacement, 1, false};
  if (text.size() < 2 || !utf8::second_fits(lead, byte(1))) return {kReplacement, 1, false};
  char32_t c = lead & (0x7fU >> size);
  c = c << 6 | (byte(1) & 0x3fU);
  for (std::uint32_t i = 2; i < size; ++i) {
    if (i >= text.size() || !is_continuation(text[i])) return {kReplacement, i, false};
    c = c << 6 | (byte(i) & 0x3fU);
  }
  return {c, static_cast<std::uint32_t>(size), true};
}

inline Before before(std::string_view text, std::size_t position) {
  const auto last = static_cast<unsigned char>(text[position - 1]);
  if (last < 0x80) return {last, position - 1};
  std::size_t begin = position - 1;
  for (int i = 0; i < 3 && begin > 0 && is_continuation(text[begin]); ++i) --begin;
  const auto decoded = decode(text.substr(begin, position - begin));
  if (decoded.size != position - begin) return {kReplacement, position - 1};
  return {decoded.c, begin};
}

// Writes at most four bytes; answers where they end.
inline char* put_utf8(char* to, char32_t c) {
  const auto put = [&to](char32_t byte) { *to++ = static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
    return to;
  }
  if (c < 0x800) {
    put(0xc0 | c >> 6);
  } else {
    if (c < 0x10000) {
      put(0xe0 | c >> 12);
    } else {
      put(0xf0 | c >> 18);
      put(0x80 | (c >> 12 & 0x3f));
    }
    put(0x80 | (c >> 6 & 0x3f));
  }
  put(0x80 | (c & 0x3f));
  return to;
}

inline void append_utf8(std::string& out, char32_t c) {
  std::array<char, 4> bytes;
  out.append(bytes.data(), put_utf8(bytes.data(), c));
}

namespace tables {

inline constexpr char32_t kNearSize = 0x20000;  // Scripts and emoji; beyond: ideographs and tags.
using Near = std::unique_ptr<const std::array<std::uint16_t, kNearSize>>;
Near make_near();
std::uint16_t far_bits(char32_t c);

}  // namespace tables

inline Properties properties_of(char32_t c) {
  static const tables::Near near = tables::make_near();
  return Properties(c < tables::kNearSize ? (*near)[c] : tables::far_bits(c));
}

}  // namespace millrace::chunk
