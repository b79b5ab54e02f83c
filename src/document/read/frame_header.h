// FrameHeader: what a frame of an image file says about itself, before a pixel of it is decoded.
#pragma once

#include "base/result.h"
#include "document/bounded/limits.h"
#include "document/inspect/image_formats.h"

#include <cstdint>
#include <string_view>

namespace millrace::document {

enum class Codec { jpeg, png, tiff, other };

struct FrameHeader {
  Codec codec = Codec::other;
  int width = 0;  // As it is stored.
  int height = 0;
  int bits = 0;
  int samples = 0;
  bool palette = false;
  bool inverted = false;  // Four colours as Adobe's programs store them.
  double dpi_x = 0;       // As it is stored; both 0 when nobody says, or nothing that can be.
  double dpi_y = 0;
  int turn_deg = 0;    // Noted by the camera.
  TiffPage page = {};  // Of a TIFF: its reader turns frames itself.

  // Whether rows and columns change places while the frame is decoded. Numbers that mean nothing
  // turn nothing.
  bool turns_sideways() const {
    return codec == Codec::tiff && page.orientation >= 5 && page.orientation <= 8;
  }
};

// Frames count from 1. Refusals: pixels, image_structure, damaged; not_found for a frame that is
// not there.
Result<FrameHeader> frame_header(std::string_view bytes, std::uint32_t frame, const Limits& limits);

}  // namespace millrace::document
