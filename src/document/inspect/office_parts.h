// OfficeParts: every part of an office file, looked at for what acts by itself or reaches out.
#pragma once

#include "base/result.h"
#include "document/bounded/zip_file.h"
#include "document/inspect/findings.h"

#include <string_view>

namespace millrace::document {

// Unpacks every entry once, in pieces, and reads all XML. What it finds becomes findings; refusals
// of the readers (bombs, document types, damage) come back as errors.
Result<void> check_office_parts(const ZipFile& zip, Findings& findings, const Limits& limits);

// Whether a target leaves the machine: "https://…", "\\server\share", "file://server/…".
bool is_remote(std::string_view target);
// Whether the code of a field or a formula calls another program by DDE.
bool is_dde_field(std::string_view code);
bool is_dde_formula(std::string_view formula);

}  // namespace millrace::document
