#if defined(__x86_64__)
#define MR_KERNELS kernels_avx2
#define MR_KERNEL_ROWS 6
#define MR_KERNEL_PANELS 1
#include "embed/kernels/kernels.inc"
#endif
