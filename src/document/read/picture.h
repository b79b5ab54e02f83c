// Picture: a page as pixels, whatever it came from.
#pragma once

#include "base/result.h"
#include "document/bounded/limits.h"
#include "document/ocr/gray.h"
#include "document/read/frame_header.h"

#include <cstdint>
#include <memory>
#include <string_view>

struct Pix;

namespace millrace::document {

struct PixFree {
  void operator()(Pix* pix) const;
};
using PixPtr = std::unique_ptr<Pix, PixFree>;

struct Picture {
  Gray gray = {};
  double dpi = 0;    // 0 when nobody says.
  int turn_deg = 0;  // How far the source's own page was turned clockwise for this.
};

// A frame of an image file as it is to be seen: turned as the camera noted, with square pixels (a
// fax has others). Frames count from 1; only TIFF has more than one. Refusals: as of
// frame_header(); damaged when it cannot be decoded.
Result<Picture> decode_picture(std::string_view bytes, std::uint32_t frame,
                               const Limits& limits = {});

struct ColourPicture {
  PixPtr pix = {};  // 8 or 32 bits per pixel.
  double dpi = 0;
  int turn_deg = 0;
};
Result<ColourPicture> decode_colour_picture(std::string_view bytes, std::uint32_t frame,
                                            const Limits& limits = {});

// Its pixels as they are stored, 8 or 32 bits each; frames of a TIFF turned as it says.
Result<PixPtr> decode_stored_pixels(std::string_view bytes, const FrameHeader& header);

Gray to_gray(Pix* pix);
PixPtr to_pix(const Gray& gray);

}  // namespace millrace::document
