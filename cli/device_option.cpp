#include "cli/device_option.h"

#include "mlaforge/mlaforge.h"

namespace mlaforge::cli {

CLI::Option* add_device_option(CLI::App& command, std::string& device) {
  return command.add_option("--device", device, "auto (default): a gfx950 GPU measures, else the model predicts")
      ->check(CLI::IsMember({"auto", "simulator", "hip"}));
}

Expected<HipApi> open_hip(const std::string& device) {
  const mlaforge_backend backend = device == "hip"         ? MLAFORGE_BACKEND_HIP
                                   : device == "simulator" ? MLAFORGE_BACKEND_SIMULATOR
                                                           : MLAFORGE_BACKEND_AUTO;
  HipApi hip;
  if (load_hip(backend, hip) != MLAFORGE_SUCCESS) {
    return Diagnostic{"--device", mlaforge_last_error(), device, "auto, simulator, hip", {}};
  }
  return hip;
}

Expected<HipApi> open_simulator() {
  HipApi hip;
  if (load_hip(MLAFORGE_BACKEND_SIMULATOR, hip) != MLAFORGE_SUCCESS) {
    return Diagnostic{"the simulator", mlaforge_last_error(), {}, {}, {}};
  }
  return hip;
}

}  // namespace mlaforge::cli
