#if defined(__x86_64__)
#define MR_KERNELS kernels_avx512
#include "document/ocr/network/kernels.inc"
#endif
