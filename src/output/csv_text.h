// CSV (RFC 4180): commas, CRLF, quotes where they are needed.
//
// Spreadsheets run a field that begins with = + - or @, and the fields here were written by
// strangers: such a field gets an apostrophe in front, unless it is a plain number. JSON has the
// exact text.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace millrace::output {

std::string csv_field(std::string_view text);
// With the line end.
std::string csv_row(std::initializer_list<std::string_view> fields);

}  // namespace millrace::output
