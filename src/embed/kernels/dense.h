// Dense: a layer in which every output depends on every input, its weights in panels for the
// kernels. Immutable after it was made: any number of threads may use it.
#pragma once

#include "embed/kernels/floats.h"
#include "embed/kernels/kernels.h"

#include <cstddef>
#include <span>

namespace millrace::embed {

// How the weights of a model file are arranged.
enum class WeightOrder {
  by_input,   // [inputs][outputs], as TensorFlow has them
  by_output,  // [outputs][inputs], as PyTorch has them
};

class Dense {
 public:
  Dense() = default;
  // Outputs are a multiple of kPanel.
  Dense(std::size_t inputs, std::size_t outputs);

  // Sets outputs first … first + bias.size().
  void set(std::size_t first, std::span<const float> weights, WeightOrder order,
           std::span<const float> bias);

  std::size_t inputs() const { return inputs_; }
  std::size_t outputs() const { return bias_.size(); }

  // Rows of `in` and `out` lie inputs() and outputs() apart.
  void apply(const float* in, float* out, std::size_t rows, Finish finish = Finish::keep) const;

 private:
  std::size_t inputs_ = 0;
  Floats weights_;
  Floats bias_;
};

}  // namespace millrace::embed
