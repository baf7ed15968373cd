// Modules: whole, bundled, foreign and damaged code objects through the HIP API.
#include <cstdio>
#include <cstring>

#include "hip_fixture.h"

using Catch::Matchers::Contains;

namespace {

// The check after every refusal: a good module still loads and answers.
void check_next_load_works() {
  const LoadedModule module;
  CHECK(module.function("scale_add") != nullptr);
}

hipError_t load_from_file(const std::vector<std::byte>& bytes) {
  const std::string path = write_temporary("damaged.co", bytes);
  hipModule_t module = nullptr;
  const hipError_t result = hipModuleLoad(&module, path.c_str());
  if (result == hipSuccess) REQUIRE_HIP(hipModuleUnload(module));
  std::remove(path.c_str());
  return result;
}

}  // namespace

TEST_CASE("modules load from files, memory and bundles") {
  const auto plain = read_code_object("gfx950.co");
  const auto bundle = make_bundle({{"host-x86_64-unknown-linux-gnu-", {}},
                                   {"hipv4-amdgcn-amd-amdhsa--gfx942", read_code_object("gfx942.co")},
                                   {"hipv4-amdgcn-amd-amdhsa--gfx950", plain}});
  for (const auto* image : {&plain, &bundle}) {
    hipModule_t module = nullptr;
    REQUIRE_HIP(hipModuleLoadData(&module, image->data()));
    hipFunction_t function = nullptr;
    REQUIRE_HIP(hipModuleGetFunction(&function, module, "store_at"));
    REQUIRE_HIP(hipModuleUnload(module));
    CHECK(hipModuleUnload(module) == hipErrorInvalidHandle);
    CHECK(hipModuleGetFunction(&function, module, "store_at") == hipErrorInvalidHandle);
  }
}

TEST_CASE("kernels and variables are found by name, and what is missing is named with the nearest") {
  const LoadedModule module("gfx950_v6.co");
  hipFunction_t function = nullptr;
  CHECK(hipModuleGetFunction(&function, module.handle, "scale_ad") == hipErrorNotFound);
  CHECK_THAT(report(), Contains("no kernel scale_ad") && Contains("nearest is scale_add"));
  CHECK(hipModuleGetFunction(&function, module.handle, nullptr) == hipErrorInvalidValue);
  hipDeviceptr_t address = nullptr;
  size_t bytes = 0;
  REQUIRE_HIP(hipModuleGetGlobal(&address, &bytes, module.handle, "adjustable"));
  CHECK(bytes == 4);
  int value = 0;
  REQUIRE_HIP(hipMemcpyDtoH(&value, address, 4));
  CHECK(value == 41);
  CHECK(hipModuleGetGlobal(&address, &bytes, module.handle, "adjustabel") == hipErrorNotFound);
  CHECK_THAT(report(), Contains("nearest is adjustable"));
}

TEST_CASE("a code object for gfx942, a missing file and text are refused") {
  hipModule_t module = nullptr;
  CHECK(hipModuleLoad(&module, code_object_path("gfx942.co").c_str()) == hipErrorNoBinaryForGpu);
  CHECK_THAT(report(), Contains("gfx942") && Contains("gfx950"));
  CHECK(hipModuleLoad(&module, "no_such_file.co") == hipErrorFileNotFound);
  CHECK_THAT(report(), Contains("no_such_file.co"));
  CHECK(hipModuleLoad(&module, ".") == hipErrorInvalidImage);
  CHECK_THAT(report(), Contains(". is a folder, not a code object"));
  CHECK(hipModuleLoad(&module, code_object_path("CMakeFiles/../cmake_install.cmake").c_str()) == hipErrorInvalidImage);
  CHECK_THAT(report(), Contains("not an ELF"));
  CHECK(hipModuleLoadData(&module, nullptr) == hipErrorInvalidValue);
  CHECK(hipModuleLoadData(&module, reinterpret_cast<const void*>(64)) == hipErrorInvalidValue);
  CHECK_THAT(report(), Contains("no readable memory"));
  check_next_load_works();
}

TEST_CASE("truncated and damaged code objects are refused, and the next load works") {
  const auto bytes = read_code_object("gfx950.co");
  for (size_t length = 0; length < bytes.size(); length += 64) {
    INFO("truncated to " << length << " bytes");
    REQUIRE(load_from_file({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)}) ==
            hipErrorInvalidImage);
    REQUIRE_THAT(report(), Contains("damaged.co"));
  }
  size_t refused = 0;
  for (size_t at = 0; at < 0x600; at += 7) {
    auto copy = bytes;
    copy[at] ^= std::byte{0x40};
    refused += load_from_file(copy) == hipSuccess ? 0 : 1;
  }
  CHECK(refused > 20);
  check_next_load_works();
}

TEST_CASE("a kernel's attributes and occupancy follow from its descriptor") {
  const LoadedModule module;
  const hipFunction_t function = module.function("reverse_block");
  int value = 0;
  REQUIRE_HIP(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
  CHECK(value == 512);
  REQUIRE_HIP(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
  CHECK(value == 128);
  REQUIRE_HIP(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, function));
  REQUIRE(value == 8);
  int blocks = 0;
  // 8 registers: 8 waves a SIMD, so 32 waves a CU in blocks of two.
  REQUIRE_HIP(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 128, 0));
  CHECK(blocks == 16);
  // 512 + 40000 bytes are 32 granules of 1280; 128 granules hold 4 of those.
  REQUIRE_HIP(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 128, 40000));
  CHECK(blocks == 4);
  CHECK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 129, 0) == hipErrorInvalidValue);
}
