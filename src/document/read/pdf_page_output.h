// PageOutput: a page of a PDF as Poppler shows it, caught as words, pictures and small lines.
//
// A helper of PdfFile; one page each. Nothing is rendered.
#pragma once

#include "document/ocr/gray.h"
#include "document/read/page_ink.h"
#include "layout/geometry.h"

#include <TextOutputDev.h>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace millrace::document {

// Where an image lies on the page: the corners of its unit square in points from the top left.
struct Placement {
  std::array<double, 6> matrix = {};
  int width_px = 0;
  int height_px = 0;

  layout::Box box() const;
};

// Text as TextOutputDev finds it, and on the way everything else that the page shows.
class PageOutput final : public TextOutputDev {
 public:
  PageOutput() : TextOutputDev(nullptr, false, 0, false, false) {}

  bool needNonText() override { return true; }
  bool interpretType3Chars() override { return false; }

  void drawImage(GfxState* state, Object* ref, Stream* stream, int width, int height,
                 GfxImageColorMap* colours, bool interpolate, const int* mask_colours,
                 bool inline_image) override;
  void drawImageMask(GfxState* state, Object* ref, Stream* stream, int width, int height,
                     bool invert, bool interpolate, bool inline_image) override;
  void drawMaskedImage(GfxState* state, Object* ref, Stream* stream, int width, int height,
                       GfxImageColorMap* colours, bool interpolate, Stream* mask, int mask_width,
                       int mask_height, bool mask_invert, bool mask_interpolate) override;
  void drawSoftMaskedImage(GfxState* state, Object* ref, Stream* stream, int width, int height,
                           GfxImageColorMap* colours, bool interpolate, Stream* mask,
                           int mask_width, int mask_height, GfxImageColorMap* mask_colours,
                           bool mask_interpolate) override;
  void stroke(GfxState* state) override;
  void fill(GfxState* state) override;
  void eoFill(GfxState* state) override { fill(state); }
  void drawChar(GfxState* state, double x, double y, double dx, double dy, double origin_x,
                double origin_y, CharCode code, int bytes, const Unicode* unicode,
                int length) override;

  void want_pixels_of(std::uint64_t pixels_max) { pixels_max_ = pixels_max; }
  const std::vector<Placement>& placements() const { return placements_; }
  int drawings() const { return drawings_; }
  int others() const { return others_; }
  int visible_chars() const { return visible_chars_; }
  int invisible_chars() const { return invisible_chars_; }
  std::optional<Gray>& pixels() { return pixels_; }
  PageInk& ink() { return ink_; }

 private:
  void add(GfxState* state, int width, int height);
  bool wants_pixels() const { return pixels_max_ > 0 && !pixels_; }
  void keep(Stream* stream, int width, int height, GfxImageColorMap* colours, bool invert);

  std::vector<Placement> placements_;
  std::optional<Gray> pixels_;
  std::uint64_t pixels_max_ = 0;
  PageInk ink_;
  int ink_points_ = 0;  // Of paths, looked at so far.
  int drawings_ = 0;
  int others_ = 0;
  int visible_chars_ = 0;
  int invisible_chars_ = 0;
};

}  // namespace millrace::document
