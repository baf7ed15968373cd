#include "simulator/hip/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include "simulator/hip/error.h"
#include "simulator/hip/machine.h"
#include "simulator/hip/registration.h"
#include "simulator/loader/kernel_descriptor.h"
#include "simulator/loader/offload_bundle.h"

namespace mlaforge::simulator {
namespace {

// Host memory that can be read from `address` on, by the process's own map.
uint64_t readable_bytes_from(uint64_t address) {
  std::ifstream maps("/proc/self/maps");
  uint64_t end = address;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long first = 0;
    unsigned long long last = 0;
    char readable = '-';
    // The kernel writes these lines. NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion)
    if (std::sscanf(line.c_str(), "%llx-%llx %c", &first, &last, &readable) != 3) continue;
    if (readable == 'r' && first <= end && last > end) end = last;
  }
  return end - address;
}

// Distance of two names, for "did you mean": the count of characters that are not in the common prefix and suffix.
size_t name_distance(std::string_view a, std::string_view b) {
  const auto [pa, pb] = std::ranges::mismatch(a, b);
  const auto prefix = static_cast<size_t>(pa - a.begin());
  const size_t limit = std::min(a.size(), b.size()) - prefix;
  size_t suffix = 0;
  while (suffix < limit && a[a.size() - 1 - suffix] == b[b.size() - 1 - suffix]) ++suffix;
  return std::max(a.size(), b.size()) - prefix - suffix;
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& names) {
  const auto nearest =
      std::ranges::min_element(names, {}, [&](const std::string& n) { return name_distance(name, n); });
  return nearest == names.end() ? "it has none" : "the nearest is " + *nearest;
}

void place_segments(Module& module, std::span<const std::byte> image) {
  DeviceMemory& memory = machine().memory;
  std::ranges::copy(image, reinterpret_cast<std::byte*>(module.base));
  for (const ElfSegment& segment : module.object.segments) {
    if (segment.memory_bytes == 0) continue;
    const uint64_t begin = module.base + segment.address;
    const char* what = segment.executable ? "code" : segment.writable ? "variables" : "constants";
    memory.add_region({.begin = begin,
                       .bytes = segment.memory_bytes,
                       .kind = RegionKind::module,
                       .writable = segment.writable,
                       .flags = 0,
                       .device = module.device,
                       .label = fmt::format("the {} of module {}", what, module.name)});
    module.regions.push_back(begin);
  }
}

struct PlacedProgram {
  uint64_t begin;
  uint64_t end;
  std::shared_ptr<const Program> program;
};

void make_functions(const std::shared_ptr<Module>& module, std::span<const std::byte> image) {
  std::vector<PlacedProgram> programs;
  for (const ElfSegment& segment : module->object.segments) {
    if (!segment.executable || segment.memory_bytes == 0) continue;
    const auto text = image.subspan(segment.address, segment.memory_bytes);
    programs.push_back(
        {segment.address, segment.address + segment.memory_bytes, make_program(text, module->base + segment.address)});
  }
  for (const LoadedKernel& kernel : module->object.kernels) {
    const auto program = std::ranges::find_if(programs, [&](const PlacedProgram& p) {
      return kernel.entry_address >= p.begin && kernel.entry_address < p.end;
    });
    auto function = std::make_shared<DeviceFunction>();
    function->metadata = kernel.metadata;
    function->device = module->device;
    function->module = module;
    function->code = {
        .name = kernel.metadata.name,
        .program = program->program,  // the loader has checked that the entry is executable
        .entry = module->base + kernel.entry_address,
        .descriptor = kernel.descriptor,
        .kernarg_bytes = kernel.metadata.kernarg_segment_bytes,
        .hidden_fields = hidden_fields(kernel.metadata),
        .max_workgroup_size = kernel.metadata.max_workgroup_size,
        .uses_dynamic_stack = kernel.metadata.uses_dynamic_stack || uses_dynamic_stack(kernel.descriptor)};
    functions().add(function);
    module->functions.push_back(std::move(function));
  }
}

}  // namespace

HandleTable<Module>& modules() {
  static auto& table = *new HandleTable<Module>;
  return table;
}

HandleTable<DeviceFunction>& functions() {
  static auto& table = *new HandleTable<DeviceFunction>;
  return table;
}

Module::~Module() {
  const std::scoped_lock running(machine().execution);
  for (const auto& function : functions) simulator::functions().remove(function.get());
  for (const uint64_t region : regions) machine().memory.release(region);
}

Bytes image_at(const void* image) {
  const auto address = reinterpret_cast<uint64_t>(image);
  const uint64_t readable = readable_bytes_from(address);
  if (readable == 0) fail(hipErrorInvalidValue, fmt::format("image {} is no readable memory", image));
  const Bytes bytes(static_cast<const std::byte*>(image), readable);
  return bytes.first(image_extent(bytes));
}

std::shared_ptr<Module> load_module(Bytes file, std::string name, int device) {
  machine().options();  // reports a bad environment before any work
  LoadResult<CodeObject> loaded = load_code_object(file);
  if (!loaded.ok()) fail(loaded.error(), name);
  auto module = std::make_shared<Module>();
  module->name = std::move(name);
  module->device = device;
  module->object = std::move(loaded.value());
  const auto base = machine().memory.reserve(module->object.image.size());
  if (!base)
    fail(hipErrorOutOfMemory, fmt::format("{}: no room for {} bytes", module->name, module->object.image.size()));
  module->base = *base;
  const auto image = relocate_image(module->object, *base);
  if (!image.ok()) fail(image.error(), module->name);
  place_segments(*module, image.value());
  make_functions(module, image.value());
  return module;
}

std::shared_ptr<DeviceFunction> find_function(const Module& module, std::string_view name) {
  std::vector<std::string> names;
  for (const auto& function : module.functions) {
    if (function->metadata.name == name || function->metadata.descriptor_symbol == name) return function;
    names.push_back(function->metadata.name);
  }
  fail(hipErrorNotFound, fmt::format("{} has no kernel {}; {}", module.name, name, nearest_name(name, names)));
}

const GlobalVariable& find_variable(const Module& module, std::string_view name) {
  if (const GlobalVariable* variable = module.object.find_variable(name)) return *variable;
  std::vector<std::string> names;
  for (const GlobalVariable& variable : module.object.variables) names.push_back(variable.name);
  fail(hipErrorNotFound, fmt::format("{} has no variable {}; {}", module.name, name, nearest_name(name, names)));
}

std::shared_ptr<DeviceFunction> resolve_function(const void* handle_or_stub, int device) {
  if (auto function = functions().find(handle_or_stub)) return function;
  if (auto function = registered_function(handle_or_stub, device)) return function;
  fail(hipErrorInvalidDeviceFunction,
       fmt::format("function {} is neither of a loaded module nor registered", handle_or_stub));
}

}  // namespace mlaforge::simulator

using namespace mlaforge::simulator;

namespace {

std::shared_ptr<Module> existing_module(hipModule_t handle) {
  auto module = modules().find(handle);
  if (!module) fail(hipErrorInvalidHandle, fmt::format("module {} is not loaded", static_cast<const void*>(handle)));
  return module;
}

void load_file(hipModule_t* handle, const char* path) {
  require(handle, "module");
  require(path, "fname");
  std::ifstream file(path, std::ios::binary);
  std::error_code ignored;
  if (!file) fail(hipErrorFileNotFound, fmt::format("cannot open {}", path));
  if (std::filesystem::is_directory(path, ignored)) {
    fail(hipErrorInvalidImage, fmt::format("{} is a folder, not a code object", path));
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string_view whole(path);
  const std::string name(whole.substr(whole.rfind('/') + 1));
  *handle =
      reinterpret_cast<hipModule_t>(modules().add(load_module(std::as_bytes(std::span(text)), name, current_device())));
}

}  // namespace

hipError_t hipModuleLoad(hipModule_t* handle, const char* path) {
  return guarded(__func__, [&] { load_file(handle, path); });
}

hipError_t hipModuleLoadData(hipModule_t* handle, const void* image) {
  return guarded(__func__, [&] {
    require(handle, "module");
    require(image, "image");
    auto module = load_module(image_at(image), fmt::format("code object at {}", image), current_device());
    *handle = reinterpret_cast<hipModule_t>(modules().add(std::move(module)));
  });
}

// The options steer a JIT compiler, which code objects do not need.
hipError_t hipModuleLoadDataEx(hipModule_t* handle, const void* image, unsigned int, hipJitOption*, void**) {
  return hipModuleLoadData(handle, image);
}

MLAFORGE_HIP_EXPORT hipError_t hipModuleLoadFatBinary(hipModule_t* handle, const void* image) {
  return hipModuleLoadData(handle, image);
}

hipError_t hipModuleUnload(hipModule_t handle) {
  return guarded(__func__, [&] {
    existing_module(handle);
    modules().remove(handle);
  });
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t handle, const char* name) {
  return guarded(__func__, [&] {
    require(function, "function");
    require(name, "kname");
    *function = reinterpret_cast<hipFunction_t>(find_function(*existing_module(handle), name).get());
  });
}

MLAFORGE_HIP_EXPORT hipError_t hipModuleGetFunctionCount(unsigned int* count, hipModule_t handle) {
  return guarded(__func__, [&] {
    require(count, "count");
    *count = static_cast<unsigned>(existing_module(handle)->functions.size());
  });
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t* address, size_t* bytes, hipModule_t handle, const char* name) {
  return guarded(__func__, [&] {
    require(name, "name");
    const auto module = existing_module(handle);
    const GlobalVariable& variable = find_variable(*module, name);
    if (address != nullptr) *address = reinterpret_cast<hipDeviceptr_t>(module->base + variable.address);
    if (bytes != nullptr) *bytes = variable.bytes;
  });
}
