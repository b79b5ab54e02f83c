// Image formats: frames, sizes and completeness from the structure of a file, without decoding a
// pixel.
//
// Decoders allocate what a header asks for; so headers are judged here first. Each walks the whole
// file as its format says (chunks, markers, directories, blocks) and answers with its frames, or
// refuses: truncated, damaged, pixels, page_count, image_structure, image_segments, ratio,
// polyglot.
#pragma once

#include "base/result.h"
#include "document/bounded/limits.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::document {

struct ImageFrame {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  double dpi_x = 0;  // 0: the file does not say.
  double dpi_y = 0;
  int rotation_deg = 0;
  std::string content_sha256 = {};
  bool adobe = false;  // A JPEG with Adobe's marker: four colours are stored inverted.
};

using ImageFrames = std::vector<ImageFrame>;

Result<ImageFrames> read_png(std::string_view bytes, const Limits& limits);
Result<ImageFrames> read_jpeg(std::string_view bytes, const Limits& limits);
Result<ImageFrames> read_tiff(std::string_view bytes, const Limits& limits);
Result<ImageFrames> read_gif(std::string_view bytes, const Limits& limits);
Result<ImageFrames> read_bmp(std::string_view bytes, const Limits& limits);
Result<ImageFrames> read_webp(std::string_view bytes, const Limits& limits);
Result<ImageFrames> read_pnm(std::string_view bytes, const Limits& limits);

// Whether a PNG names a colour or colours that are seen through, instead of a share for each pixel.
bool png_has_clear_colours(std::string_view bytes);

// A page of a TIFF, which is not every directory: previews and masks stand in the same chain.
struct TiffPage {
  std::uint32_t directory = 0;    // Its place in the chain, from 0.
  std::uint32_t orientation = 1;  // As TIFF counts them.
  double dpi_x = 0;               // Along the rows as they are stored; 0: the file does not say.
  double dpi_y = 0;
};
// Pages count from 1. Nothing when there is no such page, or when the way to it is damaged.
std::optional<TiffPage> tiff_page(std::string_view bytes, std::uint32_t page, const Limits& limits);

struct ImageSize {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
};

// Sizes of images as they stand in PDF streams; nothing when the bytes do not say.
std::optional<ImageSize> jpeg_size(std::string_view bytes);
std::optional<ImageSize> jpeg2000_size(std::string_view bytes);
std::optional<ImageSize> jbig2_size(std::string_view bytes);

// image_structure for a side of 0, pixels for too many.
Result<void> check_size(ImageSize size, const Limits& limits);
// polyglot when other documents, programs or web pages follow the end of an image.
Result<void> check_rest(std::string_view rest);
// The orientation that cameras write, as a turn; 0 for mirrored ones and nonsense.
int turn_of_orientation(std::uint32_t orientation);
std::uint32_t exif_orientation(std::string_view tiff);

}  // namespace millrace::document
