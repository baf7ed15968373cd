/* DLPack tensors to mlaforge_tensors: pointers with their byte_offset, strides in elements, shapes checked.
 *
 * The structs have DLPack 1.0's layout (DLTensor, the same since 0.6) under names of their own, so that this header can
 * stand beside DLPack's: pass the address of a DLTensor, cast. A DLManagedTensor's first member is its DLTensor; of a
 * DLManagedTensorVersioned pass &dl_tensor. Nothing is copied, kept or deleted. */
#ifndef MLAFORGE_DLPACK_H
#define MLAFORGE_DLPACK_H

#include <stdint.h>

#include "mlaforge/mlaforge.h"

#ifdef __cplusplus
extern "C" {
#endif

/** DLDeviceType's values that are told apart. */
#define MLAFORGE_DL_ROCM 10

/** DLDataTypeCode's values that are told apart. */
#define MLAFORGE_DL_INT 0
#define MLAFORGE_DL_UINT 1
#define MLAFORGE_DL_FLOAT 2
#define MLAFORGE_DL_BFLOAT 4
#define MLAFORGE_DL_FLOAT8_E4M3FN 10

typedef struct mlaforge_dl_device {
  int32_t device_type;
  int32_t device_id;
} mlaforge_dl_device;

typedef struct mlaforge_dl_dtype {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} mlaforge_dl_dtype;

/** DLTensor. */
typedef struct mlaforge_dl_tensor {
  void* data;
  mlaforge_dl_device device;
  int32_t ndim;
  mlaforge_dl_dtype dtype;
  int64_t* shape;
  int64_t* strides; /**< in elements; null: row-major without gaps */
  uint64_t byte_offset;
} mlaforge_dl_tensor;

/** A launch's tensors. R requests, T = R x qlen tokens, H heads.
 * fp8_e4m3 elements may also come as uint8, as frameworks without that type carry them. */
typedef struct mlaforge_dl_tensors {
  uint64_t struct_size;
  const mlaforge_dl_tensor* q;           /**< [T, H, 576] or [R, qlen, H, 576], of the kernel's q_dtype */
  const mlaforge_dl_tensor* kv;          /**< [slots, 576], or [pages, page_size, 576], rows equally spaced; fp8_e4m3 */
  const mlaforge_dl_tensor* page_table;  /**< int32: [R, entries] dense, or [entries] with page_indptr */
  const mlaforge_dl_tensor* page_indptr; /**< int32 [R + 1]; null with a dense table */
  const mlaforge_dl_tensor* seq_len;     /**< int32 [R]: R is taken from here */
  const mlaforge_dl_tensor* q_scale;     /**< float32 of one element, or null */
  const mlaforge_dl_tensor* k_scale;     /**< the same */
  const mlaforge_dl_tensor* v_scale;     /**< the same */
  const mlaforge_dl_tensor* o;           /**< bf16 [T, H, 512] or [R, qlen, H, 512] */
  const mlaforge_dl_tensor* lse;         /**< float32 [T, H] or [R, qlen, H], or null */
} mlaforge_dl_tensors;
#define MLAFORGE_DL_TENSORS_INIT {sizeof(mlaforge_dl_tensors), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/** Fills pointers, strides and requests of `tensors` for a launch of `choice`; softmax_scale, context_parallel_rank and
 * reserved stay as they are. Every tensor has to be on the library's device. Host only; allocates nothing.
 * Errors: INVALID_ARGUMENT names the tensor, what it has and what is allowed, `tensors` is untouched then. What
 * mlaforge_launch checks (alignment, overlap, capacity) is left to it; a pool of more bytes than the choice's is an
 * error here. */
MLAFORGE_API mlaforge_status mlaforge_tensors_from_dlpack(const mlaforge_library* library,
                                                          const mlaforge_choice* choice,
                                                          const mlaforge_dl_tensors* from, mlaforge_tensors* tensors);

#ifdef __cplusplus
}
#endif

#endif
