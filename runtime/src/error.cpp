#include "error.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace mlaforge {
namespace {

constexpr size_t message_bytes = 4096;
thread_local char last_message[message_bytes] = "";

}  // namespace

mlaforge_status fail(mlaforge_status status, std::string_view message) {
  const size_t length = std::min(message.size(), message_bytes - 1);
  std::memcpy(last_message, message.data(), length);
  last_message[length] = '\0';
  return status;
}

mlaforge_status failf(mlaforge_status status, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(last_message, message_bytes, format, arguments);
  va_end(arguments);
  return status;
}

mlaforge_status succeed() {
  last_message[0] = '\0';
  return MLAFORGE_SUCCESS;
}

}  // namespace mlaforge

const char* mlaforge_last_error(void) { return mlaforge::last_message; }

const char* mlaforge_status_name(int32_t status) {
  switch (status) {
    case MLAFORGE_SUCCESS:
      return "success";
    case MLAFORGE_INVALID_ARGUMENT:
      return "invalid_argument";
    case MLAFORGE_NO_KERNEL:
      return "no_kernel";
    case MLAFORGE_NO_DEVICE:
      return "no_device";
    case MLAFORGE_WRONG_DEVICE:
      return "wrong_device";
    case MLAFORGE_BAD_KERNEL_SET:
      return "bad_kernel_set";
    case MLAFORGE_WORKSPACE_TOO_SMALL:
      return "workspace_too_small";
    case MLAFORGE_HIP_ERROR:
      return "hip_error";
    case MLAFORGE_OUT_OF_MEMORY:
      return "out_of_memory";
    case MLAFORGE_BAD_TUNING:
      return "bad_tuning";
  }
  return "unknown";
}
