#include "embed/text/words.h"

#include "base/assert.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

namespace millrace::embed {
namespace {

constexpr UChar32 kReplacement = 0xfffd;

bool is_space(UChar32 c) {
  return c == 0x85 || (c >= '\t' && c <= '\r') || u_charType(c) == U_SPACE_SEPARATOR ||
         c == 0x2028 || c == 0x2029;
}

// Controls, and formats: soft hyphen, zero width space and joiners, marks of direction, byte order.
bool is_invisible(UChar32 c) {
  const auto type = u_charType(c);
  return type == U_CONTROL_CHAR || type == U_FORMAT_CHAR;
}

const icu::Normalizer2& normalizer(WordForm form) {
  UErrorCode status = U_ZERO_ERROR;
  const auto* found = form == WordForm::compatible ? icu::Normalizer2::getNFKCInstance(status)
                                                   : icu::Normalizer2::getNFDInstance(status);
  MR_ASSERT(U_SUCCESS(status));
  return *found;
}

}  // namespace

void append_normalised(std::string_view text, WordForm form, std::string& out) {
  const icu::UnicodeString read = icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())));
  icu::UnicodeString clean;
  for (std::int32_t i = 0; i < read.length();) {
    UChar32 c = read.char32At(i);
    i += U16_LENGTH(c);
    if (is_space(c)) {
      c = ' ';
    } else if (is_invisible(c) || (c == kReplacement && form == WordForm::bare)) {
      continue;
    }
    clean.append(form == WordForm::bare ? u_tolower(c) : c);
  }
  UErrorCode status = U_ZERO_ERROR;
  icu::UnicodeString normal = normalizer(form).normalize(clean, status);
  MR_ASSERT(U_SUCCESS(status));
  if (form == WordForm::bare) {
    icu::UnicodeString bare;
    for (std::int32_t i = 0; i < normal.length();) {
      const UChar32 c = normal.char32At(i);
      i += U16_LENGTH(c);
      if (u_charType(c) != U_NON_SPACING_MARK) bare.append(c);
    }
    normal = std::move(bare);
  }
  normal.toUTF8String(out);
}

bool is_ideograph(std::int32_t c) {
  return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) ||
         (c >= 0x20000 && c <= 0x2a6df) || (c >= 0x2a700 && c <= 0x2ceaf) ||
         (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

bool is_punctuation(std::int32_t c) {
  if (c < 0x80) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
  }
  return (U_GET_GC_MASK(c) & U_GC_P_MASK) != 0;
}

}  // namespace millrace::embed
