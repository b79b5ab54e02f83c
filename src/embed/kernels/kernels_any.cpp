#define MR_KERNELS kernels_any
#define MR_KERNEL_ROWS 2
#define MR_KERNEL_PANELS 1
#include "embed/kernels/kernels.inc"
