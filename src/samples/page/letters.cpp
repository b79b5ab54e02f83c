#include "samples/page/letters.h"

#include <algorithm>

namespace millrace::samples {
namespace {

const char* family_of(Face face) {
  switch (face) {
    case Face::serif:
      return "Liberation Serif";
    case Face::sans:
      return "Liberation Sans";
    case Face::mono:
      return "Liberation Mono";
    case Face::narrow:
      return "Liberation Sans Narrow";
    case Face::dejavu:
      return "DejaVu Sans";
    case Face::dejavu_serif:
      return "DejaVu Serif";
  }
  return "Liberation Serif";
}

struct Description {
  PangoFontDescription* font;
  explicit Description(const Style& style) : font(pango_font_description_new()) {
    pango_font_description_set_family_static(font, family_of(style.face));
    pango_font_description_set_absolute_size(font, style.size_pt * PANGO_SCALE);
    if (style.bold) pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
    if (style.italic) pango_font_description_set_style(font, PANGO_STYLE_ITALIC);
  }
  ~Description() { pango_font_description_free(font); }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
};

double points(int units) { return static_cast<double>(units) / PANGO_SCALE; }

}  // namespace

void GObjectFree::operator()(void* object) const { g_object_unref(object); }

Letters::Letters()
    : fonts_(pango_cairo_font_map_new_for_font_type(CAIRO_FONT_TYPE_FT)),
      context_(pango_font_map_create_context(fonts_.get())) {
  pango_cairo_font_map_set_resolution(PANGO_CAIRO_FONT_MAP(fonts_.get()), 72);
  pango_cairo_context_set_resolution(context_.get(), 72);
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options(context_.get(), options);
  cairo_font_options_destroy(options);
  pango_context_set_round_glyph_positions(context_.get(), FALSE);
  pango_context_set_language(context_.get(), pango_language_from_string("en"));
}

GObject<PangoLayout> Letters::line_layout(std::string_view text, const Style& style) const {
  GObject<PangoLayout> layout(pango_layout_new(context_.get()));
  const Description description(style);
  pango_layout_set_font_description(layout.get(), description.font);
  pango_layout_set_text(layout.get(), text.data(), static_cast<int>(text.size()));
  // No ligatures: what is drawn is what is written, letter by letter.
  PangoAttrList* attributes = pango_attr_list_new();
  pango_attr_list_insert(attributes, pango_attr_font_features_new("liga=0, clig=0, dlig=0"));
  pango_layout_set_attributes(layout.get(), attributes);
  pango_attr_list_unref(attributes);
  return layout;
}

double Letters::width_of(std::string_view text, const Style& style) {
  int width = 0;
  pango_layout_get_size(line_layout(text, style).get(), &width, nullptr);
  return points(width);
}

std::vector<SheetWord> Letters::words_of(std::string_view line, const Style& style) {
  std::vector<SheetWord> words;
  const auto whole = line_layout(line, style);
  PangoLayoutLine* shaped = pango_layout_get_line_readonly(whole.get(), 0);
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == ' ') {
      ++i;
      continue;
    }
    std::size_t end = line.find(' ', i);
    if (end == std::string_view::npos) end = line.size();
    const std::string_view word = line.substr(i, end - i);
    int x = 0;
    pango_layout_line_index_to_x(shaped, static_cast<int>(i), FALSE, &x);
    PangoRectangle ink;
    const auto alone = line_layout(word, style);
    pango_layout_line_get_extents(pango_layout_get_line_readonly(alone.get(), 0), &ink, nullptr);
    const double left = points(x) + points(ink.x);
    words.push_back({std::string(word),
                     {left, points(ink.y), left + points(ink.width), points(ink.y + ink.height)}});
    i = end;
  }
  return words;
}

// Breaks at spaces only: "mg/dL" and "Galectin-3" stay whole, and a fact's text is found as it is.
std::vector<std::string_view> Letters::lines_of(std::string_view text, const Style& style,
                                                double width_pt) const {
  std::vector<std::string_view> lines;
  const auto layout = line_layout(text, style);
  PangoLayoutLine* shaped = pango_layout_get_line_readonly(layout.get(), 0);
  const auto x_of = [&](std::size_t index) {
    int x = 0;
    pango_layout_line_index_to_x(shaped, static_cast<int>(index), FALSE, &x);
    return points(x);
  };
  std::size_t begin = 0;
  std::size_t end = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t word = text.find_first_not_of(' ', i);
    if (word == std::string_view::npos) break;
    std::size_t after = text.find(' ', word);
    if (after == std::string_view::npos) after = text.size();
    if (end > begin && x_of(after) - x_of(begin) > width_pt) {
      lines.push_back(text.substr(begin, end - begin));
      begin = word;
    }
    end = after;
    i = after;
  }
  lines.push_back(text.substr(begin, end - begin));
  return lines;
}

MeasuredText Letters::measure(std::string_view text, const Style& style, double width_pt) {
  MeasuredText measured;
  measured.ascent = style.size_pt * 0.92;
  measured.line_height = style.size_pt * 1.24;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    for (const std::string_view line : lines_of(text.substr(from, end - from), style, width_pt)) {
      measured.lines.push_back({std::string(line), width_of(line, style), words_of(line, style)});
    }
    from = end + 1;
  }
  return measured;
}

}  // namespace millrace::samples
