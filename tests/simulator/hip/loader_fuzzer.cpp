// libFuzzer entry for the loader: whatever the bytes, loading and relocating end with a value or an error.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "simulator/loader/code_object.h"
#include "simulator/loader/offload_bundle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  using namespace mlaforge::simulator;
  const auto file = std::as_bytes(std::span(data, bytes));
  if (image_extent(file) > bytes) std::abort();
  const auto loaded = load_code_object(file);
  if (!loaded.ok()) {
    if (loaded.error().message.empty()) std::abort();
    return 0;
  }
  const auto image = relocate_image(loaded.value(), 0x2000'0000'0000);
  if (image.ok() && image.value().size() != loaded.value().image.size()) std::abort();
  for (const LoadedKernel& kernel : loaded.value().kernels) hidden_fields(kernel.metadata);
  return 0;
}
