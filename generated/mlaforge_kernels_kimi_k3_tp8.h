/* Kernel set kimi_k3_tp8: 49 kernels for gfx950.
 * Written by mlaforge 0.1.0 from templates/kernel_set.h.mustache; config 8b07b869b6536aef2e6ea46732919e8d1e655b76db912aca7d6f73f2c90666ef. */
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
