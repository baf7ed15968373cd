#include "simulator/exec/workgroup.h"

namespace mlaforge::simulator {

uint64_t read_special(const Wave& wave, SpecialRegister which) {
  switch (which) {
    case SpecialRegister::shared_base:
      return shared_aperture;
    case SpecialRegister::shared_limit:
      return shared_aperture | 0xffffffff;
    case SpecialRegister::private_base:
      return private_aperture;
    case SpecialRegister::private_limit:
      return private_aperture | 0xffffffff;
    case SpecialRegister::pops_exiting_wave_id:
      return 0;
    case SpecialRegister::vccz:
      return wave.vcc() == 0;
    case SpecialRegister::execz:
      return wave.exec() == 0;
    case SpecialRegister::scc:
      return wave.scc;
    case SpecialRegister::lds_direct:
      raise_fault(wave, FaultKind::unsupported, "src_lds_direct");
  }
  return 0;
}

}  // namespace mlaforge::simulator
