#include "generator/compile/code_object.h"
#include "tests/fuzz/entries.h"

namespace mlaforge::fuzz {

void resources(Input input) {
  const Expected<KernelResources> read = read_resources(std::as_bytes(input), "scale");
  require_reason(read);
  if (read) check_limits(*read, "scale");
}

}  // namespace mlaforge::fuzz
