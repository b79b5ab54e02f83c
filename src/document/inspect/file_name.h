// What a file is called, against what it is. Names decide nothing; they only give reason to look.
#pragma once

#include "document/inspect/content_type.h"
#include "document/inspect/findings.h"

#include <string_view>

namespace millrace::document {

// Flags name_mismatch (the extension promises another type) and name_trick (characters or endings
// that show a person something else than a program sees).
void check_file_name(std::string_view name, const ContentType& type, Findings& findings);

}  // namespace millrace::document
