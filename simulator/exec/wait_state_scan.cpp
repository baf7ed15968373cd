#include "simulator/exec/wait_state_scan.h"

#include <memory>

#include "simulator/exec/wait_state_checks.h"

namespace mlaforge::simulator {

std::string scan_wait_states(std::span<const Instruction* const> code) {
  const auto wave = std::make_unique<Wave>();
  const auto checks = std::make_unique<WaitStateChecks>();
  checks->start();
  try {
    for (const Instruction* instruction : code) checks->check(*wave, *instruction);
  } catch (const FaultError& error) {
    return error.fault().message;
  }
  return {};
}

}  // namespace mlaforge::simulator
