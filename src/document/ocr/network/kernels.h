// Kernels: the loops that a network spends its time in, for several generations of processors.
#pragma once

#include "document/ocr/network/dense.h"

#include <cstddef>

namespace millrace::document {

struct ProductTask {
  const float* weights = nullptr;  // Panels of inputs × kPanel.
  const float* bias = nullptr;     // Null: what is in `out` is added to.
  std::size_t panels = 0;
  std::size_t inputs = 0;
  const float* in = nullptr;
  std::size_t in_stride = 0;
  float* out = nullptr;
  std::size_t out_stride = 0;
};

#define MR_DECLARE_KERNELS(name)                              \
  namespace name {                                            \
  void product(const ProductTask& task, std::size_t columns); \
  void step(const LstmStep& step);                            \
  void tanh_all(float* values, std::size_t count);            \
  }

MR_DECLARE_KERNELS(kernels_any)
#if defined(__x86_64__)
MR_DECLARE_KERNELS(kernels_avx2)
MR_DECLARE_KERNELS(kernels_avx512)
#endif

#undef MR_DECLARE_KERNELS

}  // namespace millrace::document
