// Numbers of sheets as people see them: decimals, units, currencies, percents, times. As far as is
// reasonable: dates are ISO, colours are left out, fractions and words alone stay numbers.
#pragma once

#include "document/office/format_code.h"

#include <string>
#include <string_view>

namespace millrace::document {

// `format` is a format code as sheets have it ("0.00", "dd/mm/yyyy", "General").
std::string format_number(double value, std::string_view format, bool from_1904 = false);
std::string format_number(double value, const FormatCode& format, bool from_1904 = false);

// The code of a number that files do not spell out; empty when it is not one of those.
std::string_view builtin_format(int id);

}  // namespace millrace::document
