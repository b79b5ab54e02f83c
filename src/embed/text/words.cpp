#include "embed/text/words.h"

#include "base/assert.h"

#include <algorithm>
#include <array>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/utf8.h>
#include <vector>

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

void append_utf8(UChar32 c, std::string& out) {
  std::array<char, U8_MAX_LENGTH> bytes{};
  std::size_t size = 0;
  U8_APPEND_UNSAFE(bytes.data(), size, c);
  out.append(bytes.data(), size);
}

// What NFKC makes of characters. Most stay as they are, many become others by themselves; only
// those that join what stands before them (accents, the vowels of Hangul) need a closer look.
class CompatibleForms {
 public:
  enum Kind : std::uint16_t {
    stays,
    stays_composed,  // With an accent in it, that others may change places with.
    space,
    invisible,
    joins,
    first_changed,  // From here on: changed() knows what it becomes.
    mark = 0x8000,  // It joins as it is; the combining class is added.
  };

  static const CompatibleForms& get() {
    static const CompatibleForms made;
    return made;
  }
  std::uint16_t kind(UChar32 c) const {
    return c < kTableSize ? kinds_[static_cast<std::size_t>(c)] : kind_of(c);
  }
  const std::string& changed(std::uint16_t kind) const { return changed_[kind - first_changed]; }

 private:
  static constexpr UChar32 kTableSize = 0x20000;  // Scripts and signs; beyond are ideographs.

  CompatibleForms() : kinds_(kTableSize) {
    for (UChar32 c = 0; c < kTableSize; ++c) {
      auto& kind = kinds_[static_cast<std::size_t>(c)];
      kind = kind_of(c);
      if (kind != joins || !normalizer(WordForm::compatible).hasBoundaryBefore(c)) continue;
      kind = static_cast<std::uint16_t>(first_changed + changed_.size());
      UErrorCode status = U_ZERO_ERROR;
      normalizer(WordForm::compatible)
          .normalize(icu::UnicodeString(c), status)
          .toUTF8String(changed_.emplace_back());
      MR_ASSERT(U_SUCCESS(status));
    }
  }

  static std::uint16_t kind_of(UChar32 c) {
    if (is_space(c)) return space;
    if (is_invisible(c)) return invisible;
    const auto& form = normalizer(WordForm::compatible);
    const bool kept = u_getIntPropertyValue(c, UCHAR_NFKC_QUICK_CHECK) == UNORM_YES;
    if (!form.hasBoundaryBefore(c)) {
      const auto combining_class = u_getCombiningClass(c);
      const bool changes = u_getIntPropertyValue(c, UCHAR_NFKC_QUICK_CHECK) == UNORM_NO;
      if (combining_class == 0 || changes) return joins;
      return static_cast<std::uint16_t>(mark + combining_class);
    }
    if (!kept) return joins;
    const bool simple = u_getIntPropertyValue(c, UCHAR_NFD_QUICK_CHECK) == UNORM_YES;
    return simple ? stays : stays_composed;
  }

  std::vector<std::uint16_t> kinds_;
  std::vector<std::string> changed_;
};

// Puts a word together, unit by unit: a character that joins nothing before it, and those that join
// it. Units do not change each other.
class CompatibleWord {
 public:
  explicit CompatibleWord(std::string& out) : out_(out), begin_(out.size()) {}

  void take(UChar32 c) {
    const auto kind = forms_.kind(c);
    if (kind == CompatibleForms::invisible) return;
    if (kind == CompatibleForms::joins || kind >= CompatibleForms::mark) return join(c, kind);
    end_unit();
    begin_ = out_.size();
    base_ = c;
    kind_ = kind;
    if (kind == CompatibleForms::space) {
      out_ += ' ';
    } else {
      append_utf8(c, out_);
    }
  }

  void end_unit() {
    if (joined_ && !unchanged_) {
      UErrorCode status = U_ZERO_ERROR;
      const auto unit = icu::UnicodeString::fromUTF8(std::string_view(out_).substr(begin_));
      out_.resize(begin_);
      normalizer(WordForm::compatible).normalize(unit, status).toUTF8String(out_);
      MR_ASSERT(U_SUCCESS(status));
    } else if (kind_ >= CompatibleForms::first_changed) {
      out_.resize(begin_);
      out_ += forms_.changed(kind_);
    }
    kind_ = CompatibleForms::joins;
    joined_ = false;
    unchanged_ = true;
    last_class_ = 0;
  }

 private:
  // Accents in their order upon a letter without one, which none of them makes another letter.
  void join(UChar32 c, std::uint16_t kind) {
    joined_ = true;
    append_utf8(c, out_);
    if (!unchanged_) return;
    const auto combining_class = static_cast<std::uint8_t>(kind - CompatibleForms::mark);
    unchanged_ = kind_ == CompatibleForms::stays && kind >= CompatibleForms::mark &&
                 combining_class >= last_class_ &&
                 (combining_class == last_class_ ||
                  normalizer(WordForm::compatible).composePair(base_, c) < 0);
    last_class_ = combining_class;
  }

  const CompatibleForms& forms_ = CompatibleForms::get();
  std::string& out_;
  std::size_t begin_;  // Of the unit in `out`, as it came.
  UChar32 base_ = 0;
  std::uint16_t kind_ = CompatibleForms::joins;  // Of the base; joins: there is none.
  bool joined_ = false;
  bool unchanged_ = true;  // What joined leaves all as it came.
  std::uint8_t last_class_ = 0;
};

void append_compatible(std::string_view text, std::string& out) {
  CompatibleWord word(out);
  for (std::size_t at = 0; at < text.size();) {
    UChar32 c = 0;
    U8_NEXT(text.data(), at, text.size(), c);
    word.take(c < 0 ? kReplacement : c);
  }
  word.end_unit();
}

void append_bare(std::string_view text, std::string& out) {
  const icu::UnicodeString read = icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())));
  icu::UnicodeString clean;
  for (std::int32_t i = 0; i < read.length();) {
    UChar32 c = read.char32At(i);
    i += U16_LENGTH(c);
    if (is_space(c)) {
      c = ' ';
    } else if (is_invisible(c) || c == kReplacement) {
      continue;
    }
    clean.append(u_tolower(c));
  }
  UErrorCode status = U_ZERO_ERROR;
  const icu::UnicodeString normal = normalizer(WordForm::bare).normalize(clean, status);
  MR_ASSERT(U_SUCCESS(status));
  icu::UnicodeString bare;
  for (std::int32_t i = 0; i < normal.length();) {
    const UChar32 c = normal.char32At(i);
    i += U16_LENGTH(c);
    if (u_charType(c) != U_NON_SPACING_MARK) bare.append(c);
  }
  bare.toUTF8String(out);
}

}  // namespace

void append_normalised(std::string_view text, WordForm form, std::string& out) {
  if (form == WordForm::compatible) {
    append_compatible(text, out);
  } else {
    append_bare(text, out);
  }
}

bool is_compatible(std::string_view word) {
  const auto& forms = CompatibleForms::get();
  for (std::size_t at = 0; at < word.size();) {
    UChar32 c = 0;
    U8_NEXT(word.data(), at, word.size(), c);
    if (c < 0) return false;
    const auto kind = forms.kind(c);
    if (kind != CompatibleForms::stays && kind != CompatibleForms::stays_composed) return false;
  }
  return true;
}

bool has_form(std::string_view raw, WordForm form) {
  const bool plain = std::ranges::all_of(raw, [&](char c) {
    return c > ' ' && c < 0x7f && (form != WordForm::bare || c < 'A' || c > 'Z');
  });
  return plain || (form == WordForm::compatible && is_compatible(raw));
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
