// The rules of OpenAI's strict schemas, as far as they are known. Empty: none is broken.
#pragma once

#include "base/json.h"

#include <string>

namespace millrace::test {

std::string strict_schema_fault(const json::Value& schema);

// A value that is valid under such a schema, as small as can be: for questions that the stand-in
// knows nothing about.
json::Value smallest_instance(const json::Value& schema);

}  // namespace millrace::test
