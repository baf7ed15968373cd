/* Kernel set kimi_k3_tp8: 51 kernels for gfx950.
 * Written by mlaforge 0.1.0 from templates/kernel_set.h.mustache; config 0a497f586dfcdf5e3b63f9d46b057fcc6b4809e0533ee7333e553462da5f2b38. */
#ifndef MLAFORGE_KERNELS_KIMI_K3_TP8_H
#define MLAFORGE_KERNELS_KIMI_K3_TP8_H

#include <mlaforge/mlaforge.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The set, to be handed to mlaforge_open in its options' kernel_sets. Constant data of this library: never freed. */
MLAFORGE_API const mlaforge_kernel_set* mlaforge_kernels_kimi_k3_tp8(void);

#ifdef __cplusplus
}
#endif

#endif
