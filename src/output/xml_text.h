// XML text: whatever stood on a page, as character data or as an attribute in double quotes.
//
// XML 1.0 cannot hold every character, escaped or not. What it has no place for, and what is no
// UTF-8, becomes U+FFFD, so the result of any bytes is well formed.
#pragma once

#include <string>
#include <string_view>

namespace millrace::output {

void append_xml(std::string& out, std::string_view text);
std::string xml_text(std::string_view text);

// ` name="text"`
void append_attribute(std::string& out, std::string_view name, std::string_view text);

}  // namespace millrace::output
