// redact: JSON on its way into errors and logs, without what documents say (T-09).
//
// Members called text, embedding, vector or content are replaced by "[REDACTED - N chars]", at any
// depth; N counts characters of a text, and of the JSON of anything else. What was replaced before
// stays as it is. SQL has the same rule: millrace.redact.
#pragma once

#include "base/json.h"

#include <string>
#include <string_view>

namespace millrace {

json::Value redact(json::Value value);

// A text that may be JSON: an object or array is redacted; one that cannot be read, perhaps because
// it was cut, ends before the first such member. Other text is given as it is.
std::string redact_text(std::string_view text);

}  // namespace millrace
