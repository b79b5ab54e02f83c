// UTF-8, checked where text of clients comes in or goes out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::http {

// The length of the well-formed sequence that `text` begins with; 0 if it does not. `text` is not
// empty.
std::size_t utf8_sequence_bytes(std::string_view text);
bool is_utf8(std::string_view text);
// Every byte that belongs to no well-formed sequence becomes U+FFFD.
void append_as_utf8(std::string& out, std::string_view text);

}  // namespace millrace::http
