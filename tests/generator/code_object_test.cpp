// Code objects that the compiler made, and the same with bytes cut off or changed.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "catch.h"
#include "device_source.h"
#include "generator/compile/compile.h"
#include "generator/emit/files.h"
#include "temporary_folder.h"

using namespace mlaforge;
using namespace mlaforge::test;

namespace {

std::string compiled_bytes(const std::string& name, const std::string& text, const TemporaryFolder& cache) {
  const auto result = compile_kernels({{.name = name, .target = "gfx950", .text = text}}, {.cache = cache.path()});
  if (!result) FAIL(to_string(result.errors()));
  return read(result->front().code_object);
}

Expected<KernelResources> resources_of(const std::string& bytes, const std::string& name) {
  return read_resources(std::as_bytes(std::span(bytes)), name);
}

}  // namespace

TEST_CASE("a kernel's resources are those it was written to use") {
  const TemporaryFolder cache;
  const auto r = resources_of(compiled_bytes("k", lds_kernel("k", 160 * 1024), cache), "k");
  REQUIRE(r.has_value());
  CHECK(r->lds_bytes == 163'840);
  CHECK(r->threads == 256);
  CHECK(r->private_bytes == 0);
  CHECK(r->vgpr_spills == 0);
  CHECK(r->sgpr_spills == 0);
  CHECK(r->vgprs >= 1);
  CHECK(r->vgprs <= 32);
  CHECK(r->sgprs >= 1);
  CHECK(r->code_bytes > 16);
  CHECK(r->code_bytes % 4 == 0);
  CHECK(check_limits(*r, "k").empty());
}

TEST_CASE("another name is an error that lists the kernels there are") {
  const TemporaryFolder cache;
  const auto r = resources_of(compiled_bytes("there", copying_kernel("there"), cache), "elsewhere");
  REQUIRE_FALSE(r.has_value());
  CHECK_THAT(r.errors().front().allowed, Catch::Matchers::Contains("there"));
}

TEST_CASE("metadata that nests without end is an error, not an exhausted stack") {
  const TemporaryFolder cache;
  std::string bytes = compiled_bytes("k", copying_kernel("k"), cache);
  // The note's MessagePack begins with a map of three behind "AMDGPU\0\0": make it, and a megabyte behind the file,
  // arrays of one element.
  const size_t note = bytes.find(std::string("AMDGPU\0\0\x83", 9)) + 8;
  REQUIRE(note < bytes.size());
  constexpr uint32_t kDepth = 1 << 20;
  std::memcpy(bytes.data() + note - 16, &kDepth, sizeof kDepth);  // n_descsz
  bytes.resize(note + kDepth);
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(note), bytes.end(), '\x91');
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (size_t i = 0; i < header.e_phnum; ++i) {
    char* const at = bytes.data() + header.e_phoff + i * sizeof(Elf64_Phdr);
    Elf64_Phdr segment;
    std::memcpy(&segment, at, sizeof segment);
    if (segment.p_type != PT_NOTE) continue;
    segment.p_filesz += kDepth;
    std::memcpy(at, &segment, sizeof segment);
  }
  CHECK_FALSE(resources_of(bytes, "k").has_value());
}

TEST_CASE("a code object cut short anywhere is an error or reads the same, never out of bounds") {
  const TemporaryFolder cache;
  const std::string bytes = compiled_bytes("k", copying_kernel("k"), cache);
  const auto whole = resources_of(bytes, "k");
  REQUIRE(whole.has_value());
  size_t errors = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    // A buffer of just that size, so that AddressSanitizer sees one byte too far.
    const std::vector<std::byte> cut(std::as_bytes(std::span(bytes)).begin(),
                                     std::as_bytes(std::span(bytes)).begin() + static_cast<std::ptrdiff_t>(size));
    const auto r = read_resources(cut, "k");
    if (!r) {
      ++errors;
    } else {
      CHECK(r->vgprs == whole->vgprs);
    }
  }
  CHECK(errors > bytes.size() / 2);
}

TEST_CASE("a code object with changed bytes never reads out of bounds") {
  const TemporaryFolder cache;
  const std::string bytes = compiled_bytes("k", copying_kernel("k"), cache);
  std::mt19937 random(1);
  size_t errors = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string changed = bytes;
    for (int i = 0; i < 4; ++i) changed[random() % 1500] = static_cast<char>(random());
    errors += resources_of(changed, "k").has_value() ? 0 : 1;
  }
  CHECK(errors > 0);
  CHECK_FALSE(resources_of("", "k").has_value());
  CHECK_FALSE(resources_of(std::string(4096, '\0'), "k").has_value());
  CHECK_FALSE(resources_of(read("/proc/self/exe"), "k").has_value());
}

TEST_CASE("each limit is enforced at the first value beyond it") {
  const KernelResources at_limit{.vgprs = 256, .lds_bytes = 163'840};
  CHECK(check_limits(at_limit, "k").empty());
  const auto only = [](KernelResources r, const char* value, const char* what) {
    const Diagnostics errors = check_limits(r, "k");
    REQUIRE(errors.size() == 1);
    CHECK(errors.front().where == "k");
    CHECK(errors.front().value == value);
    CHECK_THAT(errors.front().problem, Catch::Matchers::Contains(what));
  };
  only({.vgprs = 257}, "257", "VGPRs a wave");
  only({.lds_bytes = 163'841}, "163841", "LDS");
  only({.vgpr_spills = 1}, "1", "spilled VGPRs");
  only({.sgpr_spills = 1}, "1", "spilled SGPRs");
  only({.private_bytes = 4}, "4", "private memory");
  CHECK(check_limits({.vgprs = 512, .vgpr_spills = 3, .lds_bytes = 200'000}, "k").size() == 3);
}
