// Escaping: a value as text of the place where it is printed. Whatever the value is, it stays text.
//
// Addresses and values of CSS cannot be made harmless by escaping alone; what is not allowed there
// is left out, and the answer says so.
#pragma once

#include "template/context.h"

#include <string>
#include <string_view>

namespace millrace::templates {

// Appends `text` to `out`; false when it was not allowed in its place and something harmless was
// written instead ("#" for a link, nothing else otherwise).
bool print_text(std::string_view text, Context context, std::string& out);

// Text between tags, and in quoted attributes. Control characters are left out.
void escape_html(std::string_view text, std::string& out);
std::string escaped_html(std::string_view text);

// The beginning of `text` that has at most `letters` code points.
std::string_view first_letters(std::string_view text, std::size_t letters);

}  // namespace millrace::templates
