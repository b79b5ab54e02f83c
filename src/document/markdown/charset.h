// Charsets: bytes of any encoding that documents name, as UTF-8.
//
// UTF-8, UTF-16 and Windows-1252 are ours (office/text_encoding.h). The rest is the C library's
// iconv, whose tables are files that a confined child cannot open: warm_up_charsets() loads them
// before anybody forks. A charset that was not loaded is one that is not known.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace millrace::document {

void warm_up_charsets();

// Whether decode() would know this label ("ISO-8859-2", "cp1251", "shift_jis").
bool is_known_charset(std::string_view label);

// What is wrong becomes U+FFFD. Nothing for a label that nobody knows.
std::optional<std::string> decode(std::string_view bytes, std::string_view label);

struct DecodedText {
  std::string text = {};
  std::string encoding = {};   // "utf-8", "windows-1252", "iso-8859-2"
  bool label_unknown = false;  // There was a label and nobody knows it.
  bool label_wrong = false;    // There was a label and the bytes are something else.
  bool guessed = false;        // Nobody said it, and the bytes do not show it for certain.
};

// By byte order mark, then as UTF-8 where the bytes are that, then by label (a header's or the
// document's own), then by a guess. Nothing when the bytes are no text.
std::optional<DecodedText> decode_text(std::string_view bytes, std::string_view label);

// The charset that an HTML or XML document declares in its first bytes; empty when it does not.
std::string html_charset(std::string_view bytes);

}  // namespace millrace::document
