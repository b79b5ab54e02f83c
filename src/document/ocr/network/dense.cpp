#include "document/ocr/network/dense.h"

#include "document/ocr/network/kernels.h"

#include <algorithm>
#include <cmath>

namespace millrace::document {
namespace {

struct Kernels {
  void (*product)(const ProductTask&, std::size_t) = &kernels_any::product;
  void (*step)(const LstmStep&) = &kernels_any::step;
  void (*tanh_all)(float*, std::size_t) = &kernels_any::tanh_all;
};

// The best that this processor has.
const Kernels& kernels() {
  static const Kernels chosen = []() -> Kernels {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
      return {.product = &kernels_avx512::product,
              .step = &kernels_avx512::step,
              .tanh_all = &kernels_avx512::tanh_all};
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      return {.product = &kernels_avx2::product,
              .step = &kernels_avx2::step,
              .tanh_all = &kernels_avx2::tanh_all};
    }
#endif
    return {};
  }();
  return chosen;
}

}  // namespace

Dense::Dense(std::size_t outputs, std::size_t inputs)
    : inputs_(inputs),
      weights_((outputs + kPanel - 1) / kPanel * kPanel * inputs, 0.0F),
      bias_((outputs + kPanel - 1) / kPanel * kPanel, 0.0F) {}

void Dense::set(std::size_t output, std::size_t input, float weight) {
  weights_[(output / kPanel * inputs_ + input) * kPanel + output % kPanel] = weight;
}

void Dense::product(const float* in, std::size_t in_stride, float* out, std::size_t out_stride,
                    std::size_t columns) const {
  const ProductTask task{.weights = weights_.data(),
                         .bias = bias_.data(),
                         .panels = bias_.size() / kPanel,
                         .inputs = inputs_,
                         .in = in,
                         .in_stride = in_stride,
                         .out = out,
                         .out_stride = out_stride};
  kernels().product(task, columns);
}

void Dense::add_product(const float* in, std::size_t in_stride, float* out, std::size_t out_stride,
                        std::size_t columns) const {
  const ProductTask task{.weights = weights_.data(),
                         .bias = nullptr,
                         .panels = bias_.size() / kPanel,
                         .inputs = inputs_,
                         .in = in,
                         .in_stride = in_stride,
                         .out = out,
                         .out_stride = out_stride};
  kernels().product(task, columns);
}

void lstm_step(const LstmStep& step) { kernels().step(step); }

void tanh_in_place(float* values, std::size_t count) { kernels().tanh_all(values, count); }

void softmax_in_place(float* values, std::size_t count) {
  const float highest = *std::max_element(values, values + count);
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = std::exp(values[i] - highest);
    sum += values[i];
  }
  for (std::size_t i = 0; i < count; ++i) values[i] /= sum;
}

}  // namespace millrace::document
