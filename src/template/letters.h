// Letters: capitals and plain forms of what European names and words are written with.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::templates {

// Latin, Greek and Cyrillic; what has no capitals stays as it is. "ß" becomes "SS".
std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
// "Müller & Söhne" is "mueller-soehne": letters and digits of ASCII, joined by '-'.
std::string to_slug(std::string_view text);

// The next code point of valid UTF-8, which it takes away; 0 at the end.
char32_t take_letter(std::string_view& text);
void append_letter(char32_t letter, std::string& out);
std::size_t count_letters(std::string_view text);

}  // namespace millrace::templates
