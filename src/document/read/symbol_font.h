// Symbol fonts: the signs that fonts such as Wingdings show where others have letters.
//
// Writers print the boxes of forms with them. A file says of such a sign only its place in the
// font, as a letter ("o") or a private number (U+F06F); nobody who searches for a box would find
// it.
#pragma once

#include <string_view>

namespace millrace::document {

enum class SymbolFont { none, wingdings, wingdings2 };

// By its name in the file, whatever stands before ("ABCDEF+Wingdings-Regular").
SymbolFont symbol_font(std::string_view font_name);

// The sign that is meant; the same code where it is none of a form.
char32_t symbol_of(SymbolFont font, char32_t code);

// A box, empty or ticked: nothing that words begin with.
bool is_box_sign(char32_t code);

}  // namespace millrace::document
