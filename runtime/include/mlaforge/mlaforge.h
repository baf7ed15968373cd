/* The C ABI of mlaforge's runtime: open a device's kernels, select one by shape, launch it on a stream.
 *
 * Nothing here aborts, prints or throws. A launch neither allocates nor synchronises. Every function that can fail
 * returns a status and leaves a message for mlaforge_last_error in the calling thread; outputs are untouched then.
 * Every struct of this header starts with struct_size, which the caller sets to sizeof the struct (the
 * MLAFORGE_*_INIT macros do): it tells the library which version of the struct it was handed. Fields are only ever
 * added at a struct's end. A struct of an older header is taken, what it lacks is as the macro has it; a newer one is
 * refused. Elements of arrays have no struct_size: their own layout never changes. */
#ifndef MLAFORGE_MLAFORGE_H
#define MLAFORGE_MLAFORGE_H

#include <stddef.h>
#include <stdint.h>

#include "mlaforge/kernel_contract.h"

#define MLAFORGE_VERSION_MAJOR 0
#define MLAFORGE_VERSION_MINOR 1

#if defined(_WIN32)
#define MLAFORGE_API
#else
#define MLAFORGE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mlaforge_status {
  MLAFORGE_SUCCESS = 0,
  MLAFORGE_INVALID_ARGUMENT =
      1,                     /**< a field's value cannot be used; the message names field, value and what is allowed */
  MLAFORGE_NO_KERNEL = 2,    /**< no kernel for this problem; the message names the field and the nearest kernels */
  MLAFORGE_NO_DEVICE = 3,    /**< no HIP library or device, or no such ordinal; the message names each path tried */
  MLAFORGE_WRONG_DEVICE = 4, /**< kernels for another chip; the message names both */
  MLAFORGE_BAD_KERNEL_SET = 5,      /**< a code object that does not load, a missing symbol, two rows of one key */
  MLAFORGE_WORKSPACE_TOO_SMALL = 6, /**< the message says the bytes given and needed */
  MLAFORGE_HIP_ERROR = 7,           /**< a HIP call failed; the message names it and HIP's reason */
  MLAFORGE_OUT_OF_MEMORY = 8,       /**< host memory ran out in open */
  MLAFORGE_BAD_TUNING = 9           /**< tuning data that cannot be used; the message names the text, row and field */
} mlaforge_status;

/** What runs the kernels. */
typedef enum mlaforge_backend {
  MLAFORGE_BACKEND_AUTO = 0,     /**< HIP where a gfx950 GPU answers, else the simulator */
  MLAFORGE_BACKEND_HIP = 1,      /**< libamdhip64 only */
  MLAFORGE_BACKEND_SIMULATOR = 2 /**< libmlaforge_simulator_hip only */
} mlaforge_backend;

/** One code object (an ELF or an offload bundle): the kernels of its table rows, in host memory.
 * Only read during mlaforge_open. An element of an array, so it has no struct_size; the set's covers it. */
typedef struct mlaforge_code_object {
  const char* name; /**< the symbol of the kernel it holds, as in the row's name or combine_name */
  const void* data;
  uint64_t bytes;
} mlaforge_code_object;

/** Kernels that belong together: rows of the dispatch table, and the code objects that their names mean.
 * Rows and their strings must outlive the library handle. Rows need no order. */
typedef struct mlaforge_kernel_set {
  uint64_t struct_size;
  const char* name; /**< for messages */
  const mlaforge_kernel_row* rows;
  uint64_t row_count;
  const mlaforge_code_object* code_objects;
  uint64_t code_object_count;
} mlaforge_kernel_set;
#define MLAFORGE_KERNEL_SET_INIT {sizeof(mlaforge_kernel_set), 0, 0, 0, 0, 0}

/** One text of tuning data (JSON, docs/runtime.md), in host memory; need not end in a zero. Only read during
 * mlaforge_open. An element of an array. */
typedef struct mlaforge_tuning_text {
  const char* name; /**< for messages: a file's name */
  const char* text;
  uint64_t bytes;
} mlaforge_tuning_text;

typedef struct mlaforge_open_options {
  uint64_t struct_size;
  int32_t backend; /**< mlaforge_backend */
  int32_t device;  /**< HIP's ordinal */
  const mlaforge_kernel_set* const* kernel_sets;
  uint64_t kernel_set_count;
  const mlaforge_tuning_text* tuning; /**< null with a count of 0: the cost model decides everywhere */
  uint64_t tuning_count;
} mlaforge_open_options;
#define MLAFORGE_OPEN_OPTIONS_INIT {sizeof(mlaforge_open_options), 0, 0, 0, 0, 0, 0}

/** An opened device with its loaded kernels. Immutable after open: any number of threads may select and launch. */
typedef struct mlaforge_library mlaforge_library;

/** Loads HIP (or the simulator), checks the device, loads every code object of the sets for it, reads the tuning data.
 * Makes `device` the calling thread's current device only for the time of the call.
 * Errors: NO_DEVICE, WRONG_DEVICE, BAD_KERNEL_SET, BAD_TUNING, HIP_ERROR, INVALID_ARGUMENT, OUT_OF_MEMORY; nothing
 * stays open then and *library is null. */
MLAFORGE_API mlaforge_status mlaforge_open(const mlaforge_open_options* options, mlaforge_library** library);

/** Unloads the modules. The caller has synchronised: no launch may be running. Null is allowed. */
MLAFORGE_API void mlaforge_close(mlaforge_library* library);

/** What a library runs on. Strings live as long as the library. */
typedef struct mlaforge_device_info {
  uint64_t struct_size;
  const char* name;        /**< as HIP reports it */
  const char* target;      /**< "gfx950" */
  const char* hip_library; /**< the file that was loaded */
  int32_t compute_units;
  int32_t is_simulator; /**< 1: results are computed on the CPU */
  int32_t device;       /**< HIP's ordinal */
  int32_t reserved;     /**< 0 */
} mlaforge_device_info;
#define MLAFORGE_DEVICE_INFO_INIT {sizeof(mlaforge_device_info), 0, 0, 0, 0, 0, 0, 0}

MLAFORGE_API mlaforge_status mlaforge_device(const mlaforge_library* library, mlaforge_device_info* info);

/** Values that occur in a library's rows: ascending, each once. Part of mlaforge_capability_info. */
typedef struct mlaforge_values {
  const int32_t* values;
  uint64_t count;
} mlaforge_values;

/** What a library has kernels for. Not every combination of the values has one: mlaforge_select says which. The arrays
 * live as long as the library. */
typedef struct mlaforge_capability_info {
  uint64_t struct_size;
  uint64_t row_count; /**< for mlaforge_row */
  mlaforge_values heads;
  mlaforge_values qlens;
  mlaforge_values page_sizes;
  mlaforge_values q_dtypes;  /**< mlaforge_dtype */
  mlaforge_values kv_dtypes; /**< mlaforge_dtype */
  mlaforge_values context_parallel;
  mlaforge_values wide_kv; /**< 0: pools to 4 GiB; 1: beyond */
  mlaforge_values splits;
  mlaforge_values probability_parts;
} mlaforge_capability_info;
#define MLAFORGE_CAPABILITY_INFO_INIT \
  {sizeof(mlaforge_capability_info), 0, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}}

MLAFORGE_API mlaforge_status mlaforge_capabilities(const mlaforge_library* library, mlaforge_capability_info* info);

/** Row `index` of the library's table, which is sorted by key; *row lives as long as the library.
 * Errors: INVALID_ARGUMENT, also where index is not below row_count. */
MLAFORGE_API mlaforge_status mlaforge_row(const mlaforge_library* library, uint64_t index,
                                          const mlaforge_kernel_row** row);

/** What became of the tuning data's rows: rows = used + the skipped ones. */
typedef struct mlaforge_tuning_info {
  uint64_t struct_size;
  uint64_t rows;                  /**< in all texts */
  uint64_t used;                  /**< points that select looks at */
  uint64_t used_measured;         /**< of them, measured on a device */
  uint64_t skipped_target;        /**< of a text for another target */
  uint64_t skipped_compute_units; /**< of a text for another count of compute units */
  uint64_t skipped_superseded;    /**< predicted where another row is measured, or said twice with one kernel */
  const char* notes;              /**< a line for each text with skipped rows and why; lives as long as the library */
} mlaforge_tuning_info;
#define MLAFORGE_TUNING_INFO_INIT {sizeof(mlaforge_tuning_info), 0, 0, 0, 0, 0, 0, 0}

MLAFORGE_API mlaforge_status mlaforge_tuning(const mlaforge_library* library, mlaforge_tuning_info* info);

/** What a choice may depend on, besides the problem's key. */
typedef enum mlaforge_policy {
  MLAFORGE_TUNED = 0,      /**< the fastest known kernel for batch_capacity and longest_context */
  MLAFORGE_FIXED_SPLIT = 1 /**< never on batch_capacity: a request's result is bit for bit the same, whatever its batch
                                mates and whatever batch_capacity; the kernel that is best for
                                MLAFORGE_FIXED_SPLIT_BATCH requests */
} mlaforge_policy;

/** The batch that MLAFORGE_FIXED_SPLIT chooses for. */
#define MLAFORGE_FIXED_SPLIT_BATCH 8

/** What is to be computed, by capacities: a choice holds for every launch within them. */
typedef struct mlaforge_problem {
  uint64_t struct_size;
  int32_t heads;            /**< query heads of this rank */
  int32_t qlen;             /**< query tokens a request */
  int32_t latent_dim;       /**< 512: what the kernels are built for */
  int32_t rope_dim;         /**< 64 */
  int32_t page_size;        /**< tokens a page */
  int32_t q_dtype;          /**< mlaforge_dtype */
  int32_t kv_dtype;         /**< mlaforge_dtype */
  int32_t context_parallel; /**< ranks that share a request's tokens, 1: none */
  int32_t splits;           /**< 0: the library chooses; else exactly this count */
  int32_t batch_capacity;   /**< most requests of a launch */
  int64_t longest_context;  /**< most KV tokens of a request (on this rank) */
  uint64_t pool_bytes; /**< bytes from the cache's first row to the end of its last: decides 32 or 64-bit offsets */
  int32_t policy;      /**< mlaforge_policy */
  int32_t probability_parts; /**< 1 or 2: E4M3 parts of the probabilities, exactly; 0: the most accurate there is (2
                                  before 1), never a looser kernel for its speed */
} mlaforge_problem;
#define MLAFORGE_PROBLEM_INIT \
  {sizeof(mlaforge_problem),  \
   0,                         \
   1,                         \
   MLAFORGE_LATENT_DIM,       \
   MLAFORGE_ROPE_DIM,         \
   1,                         \
   MLAFORGE_BF16,             \
   MLAFORGE_FP8_E4M3,         \
   1,                         \
   0,                         \
   1,                         \
   1,                         \
   0,                         \
   MLAFORGE_TUNED,            \
   0}

/** By what a kernel was chosen among those of its key. */
typedef enum mlaforge_basis {
  MLAFORGE_BY_COST_MODEL = 0,       /**< predicted by the runtime's formula */
  MLAFORGE_BY_PREDICTED_TUNING = 1, /**< a tuning row whose time is predicted */
  MLAFORGE_BY_MEASURED_TUNING = 2   /**< a tuning row whose time was measured */
} mlaforge_basis;

/** A kernel and the capacities it was chosen for. Plain data that may be copied; valid while the library is open. */
typedef struct mlaforge_choice {
  uint64_t struct_size;
  const mlaforge_kernel_row* row; /**< the kernel, its splits and head groups among it */
  uint32_t row_index;             /**< its place in the library's sorted table */
  int32_t batch_capacity;
  int64_t longest_context;
  uint64_t pool_bytes;
  int32_t basis;    /**< mlaforge_basis */
  int32_t reserved; /**< 0 */
} mlaforge_choice;
#define MLAFORGE_CHOICE_INIT {sizeof(mlaforge_choice), 0, 0, 0, 0, 0, 0, 0}

/** Host only: no HIP call, no allocation when it succeeds, no dependence on live lengths. A key has the problem's
 * heads, qlen, page size, dtypes, context_parallel and offsets that reach pool_bytes; of the kernels of one key (and
 * splits and probability_parts where given) the tuning data decides, else the cost model (docs/runtime.md). Errors:
 * INVALID_ARGUMENT; NO_KERNEL with the first field that nothing matches, the three nearest kernels, and the config
 * (JSON) that would generate the missing one. */
MLAFORGE_API mlaforge_status mlaforge_select(const mlaforge_library* library, const mlaforge_problem* problem,
                                             mlaforge_choice* choice);

/** Bytes of workspace that every launch of this choice needs: its batch capacity's, 0 with one split.
 * align256(requests x splits x qlen x heads x 512 x partial element) + requests x splits x qlen x heads x 4.
 * Errors: INVALID_ARGUMENT, also where the size does not fit 64 bits. */
MLAFORGE_API mlaforge_status mlaforge_workspace_size(const mlaforge_library* library, const mlaforge_choice* choice,
                                                     uint64_t* bytes);

/** A launch's tensors; the fields mean what mlaforge_attention_args says of them. Strides are in elements but for kv's.
 */
typedef struct mlaforge_tensors {
  uint64_t struct_size;
  const void* q;  /**< 16-byte aligned; strides multiples of 16 bytes, not negative */
  const void* kv; /**< 16-byte aligned */
  const int32_t* page_table;
  const int32_t* page_indptr; /**< null: page_table is dense */
  const int32_t* seq_len;
  const float* q_scale; /**< null: 1.0; must be null with a bf16 query */
  const float* k_scale; /**< null: 1.0 */
  const float* v_scale; /**< null: 1.0 */
  void* o;              /**< 16-byte aligned; strides multiples of 16 bytes; rows must not overlap */
  float* lse;           /**< null: not wanted (not allowed under context parallelism) */
  int64_t q_token_stride;
  int64_t q_head_stride;
  int64_t kv_row_stride;     /**< bytes: a multiple of 16, at least 576 */
  int64_t page_table_stride; /**< dense tables only: at least 1 */
  int64_t o_token_stride;
  int64_t o_head_stride;
  int64_t lse_token_stride;
  int64_t lse_head_stride;
  int32_t requests;              /**< 0: success, nothing launched; at most the choice's batch capacity */
  float softmax_scale;           /**< finite, above 0 */
  int32_t context_parallel_rank; /**< 0 .. world - 1 */
  int32_t reserved;              /**< 0 */
} mlaforge_tensors;
#define MLAFORGE_TENSORS_INIT \
  {sizeof(mlaforge_tensors), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/** Launches attention, and the combine kernel where there is more than one split, on `stream` (a hipStream_t; null is
 * the null stream). The library's device must be the calling thread's current device, and the stream's.
 * workspace: device memory, 256-byte aligned, workspace_bytes >= mlaforge_workspace_size; may be null when that is 0.
 * Launches that share a workspace must be ordered by a stream.
 * Errors: INVALID_ARGUMENT, WORKSPACE_TOO_SMALL and WRONG_DEVICE (another device is current, or the stream's) before
 * anything is launched; HIP_ERROR. */
MLAFORGE_API mlaforge_status mlaforge_launch(const mlaforge_library* library, const mlaforge_choice* choice,
                                             const mlaforge_tensors* tensors, void* workspace, uint64_t workspace_bytes,
                                             void* stream);

/** The calling thread's last message: empty after a success of a call that clears it. Valid until its next call. */
MLAFORGE_API const char* mlaforge_last_error(void);

/** "no_kernel" and so on: the mlaforge_status as a word; "unknown" for any other number. */
MLAFORGE_API const char* mlaforge_status_name(int32_t status);

/** Workgroups of the attention kernel: ceil(requests x splits / 8) x 8 x head_groups, so that workgroup i's XCD, i % 8,
 * is the same for all head groups of a split. 0 when an argument is below 1. */
static inline int64_t mlaforge_attention_grid(int64_t requests, int64_t splits, int64_t head_groups) {
  if (requests < 1 || splits < 1 || head_groups < 1) {
    return 0;
  }
  return (requests * splits + MLAFORGE_XCDS - 1) / MLAFORGE_XCDS * MLAFORGE_XCDS * head_groups;
}

/** Workgroups of the combine kernel in y: the row's combine_parts for each row of a request. In x there is one a
 * request. */
static inline int64_t mlaforge_combine_grid(int64_t qlen, int64_t heads, int64_t combine_parts) {
  return qlen * heads * combine_parts;
}

#ifdef __cplusplus
}
#endif

#endif
