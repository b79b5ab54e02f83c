#include "layout/geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace millrace::layout {
namespace {

constexpr double kDecimals = 100'000;

Point to_page_point(const Frame& frame, Point point) {
  const auto& visible = frame.visible;
  Point fraction{.x = (point.x - visible.x0) / visible.width(),
                 .y = (point.y - visible.y0) / visible.height()};
  if (frame.origin == Origin::bottom_left) fraction.y = 1 - fraction.y;
  return turned(fraction, frame.rotation_deg);
}

}  // namespace

Box bounds(const Quad& quad) {
  Box box{.x0 = quad[0].x, .y0 = quad[0].y, .x1 = quad[0].x, .y1 = quad[0].y};
  for (const auto& point : quad) {
    box.x0 = std::min(box.x0, point.x);
    box.y0 = std::min(box.y0, point.y);
    box.x1 = std::max(box.x1, point.x);
    box.y1 = std::max(box.y1, point.y);
  }
  return box;
}

Box unite(const Box& a, const Box& b) {
  return {.x0 = std::min(a.x0, b.x0),
          .y0 = std::min(a.y0, b.y0),
          .x1 = std::max(a.x1, b.x1),
          .y1 = std::max(a.y1, b.y1)};
}

double overlap_x(const Box& a, const Box& b) {
  return std::max(0.0, std::min(a.x1, b.x1) - std::max(a.x0, b.x0));
}

double overlap_y(const Box& a, const Box& b) {
  return std::max(0.0, std::min(a.y1, b.y1) - std::max(a.y0, b.y0));
}

double intersection_over_union(const Box& a, const Box& b) {
  const auto common = overlap_x(a, b) * overlap_y(a, b);
  const auto all = a.area() + b.area() - common;
  return all > 0 ? common / all : 0;
}

double round_coordinate(double value) {
  if (!(value > 0)) return 0;  // Also what is no number.
  if (value >= 1) return 1;
  return std::round(value * kDecimals) / kDecimals;
}

Box rounded(const Box& box) {
  return {.x0 = round_coordinate(box.x0),
          .y0 = round_coordinate(box.y0),
          .x1 = round_coordinate(box.x1),
          .y1 = round_coordinate(box.y1)};
}

Quad rounded(const Quad& quad) {
  Quad out;
  std::ranges::transform(quad, out.begin(), [](Point point) {
    return Point{.x = round_coordinate(point.x), .y = round_coordinate(point.y)};
  });
  return out;
}

Result<int> normal_rotation(double degrees, std::string_view field) {
  if (!std::isfinite(degrees) || std::abs(degrees) > 36'000 || std::fmod(degrees, 90) != 0) {
    return fail(ErrorKind::invalid_argument, fmt::format("{} must be a multiple of 90", field));
  }
  const auto turn = static_cast<int>(degrees) % 360;
  return turn < 0 ? turn + 360 : turn;
}

Point turned(Point point, int rotation_deg) {
  switch (rotation_deg) {
    case 90:
      return {.x = 1 - point.y, .y = point.x};
    case 180:
      return {.x = 1 - point.x, .y = 1 - point.y};
    case 270:
      return {.x = point.y, .y = 1 - point.x};
    default:
      return point;
  }
}

Quad turned(const Quad& quad, int rotation_deg) {
  Quad out;
  std::ranges::transform(quad, out.begin(),
                         [rotation_deg](Point point) { return turned(point, rotation_deg); });
  return out;
}

Box turned(const Box& box, int rotation_deg) {
  const auto a = turned(Point{.x = box.x0, .y = box.y0}, rotation_deg);
  const auto b = turned(Point{.x = box.x1, .y = box.y1}, rotation_deg);
  return {.x0 = std::min(a.x, b.x),
          .y0 = std::min(a.y, b.y),
          .x1 = std::max(a.x, b.x),
          .y1 = std::max(a.y, b.y)};
}

Result<void> check_frame(const Frame& frame) {
  const auto& visible = frame.visible;
  const bool finite = std::isfinite(visible.x0) && std::isfinite(visible.y0) &&
                      std::isfinite(visible.x1) && std::isfinite(visible.y1);
  if (!finite || !(visible.width() > 0) || !(visible.height() > 0)) {
    return fail(ErrorKind::invalid_argument,
                "page size must be finite and greater than 0: a box without it means nothing");
  }
  MR_TRY(const auto rotation, normal_rotation(frame.rotation_deg, "rotation_deg"));
  if (rotation != frame.rotation_deg) {
    return fail(ErrorKind::invalid_argument, "rotation_deg must be 0, 90, 180 or 270");
  }
  return ok();
}

bool is_visible(const Frame& frame, const Box& box) {
  const auto& visible = frame.visible;
  return std::max(box.x0, box.x1) > visible.x0 && std::min(box.x0, box.x1) < visible.x1 &&
         std::max(box.y0, box.y1) > visible.y0 && std::min(box.y0, box.y1) < visible.y1;
}

Box to_page(const Frame& frame, const Box& box) {
  const auto a = to_page_point(frame, {.x = box.x0, .y = box.y0});
  const auto b = to_page_point(frame, {.x = box.x1, .y = box.y1});
  return rounded(Box{.x0 = std::min(a.x, b.x),
                     .y0 = std::min(a.y, b.y),
                     .x1 = std::max(a.x, b.x),
                     .y1 = std::max(a.y, b.y)});
}

Quad to_page(const Frame& frame, const Quad& quad) {
  Quad out;
  std::ranges::transform(quad, out.begin(),
                         [&frame](Point point) { return to_page_point(frame, point); });
  return rounded(out);
}

int direction_of(const Quad& quad, double aspect) {
  // The upper and the lower edge together: a single edge of a small word is mostly rounding.
  const auto dx = (quad[1].x - quad[0].x) + (quad[2].x - quad[3].x);
  const auto dy = ((quad[1].y - quad[0].y) + (quad[2].y - quad[3].y)) * aspect;
  if (std::abs(dx) >= std::abs(dy)) return dx < 0 ? 180 : 0;
  return dy < 0 ? 270 : 90;
}

}  // namespace millrace::layout
