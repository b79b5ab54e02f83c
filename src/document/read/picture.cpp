#include "document/read/picture.h"

#include "document/bounded/refusal.h"
#include "document/inspect/image_formats.h"
#include "document/read/raster.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <leptonica/allheaders.h>
#include <utility>

namespace millrace::document {
namespace {

const l_uint8* data_of(std::string_view bytes) {
  return reinterpret_cast<const l_uint8*>(bytes.data());
}

Result<PixPtr> decode(std::string_view bytes, const FrameHeader& header, bool luminance) {
  const ImageSize size{.width = static_cast<std::uint64_t>(header.width),
                       .height = static_cast<std::uint64_t>(header.height)};
  PixPtr pix;
  if (header.codec == Codec::tiff) {
    const auto directory = static_cast<l_int32>(header.page.directory);
    // Leptonica turns colours to the wrong side.
    const bool turned_colours = header.samples >= 3 && header.page.orientation > 1;
    if (!turned_colours) pix.reset(pixReadMemTiff(data_of(bytes), bytes.size(), directory));
    if (pix == nullptr) pix = tiff_raster(bytes, header.page, size);
  } else if (header.codec == Codec::jpeg && header.samples == 4) {
    pix = cmyk_jpeg_raster(bytes, size);
  } else if (header.codec == Codec::jpeg) {
    l_int32 warnings = 0;
    pix.reset(pixReadMemJpeg(data_of(bytes), bytes.size(), 0, 1, &warnings,
                             luminance ? L_JPEG_READ_LUMINANCE : 0));
  } else if (header.codec == Codec::png && png_has_clear_colours(bytes)) {
    pix = png_raster(bytes, size);
  } else {
    pix.reset(pixReadMem(data_of(bytes), bytes.size()));
  }
  if (pix == nullptr) return refuse("damaged", "the image cannot be decoded");
  if (pixGetDepth(pix.get()) == 32 && pixGetSpp(pix.get()) == 4) {
    pix.reset(pixRemoveAlpha(pix.get()));  // What is transparent is paper.
  }
  return pix;
}

// Pixels per inch of a decoded frame, and the factors by which its pixels become square.
struct Squaring {
  double dpi = 0;
  double x = 1;
  double y = 1;
  bool needed() const { return x != 1 || y != 1; }
};

Squaring squaring_of(const FrameHeader& header, const Limits& limits) {
  constexpr double kSquare = 0.02;
  double x = header.dpi_x;
  double y = header.dpi_y;
  if (header.turns_sideways()) std::swap(x, y);
  if (x == 0 || std::abs(x / y - 1) <= kSquare) return {.dpi = (x + y) / 2};
  // Nothing that was scanned is lost, unless the page would be too large.
  double dpi = std::max(x, y);
  const double pixels = static_cast<double>(header.width) * header.height * (dpi / x) * (dpi / y);
  if (pixels > static_cast<double>(limits.pixels_max)) dpi = std::min(x, y);
  return {.dpi = dpi, .x = dpi / x, .y = dpi / y};
}

// What was decoded can be converted, but for want of memory: that says nothing of the document.
std::unexpected<Error> no_room() {
  return fail(ErrorKind::unavailable, "no memory is left to convert the image");
}

int scaled(int side, double factor) {
  return std::max(1, static_cast<int>(std::lround(side * factor)));
}

}  // namespace

void PixFree::operator()(Pix* pix) const { pixDestroy(&pix); }

Gray to_gray(Pix* pix) {
  const PixPtr eight(pixGetDepth(pix) == 8 && pixGetColormap(pix) == nullptr
                         ? pixClone(pix)
                         : pixConvertTo8(pix, 0));
  if (eight == nullptr) return {1, 1};
  Gray out(pixGetWidth(eight.get()), pixGetHeight(eight.get()));
  const auto* line = pixGetData(eight.get());
  const auto words = pixGetWpl(eight.get());
  for (int y = 0; y < out.height; ++y, line += words) {
    auto* row = out.row(y);
    int x = 0;
    for (; x + 4 <= out.width; x += 4) {  // Four pixels lie in a word, the first highest.
      const auto word = __builtin_bswap32(line[x / 4]);
      std::memcpy(row + x, &word, 4);
    }
    for (; x < out.width; ++x) row[x] = static_cast<std::uint8_t>(GET_DATA_BYTE(line, x));
  }
  return out;
}

PixPtr to_pix(const Gray& gray) {
  PixPtr out(pixCreate(gray.width, gray.height, 8));
  auto* line = pixGetData(out.get());
  const auto words = pixGetWpl(out.get());
  for (int y = 0; y < gray.height; ++y, line += words) {
    const auto* row = gray.row(y);
    for (int x = 0; x < gray.width; ++x) SET_DATA_BYTE(line, x, row[x]);
  }
  return out;
}

Result<Picture> decode_picture(std::string_view bytes, std::uint32_t frame, const Limits& limits) {
  MR_TRY(const auto header, frame_header(bytes, frame, limits));
  MR_TRY(auto pix, decode(bytes, header, true));
  const auto squaring = squaring_of(header, limits);
  Picture out{.gray = to_gray(pix.get()), .dpi = squaring.dpi, .turn_deg = header.turn_deg};
  pix.reset();
  if (squaring.needed()) {
    const Size size{.width = scaled(out.gray.width, squaring.x),
                    .height = scaled(out.gray.height, squaring.y)};
    out.gray = warped(out.gray, Projection::scale(1 / squaring.x, 1 / squaring.y), size, 255);
  }
  if (out.turn_deg != 0) out.gray = turned(out.gray, out.turn_deg);
  return out;
}

Result<ColourPicture> decode_colour_picture(std::string_view bytes, std::uint32_t frame,
                                            const Limits& limits) {
  MR_TRY(const auto header, frame_header(bytes, frame, limits));
  MR_TRY(auto pix, decode_stored_pixels(bytes, header));
  const auto squaring = squaring_of(header, limits);
  ColourPicture out{.pix = std::move(pix), .dpi = squaring.dpi, .turn_deg = header.turn_deg};
  if (squaring.needed()) {
    out.pix.reset(pixScaleToSize(out.pix.get(), scaled(pixGetWidth(out.pix.get()), squaring.x),
                                 scaled(pixGetHeight(out.pix.get()), squaring.y)));
  }
  if (out.turn_deg != 0) out.pix.reset(pixRotateOrth(out.pix.get(), out.turn_deg / 90));
  if (out.pix == nullptr) return no_room();
  return out;
}

Result<PixPtr> decode_stored_pixels(std::string_view bytes, const FrameHeader& header) {
  MR_TRY(auto pix, decode(bytes, header, false));
  const bool colour = pixGetColormap(pix.get()) != nullptr || pixGetDepth(pix.get()) > 8;
  if (colour) {
    pix.reset(pixConvertTo32(pix.get()));
  } else if (pixGetDepth(pix.get()) != 8) {
    pix.reset(pixConvertTo8(pix.get(), 0));
  }
  if (pix == nullptr) return no_room();
  return pix;
}

}  // namespace millrace::document
