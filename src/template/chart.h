// Charts: bars, lines and rings as SVG, from {type, title, labels, series: [{name, values}], unit}.
//
// Colours come from the style by --chart-1 … --chart-6, --chart-ink and --chart-grid, so a template
// sets them once and greyscale is a matter of CSS. The same data gives the same bytes: coordinates
// have two decimals. Every drawing has role="img", a title and a description that reads its values.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "template/locale.h"

#include <string>

namespace millrace::templates {

// invalid_argument names the member and the rule: "/series/0/values must have 12 numbers, …".
Result<std::string> draw_chart(const json::Value& chart, const Locale& locale);

}  // namespace millrace::templates
