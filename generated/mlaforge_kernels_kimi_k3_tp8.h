/* Kernel set kimi_k3_tp8: 67 kernels for gfx950.
 * Written by mlaforge 0.1.0 from templates/kernel_set.h.mustache; config 80182e7b49acf6d6decf6f554fe277215b84a269ed9b69e16f275decaa609757. */
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
