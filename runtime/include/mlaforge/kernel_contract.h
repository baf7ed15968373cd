/* The contract between emitted kernels, the generator that writes them and the runtime that launches them.
 * Plain C, freestanding: device code includes it too. Shapes are in brackets, sizes are in bytes where not said. */
#ifndef MLAFORGE_KERNEL_CONTRACT_H
#define MLAFORGE_KERNEL_CONTRACT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Latent columns of a KV row: the values, and the first part of the keys. */
#define MLAFORGE_LATENT_DIM 512
/** Rotary columns of a KV row: the last part of the keys. */
#define MLAFORGE_ROPE_DIM 64
/** Columns of a KV row, and of a query row. */
#define MLAFORGE_KEY_DIM 576
/** Compute dies of the chip; workgroup i runs on XCD i % MLAFORGE_XCDS. */
#define MLAFORGE_XCDS 8

/** The arguments of an attention kernel, in this order and layout. All pointers are device pointers.
 *
 * requests is the batch; qlen, heads, splits and page_size are constants of the kernel.
 * Grid: ceil(requests x splits / 8) x 8 x head_groups workgroups in x (see mlaforge_attention_grid). */
typedef struct mlaforge_attention_args {
  /* First what a workgroup needs first: the first 14 words reach its registers before it starts (kernel argument
   * preloading), down to page_table. */
  const int32_t* seq_len;     /**< [requests] KV tokens over all ranks, this step's qlen included; 0: a padded request */
  const int32_t* page_indptr; /**< [requests + 1] first entry of each request (CSR); null: dense */
  const void* q;              /**< [requests x qlen, heads, 576] bf16 (or E4M3), 16-byte aligned rows */
  int64_t q_token_stride;     /**< elements between query tokens */
  int64_t q_head_stride;      /**< elements between query heads */
  int32_t requests;           /**< batch */
  float softmax_scale;        /**< multiplies q.k before the softmax */
  const int32_t* page_table;  /**< page ids, one run of entries a request */
  const void* kv;             /**< [slots, 576] E4M3 (OCP), rows kv_row_stride bytes apart, 16-byte aligned */
  int64_t kv_row_stride;      /**< bytes between cache rows, a multiple of 16, at least 576 */
  int64_t page_table_stride;  /**< entries between requests of a dense table; unused with CSR */
  const float* q_scale;       /**< one float, an fp8 query's factor; null: 1.0; unused with bf16 */
  const float* k_scale;       /**< one float, the keys' dequantisation factor; null: 1.0 */
  const float* v_scale;       /**< one float, the values' dequantisation factor; null: 1.0 */
  void* o;                    /**< [requests x qlen, heads, 512] bf16; stored by the kernel when splits is 1 */
  float* lse;                 /**< [requests x qlen, heads] natural log; stored by the kernel when splits is 1; may be null */
  void* o_partial;            /**< [requests, splits, qlen, heads, 512] bf16 or f32; used when splits > 1 */
  float* lse_partial;         /**< [requests, qlen, heads, splits] f32; used when splits > 1 */
  int64_t o_token_stride;     /**< elements between output tokens */
  int64_t o_head_stride;      /**< elements between output heads */
  int64_t lse_token_stride;   /**< elements between lse tokens */
  int64_t lse_head_stride;    /**< elements between lse heads */
  int32_t context_parallel_rank; /**< r of this rank: its token j is at global position j x world + r; 0 at world 1 */
  int32_t reserved;
} mlaforge_attention_args;

/** The arguments of a combine kernel, in this order and layout.
 * Grid: requests in x, qlen x heads x combine_parts workgroups in y, a row's as neighbours. */
typedef struct mlaforge_combine_args {
  const void* o_partial;      /**< [requests, splits, qlen, heads, 512] bf16 or f32 */
  const float* lse_partial;   /**< [requests, qlen, heads, splits] */
  int32_t qlen;
  int32_t heads;
  int64_t o_token_stride;
  int64_t o_head_stride;
  int64_t lse_token_stride;
  int64_t lse_head_stride;
  void* o;                    /**< [requests x qlen, heads, 512] bf16 */
  float* lse;                 /**< [requests x qlen, heads]; may be null */
  int32_t requests;
  int32_t reserved;
} mlaforge_combine_args;

typedef enum mlaforge_dtype {
  MLAFORGE_BF16 = 0,
  MLAFORGE_F32 = 1,
  MLAFORGE_FP8_E4M3 = 2 /**< OCP, bias 7, no infinities */
} mlaforge_dtype;

typedef enum mlaforge_pipeline {
  MLAFORGE_UNIFORM = 0,
  MLAFORGE_WARP_SPECIALIZED = 1
} mlaforge_pipeline;

/** One row of the dispatch table: the functional key of an attention kernel, then what a launch needs. */
typedef struct mlaforge_kernel_row {
  /* the key, in the order by which tables are sorted */
  int32_t heads;
  int32_t qlen;
  int32_t page_size;
  int32_t q_dtype;            /**< mlaforge_dtype */
  int32_t kv_dtype;           /**< mlaforge_dtype */
  int32_t context_parallel;
  int32_t wide_kv;            /**< 1: 64-bit offsets into the pool */
  int32_t splits;
  int32_t head_groups;
  int32_t block_tokens;
  int32_t pipeline;           /**< mlaforge_pipeline */
  int32_t partial_dtype;      /**< mlaforge_dtype */
  int32_t probability_parts;
  /* what a launch needs */
  int32_t threads;            /**< threads a workgroup of the attention kernel */
  int32_t combine_threads;    /**< threads a workgroup of the combine kernel; 0 with one split */
  int32_t combine_parts;      /**< workgroups a row of the combine kernel; 0 with one split */
  const char* target;         /**< "gfx950" */
  const char* name;           /**< symbol of the attention kernel, also its code object's file stem */
  const char* combine_name;   /**< symbol of the combine kernel; null with one split */
} mlaforge_kernel_row;

#ifdef __cplusplus
}
#endif

#endif
