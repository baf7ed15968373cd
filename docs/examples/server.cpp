// An inference server's loop in C++: kernels chosen at start for its grid of capacities, then steps of live lengths.
#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <map>
#include <memory>
#include <mlaforge/mlaforge.hpp>
#include <stdexcept>
#include <vector>

#include "decode_step.h"
#include "mlaforge_kernels_example.h"

namespace {

constexpr float kSoftmaxScale = 0.0721687836f;

void check(const mlaforge::CallResult& result) {
  if (!result) throw std::runtime_error(result.message);
}
void check(hipError_t error) {
  if (error != hipSuccess) throw std::runtime_error(hipGetErrorString(error));
}

struct DeviceFree {
  void operator()(void* pointer) const { (void)hipFree(pointer); }
};
using DeviceMemory = std::unique_ptr<void, DeviceFree>;

DeviceMemory allocate(size_t bytes) {
  void* pointer = nullptr;
  check(hipMalloc(&pointer, bytes));
  return DeviceMemory(pointer);
}
DeviceMemory upload(const void* host, size_t bytes) {
  DeviceMemory memory = allocate(bytes);
  check(hipMemcpy(memory.get(), host, bytes, hipMemcpyHostToDevice));
  return memory;
}

/// One kernel for all steps of up to `batch` requests and `context` tokens, with the workspace that they share.
class Plan {
 public:
  Plan(const mlaforge::Library& library, int batch, int context) : library_(library) {
    mlaforge_problem problem = MLAFORGE_PROBLEM_INIT;
    problem.heads = HEADS;
    problem.batch_capacity = batch;
    problem.longest_context = context;
    problem.pool_bytes = uint64_t{SLOTS} * MLAFORGE_KEY_DIM;
    check(library.select(problem, choice_));
    check(library.workspace_size(choice_, workspace_bytes_));
    if (workspace_bytes_ != 0) workspace_ = allocate(workspace_bytes_);
  }

  const char* kernel() const { return choice_.row->name; }

  std::vector<uint16_t> run(const decode_step& step, hipStream_t stream) const {
    const auto requests = static_cast<size_t>(step.requests);
    std::vector<uint16_t> o(requests * HEADS * MLAFORGE_LATENT_DIM);
    const size_t o_bytes = o.size() * sizeof(uint16_t);
    const DeviceMemory q = upload(step.q, requests * HEADS * MLAFORGE_KEY_DIM * sizeof(uint16_t));
    const DeviceMemory kv = upload(step.kv, size_t{SLOTS} * MLAFORGE_KEY_DIM);
    const DeviceMemory pages = upload(step.page_table, requests * static_cast<size_t>(step.longest) * sizeof(int32_t));
    const DeviceMemory lengths = upload(step.seq_len, requests * sizeof(int32_t));
    const DeviceMemory out = allocate(o_bytes);

    mlaforge_tensors tensors = MLAFORGE_TENSORS_INIT;
    tensors.q = q.get();
    tensors.kv = kv.get();
    tensors.page_table = static_cast<const int32_t*>(pages.get());
    tensors.seq_len = static_cast<const int32_t*>(lengths.get());
    tensors.o = out.get();
    tensors.q_token_stride = HEADS * MLAFORGE_KEY_DIM;
    tensors.q_head_stride = MLAFORGE_KEY_DIM;
    tensors.kv_row_stride = MLAFORGE_KEY_DIM;
    tensors.page_table_stride = step.longest;
    tensors.o_token_stride = HEADS * MLAFORGE_LATENT_DIM;
    tensors.o_head_stride = MLAFORGE_LATENT_DIM;
    tensors.requests = step.requests;
    tensors.softmax_scale = kSoftmaxScale;
    check(library_.launch(choice_, tensors, workspace_.get(), workspace_bytes_, stream));
    check(hipStreamSynchronize(stream));
    check(hipMemcpy(o.data(), out.get(), o_bytes, hipMemcpyDeviceToHost));
    return o;
  }

 private:
  const mlaforge::Library& library_;
  mlaforge_choice choice_ = MLAFORGE_CHOICE_INIT;
  uint64_t workspace_bytes_ = 0;
  DeviceMemory workspace_;
};

int serve() {
  const mlaforge_kernel_set* sets[] = {mlaforge_kernels_example()};
  mlaforge::Library library;
  check(mlaforge::Library::open(MLAFORGE_BACKEND_AUTO, 0, sets, library));
  hipStream_t stream = nullptr;
  check(hipStreamCreate(&stream));

  std::map<int, Plan> plans;  // by batch capacity
  for (const int batch : {1, 4, 16}) plans.try_emplace(batch, library, batch, 2048);
  int failures = 0;
  for (const std::vector<int32_t>& lengths :
       {std::vector<int32_t>{700}, {300, 1, 129}, std::vector<int32_t>(9, 150), {1900, 5}}) {
    const auto requests = static_cast<int32_t>(lengths.size());
    const Plan& plan = plans.lower_bound(requests)->second;
    decode_step step = make_step(lengths.data(), requests);
    const double error = worst_error(&step, kSoftmaxScale, plan.run(step, stream).data());
    const bool right = error < 1.0 / 128;
    failures += right ? 0 : 1;
    std::printf("%d requests: %s, error %.4f: %s\n", requests, plan.kernel(), error, right ? "right" : "WRONG");
    free_step(&step);
  }
  check(hipStreamDestroy(stream));
  return failures;
}

}  // namespace

int main() {
  try {
    return serve() == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
