// Google Vision: the answer of images:annotate and files:annotate with DOCUMENT_TEXT_DETECTION.
//
// What its JSON leaves out counts as zero, words have no text but symbols, polygons run as the text
// runs, and an answer of 200 may hold an error for each image: pages fail one by one. A page whose
// text mostly runs in another direction is turned upright.
#pragma once

#include "layout/raw_page.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::layout {

// What was sent, in the order of the requests.
struct VisionImage {
  std::uint32_t page = 1;
  std::uint32_t width_px = 0;
  std::uint32_t height_px = 0;
  double dpi = 0;
  int rotation_deg = 0;  // How far it had been turned clockwise before it was sent.
};

struct VisionOptions {
  std::size_t bytes_max = std::size_t{64} * 1024 * 1024;
  std::string engine = "google-vision";
  PageLimits limits = {};
};

struct VisionPage {
  std::uint32_t page = 1;
  // The service's own errors: throttled, unavailable, invalid_argument or internal.
  Result<RawPage> content;
};

// One entry for each image. An error of the whole answer, or an answer that is none, is the error.
Result<std::vector<VisionPage>> parse_vision(std::string_view text,
                                             std::span<const VisionImage> images,
                                             const VisionOptions& options = {});

}  // namespace millrace::layout
