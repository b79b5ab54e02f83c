#include "samples/page/paint.h"

#include "base/assert.h"

#include <fmt/format.h>

#include <cairo-pdf.h>
#include <cmath>

namespace millrace::samples {
namespace {

void stroke(cairo_t* cairo, const CurveItem& curve) {
  if (curve.points.empty()) return;
  cairo_move_to(cairo, curve.points[0].x, curve.points[0].y);
  for (std::size_t i = 1; i + 2 < curve.points.size(); i += 3) {
    const Point& a = curve.points[i];
    const Point& b = curve.points[i + 1];
    const Point& c = curve.points[i + 2];
    cairo_curve_to(cairo, a.x, a.y, b.x, b.y, c.x, c.y);
  }
  if (curve.blue) {
    cairo_set_source_rgb(cairo, 0.1, 0.15, 0.5);
  } else {
    cairo_set_source_rgb(cairo, 0.1, 0.1, 0.1);
  }
  cairo_set_line_width(cairo, curve.width_pt);
  cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
  if (curve.filled) {
    cairo_fill(cairo);
  } else {
    cairo_stroke(cairo);
  }
}

void draw(cairo_t* cairo, const SheetPage& page, const Letters& letters) {
  for (const FillItem& fill : page.fills) {
    cairo_set_source_rgb(cairo, fill.grey, fill.grey, fill.grey);
    cairo_rectangle(cairo, fill.area.x0, fill.area.y0, fill.area.x1 - fill.area.x0,
                    fill.area.y1 - fill.area.y0);
    cairo_fill(cairo);
  }
  for (const RuleItem& rule : page.rules) {
    cairo_set_source_rgb(cairo, rule.grey, rule.grey, rule.grey);
    cairo_set_line_width(cairo, rule.width_pt);
    cairo_move_to(cairo, rule.from_to.x0, rule.from_to.y0);
    cairo_line_to(cairo, rule.from_to.x1, rule.from_to.y1);
    cairo_stroke(cairo);
  }
  for (const CurveItem& curve : page.curves) stroke(cairo, curve);
  for (const TextItem& item : page.items) {
    cairo_set_source_rgb(cairo, item.style.grey, item.style.grey, item.style.grey);
    const auto layout = letters.line_layout(item.text, item.style);
    cairo_move_to(cairo, item.x, item.baseline);
    pango_cairo_show_layout_line(cairo, pango_layout_get_line_readonly(layout.get(), 0));
  }
}

struct Raster {
  cairo_surface_t* surface;
  Raster(const SheetPage& page, const Letters& letters, double dpi) {
    const int width = static_cast<int>(std::lround(page.width_pt * dpi / 72));
    const int height = static_cast<int>(std::lround(page.height_pt * dpi / 72));
    surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    cairo_t* cairo = cairo_create(surface);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_paint(cairo);
    cairo_scale(cairo, dpi / 72, dpi / 72);
    draw(cairo, page, letters);
    MR_ASSERT(cairo_status(cairo) == CAIRO_STATUS_SUCCESS);
    cairo_destroy(cairo);
    cairo_surface_flush(surface);
  }
  ~Raster() { cairo_surface_destroy(surface); }
  Raster(const Raster&) = delete;
  Raster& operator=(const Raster&) = delete;

  int width() const { return cairo_image_surface_get_width(surface); }
  int height() const { return cairo_image_surface_get_height(surface); }
  const std::uint32_t* row(int y) const {
    return reinterpret_cast<const std::uint32_t*>(cairo_image_surface_get_data(surface) +
                                                  static_cast<std::ptrdiff_t>(y) *
                                                      cairo_image_surface_get_stride(surface));
  }
};

Image new_image(const Raster& raster, int depth, double dpi) {
  Image image(pixCreateNoInit(raster.width(), raster.height(), depth));
  MR_ASSERT(image != nullptr);
  pixSetPadBits(image.get(), 0);
  pixSetResolution(image.get(), static_cast<int>(dpi), static_cast<int>(dpi));
  return image;
}

std::string take(l_uint8* data, std::size_t size) {
  MR_ASSERT(data != nullptr);
  std::string bytes(reinterpret_cast<const char*>(data), size);
  lept_free(data);
  return bytes;
}

// The one strip of a TIFF file that Leptonica wrote: group 4 data without its wrapping.
std::string strip_of(const std::string& tiff) {
  const bool little = tiff[0] == 'I';
  const auto number = [&](std::size_t offset, std::size_t count) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto byte =
          static_cast<unsigned char>(tiff.at(little ? offset + count - 1 - i : offset + i));
      value = value << 8U | byte;
    }
    return value;
  };
  const std::uint32_t directory = number(4, 4);
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  for (std::uint32_t i = 0; i < number(directory, 2); ++i) {
    const std::size_t entry = directory + 2 + std::size_t{12} * i;
    const std::uint32_t tag = number(entry, 2);
    const std::uint32_t value = number(entry + 8, number(entry + 2, 2) == 3 ? 2 : 4);
    if (tag == 273) offset = value;
    if (tag == 279) size = value;
  }
  MR_ASSERT(size > 0);
  return tiff.substr(offset, size);
}

cairo_status_t append(void* to, const unsigned char* data, unsigned int size) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), size);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

Image paint_grey(const SheetPage& page, const Letters& letters, double dpi) {
  const Raster raster(page, letters, dpi);
  Image image = new_image(raster, 8, dpi);
  for (int y = 0; y < raster.height(); ++y) {
    l_uint32* line =
        pixGetData(image.get()) + static_cast<std::ptrdiff_t>(y) * pixGetWpl(image.get());
    const std::uint32_t* row = raster.row(y);
    for (int x = 0; x < raster.width(); ++x) {
      const std::uint32_t p = row[x];
      const std::uint32_t grey =
          (((p >> 16U) & 0xFFU) * 77 + ((p >> 8U) & 0xFFU) * 150 + (p & 0xFFU) * 29) >> 8U;
      SET_DATA_BYTE(line, x, grey);
    }
  }
  return image;
}

Image paint_colour(const SheetPage& page, const Letters& letters, double dpi) {
  const Raster raster(page, letters, dpi);
  Image image = new_image(raster, 32, dpi);
  for (int y = 0; y < raster.height(); ++y) {
    l_uint32* line =
        pixGetData(image.get()) + static_cast<std::ptrdiff_t>(y) * pixGetWpl(image.get());
    const std::uint32_t* row = raster.row(y);
    for (int x = 0; x < raster.width(); ++x) line[x] = row[x] << 8U;
  }
  return image;
}

PackedImage pack_jpeg(Pix* image, int quality) {
  l_uint8* data = nullptr;
  std::size_t size = 0;
  const int failed = pixWriteMemJpeg(&data, &size, image, quality, 0);
  MR_ASSERT(failed == 0);
  return {take(data, size), Packing::jpeg, pixGetWidth(image), pixGetHeight(image)};
}

PackedImage pack_fax(Pix* image) {
  Image bilevel(pixGetDepth(image) == 1 ? pixClone(image) : pixConvertTo1(image, 128));
  l_uint8* data = nullptr;
  std::size_t size = 0;
  const int failed = pixWriteMemTiff(&data, &size, bilevel.get(), IFF_TIFF_G4);
  MR_ASSERT(failed == 0);
  return {strip_of(take(data, size)), Packing::fax, pixGetWidth(image), pixGetHeight(image)};
}

std::string png_of(Pix* image) {
  l_uint8* data = nullptr;
  std::size_t size = 0;
  const int failed = pixWriteMemPng(&data, &size, image, 0);
  MR_ASSERT(failed == 0);
  return take(data, size);
}

std::string tiff_of(std::span<const Image> images) {
  PIXA* pages = pixaCreate(static_cast<int>(images.size()));
  for (const Image& image : images) {
    Pix* bilevel = pixConvertTo1(image.get(), 128);
    pixCopyResolution(bilevel, image.get());
    pixaAddPix(pages, bilevel, L_INSERT);
  }
  l_uint8* data = nullptr;
  std::size_t size = 0;
  const int failed = pixaWriteMemMultipageTiff(&data, &size, pages);
  MR_ASSERT(failed == 0);
  pixaDestroy(&pages);
  return take(data, size);
}

PdfPages::PdfPages(const std::string& title)
    : surface_(cairo_pdf_surface_create_for_stream(append, &bytes_, 595.28, 841.89)),
      cairo_(nullptr) {
  cairo_pdf_surface_set_metadata(surface_, CAIRO_PDF_METADATA_TITLE, title.c_str());
  cairo_pdf_surface_set_metadata(surface_, CAIRO_PDF_METADATA_CREATE_DATE, "2024-01-01T00:00:00Z");
  cairo_ = cairo_create(surface_);
}

PdfPages::~PdfPages() {
  cairo_destroy(cairo_);
  cairo_surface_destroy(surface_);
}

void PdfPages::add(const SheetPage& page, const Letters& letters) {
  cairo_pdf_surface_set_size(surface_, page.width_pt, page.height_pt);
  draw(cairo_, page, letters);
  cairo_show_page(cairo_);
}

void PdfPages::add(const PackedImage& image, double dpi) {
  cairo_pdf_surface_set_size(surface_, image.width_px * 72 / dpi, image.height_px * 72 / dpi);
  // The surface only carries the packed bytes; its pixels are never looked at.
  cairo_surface_t* carrier =
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, image.width_px, image.height_px);
  auto* copy = new std::string(image.bytes);
  const auto* data = reinterpret_cast<const unsigned char*>(copy->data());
  const auto free_copy = [](void* kept) { delete static_cast<std::string*>(kept); };
  if (image.packing == Packing::fax) {
    const std::string params =
        fmt::format("K=-1 Columns={} Rows={} BlackIs1=false", image.width_px, image.height_px);
    auto* kept = new std::string(params);
    cairo_surface_set_mime_data(carrier, CAIRO_MIME_TYPE_CCITT_FAX_PARAMS,
                                reinterpret_cast<const unsigned char*>(kept->data()), kept->size(),
                                free_copy, kept);
  }
  cairo_surface_set_mime_data(
      carrier, image.packing == Packing::fax ? CAIRO_MIME_TYPE_CCITT_FAX : CAIRO_MIME_TYPE_JPEG,
      data, copy->size(), free_copy, copy);
  cairo_save(cairo_);
  cairo_scale(cairo_, 72 / dpi, 72 / dpi);
  cairo_set_source_surface(cairo_, carrier, 0, 0);
  cairo_paint(cairo_);
  cairo_restore(cairo_);
  cairo_surface_destroy(carrier);
  cairo_show_page(cairo_);
}

std::string PdfPages::finish() {
  cairo_surface_finish(surface_);
  MR_ASSERT(cairo_surface_status(surface_) == CAIRO_STATUS_SUCCESS);
  return std::move(bytes_);
}

}  // namespace millrace::samples
