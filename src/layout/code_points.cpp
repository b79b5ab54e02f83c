#include "layout/code_points.h"

#include <algorithm>
#include <array>

namespace millrace::layout {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

template <std::size_t N>
bool in_any(const std::array<Range, N>& ranges, char32_t code) {
  return std::ranges::any_of(
      ranges, [code](const Range& range) { return code >= range.first && code <= range.last; });
}

bool is_lead(char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }

}  // namespace

Decoded decode_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto first = byte(at);
  if (first < 0x80) return {.code = first, .bytes = 1};
  const Decoded bad{.code = kReplacement, .bytes = 1, .valid = false};
  const std::uint32_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > text.size()) return bad;
  char32_t code = first & (0xffU >> (length + 1));
  for (std::uint32_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80U) return bad;
    code = (code << 6U) | (byte(at + i) & 0x3fU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (overlong || surrogate || code > 0x10ffff) return bad;
  return {.code = code, .bytes = length};
}

void append_utf8(std::string& out, char32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0U | (code >> 6U));
    out += static_cast<char>(0x80U | (code & 0x3fU));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0U | (code >> 12U));
    out += static_cast<char>(0x80U | ((code >> 6U) & 0x3fU));
    out += static_cast<char>(0x80U | (code & 0x3fU));
  } else {
    out += static_cast<char>(0xf0U | (code >> 18U));
    out += static_cast<char>(0x80U | ((code >> 12U) & 0x3fU));
    out += static_cast<char>(0x80U | ((code >> 6U) & 0x3fU));
    out += static_cast<char>(0x80U | (code & 0x3fU));
  }
}

std::u32string to_code_points(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = decode_at(text, at);
    out += decoded.code;
    at += decoded.bytes;
  }
  return out;
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) at += decode_at(text, at).bytes;
  return count;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = decode_at(text, at);
    if (!decoded.valid) return false;
    at += decoded.bytes;
  }
  return true;
}

bool is_space(char32_t code) {
  if (code <= 0x20) return code == ' ' || (code >= '\t' && code <= '\r');
  return code == 0x85 || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) ||
         code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

bool is_control(char32_t code) {
  if (is_space(code)) return false;
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200b || code == 0xfeff ||
         (code >= 0x202a && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f);
}

bool is_digit(char32_t code) { return code >= '0' && code <= '9'; }

bool is_letter(char32_t code) {
  if (code < 0x80) return (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z');
  if (code < 0x2000) {
    return code >= 0xc0 ? code != 0xd7 && code != 0xf7 : code == 0xaa || code == 0xb5;
  }
  // Punctuation, symbols, boxes, private use and specials are no letters.
  static constexpr auto kOthers = std::to_array<Range>(
      {{0x2000, 0x2bff}, {0x2e00, 0x2e7f}, {0x3000, 0x3004}, {0x3007, 0x3030}, {0xe000, 0xf8ff}});
  return !in_any(kOthers, code) && code < 0xfff0;
}

bool is_upper(char32_t code) { return fold_case(code) != code; }

bool is_ideograph(char32_t code) {
  static constexpr auto kRanges = std::to_array<Range>(
      {{0x3040, 0x30ff}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xf900, 0xfaff}, {0x20000, 0x3134f}});
  // Full-width punctuation sits between ideographs without spaces too.
  return in_any(kRanges, code) || (code >= 0x3001 && code <= 0x3003) ||
         (code >= 0xff01 && code <= 0xff60);
}

bool is_right_to_left(char32_t code) {
  static constexpr std::array<Range, 3> kRanges = {
      {{0x0590, 0x08ff}, {0xfb1d, 0xfdff}, {0xfe70, 0xfefc}}};
  return in_any(kRanges, code);
}

char32_t fold_case(char32_t code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
  if (code >= 0xc0 && code <= 0xde) return code == 0xd7 ? code : code + 32;
  if (code >= 0x100 && code <= 0x17f) {
    if (code == 0x130 || code == 0x131 || code == 0x138 || code == 0x149 || code == 0x17f) {
      return code;
    }
    if (code == 0x178) return 0xff;
    // Pairs begin at even numbers, except in two stretches where they begin at odd ones.
    const bool odd = (code >= 0x139 && code <= 0x148) || (code >= 0x179 && code <= 0x17e);
    return (code % 2 == 0) == odd ? code : code + 1;
  }
  if (code >= 0x391 && code <= 0x3a9) return code == 0x3a2 ? code : code + 32;
  if (code >= 0x410 && code <= 0x42f) return code + 32;
  if (code >= 0x400 && code <= 0x40f) return code + 80;
  return code;
}

std::string to_lower(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = decode_at(text, at);
    append_utf8(out, fold_case(decoded.code));
    at += decoded.bytes;
  }
  return out;
}

bool is_word_text(std::string_view text) {
  if (text.empty()) return false;
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = decode_at(text, at);
    if (!decoded.valid || is_space(decoded.code) || is_control(decoded.code)) return false;
    at += decoded.bytes;
  }
  return true;
}

OffsetIndex::OffsetIndex(std::string_view text) : text_(text) {
  starts_.reserve(text.size() / kStride + 1);
  for (std::uint32_t at = 0; at < text.size(); ++at) {
    if (at % kStride == 0) starts_.push_back(count_);
    if (is_lead(text[at])) ++count_;
  }
  if (starts_.empty()) starts_.push_back(0);
}

std::uint32_t OffsetIndex::code_points_before(std::uint32_t byte) const {
  byte = std::min(byte, static_cast<std::uint32_t>(text_.size()));
  const auto stride = std::min<std::size_t>(byte / kStride, starts_.size() - 1);
  auto count = starts_[stride];
  for (auto at = static_cast<std::uint32_t>(stride) * kStride; at < byte; ++at) {
    if (is_lead(text_[at])) ++count;
  }
  // In the middle of a character its own start was counted.
  if (byte < text_.size() && !is_lead(text_[byte]) && count > 0) --count;
  return count;
}

std::optional<std::uint32_t> OffsetIndex::byte_of(std::uint32_t code_point) const {
  if (code_point > count_) return std::nullopt;
  if (code_point == count_) return static_cast<std::uint32_t>(text_.size());
  const auto after = std::ranges::upper_bound(starts_, code_point);
  const auto stride = static_cast<std::uint32_t>(after - starts_.begin() - 1);
  auto count = starts_[stride];
  for (auto at = stride * kStride; at < text_.size(); ++at) {
    if (!is_lead(text_[at])) continue;
    if (count == code_point) return at;
    ++count;
  }
  return static_cast<std::uint32_t>(text_.size());
}

}  // namespace millrace::layout
