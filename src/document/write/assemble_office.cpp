// Office and text files have no pages of their own: their words are printed where the map says.
#include "document/write/pdf_writer.h"
#include "document/write/word_painter.h"

#include <cairo-pdf.h>
#include <memory>

namespace millrace::document {
namespace {

constexpr double kPointsPerInch = 72;
constexpr double kUsualDpi = 150;

struct SurfaceFree {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
struct CairoFree {
  void operator()(cairo_t* cairo) const { cairo_destroy(cairo); }
};

struct Output {
  OpSink& sink;
  std::uint64_t bytes = 0;
  std::optional<Error> error = {};

  static cairo_status_t write(void* self, const unsigned char* data, unsigned int size) {
    auto& out = *static_cast<Output*>(self);
    const auto written = out.sink.write({reinterpret_cast<const std::byte*>(data), size});
    if (!written.has_value()) {
      out.error = written.error();
      return CAIRO_STATUS_WRITE_ERROR;
    }
    out.bytes += size;
    return CAIRO_STATUS_SUCCESS;
  }
};

}  // namespace

Result<json::Object> assemble_office(const PageLines& pages, const std::string& title,
                                     OpSink& sink) {
  Output output{.sink = sink};
  const std::unique_ptr<cairo_surface_t, SurfaceFree> surface(
      cairo_pdf_surface_create_for_stream(&Output::write, &output, 595, 842));
  // Cairo would note the hour; the same words are to give the same bytes.
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE,
                                 "1970-01-01T00:00:00Z");
  if (!title.empty()) {
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, title.c_str());
  }
  const std::unique_ptr<cairo_t, CairoFree> cairo(cairo_create(surface.get()));
  for (std::size_t i = 0; i < pages.size(); ++i) {
    // What stands on a page that was not read is not known: it keeps its place, with nothing on it.
    if (pages.was_read(i)) {
      MR_TRY(const auto page, pages.page(i));
      const double dpi = page.info.dpi > 0 ? page.info.dpi : kUsualDpi;
      const double width = page.info.width_px / dpi * kPointsPerInch;
      const double height = page.info.height_px / dpi * kPointsPerInch;
      cairo_pdf_surface_set_size(surface.get(), width, height);
      paint_words(cairo.get(), page, width, height);
    }
    cairo_show_page(cairo.get());
    sink.progress(static_cast<int>(i + 1), static_cast<int>(pages.size()));
  }
  cairo_surface_finish(surface.get());
  if (output.error) return fail(*output.error);
  if (cairo_surface_status(surface.get()) != CAIRO_STATUS_SUCCESS) {
    return fail(ErrorKind::internal, "the PDF cannot be written");
  }
  return assembled(pages.size(), output.bytes);
}

}  // namespace millrace::document
