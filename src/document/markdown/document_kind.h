// What a file is to `parse`: by its bytes, and by its name where bytes cannot tell (Markdown).
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace millrace::document {

// pdf image html markdown text mail docx odt pptx odp xlsx ods
bool is_document_kind(std::string_view kind);

// `is_text`: somebody else said that it is text, in a charset that bytes need not show.
// Refusal: unsupported_type.
Result<std::string> document_kind(std::string_view bytes, std::string_view file_name, bool is_text);

}  // namespace millrace::document
