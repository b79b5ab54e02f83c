#include "document/read/symbol_font.h"

#include "layout/code_points.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace millrace::document {
namespace {

constexpr char32_t kPrivate = 0xF000;  // Where codes of symbol fonts are kept.

using Sign = std::pair<char32_t, char32_t>;

constexpr auto kWingdings = std::to_array<Sign>({
    {0x6C, U'●'},
    {0x6E, U'■'},
    {0x6F, U'□'},
    {0x71, U'❑'},
    {0x72, U'❑'},
    {0x78, U'☒'},
    {0xA8, U'☐'},
    {0xFB, U'✗'},
    {0xFC, U'✓'},
    {0xFD, U'☒'},
    {0xFE, U'☑'},
});

constexpr auto kWingdings2 = std::to_array<Sign>({
    {0x4F, U'✗'},
    {0x50, U'✓'},
    {0x51, U'☒'},
    {0x52, U'☑'},
    {0x53, U'☒'},
    {0x54, U'☒'},
    {0xA3, U'☐'},
});

}  // namespace

SymbolFont symbol_font(std::string_view font_name) {
  std::string name = layout::to_lower(font_name);
  std::erase_if(name, [](char c) { return c == ' ' || c == '-' || c == '_'; });
  if (name.find("wingdings2") != std::string::npos) return SymbolFont::wingdings2;
  if (name.find("wingdings3") != std::string::npos) return SymbolFont::none;  // Arrows.
  return name.find("wingdings") != std::string::npos ? SymbolFont::wingdings : SymbolFont::none;
}

char32_t symbol_of(SymbolFont font, char32_t code) {
  if (font == SymbolFont::none) return code;
  const bool is_private = code >= kPrivate && code <= kPrivate + 0xFF;
  const char32_t place = is_private ? code - kPrivate : code;
  const auto find = [place, code](const auto& signs) {
    const auto found = std::ranges::find(signs, place, &Sign::first);
    return found == signs.end() ? code : found->second;
  };
  return font == SymbolFont::wingdings ? find(kWingdings) : find(kWingdings2);
}

bool is_box_sign(char32_t code) {
  constexpr std::u32string_view kBoxes = U"☐☑☒□▢◻❏❐❑❒⊠";
  return kBoxes.find(code) != kBoxes.npos;
}

}  // namespace millrace::document
