// utf8_prefix: how much of a text is UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::embed {

// Where the first bytes are that are no character; text.size() when there are none.
std::size_t utf8_prefix(std::string_view text);

}  // namespace millrace::embed
