// JSON of others, whose writers are laxer than parse_json: what it takes to read it all the same.
#pragma once

#include "base/json.h"

#include <optional>
#include <string>
#include <string_view>

namespace millrace {

// The text with U+FFFD in place of every escape that is half of a surrogate pair ("\ud83d"). Who
// cuts texts by UTF-16 units makes such halves, and parse_json refuses the whole text for one. As
// long as before. Nothing: there is none.
std::optional<std::string> mend_surrogates(std::string_view text);

// Null, false, 0, an empty text, list or object, and what has nothing but such members
// ({"message":"","code":null}): in all these ways services say that there is no error.
bool says_nothing(const json::Value& value);

}  // namespace millrace
