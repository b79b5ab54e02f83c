#include "embed/model/encoder.h"

#include "base/assert.h"
#include "embed/kernels/kernels.h"

#include <algorithm>
#include <cmath>

namespace millrace::embed {

std::size_t count_rows(Texts texts) {
  std::size_t rows = 0;
  for (const auto& text : texts) rows += text.size();
  return rows;
}

std::size_t longest_text(Texts texts) {
  std::size_t longest = 0;
  for (const auto& text : texts) longest = std::max(longest, text.size());
  return longest;
}

Floats copied(std::span<const float> values) {
  Floats out(values.size());
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

void mean_of(std::span<const float> rows, std::span<float> mean) {
  MR_ASSERT(!rows.empty());
  std::fill(mean.begin(), mean.end(), 0.0F);
  for (std::size_t row = 0; row < rows.size(); row += mean.size()) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += rows[row + i];
  }
  const auto count = static_cast<float>(rows.size() / mean.size());
  for (float& value : mean) value /= count;
}

void scale_to_length_1(std::span<float> vector) {
  float squares = 0;
  for (const float value : vector) squares += value * value;
  const float factor = 1.0F / std::sqrt(std::max(squares, 1e-12F));
  for (float& value : vector) value *= factor;
}

void Norm::apply(const float* in, float* out, std::size_t rows, float epsilon) const {
  layer_norm({.in = in,
              .out = out,
              .width = scale.size(),
              .rows = rows,
              .scale = scale.data(),
              .shift = shift.data(),
              .epsilon = epsilon});
}

}  // namespace millrace::embed
