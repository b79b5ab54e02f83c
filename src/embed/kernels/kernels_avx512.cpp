#if defined(__x86_64__)
#define MR_KERNELS kernels_avx512
#define MR_KERNEL_ROWS 12
#define MR_KERNEL_PANELS 2
#include "embed/kernels/kernels.inc"
#endif
