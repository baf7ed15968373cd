#include "simulator/loader/kernel_descriptor.h"

namespace mlaforge::simulator {

KernelDescriptor read_kernel_descriptor(Bytes bytes, std::string_view kernel_name) {
  const std::string what = "kernel descriptor of " + std::string(kernel_name);
  const KernelDescriptor descriptor = parse_kernel_descriptor(ByteReader(bytes).range(0, kKernelDescriptorBytes, what));
  if (asks_for_wave32(descriptor)) fail_load(what + " asks for waves of 32 lanes, gfx950 has 64");
  if (allocated_vgprs(descriptor) > 512) {
    fail_load(what + " asks for " + std::to_string(allocated_vgprs(descriptor)) + " VGPRs, gfx950 has 512");
  }
  if (accum_offset(descriptor) > allocated_vgprs(descriptor)) {
    fail_load(what + " places AGPRs from register " + std::to_string(accum_offset(descriptor)) + " of " +
              std::to_string(allocated_vgprs(descriptor)) + " allocated");
  }
  if (descriptor.private_segment_fixed_size > kMaxScratchBytes) {
    fail_load(what + " asks for " + std::to_string(descriptor.private_segment_fixed_size) +
              " bytes of scratch a lane, gfx950 has at most " + std::to_string(kMaxScratchBytes));
  }
  return descriptor;
}

}  // namespace mlaforge::simulator
