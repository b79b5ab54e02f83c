// UCUM: units as codes that mean one thing everywhere (http://unitsofmeasure.org).
//
// is_ucum() knows the grammar and the units that laboratory reports and prescriptions have;
// to_ucum() knows how people write them. A unit that neither knows is for a person to look at.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace millrace::layout::clinical {

inline constexpr std::string_view kUcumSystem = "http://unitsofmeasure.org";

bool is_ucum(std::string_view code);

// "mg/dl" → "mg/dL", "mcg" → "ug", "x10^9/L" → "10*9/L", "tablets" → "{tablet}"; codes stay as they
// are. Nothing when it is not known.
std::optional<std::string> to_ucum(std::string_view printed);

}  // namespace millrace::layout::clinical
