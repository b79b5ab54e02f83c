// A passage as people read it: document, headings and page, where it stands, and its text with the
// words of the question marked.
#pragma once

#include "app/terminal.h"
#include "base/json.h"

#include <string>

namespace millrace::app {

// Of one entry of `passages` in the answer of a search. Text of documents cannot move the cursor.
std::string show_passage(const Terminal& terminal, const json::Object& hit);

}  // namespace millrace::app
