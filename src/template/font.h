// Fonts that lie in a template's folder, as addresses that CSS can load without a network.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace millrace::templates {

inline constexpr std::size_t kFontMaxBytes = std::size_t{4} * 1024 * 1024;

// url("data:font/woff2;base64,…") format("woff2"), for @font-face { src: … }. invalid_argument when
// the name or the first bytes are not those of a font.
Result<std::string> font_address(std::string_view name, std::string_view bytes);

std::string base64(std::string_view bytes);

}  // namespace millrace::templates
