#include "samples/scan/effects.h"

#include "base/assert.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace millrace::samples {
namespace {

template <class Change>
void each_pixel(Image& image, Change change) {
  MR_ASSERT(pixGetDepth(image.get()) == 8);
  const int width = pixGetWidth(image.get());
  const int height = pixGetHeight(image.get());
  const int words = pixGetWpl(image.get());
  l_uint32* data = pixGetData(image.get());
  for (int y = 0; y < height; ++y) {
    l_uint32* line = data + static_cast<std::ptrdiff_t>(y) * words;
    for (int x = 0; x < width; ++x) {
      const double value = change(x, y, static_cast<double>(GET_DATA_BYTE(line, x)));
      SET_DATA_BYTE(line, x, static_cast<l_uint32>(std::clamp(value, 0.0, 255.0)));
    }
  }
}

// A normal distribution from one draw: four parts of 16 bits.
double grain(Chance& chance) {
  const std::uint64_t bits = chance.next();
  double sum = 0;
  for (unsigned i = 0; i < 4; ++i) sum += static_cast<double>((bits >> (16 * i)) & 0xFFFFU);
  return (sum / 65536.0 - 2.0) * 1.7320508;
}

// Smooth noise: random values on a coarse grid, interpolated.
class Clouds {
 public:
  Clouds(Chance& chance, int cells) : cells_(cells) {
    for (int i = 0; i < (cells + 1) * (cells + 1); ++i) values_.push_back(chance.uniform());
  }
  double at(double u, double v) const {  // Fractions of the picture.
    const double x = std::clamp(u, 0.0, 0.9999) * cells_;
    const double y = std::clamp(v, 0.0, 0.9999) * cells_;
    const int i = static_cast<int>(x);
    const int k = static_cast<int>(y);
    const double fx = x - i;
    const double fy = y - k;
    const auto value = [&](int a, int b) {
      return values_[static_cast<std::size_t>(b) * (static_cast<std::size_t>(cells_) + 1) +
                     static_cast<std::size_t>(a)];
    };
    return (value(i, k) * (1 - fx) + value(i + 1, k) * fx) * (1 - fy) +
           (value(i, k + 1) * (1 - fx) + value(i + 1, k + 1) * fx) * fy;
  }

 private:
  int cells_;
  std::vector<double> values_;
};

void take(Image& image, Pix* made) {
  MR_ASSERT(made != nullptr);
  pixCopyResolution(made, image.get());
  image.reset(made);
}

}  // namespace

void blur(Image& image, double radius_px) {
  if (radius_px < 0.3) return;
  L_KERNEL* across = nullptr;
  L_KERNEL* down = nullptr;
  makeGaussianKernelSep(2, 2, static_cast<l_float32>(radius_px), 1.0F, &across, &down);
  take(image, pixConvolveSep(image.get(), across, down, 8, 1));
  kernelDestroy(&across);
  kernelDestroy(&down);
}

void scanner_grain(Image& image, Chance& chance, double strength) {
  const double sigma = 2 + 6 * strength;
  const double white = 252 - 8 * strength;
  each_pixel(image, [&](int, int, double v) {
    return 12 + v * (white - 12) / 255 + grain(chance) * sigma;
  });
}

void gaussian_noise(Image& image, Chance& chance, double strength) {
  const double sigma = 12 + 34 * strength;
  each_pixel(image, [&](int, int, double v) { return 15 + v * 0.88 + grain(chance) * sigma; });
}

void salt_and_pepper(Image& image, Chance& chance, double strength) {
  const double share = 0.002 + 0.016 * strength;
  const auto limit = static_cast<std::uint64_t>(share * 65536);
  each_pixel(image, [&](int, int, double v) {
    const std::uint64_t bits = chance.next();
    if ((bits & 0xFFFFU) >= limit) return v;
    return (bits & 0x10000U) != 0 ? 0.0 : 255.0;
  });
  // Dust is larger than a pixel.
  const int width = pixGetWidth(image.get());
  const int height = pixGetHeight(image.get());
  const int specks = static_cast<int>(30 + 300 * strength);
  for (int i = 0; i < specks; ++i) {
    const int size = chance.whole(2, 5);
    BOX* box = boxCreate(chance.whole(0, width - 6), chance.whole(0, height - 6), size, size);
    pixSetInRectArbitrary(image.get(), box, static_cast<l_uint32>(chance.whole(0, 120)));
    boxDestroy(&box);
  }
}

void low_contrast(Image& image, Chance& chance, double strength) {
  const double black = 90 + 62 * strength;
  const double white = 225 - 20 * strength;
  const Clouds clouds(chance, 5);
  const double width = pixGetWidth(image.get());
  const double height = pixGetHeight(image.get());
  const double sigma = 3 + 5 * strength;
  each_pixel(image, [&](int x, int y, double v) {
    const double light = 1 - 0.12 * strength * clouds.at(x / width, y / height);
    return (black + v * (white - black) / 255) * light + grain(chance) * sigma;
  });
}

void coffee_stain(Image& image, Chance& chance, double strength) {
  const double width = pixGetWidth(image.get());
  const double height = pixGetHeight(image.get());
  const Clouds clouds(chance, 40);
  struct Ring {
    double x, y, r;
  };
  std::vector<Ring> rings;
  for (int i = 0; i < 2; ++i) {
    rings.push_back({chance.between(0.2, 0.8) * width, chance.between(0.15, 0.75) * height,
                     chance.between(0.12, 0.2) * width});
  }
  each_pixel(image, [&](int x, int y, double v) {
    double dark = 0;
    for (const Ring& ring : rings) {
      const double d = std::hypot(x - ring.x, y - ring.y) / ring.r;
      if (d > 1.06) continue;
      const double rim = std::exp(-std::pow((d - 0.97) / 0.035, 2));
      dark = std::max(dark, 0.16 + 0.5 * rim);
    }
    if (dark <= 0) return v;
    dark *= 0.45 + 0.55 * strength;
    return v * (1 - dark * (0.55 + 0.45 * clouds.at(x / width, y / height)));
  });
}

void fold_shadow(Image& image, Chance& chance, double strength) {
  const double width = pixGetWidth(image.get());
  const double height = pixGetHeight(image.get());
  const bool left = chance.happens(0.5);
  const double reach = 0.25 + 0.35 * strength;
  const double fold = chance.between(0.35, 0.65);
  each_pixel(image, [&](int x, int y, double v) {
    const double from_edge = left ? x / width : 1 - x / width;
    const double edge = from_edge < reach ? std::pow(1 - from_edge / reach, 1.6) : 0;
    const double crease = std::exp(-std::pow((y / height - fold) / 0.006, 2));
    const double light = 1 - (0.3 + 0.45 * strength) * edge - 0.25 * strength * crease;
    return v * std::max(light, 0.15);
  });
}

void streaks(Image& image, Chance& chance, double strength) {
  const int width = pixGetWidth(image.get());
  std::vector<double> columns(static_cast<std::size_t>(width), 0.0);
  const int count = static_cast<int>(3 + 14 * strength);
  for (int i = 0; i < count; ++i) {
    const int at = chance.whole(10, width - 12);
    const double depth = chance.between(30, 90 + 90 * strength);
    const auto first = columns.begin() + at;
    std::fill(first, first + chance.whole(1, 3), depth);
  }
  each_pixel(image, [&](int x, int, double v) { return v - columns[static_cast<std::size_t>(x)]; });
}

void fax(Image& image, Chance& chance, double strength, bool thick) {
  const int width = pixGetWidth(image.get());
  const int height = pixGetHeight(image.get());
  const double dpi = std::max(1.0, static_cast<double>(pixGetXRes(image.get())));
  // 204 dots across, fewer down: the standard and the fine mode.
  const double across = 204 / dpi;
  const double down = (196 - 66 * strength) / dpi;
  Image small(
      pixScaleSmooth(image.get(), static_cast<l_float32>(across), static_cast<l_float32>(down)));
  gaussian_noise(small, chance, 0.15 * strength);
  const double threshold = thick ? 150 + 36 * strength : 128 - 40 * strength;
  each_pixel(small, [&](int, int, double v) { return v < threshold ? 0.0 : 255.0; });
  take(image, pixScaleToSize(small.get(), width, height));
  each_pixel(image, [&](int, int, double v) { return v < 128 ? 0.0 : 255.0; });
}

void compress(Image& image, int quality) {
  const PackedImage packed = pack_jpeg(image.get(), quality);
  Pix* back = pixReadMemJpeg(reinterpret_cast<const l_uint8*>(packed.bytes.data()),
                             packed.bytes.size(), 0, 1, nullptr, 0);
  take(image, back);
}

Image quarter_turns(const Image& image, int degrees) {
  Image turned(pixRotateOrth(image.get(), degrees / 90));
  MR_ASSERT(turned != nullptr);
  pixCopyResolution(turned.get(), image.get());
  return turned;
}

Image skewed(const Image& image, double degrees) {
  const int width = pixGetWidth(image.get());
  const int height = pixGetHeight(image.get());
  const bool grows = std::abs(degrees) > 2.5;
  const auto radians = static_cast<l_float32>(degrees * std::numbers::pi / 180);
  Image turned(pixRotate(image.get(), radians, L_ROTATE_AREA_MAP, L_BRING_IN_WHITE,
                         grows ? width : 0, grows ? height : 0));
  MR_ASSERT(turned != nullptr);
  pixCopyResolution(turned.get(), image.get());
  return turned;
}

}  // namespace millrace::samples
