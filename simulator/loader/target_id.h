// Which GPU a code object was compiled for (ELF e_flags of AMDGPU code objects v4 to v6) and whether the simulated
// device can run it. Source of the numbers: LLVM's AMDGPUUsage, "ELF Header" and "Target ID".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mlaforge::simulator {

// A target feature as a code object states it: `any` runs with the feature on and off.
enum class FeatureSetting { unsupported, any, off, on };

struct TargetId {
  std::string processor;  // "gfx950"; "gfx(mach 0x..)" where the number is not known
  FeatureSetting xnack = FeatureSetting::any;
  FeatureSetting sramecc = FeatureSetting::any;
};

// The device that the simulator presents.
inline constexpr std::string_view kDeviceTargetId = "gfx950:sramecc+:xnack-";

TargetId target_id_of_flags(uint32_t e_flags);

// "gfx950:sramecc+:xnack-"; a feature that may be either is left out.
std::string format_target_id(const TargetId& target);

// Empty if the device can run the target, else the reason.
std::string why_target_not_runnable(const TargetId& target);

// The same for the text of a bundle entry or of the metadata ("gfx950:sramecc+:xnack-" without its triple).
TargetId parse_target_id(std::string_view text);

}  // namespace mlaforge::simulator
