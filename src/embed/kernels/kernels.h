// Kernels: the loops that a model spends its time in, for several generations of processors.
//
// What a row of a result is does not depend on the rows beside it: every number is summed in the
// same order whether a text is embedded alone or among others. Between processors results may
// differ in the last bits.
#pragma once

#include <cstddef>

namespace millrace::embed {

inline constexpr std::size_t kPanel = 16;  // Outputs that are computed side by side.

// What becomes of a sum before it is stored.
enum class Finish {
  keep,
  add,   // It is added to what is there.
  relu,  // max(x, 0)
  gelu,  // x · Φ(x), Φ of the normal distribution
};

// out[row][output] = bias[output] + Σ in[row][input] · weight[input][output]
struct Product {
  const float* weights = nullptr;  // Panels of inputs × kPanel, on cache lines.
  const float* bias = nullptr;     // Null: none.
  std::size_t panels = 0;
  std::size_t inputs = 0;
  const float* in = nullptr;
  std::size_t in_stride = 0;
  float* out = nullptr;
  std::size_t out_stride = 0;
  std::size_t rows = 0;
  Finish finish = Finish::keep;
};

// Every row to mean 0 and variance 1, then times `scale` plus `shift`. `in` may be `out`.
struct LayerNorm {
  const float* in = nullptr;
  float* out = nullptr;
  std::size_t width = 0;  // A multiple of kPanel; also the distance of rows.
  std::size_t rows = 0;
  const float* scale = nullptr;
  const float* shift = nullptr;
  float epsilon = 0;
};

// Of every row, the first `count` numbers times `factor` become weights with the sum 1; those from
// there to the next multiple of kPanel become 0.
struct Softmax {
  float* values = nullptr;
  std::size_t stride = 0;  // A multiple of kPanel.
  std::size_t rows = 0;
  std::size_t count = 0;
  float factor = 1;
};

void product(const Product& task);
void layer_norm(const LayerNorm& task);
void softmax(const Softmax& task);

// Which of the loops this processor runs: "avx512", "avx2" or "any".
const char* kernel_name();

#define MR_DECLARE_KERNELS(name)          \
  namespace name {                        \
  void product(const Product& task);      \
  void layer_norm(const LayerNorm& task); \
  void softmax(const Softmax& task);      \
  }

MR_DECLARE_KERNELS(kernels_any)
#if defined(__x86_64__)
MR_DECLARE_KERNELS(kernels_avx2)
MR_DECLARE_KERNELS(kernels_avx512)
#endif

#undef MR_DECLARE_KERNELS

}  // namespace millrace::embed
