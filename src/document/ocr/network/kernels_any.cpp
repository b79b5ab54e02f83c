#define MR_KERNELS kernels_any
#include "document/ocr/network/kernels.inc"
