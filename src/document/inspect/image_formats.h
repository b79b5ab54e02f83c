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
};

using ImageFrames = std::vector<ImageFrame>;

Result<ImageFrames> read_png(std::string_view bytes, const Limits& limits);
Result<ImageFrames> read_jpeg(std::string_view bytes, const Limits& limits);
Result<ImageFrames> read_tiff(std::string_view bytes, const Limits& limits);
Result<ImageFrames> read_gif(std::string_view bytes, const Limits& limits);
Result<ImageFrames> read_bmp(std::string_view bytes, const Limits& limits);
Result<ImageFrames> read_webp(std::string_view bytes, const Limits& limits);
Result<ImageFrames> read_pnm(std::string_view bytes, const Limits& limits);

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
