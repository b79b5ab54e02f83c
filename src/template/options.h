// RenderOptions: what an export asks of a page, in the names of the export API.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "template/evaluate.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::templates {

enum class PageSize { a4, letter, legal };
enum class ColorMode { color, grayscale };
enum class Quality { draft, normal, high };

std::string_view to_string(PageSize size);  // "A4", as the API spells it.
std::string_view to_string(ColorMode mode);
std::string_view to_string(Quality quality);
std::optional<PageSize> page_size_of(std::string_view word);

struct Margins {  // Inches.
  double top = 1, right = 1, bottom = 1, left = 1;

  friend bool operator==(const Margins&, const Margins&) = default;
};

struct RenderOptions {
  std::optional<PageSize> page_size = {};  // Otherwise the template's own.
  std::optional<Margins> margins = {};     // Likewise.
  ColorMode color_mode = ColorMode::color;
  Quality quality = Quality::normal;
  // Otherwise the member "language" of the data, otherwise the template's own.
  std::optional<std::string> language = {};
  // On which page anchors are: known once the page was printed, for a second rendering that shows
  // them in a table of contents.
  std::map<std::string, int> anchor_pages = {};
  RenderLimits limits = {};
};

// {pageSize, margins, quality, colorMode, language} as exports have them; other members mean
// nothing here. A margin that is not given is 1. invalid_argument names member and rule.
Result<RenderOptions> read_render_options(const json::Object& options);

}  // namespace millrace::templates
