#include "document/ocr/gray.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace millrace::document {
namespace {

constexpr int kKernelSteps = 256;  // Fractions of a pixel that the cubic kernel is known at.

// Catmull-Rom: exact at the pixels, sharp between them. Weights sum to 4096.
std::array<std::array<std::int16_t, 4>, kKernelSteps> make_kernel() {
  std::array<std::array<std::int16_t, 4>, kKernelSteps> out{};
  for (int i = 0; i < kKernelSteps; ++i) {
    const double t = static_cast<double>(i) / kKernelSteps;
    const std::array<double, 4> weights = {
        0.5 * (-t + 2 * t * t - t * t * t), 0.5 * (2 - 5 * t * t + 3 * t * t * t),
        0.5 * (t + 4 * t * t - 3 * t * t * t), 0.5 * (-t * t + t * t * t)};
    int sum = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      out[static_cast<std::size_t>(i)][k] =
          static_cast<std::int16_t>(std::lround(weights[k] * 4096));
      sum += out[static_cast<std::size_t>(i)][k];
    }
    out[static_cast<std::size_t>(i)][1] =
        static_cast<std::int16_t>(out[static_cast<std::size_t>(i)][1] + 4096 - sum);
  }
  return out;
}

const auto& kernel() {
  static const auto table = make_kernel();
  return table;
}

std::uint8_t sample_cubic(const Gray& image, int x, int y, int fraction_x, int fraction_y) {
  const auto& wx = kernel()[static_cast<std::size_t>(fraction_x)];
  const auto& wy = kernel()[static_cast<std::size_t>(fraction_y)];
  std::int32_t sum = 0;
  for (int j = 0; j < 4; ++j) {
    const auto* p = image.row(y - 1 + j) + x - 1;
    const std::int32_t line = p[0] * wx[0] + p[1] * wx[1] + p[2] * wx[2] + p[3] * wx[3];
    sum += ((line + 128) >> 8) * wy[static_cast<std::size_t>(j)];
  }
  return static_cast<std::uint8_t>(std::clamp((sum + (1 << 15)) >> 16, 0, 255));
}

std::uint8_t sample_at_edge(const Gray& image, double x, double y, std::uint8_t outside) {
  if (!(x > -2.5 && y > -2.5 && x < image.width + 1.5 && y < image.height + 1.5)) return outside;
  const int px = std::clamp(static_cast<int>(std::lround(x)), 0, image.width - 1);
  const int py = std::clamp(static_cast<int>(std::lround(y)), 0, image.height - 1);
  return image.at(px, py);
}

std::uint8_t sample(const Gray& image, double x, double y, std::uint8_t outside) {
  // From corners to centres.
  x -= 0.5;
  y -= 0.5;
  if (!(x >= 1 && y >= 1 && x < image.width - 2 && y < image.height - 2)) {
    return sample_at_edge(image, x, y, outside);
  }
  const int ix = static_cast<int>(x);
  const int iy = static_cast<int>(y);
  return sample_cubic(image, ix, iy, static_cast<int>((x - ix) * kKernelSteps),
                      static_cast<int>((y - iy) * kKernelSteps));
}

// One box over a row of `count` values that are `stride` apart; edges are repeated.
void box_row(const std::uint8_t* in, std::uint8_t* out, int count, int radius) {
  const std::uint32_t width = static_cast<std::uint32_t>(2 * radius + 1);
  const std::uint32_t reciprocal = (1U << 16) / width + 1;
  std::uint32_t sum = 0;
  for (int i = -radius; i <= radius; ++i) sum += in[std::clamp(i, 0, count - 1)];
  for (int i = 0; i < count; ++i) {
    out[i] = static_cast<std::uint8_t>(std::min((sum * reciprocal) >> 16, 255U));
    sum += in[std::min(i + radius + 1, count - 1)];
    sum -= in[std::max(i - radius, 0)];
  }
}

void box_columns(const Gray& in, Gray& out, int radius) {
  const std::uint32_t width = static_cast<std::uint32_t>(2 * radius + 1);
  const std::uint32_t reciprocal = (1U << 16) / width + 1;
  std::vector<std::uint32_t> sums(static_cast<std::size_t>(in.width), 0);
  const auto add = [&](int y, bool plus) {
    const auto* row = in.row(std::clamp(y, 0, in.height - 1));
    for (int x = 0; x < in.width; ++x) {
      sums[static_cast<std::size_t>(x)] += plus ? row[x] : 0U - row[x];
    }
  };
  for (int y = -radius; y <= radius; ++y) add(y, true);
  for (int y = 0; y < in.height; ++y) {
    auto* row = out.row(y);
    for (int x = 0; x < in.width; ++x) {
      row[x] = static_cast<std::uint8_t>(
          std::min((sums[static_cast<std::size_t>(x)] * reciprocal) >> 16, 255U));
    }
    add(y + radius + 1, true);
    add(y - radius, false);
  }
}

// What one pixel of the result is made of, along one side.
struct Taps {
  int first = 0;
  std::vector<float> weights = {};
};

// A triangle as wide as a pixel of the coarser of both images.
std::vector<Taps> taps_of(int from, int to) {
  std::vector<Taps> out;
  const double step = static_cast<double>(from) / to;
  const double reach = std::max(1.0, step);
  for (int i = 0; i < to; ++i) {
    const double centre = (i + 0.5) * step;
    Taps taps;
    taps.first = std::max(0, static_cast<int>(std::floor(centre - reach)));
    const int last = std::min(from - 1, static_cast<int>(std::ceil(centre + reach)));
    float sum = 0;
    for (int k = taps.first; k <= last; ++k) {
      const double distance = std::abs(k + 0.5 - centre) / reach;
      taps.weights.push_back(static_cast<float>(std::max(0.0, 1 - distance)));
      sum += taps.weights.back();
    }
    for (auto& weight : taps.weights) weight /= sum;
    out.push_back(std::move(taps));
  }
  return out;
}

}  // namespace

Gray resized(const Gray& image, Size size) {
  const auto down = taps_of(image.height, size.height);
  const auto across = taps_of(image.width, size.width);
  std::vector<float> column(static_cast<std::size_t>(image.width));
  Gray out(size.width, size.height);
  for (int y = 0; y < size.height; ++y) {
    const auto& taps = down[static_cast<std::size_t>(y)];
    std::ranges::fill(column, 0.0F);
    for (std::size_t k = 0; k < taps.weights.size(); ++k) {
      const auto* row = image.row(taps.first + static_cast<int>(k));
      const float weight = taps.weights[k];
      for (int x = 0; x < image.width; ++x) {
        column[static_cast<std::size_t>(x)] += weight * static_cast<float>(row[x]);
      }
    }
    for (int x = 0; x < size.width; ++x) {
      const auto& wide = across[static_cast<std::size_t>(x)];
      float sum = 0;
      for (std::size_t k = 0; k < wide.weights.size(); ++k) {
        sum += wide.weights[k] * column[static_cast<std::size_t>(wide.first) + k];
      }
      out.row(y)[x] = static_cast<std::uint8_t>(std::clamp(sum + 0.5F, 0.0F, 255.0F));
    }
  }
  return out;
}

Gray reduced(const Gray& image, int factor) {
  if (factor <= 1) return image;
  const int width = std::max(1, image.width / factor);
  const int height = std::max(1, image.height / factor);
  Gray out(width, height);
  std::vector<std::uint32_t> sums(static_cast<std::size_t>(width));
  for (int y = 0; y < height; ++y) {
    std::ranges::fill(sums, 0U);
    const int rows = std::min(factor, image.height - y * factor);
    for (int j = 0; j < rows; ++j) {
      const auto* in = image.row(y * factor + j);
      for (int x = 0; x < width; ++x) {
        std::uint32_t sum = 0;
        for (int i = 0; i < factor; ++i) sum += in[std::min(x * factor + i, image.width - 1)];
        sums[static_cast<std::size_t>(x)] += sum;
      }
    }
    const auto count = static_cast<std::uint32_t>(rows * factor);
    for (int x = 0; x < width; ++x) {
      out.row(y)[x] = static_cast<std::uint8_t>(sums[static_cast<std::size_t>(x)] / count);
    }
  }
  return out;
}

Gray warped(const Gray& image, const Projection& to_source, Size size, std::uint8_t outside) {
  Gray out(size.width, size.height);
  const auto& m = to_source.matrix();
  const bool affine = to_source.is_affine();
  for (int y = 0; y < size.height; ++y) {
    auto* row = out.row(y);
    double u = m[0] * 0.5 + m[1] * (y + 0.5) + m[2];
    double v = m[3] * 0.5 + m[4] * (y + 0.5) + m[5];
    double w = m[6] * 0.5 + m[7] * (y + 0.5) + m[8];
    if (affine) {
      for (int x = 0; x < size.width; ++x, u += m[0], v += m[3]) {
        row[x] = sample(image, u, v, outside);
      }
      continue;
    }
    for (int x = 0; x < size.width; ++x, u += m[0], v += m[3], w += m[6]) {
      row[x] = sample(image, u / w, v / w, outside);
    }
  }
  return out;
}

Gray turned(const Gray& image, int turn_deg) {
  if (turn_deg == 0) return image;
  if (turn_deg == 180) {
    Gray out = image;
    std::ranges::reverse(out.pixels);
    return out;
  }
  Gray out(image.height, image.width);
  constexpr int kTile = 64;  // Both sides of a tile stay in the cache.
  for (int top = 0; top < image.height; top += kTile) {
    for (int left = 0; left < image.width; left += kTile) {
      const int bottom = std::min(top + kTile, image.height);
      const int right = std::min(left + kTile, image.width);
      for (int y = top; y < bottom; ++y) {
        const auto* in = image.row(y);
        for (int x = left; x < right; ++x) {
          if (turn_deg == 90) out.row(x)[image.height - 1 - y] = in[x];
          if (turn_deg == 270) out.row(image.width - 1 - x)[y] = in[x];
        }
      }
    }
  }
  return out;
}

Gray blurred(const Gray& image, double sigma_px) {
  // Three boxes of this radius have about the spread of the bell.
  const int radius =
      static_cast<int>(std::lround((std::sqrt(4 * sigma_px * sigma_px + 1) - 1) / 2));
  if (radius < 1) return image;
  Gray a = image;
  Gray b(image.width, image.height);
  for (int round = 0; round < 3; ++round) {
    for (int y = 0; y < a.height; ++y) box_row(a.row(y), b.row(y), a.width, radius);
    box_columns(b, a, radius);
  }
  return a;
}

Gray smoothed(const Gray& image, int passes) {
  Gray out = image;
  const auto width = static_cast<std::size_t>(image.width);
  std::vector<std::uint16_t> column(width);
  std::vector<std::uint8_t> above(width);
  for (int pass = 0; pass < passes; ++pass) {
    std::copy_n(out.row(0), width, above.begin());
    for (int y = 0; y < out.height; ++y) {
      auto* here = out.row(y);
      const auto* below = out.row(std::min(y + 1, out.height - 1));
      for (std::size_t x = 0; x < width; ++x) {
        column[x] = static_cast<std::uint16_t>(above[x] + 2 * here[x] + below[x]);
      }
      std::copy_n(here, width, above.begin());
      for (std::size_t x = 1; x + 1 < width; ++x) {
        here[x] =
            static_cast<std::uint8_t>((column[x - 1] + 2 * column[x] + column[x + 1] + 8) / 16);
      }
      here[0] = static_cast<std::uint8_t>((column[0] + 2) / 4);
      here[width - 1] = static_cast<std::uint8_t>((column[width - 1] + 2) / 4);
    }
  }
  return out;
}

Gray thickened(const Gray& image) {
  Gray out(image.width, image.height);
  const auto width = static_cast<std::size_t>(image.width);
  std::vector<std::uint8_t> column(width);
  for (int y = 0; y < image.height; ++y) {
    const auto* above = image.row(std::max(0, y - 1));
    const auto* here = image.row(y);
    const auto* below = image.row(std::min(image.height - 1, y + 1));
    for (std::size_t x = 0; x < width; ++x) {
      column[x] = std::min(std::min(above[x], here[x]), below[x]);
    }
    auto* to = out.row(y);
    for (std::size_t x = 1; x + 1 < width; ++x) {
      to[x] = std::min(std::min(column[x - 1], column[x]), column[x + 1]);
    }
    to[0] = std::min(column[0], column[std::min<std::size_t>(1, width - 1)]);
    to[width - 1] = std::min(column[width - 1], column[width > 1 ? width - 2 : 0]);
  }
  return out;
}

std::vector<std::uint32_t> histogram(const Gray& image, int step) {
  std::vector<std::uint32_t> out(256, 0);
  for (int y = 0; y < image.height; y += step) {
    const auto* row = image.row(y);
    for (int x = 0; x < image.width; x += step) ++out[row[x]];
  }
  return out;
}

int otsu_threshold(const std::vector<std::uint32_t>& histogram) {
  double total = 0;
  double sum = 0;
  for (std::size_t i = 0; i < 256; ++i) {
    total += histogram[i];
    sum += static_cast<double>(i) * histogram[i];
  }
  double below = 0;
  double below_sum = 0;
  double best = -1;
  std::size_t first = 127;
  std::size_t last = 127;
  for (std::size_t i = 0; i < 255; ++i) {
    below += histogram[i];
    below_sum += static_cast<double>(i) * histogram[i];
    const double above = total - below;
    if (below == 0 || above == 0) continue;
    const double distance = below_sum / below - (sum - below_sum) / above;
    const double score = below * above * distance * distance;
    if (score > best * (1 + 1e-12)) {
      best = score;
      first = i;
      last = i;
    } else if (score >= best * (1 - 1e-12)) {
      last = i;  // A gap between the classes: its middle is the threshold.
    }
  }
  return static_cast<int>((first + last) / 2) + 1;
}

}  // namespace millrace::document
