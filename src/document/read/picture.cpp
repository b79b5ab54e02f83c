#include "document/read/picture.h"

#include "document/bounded/refusal.h"
#include "document/inspect/image_formats.h"

#include <fmt/format.h>

#include <cstring>
#include <leptonica/allheaders.h>

namespace millrace::document {
namespace {

const l_uint8* data_of(std::string_view bytes) {
  return reinterpret_cast<const l_uint8*>(bytes.data());
}

bool is_tiff(l_int32 format) {
  return format == IFF_TIFF || (format >= IFF_TIFF_PACKBITS && format <= IFF_TIFF_ZIP) ||
         format == IFF_TIFF_JPEG;
}

// Before anything is decoded: decoders allocate what a header asks for.
Result<l_int32> check_header(std::string_view bytes, std::uint32_t frame, const Limits& limits) {
  l_int32 format = IFF_UNKNOWN;
  l_int32 width = 0;
  l_int32 height = 0;
  l_int32 bits = 0;
  l_int32 samples = 0;
  l_int32 palette = 0;
  setMsgSeverity(L_SEVERITY_NONE);
  const auto bad = pixReadHeaderMem(data_of(bytes), bytes.size(), &format, &width, &height, &bits,
                                    &samples, &palette);
  if (bad != 0) return refuse("damaged", "the image's header cannot be read");
  if (is_tiff(format)) {
    l_int32 resolution = 0;
    const auto missing =
        readHeaderMemTiff(data_of(bytes), bytes.size(), static_cast<l_int32>(frame - 1), &width,
                          &height, &bits, &samples, &resolution, &palette, &format);
    if (missing != 0) {
      return fail(ErrorKind::not_found, fmt::format("the image has no page {}", frame));
    }
  } else if (frame != 1) {
    return fail(ErrorKind::not_found, fmt::format("the image has no page {}", frame));
  }
  MR_TRY_VOID(check_size(
      {.width = static_cast<std::uint64_t>(width), .height = static_cast<std::uint64_t>(height)},
      limits));
  return format;
}

Result<PixPtr> decode(std::string_view bytes, std::uint32_t frame, l_int32 format, bool luminance) {
  PixPtr pix;
  if (is_tiff(format)) {
    pix.reset(pixReadMemTiff(data_of(bytes), bytes.size(), static_cast<l_int32>(frame - 1)));
  } else if (format == IFF_JFIF_JPEG) {
    l_int32 warnings = 0;
    pix.reset(pixReadMemJpeg(data_of(bytes), bytes.size(), 0, 1, &warnings,
                             luminance ? L_JPEG_READ_LUMINANCE : 0));
  } else {
    pix.reset(pixReadMem(data_of(bytes), bytes.size()));
  }
  if (pix == nullptr) return refuse("damaged", "the image cannot be decoded");
  if (pixGetDepth(pix.get()) == 32 && pixGetSpp(pix.get()) == 4) {
    pix.reset(pixRemoveAlpha(pix.get()));  // What is transparent is paper.
  }
  return pix;
}

int turn_noted(std::string_view bytes, l_int32 format, const Limits& limits) {
  if (format != IFF_JFIF_JPEG) return 0;  // The TIFF reader has turned its frames already.
  const auto frames = read_jpeg(bytes, limits);
  return frames.has_value() && !frames->empty() ? frames->front().rotation_deg : 0;
}

double dpi_of(Pix* pix) {
  const double x = pixGetXRes(pix);
  const double y = pixGetYRes(pix);
  const double dpi = x > 0 && y > 0 ? (x + y) / 2 : 0;
  return dpi >= 50 && dpi <= 2400 ? dpi : 0;  // Others are left by programs that do not know.
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
  MR_TRY(const auto format, check_header(bytes, frame, limits));
  MR_TRY(auto pix, decode(bytes, frame, format, true));
  Picture out{.gray = to_gray(pix.get()), .dpi = dpi_of(pix.get())};
  out.turn_deg = turn_noted(bytes, format, limits);
  if (out.turn_deg != 0) out.gray = turned(out.gray, out.turn_deg);
  return out;
}

Result<ColourPicture> decode_colour_picture(std::string_view bytes, std::uint32_t frame,
                                            const Limits& limits) {
  MR_TRY(const auto format, check_header(bytes, frame, limits));
  MR_TRY(auto pix, decode(bytes, frame, format, false));
  ColourPicture out{.dpi = dpi_of(pix.get()), .turn_deg = turn_noted(bytes, format, limits)};
  const bool colour = pixGetColormap(pix.get()) != nullptr || pixGetDepth(pix.get()) > 8;
  if (colour) {
    pix.reset(pixConvertTo32(pix.get()));
  } else if (pixGetDepth(pix.get()) != 8) {
    pix.reset(pixConvertTo8(pix.get(), 0));
  }
  if (out.turn_deg != 0) pix.reset(pixRotateOrth(pix.get(), out.turn_deg / 90));
  out.pix = std::move(pix);
  return out;
}

}  // namespace millrace::document
