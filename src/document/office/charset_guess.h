// The charset of a text that does not say it, guessed by the frequency of its letters.
#pragma once

#include <string>
#include <string_view>

namespace millrace::document {

// A label like "KOI8-R" or "Shift_JIS"; empty when nothing is likely enough. For bytes that are no
// UTF-8 and have no byte order mark. Looks at some of them, whatever their number.
std::string guess_charset(std::string_view bytes);

// Whether the bytes can be read as text: by their encoding, or by a guess.
bool is_text(std::string_view bytes);

}  // namespace millrace::document
