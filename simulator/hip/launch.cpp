#include "simulator/hip/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "simulator/hip/error.h"
#include "simulator/hip/graph.h"
#include "simulator/hip/machine.h"
#include "simulator/hip/occupancy.h"
#include "simulator/hip/stream.h"
#include "simulator/hip/timing.h"

namespace mlaforge::simulator {
namespace {

constexpr std::array kAxis = {'x', 'y', 'z'};
constexpr uint64_t kMaxPackedBytes = uint64_t{1} << 20;

std::string& thread_stats() {
  thread_local std::string stats = "{}";
  return stats;
}

void store_stats(const std::string& kernel, const LaunchStats& stats) {
  const nlohmann::json json = {{"kernel", kernel},
                               {"workgroups", stats.workgroups},
                               {"waves", stats.waves},
                               {"instructions", stats.instructions}};
  thread_stats() = json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

LaunchShape shape_of(const dim3& grid, const dim3& block, uint64_t lds_bytes, bool cooperative = false) {
  return {.grid = {grid.x, grid.y, grid.z},
          .block = {block.x, block.y, block.z},
          .dynamic_lds_bytes = lds_bytes,
          .cooperative = cooperative};
}

uint64_t device_workgroups(const DeviceFunction& function, const LaunchShape& shape) {
  const auto threads = static_cast<int>(shape.block[0] * shape.block[1] * shape.block[2]);
  return static_cast<uint64_t>(resident_workgroups(function, threads, shape.dynamic_lds_bytes)) * kComputeUnits;
}

std::vector<std::byte> read_packed_buffer(const DeviceFunction& function, void** extra) {
  const void* buffer = nullptr;
  const size_t* bytes = nullptr;
  for (void** item = extra; *item != HIP_LAUNCH_PARAM_END; item += 2) {
    if (*item == HIP_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = item[1];
    } else if (*item == HIP_LAUNCH_PARAM_BUFFER_SIZE) {
      bytes = static_cast<const size_t*>(item[1]);
    } else {
      fail(hipErrorInvalidValue,
           fmt::format("extra has the key {}; allowed: HIP_LAUNCH_PARAM_BUFFER_POINTER (1), _SIZE (2), _END (3)",
                       *item));
    }
  }
  if (buffer == nullptr || bytes == nullptr) {
    fail(hipErrorInvalidValue, "extra of " + function.metadata.name + " lacks the buffer's pointer or size");
  }
  if (*bytes > kMaxPackedBytes) {
    fail(hipErrorInvalidValue, fmt::format("extra of {} has a buffer of {} bytes, at most {} are allowed",
                                           function.metadata.name, *bytes, kMaxPackedBytes));
  }
  std::vector<std::byte> packed(*bytes);
  std::memcpy(packed.data(), buffer, packed.size());
  return packed;
}

}  // namespace

std::vector<std::byte> pack_arguments(const DeviceFunction& function, void** parameters, void** extra) {
  if (parameters != nullptr && extra != nullptr) {
    fail(hipErrorInvalidValue, "both kernelParams and extra are given for " + function.metadata.name);
  }
  if (extra != nullptr) return read_packed_buffer(function, extra);
  std::vector<std::byte> packed(function.metadata.kernarg_segment_bytes);
  size_t index = 0;
  for (const KernelArgument& argument : function.metadata.arguments) {
    if (argument.hidden()) continue;
    if (parameters == nullptr || parameters[index] == nullptr) {
      const std::string name = argument.name.empty() ? std::string() : " " + argument.name;
      fail(hipErrorInvalidValue, fmt::format("kernelParams{} of {} is null; argument {}{} has {} bytes",
                                             parameters == nullptr ? "" : fmt::format("[{}]", index),
                                             function.metadata.name, index, name, argument.bytes));
    }
    std::memcpy(packed.data() + argument.offset, parameters[index], argument.bytes);
    ++index;
  }
  return packed;
}

void check_shape(const DeviceFunction& function, const LaunchShape& shape) {
  const std::string& name = function.metadata.name;
  uint64_t threads = 1;
  for (size_t i = 0; i < 3; ++i) {
    if (shape.grid[i] == 0) fail(hipErrorInvalidConfiguration, fmt::format("grid.{} of {} is 0", kAxis[i], name));
    if (shape.block[i] == 0) fail(hipErrorInvalidConfiguration, fmt::format("block.{} of {} is 0", kAxis[i], name));
    if (uint64_t{shape.grid[i]} * shape.block[i] > UINT32_MAX) {
      fail(hipErrorInvalidConfiguration,
           fmt::format("grid.{0} * block.{0} of {1} is {2}, at most {3} threads are allowed", kAxis[i], name,
                       uint64_t{shape.grid[i]} * shape.block[i], UINT32_MAX));
    }
    threads = std::min<uint64_t>(threads * shape.block[i], UINT32_MAX);
  }
  if (threads > kMaxBlockThreads) {
    fail(hipErrorInvalidConfiguration,
         fmt::format("block of {} has {} threads, at most {} are allowed", name, threads, kMaxBlockThreads));
  }
  if (threads > function.metadata.max_workgroup_size) {
    fail(hipErrorInvalidConfiguration, fmt::format("block of {} has {} threads, the kernel was compiled for at most {}",
                                                   name, threads, function.metadata.max_workgroup_size));
  }
  const uint64_t fixed = function.code.descriptor.group_segment_fixed_size;
  if (shape.dynamic_lds_bytes > max_lds_bytes || fixed + shape.dynamic_lds_bytes > max_lds_bytes) {
    fail(hipErrorLaunchOutOfResources,
         fmt::format("LDS of {} is {} bytes ({} static + {} dynamic), at most {} are allowed", name,
                     fixed + shape.dynamic_lds_bytes, fixed, shape.dynamic_lds_bytes, max_lds_bytes));
  }
  uint64_t workgroups = 1;
  for (const uint32_t along : shape.grid) workgroups = std::min<uint64_t>(workgroups * along, UINT32_MAX);
  const uint64_t most = device_workgroups(function, shape);
  if (shape.cooperative && workgroups > most) {
    fail(
        hipErrorCooperativeLaunchTooLarge,
        fmt::format("the cooperative launch of {} has {} workgroups, but the device holds {} at once ({} on each of {} "
                    "CUs)",
                    name, workgroups, most, most / kComputeUnits, kComputeUnits));
  }
}

void execute(const DeviceFunction& function, const LaunchShape& shape, const std::vector<std::byte>& arguments) {
  // Kept until after the lock's release: the last owner unloads the module, which takes the lock.
  const auto module = function.module.lock();
  if (!module) fail(hipErrorInvalidHandle, "the module of kernel " + function.metadata.name + " was unloaded");
  const SimulatorOptions options = machine().options();
  LaunchConfig config;
  config.grid = shape.grid;
  config.block = shape.block;
  config.dynamic_lds_bytes = static_cast<uint32_t>(shape.dynamic_lds_bytes);
  config.kernarg = arguments;
  if (function.code.uses_dynamic_stack) {
    config.scratch_bytes_per_lane = machine().stack_bytes(function.device);  // the descriptor's, if that is more
  }
  config.memory = options.memory;
  config.seed = options.seed;
  config.checks = options.checks;
  config.threads = options.threads;
  config.max_wave_instructions = options.instruction_limit;
  config.resident_workgroups = std::max<uint64_t>(1, device_workgroups(function, shape));
  config.cooperative = shape.cooperative;
  const std::scoped_lock running(machine().execution);
  DeviceView memory = machine().view(function.device);
  if (options.watch && options.watch->watched().kernel == function.metadata.name) {
    config.observer = [&](uint64_t) { return options.watch->observer(function.code); };
  }
  if (options.timing) return time_kernel(function.code, config, memory, options);
  const LaunchResult result = run_kernel(function.code, config, memory);
  store_stats(function.metadata.name, result.stats);
  if (result.fault) fail(*result.fault);
}

void launch(const void* handle_or_stub, const LaunchShape& shape, void** parameters, void** extra, hipStream_t handle) {
  const auto stream = find_stream(handle);
  auto function = resolve_function(handle_or_stub, stream->device);
  if (function->device != stream->device) {
    fail(hipErrorInvalidHandle, fmt::format("kernel {} was loaded on device {}, the stream is of device {}",
                                            function->metadata.name, function->device, stream->device));
  }
  check_shape(*function, shape);
  auto arguments = pack_arguments(*function, parameters, extra);
  if (stream->capture && shape.cooperative) {
    fail(hipErrorNotSupported, "a cooperative launch in a captured stream is not simulated");
  }
  if (!stream->capture) return execute(*function, shape, arguments);
  const hipKernelNodeParams asked{.blockDim = dim3(shape.block[0], shape.block[1], shape.block[2]),
                                  .extra = nullptr,
                                  .func = const_cast<void*>(handle_or_stub),
                                  .gridDim = dim3(shape.grid[0], shape.grid[1], shape.grid[2]),
                                  .kernelParams = nullptr,
                                  .sharedMemBytes = static_cast<unsigned>(shape.dynamic_lds_bytes)};
  auto described = describe_kernel(asked, *function, std::move(arguments));
  submit(
      *stream, hipGraphNodeTypeKernel,
      [function = std::move(function), shape, described] { execute(*function, shape, described->arguments); },
      described);
}

}  // namespace mlaforge::simulator

using namespace mlaforge::simulator;

MLAFORGE_HIP_EXPORT const char* mlaforge_simulator_stats_json(void) { return thread_stats().c_str(); }

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                 unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                 unsigned int lds_bytes, hipStream_t stream, void** parameters, void** extra) {
  return guarded(__func__, [&] {
    require(function, "f");
    launch(function, shape_of({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, lds_bytes), parameters, extra,
           stream);
  });
}

// Here the grid counts threads.
MLAFORGE_HIP_EXPORT hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t threads_x, uint32_t threads_y,
                                                        uint32_t threads_z, uint32_t block_x, uint32_t block_y,
                                                        uint32_t block_z, size_t lds_bytes, hipStream_t stream,
                                                        void** parameters, void** extra, hipEvent_t start,
                                                        hipEvent_t stop, uint32_t) {
  return guarded(__func__, [&] {
    require(function, "f");
    const std::array<uint32_t, 3> threads{threads_x, threads_y, threads_z};
    const std::array<uint32_t, 3> block{block_x, block_y, block_z};
    LaunchShape shape{.grid = {}, .block = block, .dynamic_lds_bytes = lds_bytes};
    for (size_t i = 0; i < 3; ++i) {
      if (block[i] != 0 && threads[i] % block[i] != 0) {
        fail(hipErrorInvalidConfiguration,
             fmt::format("{} threads along {} are no multiple of the block's {}", threads[i], kAxis[i], block[i]));
      }
      shape.grid[i] = block[i] == 0 ? 0 : threads[i] / block[i];
    }
    if (start != nullptr && hipEventRecord(start, stream) != hipSuccess) fail(hipErrorInvalidHandle, last_report());
    launch(function, shape, parameters, extra, stream);
    if (stop != nullptr && hipEventRecord(stop, stream) != hipSuccess) fail(hipErrorInvalidHandle, last_report());
  });
}

hipError_t hipLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t lds_bytes,
                           hipStream_t stream) {
  return guarded(__func__, [&] {
    require(function, "function_address");
    launch(function, shape_of(grid, block, lds_bytes), arguments, nullptr, stream);
  });
}

hipError_t hipExtLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t lds_bytes,
                              hipStream_t stream, hipEvent_t start, hipEvent_t stop, int) {
  return guarded(__func__, [&] {
    require(function, "function_address");
    if (start != nullptr && hipEventRecord(start, stream) != hipSuccess) fail(hipErrorInvalidHandle, last_report());
    launch(function, shape_of(grid, block, lds_bytes), arguments, nullptr, stream);
    if (stop != nullptr && hipEventRecord(stop, stream) != hipSuccess) fail(hipErrorInvalidHandle, last_report());
  });
}

hipError_t hipLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                      unsigned int lds_bytes, hipStream_t stream) {
  return guarded(__func__, [&] {
    require(function, "f");
    launch(function, shape_of(grid, block, lds_bytes, true), arguments, nullptr, stream);
  });
}

MLAFORGE_HIP_EXPORT hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned int grid_x,
                                                                unsigned int grid_y, unsigned int grid_z,
                                                                unsigned int block_x, unsigned int block_y,
                                                                unsigned int block_z, unsigned int lds_bytes,
                                                                hipStream_t stream, void** parameters) {
  return guarded(__func__, [&] {
    require(function, "f");
    launch(function, shape_of({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, lds_bytes, true), parameters,
           nullptr, stream);
  });
}
