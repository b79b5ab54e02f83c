// Dense: weights of one layer of a network, and what is computed with them.
//
// Weights lie in panels of sixteen outputs, so that a product is a loop over inputs that adds a
// multiple of sixteen numbers at once; the processor's widest instructions are chosen when the
// program starts. Results do not depend on how many columns are computed together.
#pragma once

#include <cstddef>
#include <vector>

namespace millrace::document {

inline constexpr std::size_t kPanel = 16;

class Dense {
 public:
  Dense() = default;
  // `outputs` is rounded up to whole panels; what is added is 0.
  Dense(std::size_t outputs, std::size_t inputs);

  void set(std::size_t output, std::size_t input, float weight);
  void set_bias(std::size_t output, float weight) { bias_[output] = weight; }

  std::size_t inputs() const { return inputs_; }
  std::size_t outputs() const { return bias_.size(); }

  // out[c] = bias + W in[c], for columns that follow each other at these distances.
  void product(const float* in, std::size_t in_stride, float* out, std::size_t out_stride,
               std::size_t columns) const;
  // out[c] += W in[c].
  void add_product(const float* in, std::size_t in_stride, float* out, std::size_t out_stride,
                   std::size_t columns) const;

 private:
  std::size_t inputs_ = 0;
  std::vector<float> weights_;
  std::vector<float> bias_;
};

// One step of LSTM cells for several columns. `gates` has for each column the inputs of the four
// gates, one after the other: cell, input, forget, output.
struct LstmStep {
  const float* gates = nullptr;
  float* state = nullptr;
  float* output = nullptr;
  std::size_t cells = 0;  // A multiple of kPanel.
};
void lstm_step(const LstmStep& step);

void tanh_in_place(float* values, std::size_t count);  // A multiple of kPanel.
// Probabilities of `count` numbers.
void softmax_in_place(float* values, std::size_t count);

}  // namespace millrace::document
