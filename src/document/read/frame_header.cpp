#include "document/read/frame_header.h"

#include "document/bounded/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <leptonica/allheaders.h>

namespace millrace::document {
namespace {

// Others are left by programs that do not know.
constexpr double kDpiMin = 50;
constexpr double kDpiMax = 2400;
constexpr double kAspectMax = 5;  // The coarsest faxes are twice as fine in one direction.

Codec codec_of(l_int32 format) {
  if (format == IFF_JFIF_JPEG) return Codec::jpeg;
  if (format == IFF_PNG) return Codec::png;
  const bool tiff = format == IFF_TIFF || (format >= IFF_TIFF_PACKBITS && format <= IFF_TIFF_ZIP) ||
                    format == IFF_TIFF_JPEG;
  return tiff ? Codec::tiff : Codec::other;
}

void set_resolution(FrameHeader& header, double x, double y) {
  // What is said of one direction holds for both.
  x = std::round(x > 0 ? x : y);
  y = std::round(y > 0 ? y : x);
  const bool sensible = std::min(x, y) >= kDpiMin && std::max(x, y) <= kDpiMax;
  if (!sensible || std::max(x, y) > kAspectMax * std::min(x, y)) return;
  header.dpi_x = x;
  header.dpi_y = y;
}

// What only walking through the file tells. One that cannot be walked may still be decoded.
void take_notes(std::string_view bytes, l_int32 format, FrameHeader& header, const Limits& limits) {
  Result<ImageFrames> frames = ImageFrames{};
  if (header.codec == Codec::jpeg) frames = read_jpeg(bytes, limits);
  if (header.codec == Codec::png) frames = read_png(bytes, limits);
  if (format == IFF_BMP) frames = read_bmp(bytes, limits);
  if (!frames.has_value() || frames->empty()) return;
  const auto& noted = frames->front();
  set_resolution(header, noted.dpi_x, noted.dpi_y);
  header.inverted = noted.adobe && header.samples == 4;
  if (header.codec == Codec::jpeg) header.turn_deg = noted.rotation_deg;
}

}  // namespace

Result<FrameHeader> frame_header(std::string_view bytes, std::uint32_t frame,
                                 const Limits& limits) {
  const auto* data = reinterpret_cast<const l_uint8*>(bytes.data());
  const auto missing = [&] {
    return fail(ErrorKind::not_found, fmt::format("the image has no page {}", frame));
  };
  FrameHeader out;
  l_int32 format = IFF_UNKNOWN;
  l_int32 palette = 0;
  setMsgSeverity(L_SEVERITY_NONE);
  const auto bad = pixReadHeaderMem(data, bytes.size(), &format, &out.width, &out.height, &out.bits,
                                    &out.samples, &palette);
  if (bad != 0) return refuse("damaged", "the image's header cannot be read");
  out.codec = codec_of(format);
  if (out.codec == Codec::tiff) {
    const auto page = tiff_page(bytes, frame, limits);
    if (!page) return missing();
    out.page = *page;
    l_int32 resolution = 0;
    if (readHeaderMemTiff(data, bytes.size(), static_cast<l_int32>(page->directory), &out.width,
                          &out.height, &out.bits, &out.samples, &resolution, &palette,
                          &format) != 0) {
      return missing();
    }
    set_resolution(out, page->dpi_x, page->dpi_y);
  } else if (frame != 1) {
    return missing();
  }
  out.palette = palette != 0;
  MR_TRY_VOID(check_size({.width = static_cast<std::uint64_t>(out.width),
                          .height = static_cast<std::uint64_t>(out.height)},
                         limits));
  if (out.codec != Codec::tiff) take_notes(bytes, format, out, limits);
  return out;
}

}  // namespace millrace::document
