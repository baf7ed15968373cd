// Runs every mutant of a case's kernels on the simulator under all checks, and says of each by what it was caught or by
// which rule it is harmless.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/mutate/mutants.h"
#include "cli/run/run_case.h"

namespace mlaforge::mutate {

enum class Verdict {
  caught,       ///< a check stopped it, or the outputs are wrong
  explained,    ///< harmless by a named rule
  unexplained,  ///< neither
};

/// Why a mutant that runs without a fault, to right outputs, is harmless. Each rests on what the launches did.
enum class Rule {
  none,
  nothing_outstanding,  ///< at every execution the mutant waits for the same operations as the original
  later_wait,           ///< what it lets through was waited for later, before its registers or LDS bytes were used
  full_counter,         ///< as later_wait, but the hardware stalled before: the counter counts no further
  ends_with_the_wave,   ///< it lets through stores, or loads of results not used, that end with the wave
  orders_nothing,       ///< no byte that a wave touches before the barrier is touched behind it with a write
  enough_states,        ///< (an s_nop) every register was used in the wait states that it needs
};

std::string rule_name(Rule rule);
/// One sentence.
std::string rule_text(Rule rule);

struct MutantReport {
  std::string kernel;
  Mutant mutant;
  Verdict verdict = Verdict::unexplained;
  std::string caught_by;  ///< kind of the fault, or "comparison"
  std::string memory;     ///< the memory mode that caught it
  Rule rule = Rule::none;
  std::string evidence;  ///< the fault, what ended the operations let through, or why there is no rule
  uint64_t executions = 0;
};

struct KernelReport {
  std::string kernel;
  size_t waits = 0, barriers = 0, nops = 0;
  std::vector<MutantReport> mutants;
};

/// The attention kernel and, with more than one split, the combine kernel of `wanted`, or of the two `only` the one of
/// that name. Errors: no kernel for the case, a device that is no simulator, a kernel that fails without a mutation.
Expected<std::vector<KernelReport>> run_campaign(const HipApi& hip, run::Kernels& kernels, run::RunCase wanted,
                                                 const std::string& only = {});

}  // namespace mlaforge::mutate
