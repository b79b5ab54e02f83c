#include "document/write/word_painter.h"

#include <algorithm>
#include <memory>
#include <pango/pangocairo.h>

namespace millrace::document {
namespace {

struct ObjectFree {
  void operator()(void* object) const { g_object_unref(object); }
};

// As wide as its box, on the base line of its line.
void draw_word(cairo_t* cairo, PangoLayout* layout, const layout::Word& word, double base,
               double width, double height) {
  pango_layout_set_text(layout, word.text.data(), static_cast<int>(word.text.size()));
  PangoRectangle ink;
  PangoRectangle logical;
  pango_layout_get_extents(layout, &ink, &logical);
  const double natural = static_cast<double>(logical.width) / PANGO_SCALE;
  if (natural <= 0) return;
  const double wanted = word.box.width() * width;
  const double stretch = wanted > 0 ? std::clamp(wanted / natural, 0.3, 3.0) : 1;
  cairo_save(cairo);
  cairo_translate(cairo, word.box.x0 * width, base * height);
  cairo_scale(cairo, stretch, 1);
  cairo_move_to(cairo, 0, -static_cast<double>(pango_layout_get_baseline(layout)) / PANGO_SCALE);
  pango_cairo_show_layout(cairo, layout);
  cairo_restore(cairo);
}

}  // namespace

void paint_words(cairo_t* cairo, const layout::PageMap& page, double width, double height) {
  const std::unique_ptr<PangoLayout, ObjectFree> text(pango_cairo_create_layout(cairo));
  pango_layout_set_single_paragraph_mode(text.get(), TRUE);
  for (const auto& line : page.lines) {
    double size = 0;
    double bottom = 0;
    for (auto i = line.words.first; i <= line.words.last; ++i) {
      size = std::max(size, page.words[i].box.height());
      bottom = std::max(bottom, page.words[i].box.y1);
    }
    auto* const font = pango_font_description_from_string("DejaVu Sans");
    pango_font_description_set_absolute_size(font,
                                             std::max(1.0, size * height * 0.8) * PANGO_SCALE);
    pango_layout_set_font_description(text.get(), font);
    pango_font_description_free(font);
    const double base = bottom - 0.2 * size;
    for (auto i = line.words.first; i <= line.words.last; ++i) {
      draw_word(cairo, text.get(), page.words[i], base, width, height);
    }
  }
}

}  // namespace millrace::document
