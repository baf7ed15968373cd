// libFuzzer's entry; MLAFORGE_FUZZ_ENTRY is one of entries.h.
#include "tests/fuzz/entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mlaforge::fuzz::MLAFORGE_FUZZ_ENTRY({data, size});
  return 0;
}
