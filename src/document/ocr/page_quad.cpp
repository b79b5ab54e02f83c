#include "document/ocr/page_quad.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace millrace::document {
namespace {

using layout::Point;

constexpr int kLongSide = 480;       // Edges of sheets are seen well enough at this size.
constexpr double kStep = 0.10;       // In logarithms of brightness: a tenth darker.
constexpr double kNear = 2.2;        // Pixels that an edge may be off its line.
constexpr double kConsensus = 0.45;  // Of the rows that the sheet spans.

struct Straight {  // a x + b y + c = 0, with a² + b² = 1.
  double a = 0;
  double b = 0;
  double c = 0;
  double distance(Point p) const { return std::abs(a * p.x + b * p.y + c); }
};

Straight through(Point p, Point q) {
  const double dx = q.x - p.x;
  const double dy = q.y - p.y;
  const double length = std::max(1e-9, std::hypot(dx, dy));
  Straight line{.a = -dy / length, .b = dx / length};
  line.c = -(line.a * p.x + line.b * p.y);
  return line;
}

std::optional<Point> crossing(const Straight& l, const Straight& m) {
  const double d = l.a * m.b - m.a * l.b;
  if (std::abs(d) < 1e-6) return std::nullopt;
  return Point{.x = (l.b * m.c - m.b * l.c) / d, .y = (m.a * l.c - l.a * m.c) / d};
}

// Writing is thinner than paper: the brightest of a few pixels around, then the darkest again.
Gray without_writing(const Gray& image, int radius) {
  Gray a = image;
  Gray b = image;
  const auto pass = [&](bool brightest, bool rows) {
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x) {
        std::uint8_t value = a.at(x, y);
        for (int i = -radius; i <= radius; ++i) {
          const int px = rows ? std::clamp(x + i, 0, image.width - 1) : x;
          const int py = rows ? y : std::clamp(y + i, 0, image.height - 1);
          value = brightest ? std::max(value, a.at(px, py)) : std::min(value, a.at(px, py));
        }
        b.row(y)[x] = value;
      }
    }
    std::swap(a, b);
  };
  pass(true, true);
  pass(true, false);
  pass(false, true);
  pass(false, false);
  return a;
}

// Steps from dark to bright on the way inwards from one side, at most `most` on each way.
std::vector<Point> edges_from(const std::vector<double>& level, Size size, int side) {
  const bool sideways = side == 0 || side == 2;  // From the left and the right.
  const int ways = sideways ? size.height : size.width;
  const int length = sideways ? size.width : size.height;
  std::vector<Point> out;
  const auto place = [&](int way, int depth) -> Point {
    const int along = side == 0 || side == 1 ? depth : length - 1 - depth;
    return sideways ? Point{.x = static_cast<double>(along), .y = static_cast<double>(way)}
                    : Point{.x = static_cast<double>(way), .y = static_cast<double>(along)};
  };
  const auto value = [&](int way, int depth) {
    const auto p = place(way, std::clamp(depth, 0, length - 1));
    return level[static_cast<std::size_t>(p.y) * static_cast<std::size_t>(size.width) +
                 static_cast<std::size_t>(p.x)];
  };
  for (int way = 0; way < ways; ++way) {
    int found = 0;
    for (int depth = 2; depth < length / 2 && found < 2; ++depth) {
      const double step = value(way, depth + 2) - value(way, depth - 2);
      if (step < kStep) continue;
      // The steepest place of this rise.
      int best = depth;
      double steepest = 0;
      int d = depth;
      while (d < length / 2 && value(way, d + 2) - value(way, d - 2) >= kStep) {
        const double s = value(way, d + 1) - value(way, d - 1);
        if (s > steepest) {
          steepest = s;
          best = d;
        }
        ++d;
      }
      out.push_back(place(way, best));
      ++found;
      depth = d + 1;
    }
  }
  return out;
}

struct Side {
  Straight line = {};
  std::size_t support = 0;
};

// The line with most edges near it, of all through pairs of a few of them; then fitted to those.
Side best_line(const std::vector<Point>& edges, bool upright) {
  Side best;
  const std::size_t step = std::max<std::size_t>(1, edges.size() / 60);
  for (std::size_t i = 0; i < edges.size(); i += step) {
    for (std::size_t j = i + step; j < edges.size(); j += step) {
      const double dx = std::abs(edges[i].x - edges[j].x);
      const double dy = std::abs(edges[i].y - edges[j].y);
      const double run = upright ? dy : dx;
      const double drift = upright ? dx : dy;
      if (run < 30 || drift > 0.6 * run) continue;
      const auto line = through(edges[i], edges[j]);
      std::size_t support = 0;
      for (const auto& edge : edges) support += line.distance(edge) < kNear ? 1 : 0;
      if (support > best.support) best = {.line = line, .support = support};
    }
  }
  if (best.support < 20) return best;
  // Least squares along the main direction of the supporters.
  double n = 0;
  double sx = 0;
  double sy = 0;
  for (const auto& edge : edges) {
    if (best.line.distance(edge) >= kNear) continue;
    ++n;
    sx += edge.x;
    sy += edge.y;
  }
  double sxx = 0;
  double sxy = 0;
  double syy = 0;
  for (const auto& edge : edges) {
    if (best.line.distance(edge) >= kNear) continue;
    sxx += (edge.x - sx / n) * (edge.x - sx / n);
    sxy += (edge.x - sx / n) * (edge.y - sy / n);
    syy += (edge.y - sy / n) * (edge.y - sy / n);
  }
  const double angle = 0.5 * std::atan2(2 * sxy, sxx - syy);
  const Point centre{.x = sx / n, .y = sy / n};
  best.line = through(centre, {.x = centre.x + std::cos(angle), .y = centre.y + std::sin(angle)});
  return best;
}

double distance(Point p, Point q) { return std::hypot(p.x - q.x, p.y - q.y); }

bool is_plausible(const layout::Quad& quad, Size size) {
  double area = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& p = quad[i];
    const auto& q = quad[(i + 1) % 4];
    const auto& r = quad[(i + 2) % 4];
    area += (p.x * q.y - q.x * p.y) / 2;
    const double turn = (q.x - p.x) * (r.y - q.y) - (q.y - p.y) * (r.x - q.x);
    const double sine = turn / std::max(1e-9, distance(p, q) * distance(q, r));
    if (sine < 0.75) return false;  // Corners between 49 and 131 degrees.
    const double margin = 0.05 * std::max(size.width, size.height);
    if (p.x < -margin || p.y < -margin || p.x > size.width + margin || p.y > size.height + margin) {
      return false;
    }
  }
  return area > 0.2 * size.width * size.height;
}

}  // namespace

std::optional<layout::Quad> find_page_quad(const Gray& image) {
  const int factor = std::max(1, std::max(image.width, image.height) / kLongSide);
  const auto small = without_writing(blurred(reduced(image, factor), 1), 5);
  if (small.width < 60 || small.height < 60) return std::nullopt;
  std::vector<double> level(small.pixels.size());
  std::ranges::transform(small.pixels, level.begin(),
                         [](std::uint8_t value) { return std::log(value + 8.0); });
  const Size size{.width = small.width, .height = small.height};
  std::array<Straight, 4> lines{};  // Left, top, right, bottom.
  for (int side = 0; side < 4; ++side) {
    const bool upright = side == 0 || side == 2;
    const auto found = best_line(edges_from(level, size, side), upright);
    const double span = upright ? size.height : size.width;
    if (static_cast<double>(found.support) < kConsensus * span) return std::nullopt;
    lines[static_cast<std::size_t>(side)] = found.line;
  }
  const auto top_left = crossing(lines[0], lines[1]);
  const auto top_right = crossing(lines[2], lines[1]);
  const auto bottom_right = crossing(lines[2], lines[3]);
  const auto bottom_left = crossing(lines[0], lines[3]);
  if (!top_left || !top_right || !bottom_right || !bottom_left) return std::nullopt;
  layout::Quad quad = {*top_left, *top_right, *bottom_right, *bottom_left};
  if (!is_plausible(quad, size)) return std::nullopt;
  for (auto& corner : quad) {
    corner.x = (corner.x + 0.5) * factor;
    corner.y = (corner.y + 0.5) * factor;
  }
  return quad;
}

}  // namespace millrace::document
