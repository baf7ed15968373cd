// Emitted sources through a real hipcc (ROCm's headers and device libraries) and through freestanding clang 22: no
// warning, no spill, and on the simulator the same output bits from both.
// scripts/hipcc_sid.sh FOLDER COMMAND runs this with MLAFORGE_HIPCC set, and says why where it cannot.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/kernels/variants.h"

using namespace mlaforge::test;

namespace {

/// A compiler that lets no warning pass, under a name that is taken for the same kind.
std::string strict(const std::string& name, const std::string& compiler) {
  const std::filesystem::path path = std::filesystem::path(MLAFORGE_TEST_CACHE) / name;
  std::ofstream(path) << "#!/bin/sh\nexec '" << compiler << "' -Wall -Wextra -Werror \"$@\"\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path.string();
}

std::string hipcc() {
  const char* told = std::getenv("MLAFORGE_HIPCC");
  if (told == nullptr || *told == '\0') {
    throw std::runtime_error("MLAFORGE_HIPCC is not set; run this as scripts/hipcc_sid.sh FOLDER COMMAND");
  }
  return told;
}

/// A cache of its own: what a lenient compiler made is not taken.
mlaforge::run::RunReport run_with(const std::string& compiler, const std::string& name) {
  const auto variant = mlaforge::parse(name);
  REQUIRE(variant.has_value());
  mlaforge::run::RunCase wanted = case_of(*variant, {500, 0, 9});
  wanted.checks = "lds_races";
  mlaforge::run::Kernels kernels =
      kernels_of(*variant, {.compiler = compiler, .cache = std::filesystem::path(MLAFORGE_TEST_CACHE) / "strict"});
  return report_of(kernels, wanted);
}

}  // namespace

TEST_CASE("hipcc and clang compile every kind of source without a warning, to the same results") {
  const std::string compilers[] = {strict("hipcc_strict", hipcc()), strict("clang_strict", "clang++-22")};
  for (const char* name :
       {"mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s85_p1__gfx950", "mla_decode_bf16q_fp8kv_h12_g3_q4_b128_s1_p1__gfx950",
        "mla_decode_bf16q_fp8kv_h20_g4_q3_b64_s8_p16__gfx950_wide_f32p",
        "mla_decode_bf16q_fp8kv_h16_g1_q2_b128_s8_p64__gfx950_ws",
        "mla_decode_fp8q_fp8kv_h16_g1_q1_b64_s2_p64__gfx950_wide_cp4_f32p_pp1",
        "mla_decode_fp8q_fp8kv_h9_g1_q3_b128_s1_p256__gfx950_ws_cp2_pp1"}) {
    const mlaforge::run::RunReport by_hipcc = run_with(compilers[0], name);
    const mlaforge::run::RunReport by_clang = run_with(compilers[1], name);
    INFO(name << "\nhipcc: " << by_hipcc.failure << "\nclang: " << by_clang.failure);
    CHECK(by_hipcc.passed);
    CHECK(by_clang.passed);
    CHECK(by_hipcc.fingerprint == by_clang.fingerprint);
  }
}
