#include "embed/kernels/kernels.h"

namespace millrace::embed {
namespace {

struct Kernels {
  const char* name = "any";
  void (*product)(const Product&) = &kernels_any::product;
  void (*layer_norm)(const LayerNorm&) = &kernels_any::layer_norm;
  void (*softmax)(const Softmax&) = &kernels_any::softmax;
};

// The best that this processor has.
const Kernels& kernels() {
  static const Kernels chosen = []() -> Kernels {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
      return {.name = "avx512",
              .product = &kernels_avx512::product,
              .layer_norm = &kernels_avx512::layer_norm,
              .softmax = &kernels_avx512::softmax};
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      return {.name = "avx2",
              .product = &kernels_avx2::product,
              .layer_norm = &kernels_avx2::layer_norm,
              .softmax = &kernels_avx2::softmax};
    }
#endif
    return {};
  }();
  return chosen;
}

}  // namespace

void product(const Product& task) { kernels().product(task); }
void layer_norm(const LayerNorm& task) { kernels().layer_norm(task); }
void softmax(const Softmax& task) { kernels().softmax(task); }
const char* kernel_name() { return kernels().name; }

}  // namespace millrace::embed
