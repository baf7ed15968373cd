// Asks a HIP library for its devices, in a process of its own: AMD's runtime brings a compiler along and may crash.
#pragma once

#include "cli/doctor/findings.h"
#include "mlaforge/mlaforge.h"

namespace mlaforge::doctor {

/// To be called before any thread is started.
HipFinding probe_hip(mlaforge_backend backend);

}  // namespace mlaforge::doctor
