// Named characters of HTML: those of HTML 4 and the newer ones that pages use.
#pragma once

#include <string_view>

namespace millrace::document {

// 0 when nobody knows the name. `closed`: it ended with a semicolon; only the oldest names may do
// without one.
char32_t find_entity(std::string_view name, bool closed);

}  // namespace millrace::document
