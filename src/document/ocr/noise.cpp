#include "document/ocr/noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

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

constexpr int kSearch = 3;     // Places around, in pixels.
constexpr int kPatch = 2;      // Around a place, that is compared.
constexpr int kBandRows = 48;  // Rows at once.
// How far patches may differ and still count, in squares of the grain. Differences that only grain
// makes are two; what is more averages edges of letters with each other.
constexpr double kAlike = 12;

// Weighted sums of a band of rows.
class BandSums {
 public:
  explicit BandSums(int width)
      : width_(static_cast<std::size_t>(width)),
        values_(width_ * kBandRows),
        weights_(width_ * kBandRows),
        squares_(width_ * (kBandRows + 2 * kPatch)),
        columns_(width_) {}

  void begin(const Gray& image, int top, int rows) {
    for (int y = 0; y < rows; ++y) {
      const auto* in = image.row(top + y);
      for (std::size_t x = 0; x < width_; ++x) {
        values_[at(y, x)] = in[x];
        weights_[at(y, x)] = 1;
      }
    }
  }

  void add(const Gray& image, int top, int rows, int dx, int dy, float scale) {
    for (int y = -kPatch; y < rows + kPatch; ++y) difference(image, top, y, dx, dy);
    std::ranges::fill(columns_, 0);
    for (int y = -kPatch; y < kPatch; ++y) add_row(y, 1);
    for (int y = 0; y < rows; ++y) {
      add_row(y + kPatch, 1);
      weigh(image.row(std::clamp(top + y + dy, 0, image.height - 1)), y, dx, scale);
      add_row(y - kPatch, -1);
    }
  }

  void finish(Gray& out, int top, int rows) const {
    for (int y = 0; y < rows; ++y) {
      auto* to = out.row(top + y);
      for (std::size_t x = 0; x < width_; ++x) {
        to[x] = static_cast<std::uint8_t>(values_[at(y, x)] / weights_[at(y, x)] + 0.5F);
      }
    }
  }

 private:
  std::size_t width_;
  std::vector<float> values_;
  std::vector<float> weights_;
  std::vector<std::int32_t> squares_;  // Of the difference to the place beside, row by row.
  std::vector<std::int32_t> columns_;

  std::size_t at(int y, std::size_t x) const { return static_cast<std::size_t>(y) * width_ + x; }

  void difference(const Gray& image, int top, int y, int dx, int dy) {
    const auto* a = image.row(std::clamp(top + y, 0, image.height - 1));
    const auto* b = image.row(std::clamp(top + y + dy, 0, image.height - 1));
    auto* to = squares_.data() + at(y + kPatch, 0);
    const int width = image.width;
    const int from = std::max(0, -dx);
    const int end = std::min(width, width - dx);
    for (int x = 0; x < from; ++x) to[x] = (a[x] - b[0]) * (a[x] - b[0]);
    for (int x = from; x < end; ++x) {
      const std::int32_t d = a[x] - b[x + dx];
      to[x] = d * d;
    }
    for (int x = end; x < width; ++x) to[x] = (a[x] - b[width - 1]) * (a[x] - b[width - 1]);
  }

  void add_row(int y, int sign) {
    const auto* row = squares_.data() + at(y + kPatch, 0);
    for (std::size_t x = 0; x < width_; ++x) columns_[x] += sign * row[x];
  }

  void weigh(const std::uint8_t* beside, int y, int dx, float scale) {
    const int width = static_cast<int>(width_);
    auto* values = values_.data() + at(y, 0);
    auto* weights = weights_.data() + at(y, 0);
    const int from = std::max(kPatch, -dx);
    const int end = std::min(width - kPatch, width - dx);
    for (int x = from; x < end; ++x) {
      const std::int32_t patch =
          columns_[static_cast<std::size_t>(x - 2)] + columns_[static_cast<std::size_t>(x - 1)] +
          columns_[static_cast<std::size_t>(x)] + columns_[static_cast<std::size_t>(x + 1)] +
          columns_[static_cast<std::size_t>(x + 2)];
      const float like = std::max(0.0F, 1 - static_cast<float>(patch) * scale);
      const float weight = like * like;
      weights[x] += weight;
      values[x] += weight * static_cast<float>(beside[x + dx]);
    }
  }
};

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
        // A speck of two pixels has one neighbour that is like it.
        int alike = 0;
        for (const auto value : near) {
          alike += value + kSpeckGap > b[x] && value < b[x] + kSpeckGap ? 1 : 0;
        }
        if (alike > 1) continue;
        std::ranges::nth_element(near, near.begin() + 4);
        to[x] = near[4];
      }
    }
  }
  return out;
}

Gray without_grain(const Gray& image, double grain) {
  // Non-local means: the mean of the pixels around, each as far as the place that it stands in
  // looks like this one. Rows go through in bands, so that everything stays in the cache.
  if (image.width < 16 || image.height < 16) return image;
  Gray out(image.width, image.height);
  const double alike = kAlike * grain * grain * (2 * kPatch + 1) * (2 * kPatch + 1);
  BandSums sums(image.width);
  for (int top = 0; top < image.height; top += kBandRows) {
    const int rows = std::min(kBandRows, image.height - top);
    sums.begin(image, top, rows);
    for (int dy = -kSearch; dy <= kSearch; ++dy) {
      for (int dx = -kSearch; dx <= kSearch; ++dx) {
        if (dx != 0 || dy != 0) sums.add(image, top, rows, dx, dy, static_cast<float>(1 / alike));
      }
    }
    sums.finish(out, top, rows);
  }
  return out;
}

}  // namespace millrace::document
