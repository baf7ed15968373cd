// The calling thread's last message, in a fixed buffer: setting it allocates nothing and cannot fail.
#pragma once

#include <string_view>

#include "mlaforge/mlaforge.h"

namespace mlaforge {

/// Stores the message (cut at 4,095 bytes) and returns the status, so that errors are one statement.
mlaforge_status fail(mlaforge_status status, std::string_view message);

/// The same by a printf format; for places that must not allocate.
[[gnu::format(printf, 2, 3)]] mlaforge_status failf(mlaforge_status status, const char* format, ...);

/// Empties the message and returns success.
mlaforge_status succeed();

}  // namespace mlaforge
