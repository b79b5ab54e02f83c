#include "document/ocr/background.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace millrace::document {
namespace {

// Three tiles are larger than strokes of letters and smaller than a shaded row of a table.
constexpr int kTilesAcross = 128;
constexpr int kTileMin = 12;
constexpr double kPaperShare = 0.8;  // Of a tile's pixels, from the dark end, up to its paper.
// Darker than this share of the brightest is no paper in the shade any more, but something printed.
constexpr double kShadeMin = 0.18;

int paper_of(const Gray& image, int left, int top, int side) {
  std::array<int, 256> counts{};
  int total = 0;
  const int bottom = std::min(top + side, image.height);
  const int right = std::min(left + side, image.width);
  for (int y = top; y < bottom; y += 2) {
    const auto* row = image.row(y);
    for (int x = left; x < right; x += 2, ++total) ++counts[row[x]];
  }
  const int wanted = static_cast<int>(total * (1 - kPaperShare));
  int above = 0;
  for (int value = 255; value > 0; --value) {
    above += counts[static_cast<std::size_t>(value)];
    if (above > wanted) return value;
  }
  return 0;
}

// Each value replaced by one of its neighbourhood of 3 × 3.
template <class Choose>
std::vector<int> neighbourhood(const std::vector<int>& in, int columns, int rows, Choose choose) {
  std::vector<int> out(in.size());
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      std::array<int, 9> around{};
      std::size_t i = 0;
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          const int r = std::clamp(row + dy, 0, rows - 1);
          const int c = std::clamp(column + dx, 0, columns - 1);
          around[i++] = in[static_cast<std::size_t>(r * columns + c)];
        }
      }
      out[static_cast<std::size_t>(row * columns + column)] = choose(around);
    }
  }
  return out;
}

int median_of(std::array<int, 9> values) {
  std::ranges::nth_element(values, values.begin() + 4);
  return values[4];
}

}  // namespace

Background::Background(const Gray& image) {
  tile_ = std::max(kTileMin, std::min(image.width, image.height) / kTilesAcross);
  columns_ = (image.width + tile_ - 1) / tile_;
  rows_ = (image.height + tile_ - 1) / tile_;
  levels_.reserve(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_));
  for (int row = 0; row < rows_; ++row) {
    for (int column = 0; column < columns_; ++column) {
      levels_.push_back(paper_of(image, column * tile_, row * tile_, tile_));
    }
  }
  // Small dark things are closed over, then single tiles are made to agree with those around them.
  levels_ = neighbourhood(levels_, columns_, rows_,
                          [](const std::array<int, 9>& a) { return *std::ranges::max_element(a); });
  levels_ = neighbourhood(levels_, columns_, rows_,
                          [](const std::array<int, 9>& a) { return *std::ranges::min_element(a); });
  levels_ = neighbourhood(levels_, columns_, rows_, median_of);
  brightest_ = *std::ranges::max_element(levels_);
  const int floor = std::max(24, static_cast<int>(brightest_ * kShadeMin));
  for (auto& value : levels_) value = std::max(value, floor);
  darkest_ = *std::ranges::min_element(levels_);
}

int Background::level(int column, int row) const {
  return levels_[static_cast<std::size_t>(std::clamp(row, 0, rows_ - 1) * columns_ +
                                          std::clamp(column, 0, columns_ - 1))];
}

double Background::at(double x, double y) const {
  const double u = x / tile_ - 0.5;
  const double v = y / tile_ - 0.5;
  const int column = static_cast<int>(std::floor(u));
  const int row = static_cast<int>(std::floor(v));
  const double a = u - column;
  const double b = v - row;
  return (1 - b) * ((1 - a) * level(column, row) + a * level(column + 1, row)) +
         b * ((1 - a) * level(column, row + 1) + a * level(column + 1, row + 1));
}

Gray Background::remove_from(const Gray& image) const {
  Gray out(image.width, image.height);
  // The factor changes slowly: it is known every eighth pixel and runs straight between.
  constexpr int kStep = 8;
  const auto nodes = static_cast<std::size_t>(image.width / kStep + 2);
  std::vector<float> factors(nodes);
  std::vector<float> line(static_cast<std::size_t>(image.width));
  for (int y = 0; y < image.height; ++y) {
    if (y % kStep == 0) {
      for (std::size_t i = 0; i < nodes; ++i) {
        factors[i] = static_cast<float>(kPaper / at(static_cast<double>(i * kStep), y + kStep / 2));
      }
      for (int x = 0; x < image.width; ++x) {
        const auto i = static_cast<std::size_t>(x / kStep);
        const float t = static_cast<float>(x % kStep) / kStep;
        line[static_cast<std::size_t>(x)] = factors[i] + t * (factors[i + 1] - factors[i]);
      }
    }
    const auto* in = image.row(y);
    auto* to = out.row(y);
    for (int x = 0; x < image.width; ++x) {
      to[x] = static_cast<std::uint8_t>(
          std::min(static_cast<float>(in[x]) * line[static_cast<std::size_t>(x)], 255.0F));
    }
  }
  return out;
}

Gray stretched(const Gray& image, int ink, int paper) {
  constexpr int kInk = 16;
  std::array<std::uint8_t, 256> table{};
  const double factor = static_cast<double>(Background::kPaper - kInk) / std::max(1, paper - ink);
  for (int i = 0; i < 256; ++i) {
    table[static_cast<std::size_t>(i)] =
        static_cast<std::uint8_t>(std::clamp(kInk + (i - ink) * factor, 0.0, 255.0));
  }
  Gray out(image.width, image.height);
  std::ranges::transform(image.pixels, out.pixels.begin(),
                         [&](std::uint8_t value) { return table[value]; });
  return out;
}

}  // namespace millrace::document
