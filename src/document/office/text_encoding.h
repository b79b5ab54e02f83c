// The encoding of a text file, judged by its bytes, and its text as UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace millrace::document {

enum class TextEncoding { utf8, utf16_le, utf16_be, latin1 };

std::string_view to_string(TextEncoding encoding);

// No controls but those that texts have.
bool is_plain(std::string_view bytes);

// Nothing when the bytes are no text: controls that no text has, or too many of them.
std::optional<TextEncoding> detect_encoding(std::string_view bytes);
// Without a byte order mark. What is wrong becomes U+FFFD.
std::string to_utf8(std::string_view bytes, TextEncoding encoding);

}  // namespace millrace::document
