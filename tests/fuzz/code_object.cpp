#include "simulator/loader/code_object.h"

#include "simulator/loader/offload_bundle.h"
#include "tests/fuzz/entries.h"

namespace mlaforge::fuzz {
namespace {

using namespace simulator;

/// What run_kernel and the HIP layer rely on without looking again.
void check_loaded(const CodeObject& object) {
  for (const ElfSegment& segment : object.segments) {
    require(segment.address + segment.memory_bytes <= object.image.size(), "a segment goes past the image");
  }
  for (const GlobalVariable& variable : object.variables) {
    require(variable.address + variable.bytes <= object.image.size(), "a variable goes past the image");
  }
  for (const LoadedKernel& kernel : object.kernels) {
    require(kernel.entry_address < object.image.size() && kernel.entry_address % 4 == 0, "an entry outside the image");
    require(object.find_kernel(kernel.metadata.name) != nullptr, "a kernel that its name does not find");
    const uint64_t kernarg_bytes = kernel.metadata.kernarg_segment_bytes;
    for (const KernelArgument& argument : kernel.metadata.arguments) {
      require(uint64_t{argument.offset} + argument.bytes <= kernarg_bytes, "an argument outside its segment");
    }
    require(hidden_fields(kernel.metadata).size() <= kernel.metadata.arguments.size(), "hidden fields from nowhere");
  }
}

}  // namespace

void code_object(Input input) {
  const Bytes file = std::as_bytes(input);
  require(image_extent(file) <= file.size(), "an extent beyond what is readable");
  const LoadResult<CodeObject> loaded = load_code_object(file);
  if (!loaded.ok()) {
    require(!loaded.error().message.empty(), "an error that says nothing");
    return;
  }
  check_loaded(loaded.value());
  const auto image = relocate_image(loaded.value(), 0x7000'0000'0000);
  if (image.ok()) require(image.value().size() == loaded.value().image.size(), "relocation changed the image's size");
}

}  // namespace mlaforge::fuzz
