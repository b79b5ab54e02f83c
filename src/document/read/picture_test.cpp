// Images of rarer kinds, made here by the libraries that others make them with.
#include "document/read/picture.h"

#include "document/inspect/made_image.h"
#include "document/inspect/made_inspection.h"
#include "document/read/raster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>  // Before jpeglib.h, which needs it.
#include <cstdlib>
#include <functional>
#include <jpeglib.h>
#include <leptonica/allheaders.h>
#include <tiffio.h>

namespace millrace::document {
namespace {

using namespace std::string_view_literals;

// Left half one colour, right half another.
using Cmyk = std::array<std::uint8_t, 4>;

std::string cmyk_jpeg(const Cmyk& left, const Cmyk& right, J_COLOR_SPACE stored, bool adobe) {
  constexpr int kWidth = 64;
  constexpr int kHeight = 32;
  jpeg_compress_struct packer{};
  jpeg_error_mgr errors{};
  packer.err = jpeg_std_error(&errors);
  jpeg_create_compress(&packer);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&packer, &bytes, &size);
  packer.image_width = kWidth;
  packer.image_height = kHeight;
  packer.input_components = 4;
  packer.in_color_space = JCS_CMYK;
  jpeg_set_defaults(&packer);
  jpeg_set_colorspace(&packer, stored);
  packer.write_Adobe_marker = adobe ? TRUE : FALSE;
  jpeg_set_quality(&packer, 95, TRUE);
  jpeg_start_compress(&packer, TRUE);
  std::vector<std::uint8_t> row;
  for (int x = 0; x < kWidth; ++x) {
    const auto& colour = x < kWidth / 2 ? left : right;
    for (const auto value : colour) {  // Adobe's programs store how much is left white.
      row.push_back(adobe ? static_cast<std::uint8_t>(255 - value) : value);
    }
  }
  for (int y = 0; y < kHeight; ++y) {
    auto* line = row.data();
    jpeg_write_scanlines(&packer, &line, 1);
  }
  jpeg_finish_compress(&packer);
  jpeg_destroy_compress(&packer);
  std::string out(reinterpret_cast<char*>(bytes), size);
  std::free(bytes);
  return out;
}

// A TIFF in a file, because libtiff's own writing to memory needs as much code as all tests here.
std::string made_by_libtiff(const std::function<void(TIFF*)>& write) {
  std::FILE* file = std::tmpfile();
  TIFF* tiff = TIFFFdOpen(::dup(::fileno(file)), "made", "w");
  write(tiff);
  TIFFClose(tiff);
  std::string out;
  std::rewind(file);
  std::array<char, 4096> piece{};
  for (std::size_t n = 0; (n = std::fread(piece.data(), 1, piece.size(), file)) > 0;) {
    out.append(piece.data(), n);
  }
  std::fclose(file);
  return out;
}

struct TiffKind {
  std::uint32_t width = 100;
  std::uint32_t height = 60;
  std::uint16_t samples = 1;
  std::uint16_t planes = PLANARCONFIG_CONTIG;
  bool tiled = false;
  float dpi_x = 0;
  float dpi_y = 0;
  std::uint16_t orientation = 1;
  std::uint32_t kind = 0;
};

void set_fields(TIFF* tiff, const TiffKind& kind) {
  TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, kind.kind);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, kind.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, kind.height);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, kind.samples);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, kind.planes);
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, kind.orientation);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC,
               kind.samples == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
  if (kind.dpi_x == 0) return;
  TIFFSetField(tiff, TIFFTAG_XRESOLUTION, kind.dpi_x);
  TIFFSetField(tiff, TIFFTAG_YRESOLUTION, kind.dpi_y);
  TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
}

// Black where 10 <= x < 20 and 30 <= y < 40, as it is stored; else white.
std::uint8_t value_at(std::uint32_t x, std::uint32_t y) {
  return x >= 10 && x < 20 && y >= 30 && y < 40 ? 0 : 255;
}

void write_frame(TIFF* tiff, const TiffKind& kind) {
  set_fields(tiff, kind);
  const bool apart = kind.planes == PLANARCONFIG_SEPARATE;
  const std::uint32_t each = apart ? 1 : kind.samples;
  if (!kind.tiled) {
    for (std::uint16_t plane = 0; plane < (apart ? kind.samples : 1); ++plane) {
      for (std::uint32_t y = 0; y < kind.height; ++y) {
        std::vector<std::uint8_t> row;
        for (std::uint32_t x = 0; x < kind.width; ++x) row.insert(row.end(), each, value_at(x, y));
        TIFFWriteScanline(tiff, row.data(), y, plane);
      }
    }
    TIFFWriteDirectory(tiff);
    return;
  }
  constexpr std::uint32_t kTile = 32;
  TIFFSetField(tiff, TIFFTAG_TILEWIDTH, kTile);
  TIFFSetField(tiff, TIFFTAG_TILELENGTH, kTile);
  for (std::uint32_t top = 0; top < kind.height; top += kTile) {
    for (std::uint32_t left = 0; left < kind.width; left += kTile) {
      std::vector<std::uint8_t> tile;
      for (std::uint32_t i = 0; i < kTile * kTile; ++i) {
        tile.insert(tile.end(), each, value_at(left + i % kTile, top + i / kTile));
      }
      TIFFWriteTile(tiff, tile.data(), left, top, 0, 0);
    }
  }
  TIFFWriteDirectory(tiff);
}

std::string made(const std::vector<TiffKind>& kinds) {
  return made_by_libtiff([&](TIFF* tiff) {
    for (const auto& kind : kinds) write_frame(tiff, kind);
  });
}

Picture decoded(const std::string& bytes, std::uint32_t frame = 1) {
  auto picture = decode_picture(bytes, frame);
  EXPECT_TRUE(picture.has_value()) << (picture.has_value() ? "" : picture.error().message);
  return picture.has_value() ? *std::move(picture) : Picture{.gray = Gray(1, 1, 77)};
}

// The box around what is dark.
struct Box {
  int x0 = 1 << 20;
  int y0 = 1 << 20;
  int x1 = 0;
  int y1 = 0;
  bool operator==(const Box&) const = default;
};

Box dark_box(const Gray& gray) {
  Box box;
  for (int y = 0; y < gray.height; ++y) {
    for (int x = 0; x < gray.width; ++x) {
      if (gray.at(x, y) >= 128) continue;
      box = {.x0 = std::min(box.x0, x),
             .y0 = std::min(box.y0, y),
             .x1 = std::max(box.x1, x + 1),
             .y1 = std::max(box.y1, y + 1)};
    }
  }
  return box;
}

TEST(Picture, JpegsOfFourColoursAreDecodedWithAndWithoutAdobesMarker) {
  const Cmyk black = {0, 0, 0, 255};
  const Cmyk white = {0, 0, 0, 0};
  for (const bool adobe : {true, false}) {
    const auto bytes = cmyk_jpeg(black, white, JCS_CMYK, adobe);
    const auto picture = decoded(bytes);
    EXPECT_LT(picture.gray.at(8, 16), 20) << adobe;
    EXPECT_GT(picture.gray.at(56, 16), 235) << adobe;
    const auto header = frame_header(bytes, 1, {});
    ASSERT_TRUE(header.has_value());
    EXPECT_EQ(header->samples, 4);
    EXPECT_EQ(header->inverted, adobe);
    ASSERT_TRUE(decode_colour_picture(bytes, 1).has_value());
  }
  const auto ycck = decoded(cmyk_jpeg(black, white, JCS_YCCK, true));
  EXPECT_LT(ycck.gray.at(8, 16), 20);
  EXPECT_GT(ycck.gray.at(56, 16), 235);
}

std::string png_of(int bits, int colour_type, std::string_view chunks, std::string_view row) {
  std::string rows;
  for (int y = 0; y < 8; ++y) rows.append(1, '\0').append(row);
  return std::string("\x89PNG\r\n\x1a\n")
      .append(png_chunk("IHDR", big(16, 4) + big(8, 4) + static_cast<char>(bits) +
                                    static_cast<char>(colour_type) + std::string(3, '\0')))
      .append(png_chunk("pHYs", big(7'874, 4) + big(7'874, 4) + "\x01"))
      .append(chunks)
      .append(png_chunk("IDAT", deflated(rows)))
      .append(png_chunk("IEND", {}));
}

TEST(Picture, PngsWithClearColoursKeepWhatIsWrittenOnThem) {
  // Eight colours: the first is black, the last is white and seen through.
  std::string palette(8 * 3, '\x40');
  palette.replace(0, 3, std::string(3, '\0'));
  palette.replace(21, 3, std::string(3, '\xff'));
  const auto colours =
      png_chunk("PLTE", palette) + png_chunk("tRNS", std::string(7, '\xff') + std::string(1, '\0'));
  struct Case {
    const char* name;
    std::string bytes;
  };
  // Left half black, right half clear.
  const std::array<Case, 4> cases = {
      Case{"4 bits of a palette", png_of(4, 3, colours, "\0\0\0\0\x77\x77\x77\x77"sv)},
      Case{"8 bits of a palette",
           png_of(8, 3, colours, std::string(8, '\0') + std::string(8, '\x07'))},
      Case{"8 bits of grey", png_of(8, 0, png_chunk("tRNS", "\0\xff"sv),
                                    std::string(8, '\0') + std::string(8, '\xff'))},
      Case{"1 bit, the black of a clear page",
           png_of(1, 0, png_chunk("tRNS", "\0\1"sv), "\0\xff"sv)}};
  for (const auto& [name, bytes] : cases) {
    const auto picture = decoded(bytes);
    ASSERT_EQ(picture.gray.width, 16) << name;
    EXPECT_LT(picture.gray.at(2, 4), 10) << name;
    EXPECT_GT(picture.gray.at(13, 4), 245) << name;
    EXPECT_EQ(picture.dpi, 200) << name;
    EXPECT_TRUE(decode_colour_picture(bytes, 1).has_value()) << name;
  }
}

TEST(Picture, HalfClearColoursOfAPngLieOnWhitePaper) {
  const auto colours = png_chunk("PLTE", std::string(3, '\0') + std::string(3, '\xff')) +
                       png_chunk("tRNS", "\x80"sv);
  const auto picture = decoded(png_of(8, 3, colours, std::string(8, '\0') + std::string(8, '\1')));
  EXPECT_NEAR(picture.gray.at(2, 4), 127, 2);
  EXPECT_EQ(picture.gray.at(13, 4), 255);
}

// What was checked is what the first reader of the header saw.
TEST(Picture, APngIsDecodedInTheSizeThatWasCheckedOnly) {
  const auto bytes = png_of(8, 0, png_chunk("tRNS", "\0\xff"sv), std::string(16, '\0'));
  EXPECT_NE(png_raster(bytes, {.width = 16, .height = 8}), nullptr);
  EXPECT_EQ(png_raster(bytes, {.width = 8, .height = 16}), nullptr);
  EXPECT_EQ(png_raster(bytes, {.width = 16, .height = 7}), nullptr);
}

TEST(Picture, AFaxIsReadWithSquarePixels) {
  const auto fax = decoded(made({{.dpi_x = 204, .dpi_y = 98}}));
  EXPECT_EQ(fax.dpi, 204);
  EXPECT_EQ(fax.gray.width, 100);
  EXPECT_EQ(fax.gray.height, 125);
  const auto box = dark_box(fax.gray);
  EXPECT_NEAR(box.y0, 62, 1);
  EXPECT_NEAR(box.y1, 83, 1);
  EXPECT_EQ(box.x1 - box.x0, 10);
  // A hundredth is not worth a new image.
  EXPECT_EQ(decoded(made({{.dpi_x = 200, .dpi_y = 198}})).gray.height, 60);
  // Nor is what nobody can have scanned.
  EXPECT_EQ(decoded(made({{.dpi_x = 2400, .dpi_y = 60}})).gray.height, 60);
  const auto colour = decode_colour_picture(made({{.dpi_x = 204, .dpi_y = 98}}), 1);
  ASSERT_TRUE(colour.has_value());
  EXPECT_EQ(pixGetHeight(colour->pix.get()), 125);
}

TEST(Picture, AFaxThatWasStoredOnItsSideIsSquaredAlongItsOwnRows) {
  const auto fax = decoded(made({{.dpi_x = 204, .dpi_y = 98, .orientation = 6}}));
  EXPECT_EQ(fax.gray.width, 125);
  EXPECT_EQ(fax.gray.height, 100);
}

// Some programs write numbers that mean nothing.
TEST(Picture, AFaxOfNoKnownOrientationIsSquaredAsItIsStored) {
  for (const std::uint16_t orientation : {0, 9, 65'535}) {
    auto bytes = made({{.dpi_x = 204, .dpi_y = 98, .orientation = 6}});
    // libtiff does not write them.
    const auto at = bytes.find("\x12\x01\x03\0\x01\0\0\0\x06\0"sv);
    ASSERT_NE(at, bytes.npos);
    bytes.replace(at + 8, 2, little(orientation, 2));
    const auto header = frame_header(bytes, 1, {});
    ASSERT_TRUE(header.has_value());
    EXPECT_FALSE(header->turns_sideways()) << orientation;
    const auto fax = decoded(bytes);
    EXPECT_EQ(fax.gray.width, 100) << orientation;
    EXPECT_EQ(fax.gray.height, 125) << orientation;
    const auto box = dark_box(fax.gray);
    EXPECT_EQ(box.x0, 10) << orientation;
    EXPECT_NEAR(box.y0, 62, 1) << orientation;
  }
}

// Where what is stored in 10 <= x < 20 and 30 <= y < 40 of 100 by 60 is seen.
Box seen_box(std::uint16_t orientation) {
  const Box stored{.x0 = 10, .y0 = 30, .x1 = 20, .y1 = 40};
  Box out = stored;
  if (orientation >= 5) out = {.x0 = 30, .y0 = 10, .x1 = 40, .y1 = 20};
  const int width = orientation >= 5 ? 60 : 100;
  const int height = orientation >= 5 ? 100 : 60;
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  const bool from_below =
      orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  if (from_right) out = {.x0 = width - out.x1, .y0 = out.y0, .x1 = width - out.x0, .y1 = out.y1};
  if (from_below) out = {.x0 = out.x0, .y0 = height - out.y1, .x1 = out.x1, .y1 = height - out.y0};
  return out;
}

TEST(Picture, TiffsOfAnyBuildAreDecodedAndTurned) {
  for (std::uint16_t orientation = 1; orientation <= 8; ++orientation) {
    for (const std::uint16_t samples : {1, 3}) {
      for (const bool tiled : {false, true}) {
        for (const std::uint16_t planes : {PLANARCONFIG_CONTIG, PLANARCONFIG_SEPARATE}) {
          if (planes == PLANARCONFIG_SEPARATE && (tiled || samples == 1)) continue;
          const auto picture = decoded(made({{.samples = samples,
                                              .planes = planes,
                                              .tiled = tiled,
                                              .orientation = orientation}}));
          EXPECT_EQ(picture.gray.width, orientation >= 5 ? 60 : 100) << orientation;
          EXPECT_EQ(dark_box(picture.gray), seen_box(orientation))
              << "orientation " << orientation << " samples " << samples << " tiled " << tiled
              << " planes " << planes;
        }
      }
    }
  }
}

TEST(Picture, PreviewsInATiffAreNoPages) {
  const TiffKind preview{.width = 20, .height = 50, .kind = FILETYPE_REDUCEDIMAGE};
  const auto bytes = made({preview, {.width = 100}, preview, {.width = 90, .tiled = true}});
  EXPECT_EQ(inspected(bytes).pages(), 2U);
  EXPECT_EQ(decoded(bytes, 1).gray.width, 100);
  EXPECT_EQ(decoded(bytes, 2).gray.width, 90);
  const auto third = decode_picture(bytes, 3);
  ASSERT_FALSE(third.has_value());
  EXPECT_EQ(third.error().kind, ErrorKind::not_found);
  // There is nothing else in it.
  EXPECT_EQ(inspected(made({preview, preview})).pages(), 2U);
}

TEST(Picture, TilesLargerThanAnyPageAreRefused) {
  const auto bytes = made_by_libtiff([](TIFF* tiff) {
    set_fields(tiff, {.tiled = true});
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 65'536);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, 65'536);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    std::string few = "few bytes";
    TIFFWriteRawTile(tiff, 0, few.data(), static_cast<tmsize_t>(few.size()));
    TIFFWriteDirectory(tiff);
  });
  const auto picture = decode_picture(bytes, 1);
  ASSERT_FALSE(picture.has_value());
  EXPECT_EQ(picture.error().constraint, "damaged");
}

}  // namespace
}  // namespace millrace::document
