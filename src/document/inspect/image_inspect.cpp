// Images as documents: a page per frame.
#include "document/inspect/image_formats.h"
#include "document/inspect/inspection.h"

#include <cmath>

namespace millrace::document {

namespace {

using Reader = Result<ImageFrames> (*)(std::string_view, const Limits&);

Reader reader_of(std::string_view mime) {
  if (mime == "image/png") return read_png;
  if (mime == "image/jpeg") return read_jpeg;
  if (mime == "image/tiff") return read_tiff;
  if (mime == "image/gif") return read_gif;
  if (mime == "image/bmp") return read_bmp;
  if (mime == "image/webp") return read_webp;
  return read_pnm;
}

// Images that do not say how large they are on paper, or say nonsense: most are scans.
constexpr double kUnknownDpi = 200;

double points(std::uint64_t pixels, double dpi) {
  const bool sensible = dpi >= 30 && dpi <= 4'800;
  const auto value = static_cast<double>(pixels) * 72 / (sensible ? dpi : kUnknownDpi);
  return std::round(value * 100) / 100;
}

}  // namespace

Result<void> inspect_image(std::string_view bytes, std::string_view mime, Inspection& inspection) {
  const auto frames = reader_of(mime)(bytes, inspection.limits);
  if (!frames.has_value()) return inspection.findings.take(frames.error());
  for (const auto& frame : *frames) {
    inspection.pages.push_back({.width_pt = points(frame.width, frame.dpi_x),
                                .height_pt = points(frame.height, frame.dpi_y),
                                .rotation_deg = frame.rotation_deg,
                                .content_sha256 = frame.content_sha256});
  }
  return ok();
}

}  // namespace millrace::document
