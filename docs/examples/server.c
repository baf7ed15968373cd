/* The least that an inference server in C does with mlaforge: open once, select by shape, launch each step. */
#include <hip/hip_runtime_api.h>
#include <mlaforge/mlaforge.h>
#include <stdio.h>

#include "decode_step.h"
#include "mlaforge_kernels_example.h"

static void* to_device(const void* host, size_t bytes) {
  void* device = NULL;
  if (hipMalloc(&device, bytes) != hipSuccess || hipMemcpy(device, host, bytes, hipMemcpyHostToDevice) != hipSuccess) {
    fprintf(stderr, "no device memory\n");
    exit(1);
  }
  return device;
}

/* One decode step of requests with these lengths; 0 when its result is right. */
static int serve(const mlaforge_library* library, const int32_t* lengths, int32_t requests) {
  struct decode_step step = make_step(lengths, requests);
  const float softmax_scale = 0.0721687836f;

  /* By capacities, not by live lengths: a server keeps the choice, and the workspace, for all steps within them. */
  mlaforge_problem problem = MLAFORGE_PROBLEM_INIT;
  problem.heads = HEADS;
  problem.batch_capacity = requests;
  problem.longest_context = step.longest;
  problem.pool_bytes = (uint64_t)SLOTS * MLAFORGE_KEY_DIM;
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  uint64_t workspace_bytes = 0;
  if (mlaforge_select(library, &problem, &choice) != MLAFORGE_SUCCESS ||
      mlaforge_workspace_size(library, &choice, &workspace_bytes) != MLAFORGE_SUCCESS) {
    fprintf(stderr, "%s\n", mlaforge_last_error());
    return 1;
  }
  void* workspace = NULL;
  if (workspace_bytes != 0 && hipMalloc(&workspace, workspace_bytes) != hipSuccess) return 1;

  const size_t o_bytes = sizeof(uint16_t) * (size_t)requests * HEADS * MLAFORGE_LATENT_DIM;
  uint16_t* o = (uint16_t*)calloc(1, o_bytes);
  mlaforge_tensors tensors = MLAFORGE_TENSORS_INIT;
  void* buffers[] = {to_device(step.q, sizeof(uint16_t) * (size_t)requests * HEADS * MLAFORGE_KEY_DIM),
                     to_device(step.kv, (size_t)SLOTS * MLAFORGE_KEY_DIM),
                     to_device(step.page_table, sizeof(int32_t) * (size_t)requests * (size_t)step.longest),
                     to_device(step.seq_len, sizeof(int32_t) * (size_t)requests), to_device(o, o_bytes)};
  tensors.q = buffers[0];
  tensors.kv = buffers[1];
  tensors.page_table = buffers[2];
  tensors.seq_len = buffers[3];
  tensors.o = buffers[4];
  tensors.q_token_stride = HEADS * MLAFORGE_KEY_DIM;
  tensors.q_head_stride = MLAFORGE_KEY_DIM;
  tensors.kv_row_stride = MLAFORGE_KEY_DIM;
  tensors.page_table_stride = step.longest;
  tensors.o_token_stride = HEADS * MLAFORGE_LATENT_DIM;
  tensors.o_head_stride = MLAFORGE_LATENT_DIM;
  tensors.requests = requests;
  tensors.softmax_scale = softmax_scale;
  int failed = mlaforge_launch(library, &choice, &tensors, workspace, workspace_bytes, NULL) != MLAFORGE_SUCCESS;
  if (failed) fprintf(stderr, "%s\n", mlaforge_last_error());

  failed = failed || hipMemcpy(o, tensors.o, o_bytes, hipMemcpyDeviceToHost) != hipSuccess;
  const double error = failed ? NAN : worst_error(&step, softmax_scale, o);
  failed = !(error < 1.0 / 128);
  printf("%d requests, up to %d tokens: %s, workspace %llu bytes, error %.4f: %s\n", requests, step.longest,
         choice.row->name, (unsigned long long)workspace_bytes, error, failed ? "WRONG" : "right");
  for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); ++i) (void)hipFree(buffers[i]);
  (void)hipFree(workspace);
  free(o);
  free_step(&step);
  return failed;
}

int main(void) {
  const mlaforge_kernel_set* sets[] = {mlaforge_kernels_example()};
  mlaforge_open_options options = MLAFORGE_OPEN_OPTIONS_INIT;
  options.kernel_sets = sets;
  options.kernel_set_count = 1;
  mlaforge_library* library = NULL;
  mlaforge_device_info device = MLAFORGE_DEVICE_INFO_INIT;
  if (mlaforge_open(&options, &library) != MLAFORGE_SUCCESS || mlaforge_device(library, &device) != MLAFORGE_SUCCESS) {
    fprintf(stderr, "%s\n", mlaforge_last_error());
    return 1;
  }
  printf("%s, %s, %d CUs\n", device.name, device.target, device.compute_units);

  const int32_t one[] = {1500};
  const int32_t many[] = {1, 64, 65, 100, 7, 33, 90, 128};
  int failed = serve(library, one, 1) | serve(library, many, 8);

  /* A shape without a kernel is a status, and the server goes on. */
  mlaforge_problem unknown = MLAFORGE_PROBLEM_INIT;
  unknown.heads = HEADS;
  unknown.qlen = 4;
  unknown.pool_bytes = (uint64_t)SLOTS * MLAFORGE_KEY_DIM;
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  const mlaforge_status status = mlaforge_select(library, &unknown, &choice);
  printf("qlen 4: %s\n%s\n", mlaforge_status_name(status), mlaforge_last_error());
  failed = failed || status != MLAFORGE_NO_KERNEL;

  mlaforge_close(library);
  return failed;
}
