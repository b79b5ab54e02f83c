#include "document/write/word_painter.h"

#include <algorithm>
#include <string>

namespace millrace::document {
namespace {

// As wide as its box, on the base line of its line.
void draw_word(cairo_t* cairo, const layout::Word& word, double base, double width, double height) {
  cairo_text_extents_t extents;
  cairo_text_extents(cairo, word.text.c_str(), &extents);
  if (extents.x_advance <= 0) return;
  const double wanted = word.box.width() * width;
  const double stretch = wanted > 0 ? std::clamp(wanted / extents.x_advance, 0.3, 3.0) : 1;
  cairo_save(cairo);
  cairo_translate(cairo, word.box.x0 * width, base * height);
  cairo_scale(cairo, stretch, 1);
  cairo_move_to(cairo, 0, 0);
  cairo_show_text(cairo, word.text.c_str());
  cairo_restore(cairo);
}

}  // namespace

void choose_font(cairo_t* cairo, double size) {
  cairo_select_font_face(cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cairo, std::max(1.0, size));
}

void paint_words(cairo_t* cairo, const layout::PageMap& page, double width, double height) {
  for (const auto& line : page.lines) {
    double size = 0;
    double bottom = 0;
    for (auto i = line.words.first; i <= line.words.last; ++i) {
      size = std::max(size, page.words[i].box.height());
      bottom = std::max(bottom, page.words[i].box.y1);
    }
    choose_font(cairo, size * height * 0.8);
    const double base = bottom - 0.2 * size;
    for (auto i = line.words.first; i <= line.words.last; ++i) {
      draw_word(cairo, page.words[i], base, width, height);
    }
  }
}

}  // namespace millrace::document
