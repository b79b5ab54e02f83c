#include "document/write/page_drawing.h"

#include "document/write/word_painter.h"

#include <algorithm>
#include <cairo.h>
#include <cmath>
#include <leptonica/allheaders.h>
#include <memory>

namespace millrace::document {
namespace {

struct SurfaceFree {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
struct CairoFree {
  void operator()(cairo_t* cairo) const { cairo_destroy(cairo); }
};
using SurfacePtr = std::unique_ptr<cairo_surface_t, SurfaceFree>;
using CairoPtr = std::unique_ptr<cairo_t, CairoFree>;

SurfacePtr white_surface(int width, int height) {
  SurfacePtr surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height));
  const CairoPtr cairo(cairo_create(surface.get()));
  cairo_set_source_rgb(cairo.get(), 1, 1, 1);
  cairo_paint(cairo.get());
  return surface;
}

std::uint32_t* row_of(cairo_surface_t* surface, int y) {
  return reinterpret_cast<std::uint32_t*>(cairo_image_surface_get_data(surface) +
                                          static_cast<std::ptrdiff_t>(y) *
                                              cairo_image_surface_get_stride(surface));
}

// Leptonica has red in the highest byte, Cairo in the second.
SurfacePtr surface_of(Pix* pix) {
  auto surface = white_surface(pixGetWidth(pix), pixGetHeight(pix));
  cairo_surface_flush(surface.get());
  const auto* line = pixGetData(pix);
  for (int y = 0; y < pixGetHeight(pix); ++y, line += pixGetWpl(pix)) {
    auto* row = row_of(surface.get(), y);
    for (int x = 0; x < pixGetWidth(pix); ++x) row[x] = line[x] >> 8;
  }
  cairo_surface_mark_dirty(surface.get());
  return surface;
}

PixPtr pix_of(cairo_surface_t* surface) {
  cairo_surface_flush(surface);
  const int width = cairo_image_surface_get_width(surface);
  const int height = cairo_image_surface_get_height(surface);
  PixPtr out(pixCreate(width, height, 32));
  auto* line = pixGetData(out.get());
  for (int y = 0; y < height; ++y, line += pixGetWpl(out.get())) {
    const auto* row = row_of(surface, y);
    for (int x = 0; x < width; ++x) line[x] = row[x] << 8;
  }
  return out;
}

void set_colour(cairo_t* cairo, std::uint32_t colour, double alpha) {
  cairo_set_source_rgba(cairo, (colour >> 16 & 0xff) / 255.0, (colour >> 8 & 0xff) / 255.0,
                        (colour & 0xff) / 255.0, alpha);
}

// Above the box, or in it when there is no room.
void draw_label(cairo_t* cairo, const DrawnBox& box, double left, double top, double size) {
  choose_font(cairo, size);
  cairo_font_extents_t font;
  cairo_font_extents(cairo, &font);
  cairo_text_extents_t text;
  cairo_text_extents(cairo, box.label.c_str(), &text);
  const double height = font.ascent + font.descent;
  const double y = top >= height + 1 ? top - height - 1 : top;
  set_colour(cairo, box.colour, 0.85);
  cairo_rectangle(cairo, left, y, text.x_advance + 4, height);
  cairo_fill(cairo);
  cairo_set_source_rgb(cairo, 1, 1, 1);
  cairo_move_to(cairo, left + 2, y + font.ascent);
  cairo_show_text(cairo, box.label.c_str());
}

}  // namespace

Result<PixPtr> with_boxes(Pix* pix, const std::vector<DrawnBox>& boxes) {
  const PixPtr colour(pixConvertTo32(pix));
  if (colour == nullptr) return fail(ErrorKind::internal, "the image cannot be drawn on");
  const auto surface = surface_of(colour.get());
  const CairoPtr cairo(cairo_create(surface.get()));
  const double width = pixGetWidth(pix);
  const double height = pixGetHeight(pix);
  const double stroke = std::clamp(width / 800, 1.0, 4.0);
  const double label_px = std::clamp(width / 110, 9.0, 28.0);
  for (const auto& box : boxes) {
    const double left = box.box.x0 * width;
    const double top = box.box.y0 * height;
    cairo_rectangle(cairo.get(), left, top, box.box.width() * width, box.box.height() * height);
    set_colour(cairo.get(), box.colour, 0.12);
    cairo_fill_preserve(cairo.get());
    set_colour(cairo.get(), box.colour, 1);
    cairo_set_line_width(cairo.get(), stroke);
    cairo_stroke(cairo.get());
    if (!box.label.empty()) draw_label(cairo.get(), box, left, top, label_px);
  }
  return pix_of(surface.get());
}

Result<PixPtr> draw_words(const layout::PageMap& page, int width_px_max) {
  const double scale = std::min(1.0, static_cast<double>(width_px_max) / page.info.width_px);
  const int width = std::max(1, static_cast<int>(page.info.width_px * scale));
  const int height = std::max(1, static_cast<int>(page.info.height_px * scale));
  constexpr std::int64_t kPixelsMax = 100'000'000;
  if (std::int64_t{width} * height > kPixelsMax) {
    return fail(ErrorKind::invalid_argument, "the page has too many pixels");
  }
  const auto surface = white_surface(width, height);
  const CairoPtr cairo(cairo_create(surface.get()));
  cairo_set_source_rgb(cairo.get(), 0, 0, 0);
  paint_words(cairo.get(), page, width, height);
  return pix_of(surface.get());
}

void warm_up_drawing() {
  const auto surface = white_surface(64, 64);
  const CairoPtr cairo(cairo_create(surface.get()));
  draw_label(cairo.get(), {.label = "Ag\u00e4"}, 2, 20, 12);
}

}  // namespace millrace::document
