#include "simulator/loader/target_id.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace mlaforge::simulator {
namespace {

struct MachName {
  uint32_t mach;
  std::string_view name;
};

// EF_AMDGPU_MACH values of the processors that code objects in the field are built for.
constexpr std::array kMachNames = {
    MachName{0x02a, "gfx803"},  MachName{0x02c, "gfx900"},  MachName{0x02f, "gfx906"},
    MachName{0x030, "gfx908"},  MachName{0x033, "gfx1010"}, MachName{0x036, "gfx1030"},
    MachName{0x03f, "gfx90a"},  MachName{0x040, "gfx940"},  MachName{0x041, "gfx1100"},
    MachName{0x046, "gfx1101"}, MachName{0x047, "gfx1102"}, MachName{0x048, "gfx1200"},
    MachName{0x04a, "gfx1151"}, MachName{0x04b, "gfx941"},  MachName{0x04c, "gfx942"},
    MachName{0x04e, "gfx1201"}, MachName{0x04f, "gfx950"},  MachName{0x05f, "gfx9-4-generic"},
};

FeatureSetting feature_of_bits(uint32_t two_bits) { return static_cast<FeatureSetting>(two_bits & 3); }

std::string feature_text(std::string_view name, FeatureSetting setting) {
  if (setting == FeatureSetting::on) return ":" + std::string(name) + "+";
  if (setting == FeatureSetting::off) return ":" + std::string(name) + "-";
  return {};
}

}  // namespace

TargetId target_id_of_flags(uint32_t e_flags) {
  const uint32_t mach = e_flags & 0xff;
  TargetId target{.processor = {}, .xnack = feature_of_bits(e_flags >> 8), .sramecc = feature_of_bits(e_flags >> 10)};
  const auto known = std::ranges::find(kMachNames, mach, &MachName::mach);
  if (known != kMachNames.end()) {
    target.processor = known->name;
  } else {
    char text[32];
    std::snprintf(text, sizeof text, "gfx(mach 0x%03x)", mach);
    target.processor = text;
  }
  return target;
}

std::string format_target_id(const TargetId& target) {
  return target.processor + feature_text("sramecc", target.sramecc) + feature_text("xnack", target.xnack);
}

std::string why_target_not_runnable(const TargetId& target) {
  const bool processor_fits = target.processor == "gfx950" || target.processor == "gfx9-4-generic";
  if (processor_fits && target.xnack != FeatureSetting::on && target.sramecc != FeatureSetting::off) return {};
  return "the code object is for " + format_target_id(target) + ", the device is " + std::string(kDeviceTargetId) +
         "; compile with --offload-arch=gfx950";
}

TargetId parse_target_id(std::string_view text) {
  const size_t colon = text.find(':');
  TargetId target{.processor = std::string(text.substr(0, colon))};
  const auto setting = [&](std::string_view name) {
    const size_t at = text.find(":" + std::string(name));
    const size_t sign = at + 1 + name.size();
    if (at == std::string_view::npos || sign >= text.size()) return FeatureSetting::any;
    return text[sign] == '+' ? FeatureSetting::on : FeatureSetting::off;
  };
  target.xnack = setting("xnack");
  target.sramecc = setting("sramecc");
  return target;
}

}  // namespace mlaforge::simulator
