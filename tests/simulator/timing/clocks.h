// Clocks that the model gives small assembled kernels.
#pragma once

#include <stdexcept>
#include <string>

#include "simulator/timing/grid.h"
#include "tests/simulator/assemble.h"

namespace mlaforge::simulator::timing::test {

inline std::string repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

struct Run {
  std::string before;  ///< once
  std::string body;    ///< what is measured
  uint32_t threads = 64;
  uint32_t workgroups = 1;
  uint32_t lds_bytes = 0;
  uint64_t buffer_bytes = 0;  ///< of a zeroed buffer at s[8:9]
  int vgprs = 256;
};

inline LaunchTiming time_kernel(const Run& run, int times, const DeviceFile& device = mi355x(),
                                const GridOptions& options = {}) {
  simulator::test::TestMemory memory;
  const uint64_t buffer = memory.allocate(run.buffer_bytes == 0 ? 64 : run.buffer_bytes);
  const std::string source = "s_load_dwordx2 s[8:9], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n" + run.before + "\n" +
                             repeat(run.body + "\n", times) + "s_endpgm\n";
  KernelCode code = simulator::test::make_kernel(
      {.source = source, .lds_bytes = run.lds_bytes, .scratch_bytes = 0, .vgprs = run.vgprs, .agprs = 0});
  const std::vector<uint64_t> arguments{buffer};
  code.kernarg_bytes = 8;
  LaunchConfig config;
  config.grid = {run.workgroups, 1, 1};
  config.block = {run.threads, 1, 1};
  config.kernarg = std::as_bytes(std::span(arguments));
  const TimingResult result = time_launch(device, code, config, memory, options);
  if (result.fault) throw std::runtime_error(format_fault(*result.fault));
  return result.timing;
}

/// Clocks of one body more: what comes before and after cancels.
inline double clocks_a_body(const Run& run, int few = 10, int many = 30) {
  const double a = time_kernel(run, few).nominal_clocks;
  const double b = time_kernel(run, many).nominal_clocks;
  return (b - a) / (many - few);
}

}  // namespace mlaforge::simulator::timing::test
