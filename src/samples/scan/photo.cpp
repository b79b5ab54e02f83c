#include "samples/scan/photo.h"

#include "base/assert.h"
#include "samples/page/sheet.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace millrace::samples {
namespace {

struct Colour {
  double r = 0;
  double g = 0;
  double b = 0;
};

// Maps the photograph onto the page: eight numbers that take four corners to four corners.
class Homography {
 public:
  Homography(const std::array<Point, 4>& from, const std::array<Point, 4>& to) {
    double m[8][9];
    for (std::size_t i = 0; i < 4; ++i) {
      const auto [x, y] = from[i];
      const auto [u, v] = to[i];
      const double first[9] = {x, y, 1, 0, 0, 0, -u * x, -u * y, u};
      const double second[9] = {0, 0, 0, x, y, 1, -v * x, -v * y, v};
      std::copy(std::begin(first), std::end(first), m[2 * i]);
      std::copy(std::begin(second), std::end(second), m[2 * i + 1]);
    }
    eliminate(m);
    for (std::size_t i = 0; i < 8; ++i) h_[i] = m[i][8];
  }

  Point operator()(double x, double y) const {
    const double w = h_[6] * x + h_[7] * y + 1;
    return {(h_[0] * x + h_[1] * y + h_[2]) / w, (h_[3] * x + h_[4] * y + h_[5]) / w};
  }

 private:
  static void eliminate(double (&m)[8][9]) {
    for (int k = 0; k < 8; ++k) {
      int best = k;
      for (int i = k + 1; i < 8; ++i) {
        if (std::abs(m[i][k]) > std::abs(m[best][k])) best = i;
      }
      std::swap_ranges(std::begin(m[k]), std::end(m[k]), std::begin(m[best]));
      for (int i = 0; i < 8; ++i) {
        if (i == k) continue;
        const double factor = m[i][k] / m[k][k];
        for (int c = k; c < 9; ++c) m[i][c] -= factor * m[k][c];
      }
      for (int c = 8; c >= k; --c) m[k][c] /= m[k][k];
    }
  }
  std::array<double, 8> h_ = {};
};

Colour at(const l_uint32* data, int words, int x, int y) {
  const l_uint32 p = data[static_cast<std::ptrdiff_t>(y) * words + x];
  return {static_cast<double>(p >> 24U), static_cast<double>((p >> 16U) & 0xFFU),
          static_cast<double>((p >> 8U) & 0xFFU)};
}

// Four neighbours, weighted.
Colour sample(Pix* page, double x, double y) {
  const int width = pixGetWidth(page);
  const int height = pixGetHeight(page);
  const int words = pixGetWpl(page);
  const l_uint32* data = pixGetData(page);
  const int x0 = std::clamp(static_cast<int>(x), 0, width - 2);
  const int y0 = std::clamp(static_cast<int>(y), 0, height - 2);
  const double fx = std::clamp(x - x0, 0.0, 1.0);
  const double fy = std::clamp(y - y0, 0.0, 1.0);
  const Colour a = at(data, words, x0, y0);
  const Colour b = at(data, words, x0 + 1, y0);
  const Colour c = at(data, words, x0, y0 + 1);
  const Colour d = at(data, words, x0 + 1, y0 + 1);
  const auto mix = [&](double p, double q, double r, double s) {
    return (p * (1 - fx) + q * fx) * (1 - fy) + (r * (1 - fx) + s * fx) * fy;
  };
  return {mix(a.r, b.r, c.r, d.r), mix(a.g, b.g, c.g, d.g), mix(a.b, b.b, c.b, d.b)};
}

// Planks with a grain.
Colour desk(double u, double v, const Colour& wood) {
  const double wave =
      std::sin(v * 210 + 3 * std::sin(u * 9)) * 0.5 + std::sin(v * 47 + u * 5) * 0.5;
  const double joint = std::fmod(v * 5, 1.0) < 0.012 ? 0.55 : 1.0;
  const double shade = (0.92 + 0.08 * wave) * joint;
  return {wood.r * shade, wood.g * shade, wood.b * shade};
}

struct Scene {
  Homography to_page;
  double barrel;
  Point light;      // Where the lamp is, in fractions.
  double darkness;  // How dark the far end is.
  Point hand;       // Centre of its shadow.
  double hand_size;
  double hand_depth;
  Colour wood;
  double tint;  // Warm light: less blue.
};

Scene set_scene(Chance& chance, double strength, double width, double height, Pix* page) {
  const double tilt = 0.02 + 0.085 * strength;
  const auto corner = [&](double x, double y) {
    return Point{(x + chance.between(-tilt, tilt)) * width,
                 (y + chance.between(-tilt, tilt) * 0.7) * height};
  };
  const double m = 0.075 + 0.02 * strength;
  const std::array<Point, 4> corners = {corner(m, m), corner(1 - m, m), corner(1 - m, 1 - m),
                                        corner(m, 1 - m)};
  const double w = pixGetWidth(page);
  const double h = pixGetHeight(page);
  const std::array<Point, 4> edges = {Point{0, 0}, Point{w, 0}, Point{w, h}, Point{0, h}};
  constexpr std::array<Colour, 3> kWoods = {Colour{142, 98, 60}, Colour{96, 66, 44},
                                            Colour{170, 138, 98}};
  return {.to_page = Homography(corners, edges),
          .barrel = chance.between(0.006, 0.02 + 0.025 * strength),
          .light = {chance.between(0.1, 0.9), chance.between(0.0, 0.4)},
          .darkness = 0.22 + 0.42 * strength,
          .hand = {chance.happens(0.5) ? 0.95 : 0.05, chance.between(0.6, 0.95)},
          .hand_size = chance.between(0.22, 0.36),
          .hand_depth = 0.2 + 0.38 * strength,
          .wood = chance.pick(kWoods),
          .tint = chance.between(0.8, 0.95)};
}

double brightness(const Scene& scene, double u, double v) {
  const double far = std::hypot(u - scene.light.x, v - scene.light.y);
  const double lamp = 1 - scene.darkness * std::min(far, 1.2) / 1.2;
  const double d = std::hypot(u - scene.hand.x, (v - scene.hand.y) * 1.2) / scene.hand_size;
  const double shadow = scene.hand_depth / (1 + std::exp((d - 1) * 14));
  return lamp * (1 - shadow);
}

}  // namespace

Image photo(const Image& page, Chance& chance, double strength) {
  constexpr int kWidth = 2240;
  constexpr int kHeight = 3100;
  const Scene scene = set_scene(chance, strength, kWidth, kHeight, page.get());
  const double w = pixGetWidth(page.get());
  const double h = pixGetHeight(page.get());
  const double grain = 4 + 9 * strength;
  Image result(pixCreate(kWidth, kHeight, 32));
  MR_ASSERT(result != nullptr);
  l_uint32* data = pixGetData(result.get());
  const int words = pixGetWpl(result.get());
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const double u = static_cast<double>(x) / kWidth;
      const double v = static_cast<double>(y) / kHeight;
      const double r2 = (u - 0.5) * (u - 0.5) + (v - 0.5) * (v - 0.5);
      const double bend = 1 + scene.barrel * (r2 - 0.25) * 4;
      const double px = (0.5 + (u - 0.5) * bend) * kWidth;
      const double py = (0.5 + (v - 0.5) * bend) * kHeight;
      const Point on_page = scene.to_page(px, py);
      const bool inside = on_page.x >= 0 && on_page.y >= 0 && on_page.x < w && on_page.y < h;
      const Colour seen =
          inside ? sample(page.get(), on_page.x, on_page.y) : desk(u, v, scene.wood);
      const double light = brightness(scene, u, v) * 0.95;
      const std::uint64_t bits = chance.next();
      const double noise = (static_cast<double>(bits & 0xFFFFU) +
                            static_cast<double>((bits >> 16U) & 0xFFFFU) - 65536.0) /
                           65536.0 * grain;
      const auto level = [&](double c) {
        return static_cast<l_uint32>(std::clamp(14 + c * light * 0.93 + noise, 0.0, 255.0));
      };
      data[static_cast<std::ptrdiff_t>(y) * words + x] =
          level(seen.r) << 24U | level(seen.g * 0.98) << 16U | level(seen.b * scene.tint) << 8U;
    }
  }
  const auto radius = static_cast<l_float32>(0.5 + 0.55 * strength);
  L_KERNEL* across = nullptr;
  L_KERNEL* down = nullptr;
  makeGaussianKernelSep(2, 2, radius, 1.0F, &across, &down);
  Image soft(pixConvolveRGBSep(result.get(), across, down));
  kernelDestroy(&across);
  kernelDestroy(&down);
  MR_ASSERT(soft != nullptr);
  return soft;
}

}  // namespace millrace::samples
