// Picture: a page as pixels, whatever it came from.
#pragma once

#include "base/result.h"
#include "document/bounded/limits.h"
#include "document/ocr/gray.h"

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

// A frame of an image file as it is to be seen: turned as the camera noted. Frames count from 1;
// only TIFF has more than one. Refusals: pixels, damaged; not_found for a frame that is not there.
Result<Picture> decode_picture(std::string_view bytes, std::uint32_t frame,
                               const Limits& limits = {});

struct ColourPicture {
  PixPtr pix = {};  // 8 or 32 bits per pixel.
  double dpi = 0;
  int turn_deg = 0;
};
Result<ColourPicture> decode_colour_picture(std::string_view bytes, std::uint32_t frame,
                                            const Limits& limits = {});

Gray to_gray(Pix* pix);
PixPtr to_pix(const Gray& gray);

}  // namespace millrace::document
