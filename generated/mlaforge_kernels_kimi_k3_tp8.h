/* Kernel set kimi_k3_tp8: 61 kernels for gfx950.
 * Written by mlaforge 0.1.0 from templates/kernel_set.h.mustache; config 68e27aa5bdb6f1f43acc3ef8c9f63cb09e8a997150ab105ebe5383967597dd4f. */
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
