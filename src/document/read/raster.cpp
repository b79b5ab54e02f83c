#include "document/read/raster.h"

#include <algorithm>
#include <bit>
#include <csetjmp>
#include <cstdio>  // Before jpeglib.h, which needs it.
#include <cstring>
#include <jpeglib.h>
#include <leptonica/allheaders.h>
#include <memory>
#include <png.h>
#include <tiffio.h>
#include <utility>
#include <vector>

namespace millrace::document {
namespace {

// Of a strip, a tile, or what a codec wants at once.
constexpr tmsize_t kTiffPieceMax = 400'000'000;

struct Source {
  std::string_view bytes;
  std::uint64_t at = 0;
};

tmsize_t read_source(thandle_t handle, void* to, tmsize_t size) {
  auto& source = *static_cast<Source*>(handle);
  if (size <= 0 || source.at >= source.bytes.size()) return 0;
  const auto count =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(size), source.bytes.size() - source.at);
  std::memcpy(to, source.bytes.data() + source.at, count);
  source.at += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t write_nothing(thandle_t, void*, tmsize_t) { return 0; }

toff_t seek_source(thandle_t handle, toff_t offset, int from) {
  auto& source = *static_cast<Source*>(handle);
  const std::uint64_t base = from == SEEK_CUR   ? source.at
                             : from == SEEK_END ? source.bytes.size()
                                                : 0;
  source.at = base + offset;
  return source.at;
}

int close_nothing(thandle_t) { return 0; }
toff_t size_of_source(thandle_t handle) { return static_cast<Source*>(handle)->bytes.size(); }
int say_nothing(TIFF*, void*, const char*, const char*, va_list) { return 1; }

struct TiffClose {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using TiffPtr = std::unique_ptr<TIFF, TiffClose>;

TiffPtr opened(Source& source) {
  auto* options = TIFFOpenOptionsAlloc();
  if (options == nullptr) return {};
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, kTiffPieceMax);
  TIFFOpenOptionsSetErrorHandlerExtR(options, say_nothing, nullptr);
  TIFFOpenOptionsSetWarningHandlerExtR(options, say_nothing, nullptr);
  TiffPtr tiff(TIFFClientOpenExt("image", "rm", &source, read_source, write_nothing, seek_source,
                                 close_nothing, size_of_source, nullptr, nullptr, options));
  TIFFOpenOptionsFree(options);
  return tiff;
}

// In place: a page of a hundred million pixels is held once.
template <class Lay>
void each_pixel(Pix* pix, Lay lay) {
  auto* pixels = pixGetData(pix);
  const auto count =
      static_cast<std::size_t>(pixGetWpl(pix)) * static_cast<std::size_t>(pixGetHeight(pix));
  for (std::size_t i = 0; i < count; ++i) pixels[i] = lay(pixels[i]);
}

std::uint32_t word_of(unsigned red, unsigned green, unsigned blue) {
  return red << L_RED_SHIFT | green << L_GREEN_SHIFT | blue << L_BLUE_SHIFT;
}

// From libtiff's order of samples, which are multiplied by their share already, to white paper.
std::uint32_t tiff_on_paper(std::uint32_t abgr) {
  const auto paper = 255 - TIFFGetA(abgr);
  const auto laid = [&](std::uint32_t value) { return std::min(255U, value + paper); };
  return word_of(laid(TIFFGetR(abgr)), laid(TIFFGetG(abgr)), laid(TIFFGetB(abgr)));
}

std::uint32_t png_on_paper(std::uint32_t rgba) {
  const unsigned share = rgba & 0xff;
  const auto laid = [&](int shift) {
    return ((rgba >> shift & 0xff) * share + 255 * (255 - share) + 127) / 255;
  };
  return word_of(laid(L_RED_SHIFT), laid(L_GREEN_SHIFT), laid(L_BLUE_SHIFT));
}

PixPtr oriented(PixPtr pix, std::uint32_t orientation) {
  switch (orientation) {
    case ORIENTATION_TOPRIGHT:
      return PixPtr(pixFlipLR(nullptr, pix.get()));
    case ORIENTATION_BOTRIGHT:
      return PixPtr(pixRotateOrth(pix.get(), 2));
    case ORIENTATION_BOTLEFT:
      return PixPtr(pixFlipTB(nullptr, pix.get()));
    case ORIENTATION_LEFTTOP:
      pix.reset(pixRotateOrth(pix.get(), 1));
      return PixPtr(pixFlipLR(nullptr, pix.get()));
    case ORIENTATION_RIGHTTOP:
      return PixPtr(pixRotateOrth(pix.get(), 1));
    case ORIENTATION_RIGHTBOT:
      pix.reset(pixRotateOrth(pix.get(), 1));
      return PixPtr(pixFlipTB(nullptr, pix.get()));
    case ORIENTATION_LEFTBOT:
      return PixPtr(pixRotateOrth(pix.get(), 3));
    default:
      return pix;
  }
}

struct JpegErrors {
  jpeg_error_mgr manager = {};  // First: libjpeg knows no more of this.
  std::jmp_buf back = {};
};

void leave(j_common_ptr jpeg) { std::longjmp(reinterpret_cast<JpegErrors*>(jpeg->err)->back, 1); }
void say_nothing(j_common_ptr) {}
void say_nothing(j_common_ptr, int) {}

// Nothing here has a destructor: errors leave by a jump.
bool unpack_cmyk(std::string_view bytes, ImageSize size, Pix* pix, std::uint8_t* row) {
  jpeg_decompress_struct jpeg{};
  JpegErrors errors;
  jpeg.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = leave;
  errors.manager.output_message = say_nothing;
  errors.manager.emit_message = say_nothing;
  if (setjmp(errors.back) != 0) {
    jpeg_destroy_decompress(&jpeg);
    return false;
  }
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&jpeg, TRUE);
  jpeg.out_color_space = JCS_CMYK;
  jpeg_start_decompress(&jpeg);
  const bool fits = jpeg.output_width == size.width && jpeg.output_height == size.height &&
                    jpeg.output_components == 4;
  const unsigned turn = jpeg.saw_Adobe_marker != 0 ? 0 : 255;  // To how much is left white.
  auto* line = pixGetData(pix);
  while (fits && jpeg.output_scanline < jpeg.output_height) {
    jpeg_read_scanlines(&jpeg, &row, 1);
    for (std::size_t x = 0; x < size.width; ++x) {
      const auto* in = row + 4 * x;
      const unsigned black = in[3] ^ turn;
      const auto left = [&](unsigned value) {
        return static_cast<int>((value ^ turn) * black / 255);
      };
      composeRGBPixel(left(in[0]), left(in[1]), left(in[2]), line + x);
    }
    line += pixGetWpl(pix);
  }
  jpeg_destroy_decompress(&jpeg);
  return fits;
}

}  // namespace

PixPtr cmyk_jpeg_raster(std::string_view bytes, ImageSize size) {
  PixPtr pix(pixCreate(static_cast<l_int32>(size.width), static_cast<l_int32>(size.height), 32));
  if (pix == nullptr) return {};
  std::vector<std::uint8_t> row(4 * size.width);
  return unpack_cmyk(bytes, size, pix.get(), row.data()) ? std::move(pix) : PixPtr();
}

PixPtr tiff_raster(std::string_view bytes, const TiffPage& page, ImageSize size) {
  Source source{.bytes = bytes};
  const auto tiff = opened(source);
  if (tiff == nullptr) return {};
  if (TIFFSetDirectory(tiff.get(), static_cast<tdir_t>(page.directory)) == 0) return {};
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  if (width != size.width || height != size.height) return {};
  PixPtr pix(pixCreate(static_cast<l_int32>(width), static_cast<l_int32>(height), 32));
  if (pix == nullptr) return {};
  // Asked for as they are stored, rows come without being mirrored.
  const bool known = page.orientation >= 1 && page.orientation <= 8;
  const int as_stored = known ? static_cast<int>(page.orientation) : ORIENTATION_TOPLEFT;
  if (TIFFReadRGBAImageOriented(tiff.get(), width, height, pixGetData(pix.get()), as_stored, 1) ==
      0) {
    return {};
  }
  each_pixel(pix.get(), tiff_on_paper);
  return oriented(std::move(pix), page.orientation);
}

PixPtr png_raster(std::string_view bytes, ImageSize size) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) return {};
  if (image.width != size.width || image.height != size.height) {
    png_image_free(&image);
    return {};
  }
  // A pixel is a word, red in its highest byte.
  constexpr bool little = std::endian::native == std::endian::little;
  image.format = little ? PNG_FORMAT_ABGR : PNG_FORMAT_RGBA;
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  PixPtr pix(pixCreate(static_cast<l_int32>(image.width), static_cast<l_int32>(image.height), 32));
  const bool read = pix != nullptr && png_image_finish_read(&image, nullptr, pixGetData(pix.get()),
                                                            pixGetWpl(pix.get()) * 4, nullptr) != 0;
  png_image_free(&image);
  if (!read) return {};
  each_pixel(pix.get(), png_on_paper);
  return pix;
}

}  // namespace millrace::document
