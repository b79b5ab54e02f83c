#include "embed/kernels/dense.h"

#include "base/assert.h"

namespace millrace::embed {

Dense::Dense(std::size_t inputs, std::size_t outputs)
    : inputs_(inputs), weights_(inputs * outputs), bias_(outputs) {
  MR_ASSERT(outputs % kPanel == 0);
}

void Dense::set(std::size_t first, std::span<const float> weights, WeightOrder order,
                std::span<const float> bias) {
  const std::size_t count = bias.size();
  MR_ASSERT(first + count <= outputs());
  MR_ASSERT(weights.size() == inputs_ * count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t output = first + i;
    bias_[output] = bias[i];
    float* const to = weights_.data() + output / kPanel * inputs_ * kPanel + output % kPanel;
    for (std::size_t k = 0; k < inputs_; ++k) {
      to[k * kPanel] =
          order == WeightOrder::by_input ? weights[k * count + i] : weights[i * inputs_ + k];
    }
  }
}

void Dense::apply(const float* in, float* out, std::size_t rows, Finish finish) const {
  product({.weights = weights_.data(),
           .bias = bias_.data(),
           .panels = outputs() / kPanel,
           .inputs = inputs_,
           .in = in,
           .in_stride = inputs_,
           .out = out,
           .out_stride = outputs(),
           .rows = rows,
           .finish = finish});
}

}  // namespace millrace::embed
