// paint: pages become pictures (Leptonica) and PDF files with a text layer (Cairo).
//
// Both draw the same items; dates and identifiers of files are fixed, so equal pages give equal
// bytes. Failures of the libraries are out of memory or bugs and abort.
#pragma once

#include "samples/page/letters.h"
#include "samples/page/sheet.h"

#include <leptonica/allheaders.h>
#include <memory>
#include <span>
#include <string>

namespace millrace::samples {

struct PixFree {
  void operator()(Pix* pix) const { pixDestroy(&pix); }
};
using Image = std::unique_ptr<Pix, PixFree>;

// 8 bits per pixel.
Image paint_grey(const SheetPage& page, const Letters& letters, double dpi);
// 32 bits per pixel, as a camera sees it.
Image paint_colour(const SheetPage& page, const Letters& letters, double dpi);

// How a picture is kept within a file.
enum class Packing { jpeg, fax };  // fax: CCITT group 4, the picture becomes black and white.

struct PackedImage {
  std::string bytes;
  Packing packing = Packing::jpeg;
  int width_px = 0;
  int height_px = 0;
};
PackedImage pack_jpeg(Pix* image, int quality);
PackedImage pack_fax(Pix* image);

std::string png_of(Pix* image);
// Several pages, black and white.
std::string tiff_of(std::span<const Image> images);

// Writes a PDF page by page; each is letters or a picture.
class PdfPages {
 public:
  explicit PdfPages(const std::string& title);
  ~PdfPages();
  PdfPages(const PdfPages&) = delete;
  PdfPages& operator=(const PdfPages&) = delete;

  void add(const SheetPage& page, const Letters& letters);
  void add(const PackedImage& image, double dpi);
  std::string finish();

 private:
  std::string bytes_;
  cairo_surface_t* surface_;
  cairo_t* cairo_;
};

}  // namespace millrace::samples
