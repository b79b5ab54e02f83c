#include "document/ocr/noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace millrace::document {
namespace {

constexpr int kSpeckGap = 48;  // A speck differs from each of its neighbours by at least this.

// The neighbours' range: a pixel outside of it by far is a speck.
struct Around {
  int low = 255;
  int high = 0;
};

Around around(const std::uint8_t* above, const std::uint8_t* here, const std::uint8_t* below,
              int x) {
  const auto low3 = [](int a, int b, int c) { return std::min(a, std::min(b, c)); };
  const auto high3 = [](int a, int b, int c) { return std::max(a, std::max(b, c)); };
  return {.low = std::min({low3(above[x - 1], above[x], above[x + 1]),
                           low3(below[x - 1], below[x], below[x + 1]),
                           std::min<int>(here[x - 1], here[x + 1])}),
          .high = std::max({high3(above[x - 1], above[x], above[x + 1]),
                            high3(below[x - 1], below[x], below[x + 1]),
                            std::max<int>(here[x - 1], here[x + 1])})};
}

}  // namespace

Noise measure_noise(const Gray& image) {
  Noise out;
  if (image.width < 8 || image.height < 8) return out;
  std::array<std::uint64_t, 2048> laplacian{};
  std::uint64_t total = 0;
  std::uint64_t specks = 0;
  for (int y = 1; y + 1 < image.height; y += 3) {
    const auto* a = image.row(y - 1);
    const auto* b = image.row(y);
    const auto* c = image.row(y + 1);
    for (int x = 1; x + 1 < image.width; x += 2, ++total) {
      const int value = a[x - 1] - 2 * a[x] + a[x + 1] - 2 * b[x - 1] + 4 * b[x] - 2 * b[x + 1] +
                        c[x - 1] - 2 * c[x] + c[x + 1];
      ++laplacian[static_cast<std::size_t>(std::min(std::abs(value), 2047))];
      const auto range = around(a, b, c, x);
      const bool out_of_range = b[x] + kSpeckGap < range.low || b[x] > range.high + kSpeckGap;
      if (out_of_range) ++specks;
    }
  }
  out.specks = static_cast<double>(specks) / static_cast<double>(total);
  // The median stands for the paper, whatever is written on it; a bell's is 0.6745 deviations, and
  // this sum has six times the deviation of one pixel.
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < laplacian.size(); ++i) {
    const auto before = static_cast<double>(seen);
    seen += laplacian[i];
    if (2 * seen < total) continue;
    const double within =
        (static_cast<double>(total) / 2 - before) / static_cast<double>(laplacian[i]);
    out.grain = (static_cast<double>(i) + (i == 0 ? 0 : within - 0.5)) / 0.6745 / 6;
    break;
  }
  return out;
}

Gray without_specks(const Gray& image) {
  Gray out = image;
  for (int round = 0; round < 2; ++round) {
    const Gray in = out;
    for (int y = 1; y + 1 < in.height; ++y) {
      const auto* a = in.row(y - 1);
      const auto* b = in.row(y);
      const auto* c = in.row(y + 1);
      auto* to = out.row(y);
      for (int x = 1; x + 1 < in.width; ++x) {
        std::array<std::uint8_t, 8> near = {a[x - 1], a[x],     a[x + 1], b[x - 1],
                                            b[x + 1], c[x - 1], c[x],     c[x + 1]};
        // A pair of specks leaves one neighbour alike, so the second in order decides.
        int dark = 0;
        int bright = 0;
        for (const auto value : near) {
          dark += value + kSpeckGap > b[x] && value < b[x] + kSpeckGap ? 1 : 0;
        }
        bright = dark;
        if (bright > (round == 0 ? 1 : 1)) continue;
        std::ranges::nth_element(near, near.begin() + 4);
        to[x] = near[4];
      }
    }
  }
  return out;
}

Gray without_grain(const Gray& image, double grain) {
  (void)grain;
  return image;
}

}  // namespace millrace::document
