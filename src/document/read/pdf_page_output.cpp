#include "document/read/pdf_page_output.h"

#include <GfxState.h>
#include <Stream.h>
#include <algorithm>

namespace millrace::document {
namespace {

constexpr int kInkPointsMax = 300'000;
constexpr int kInvisible = 3;          // Rendering mode of text.
constexpr double kFaint = 0.93;        // Lines from this shade on, and fainter ones, are not seen.
constexpr double kSquareCorner = 0.3;  // Points that corners of a rectangle may be off.
constexpr double kStraightShare = 0.5;
constexpr double kHollow = 0.4;  // A rectangle with a smaller one of this share is a frame.

bool is_white_fill(GfxState* state) {
  GfxGray gray = 0;
  state->getFillGray(&gray);
  return gray >= gfxColorComp1;
}

double shade_of(GfxGray gray) { return colToDbl(gray); }

layout::Point shown(GfxState* state, const GfxSubpath& path, int i) {
  layout::Point point;
  state->transform(path.getX(i), path.getY(i), &point.x, &point.y);
  return point;
}

layout::Box bounds_of(GfxState* state, const GfxSubpath& path, int first, int last) {
  const auto begin = shown(state, path, first);
  layout::Box box{.x0 = begin.x, .y0 = begin.y, .x1 = begin.x, .y1 = begin.y};
  for (int i = first + 1; i <= last; ++i) {
    const auto point = shown(state, path, i);
    box = layout::unite(box, {.x0 = point.x, .y0 = point.y, .x1 = point.x, .y1 = point.y});
  }
  return box;
}

// Four corners, and perhaps the first again.
bool is_rectangle(GfxState* state, const GfxSubpath& path, const layout::Box& box) {
  const int count = path.getNumPoints();
  if (count < 4 || count > 5) return false;
  for (int i = 0; i < count; ++i) {
    const auto point = shown(state, path, i);
    const auto near = [](double a, double b) { return std::abs(a - b) <= kSquareCorner; };
    const bool corner = (near(point.x, box.x0) || near(point.x, box.x1)) &&
                        (near(point.y, box.y0) || near(point.y, box.y1));
    if (path.getCurve(i) || !corner) return false;
  }
  return true;
}

void add_edges(PageInk& ink, const layout::Box& box) {
  ink.add_line({.x = box.x0, .y = box.y0}, {.x = box.x1, .y = box.y0});
  ink.add_line({.x = box.x0, .y = box.y1}, {.x = box.x1, .y = box.y1});
  ink.add_line({.x = box.x0, .y = box.y0}, {.x = box.x0, .y = box.y1});
  ink.add_line({.x = box.x1, .y = box.y0}, {.x = box.x1, .y = box.y1});
}

// Whether most of the outline runs straight along the bounds: a rectangle with round corners does,
// a circle does not.
bool has_straight_edges(GfxState* state, const GfxSubpath& path, const layout::Box& box) {
  double straight = 0;
  for (int i = 1; i < path.getNumPoints(); ++i) {
    if (path.getCurve(i)) {
      i += 2;  // Two points that lead it, and the one where it ends.
      continue;
    }
    const auto a = shown(state, path, i - 1);
    const auto b = shown(state, path, i);
    const auto along = [](double p, double q, double low, double high) {
      return std::abs(p - q) <= kSquareCorner &&
             (std::abs(p - low) <= kSquareCorner || std::abs(p - high) <= kSquareCorner);
    };
    if (along(a.x, b.x, box.x0, box.x1)) straight += std::abs(a.y - b.y);
    if (along(a.y, b.y, box.y0, box.y1)) straight += std::abs(a.x - b.x);
  }
  return straight >= kStraightShare * 2 * (box.width() + box.height());
}

// Of a line that is drawn: its straight pieces, and the bounds of those that are not.
void add_stroked(PageInk& ink, GfxState* state, const GfxSubpath& path) {
  for (int i = 1; i < path.getNumPoints(); ++i) {
    if (!path.getCurve(i)) {
      ink.add_line(shown(state, path, i - 1), shown(state, path, i));
      continue;
    }
    const int end = std::min(i + 2, path.getNumPoints() - 1);
    ink.add_shape({.box = bounds_of(state, path, i - 1, end)});
    i = end;
  }
}

// An area; two rectangles one in the other are the frame between them.
void add_areas(PageInk& ink, GfxState* state, const GfxPath& path, double shade) {
  std::vector<layout::Box> rectangles;
  for (int i = 0; i < path.getNumSubpaths(); ++i) {
    const auto& part = *path.getSubpath(i);
    if (part.getNumPoints() < 2) continue;
    const auto box = bounds_of(state, part, 0, part.getNumPoints() - 1);
    if (is_rectangle(state, part, box)) {
      rectangles.push_back(box);
    } else {
      ink.add_shape({.box = box,
                     .filled = true,
                     .shade = shade,
                     .rectangle = has_straight_edges(state, part, box)});
    }
  }
  const bool seen = shade < kFaint;
  if (rectangles.size() == 2 && seen) {
    const auto& [large, small] = rectangles[0].area() >= rectangles[1].area()
                                     ? std::pair(rectangles[0], rectangles[1])
                                     : std::pair(rectangles[1], rectangles[0]);
    const double common = layout::overlap_x(large, small) * layout::overlap_y(large, small);
    if (common >= 0.99 * small.area() && common >= kHollow * large.area() &&
        common < large.area()) {
      add_edges(ink, large);
      return;
    }
  }
  for (const auto& box : rectangles) {
    if (seen) {
      ink.add_filled(box, shade);
    } else {
      ink.add_shape({.box = box, .filled = true, .shade = shade, .rectangle = true});
    }
  }
}

}  // namespace

layout::Box Placement::box() const {
  const auto& m = matrix;
  const auto xs = std::minmax({m[4], m[4] + m[0], m[4] + m[2], m[4] + m[0] + m[2]});
  const auto ys = std::minmax({m[5], m[5] + m[1], m[5] + m[3], m[5] + m[1] + m[3]});
  return {.x0 = xs.first, .y0 = ys.first, .x1 = xs.second, .y1 = ys.second};
}

void PageOutput::drawImage(GfxState* state, Object* ref, Stream* stream, int width, int height,
                           GfxImageColorMap* colours, bool interpolate, const int* mask_colours,
                           bool inline_image) {
  add(state, width, height);
  if (wants_pixels()) keep(stream, width, height, colours, false);
  if (inline_image) {
    OutputDev::drawImage(state, ref, stream, width, height, colours, interpolate, mask_colours,
                         inline_image);
  }
}

void PageOutput::drawImageMask(GfxState* state, Object* ref, Stream* stream, int width, int height,
                               bool invert, bool interpolate, bool inline_image) {
  add(state, width, height);
  if (wants_pixels()) keep(stream, width, height, nullptr, invert);
  if (inline_image) {
    OutputDev::drawImageMask(state, ref, stream, width, height, invert, interpolate, inline_image);
  }
}

void PageOutput::drawMaskedImage(GfxState* state, Object*, Stream*, int width, int height,
                                 GfxImageColorMap*, bool, Stream*, int, int, bool, bool) {
  add(state, width, height);
  ++others_;  // What it shows depends on what lies under it.
}

void PageOutput::drawSoftMaskedImage(GfxState* state, Object*, Stream*, int width, int height,
                                     GfxImageColorMap*, bool, Stream*, int, int, GfxImageColorMap*,
                                     bool) {
  add(state, width, height);
  ++others_;
}

void PageOutput::stroke(GfxState* state) {
  ++drawings_;
  if (state->getStrokeOpacity() <= 1 - kFaint) return;
  GfxGray gray = 0;
  state->getStrokeGray(&gray);
  const double shade = shade_of(gray);
  const auto& path = *state->getPath();
  for (int i = 0; i < path.getNumSubpaths() && ink_points_ < kInkPointsMax; ++i) {
    const auto& part = *path.getSubpath(i);
    ink_points_ += part.getNumPoints();
    if (shade < kFaint) {
      add_stroked(ink_, state, part);
    } else if (part.getNumPoints() > 1) {
      ink_.add_shape({.box = bounds_of(state, part, 0, part.getNumPoints() - 1), .shade = shade});
    }
  }
}

void PageOutput::fill(GfxState* state) {
  if (!is_white_fill(state)) ++drawings_;
  if (state->getFillOpacity() <= 1 - kFaint || ink_points_ >= kInkPointsMax) return;
  GfxGray gray = 0;
  state->getFillGray(&gray);
  const auto& path = *state->getPath();
  for (int i = 0; i < path.getNumSubpaths(); ++i) ink_points_ += path.getSubpath(i)->getNumPoints();
  add_areas(ink_, state, path, shade_of(gray));
}

void PageOutput::drawChar(GfxState* state, double x, double y, double dx, double dy,
                          double origin_x, double origin_y, CharCode code, int bytes,
                          const Unicode* unicode, int length) {
  ++(state->getRender() == kInvisible ? invisible_chars_ : visible_chars_);
  TextOutputDev::drawChar(state, x, y, dx, dy, origin_x, origin_y, code, bytes, unicode, length);
}

void PageOutput::add(GfxState* state, int width, int height) {
  Placement placement{.width_px = width, .height_px = height};
  const auto& matrix = state->getCTM();
  std::copy_n(&matrix[0], 6, placement.matrix.begin());
  placements_.push_back(placement);
}

// Grey values of the stored samples.
void PageOutput::keep(Stream* stream, int width, int height, GfxImageColorMap* colours,
                      bool invert) {
  const auto count = static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  if (width < 1 || height < 1 || count > pixels_max_) return;
  const int components = colours == nullptr ? 1 : colours->getNumPixelComps();
  const int bits = colours == nullptr ? 1 : colours->getBits();
  ImageStream lines(stream, width, components, bits);
  lines.reset();
  Gray out(width, height);
  for (int y = 0; y < height; ++y) {
    auto* in = lines.getLine();
    if (in == nullptr) break;
    auto* row = out.row(y);
    if (colours == nullptr) {
      for (int x = 0; x < width; ++x) row[x] = (in[x] != 0) == invert ? 0 : 255;
    } else {
      colours->getGrayLine(in, row, width);
    }
  }
  lines.close();
  pixels_ = std::move(out);
}

}  // namespace millrace::document
