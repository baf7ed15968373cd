// Everything that can be wrong with a launch, found before anything is launched. Allocates nothing.
#pragma once

#include "mlaforge/mlaforge.h"

namespace mlaforge {

/// That a choice is there and names a row of this library.
mlaforge_status check_choice(const mlaforge_library* library, const mlaforge_choice* choice);

/// Pointers, alignment, strides, sizes and ranges of `tensors` for `choice`; INVALID_ARGUMENT names field and value.
mlaforge_status check_tensors(const mlaforge_choice& choice, const mlaforge_tensors& tensors);

}  // namespace mlaforge
