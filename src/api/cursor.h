// Cursors: where the next page of a list begins, as a text that clients pass on and do not read.
//
// A cursor says what kind of list it belongs to and the key of the last row; the next page is what
// lies behind that key, so its cost does not grow with its number, and rows that come and go in
// front change nothing. It holds no secret and grants nothing: the tenant comes from the token.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace millrace::api {

// `kind` is a short word: "jobs".
std::string make_cursor(std::string_view kind, std::string_view key);
// The key. invalid_argument for a text that is no cursor of this kind.
Result<std::string> read_cursor(std::string_view kind, std::string_view cursor);

}  // namespace millrace::api
