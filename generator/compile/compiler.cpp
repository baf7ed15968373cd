#include "generator/compile/compiler.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "generator/compile/process.h"

namespace mlaforge {
namespace {

constexpr int kFirstClangWithGfx950 = 20;

/// The major version behind "clang version " in what a compiler prints of itself.
std::optional<int> clang_major(std::string_view version) {
  constexpr std::string_view kLabel = "clang version ";
  const size_t at = version.find(kLabel);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = version.substr(at + kLabel.size());
  int major = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), major);
  return code == std::errc() ? std::optional(major) : std::nullopt;
}

/// The compiler of a name or path, or why it cannot serve; `where` says who named it.
Expected<Compiler> probe(const std::string& name, const char* where) {
  const auto refuse = [&](std::string problem) {
    return Diagnostic{.where = where,
                      .problem = std::move(problem),
                      .value = name,
                      .allowed = fmt::format("hipcc or clang++ of clang {} or newer", kFirstClangWithGfx950),
                      .nearest = "clang++-22 (Debian package clang-22, with lld-22)"};
  };
  const std::filesystem::path path = find_program(name);
  if (path.empty()) return refuse("no such program");
  const Expected<ProcessResult> asked = run_process({path.string(), "--version"});
  if (!asked) return asked.errors();
  const std::optional<int> major = clang_major(asked->output);
  if (asked->exit_code != 0 || !major) return refuse("does not say its version as clang does");
  if (*major < kFirstClangWithGfx950) return refuse(fmt::format("clang {} does not know gfx950", *major));
  return Compiler{.path = path, .version = asked->output, .is_hipcc = path.filename().string().starts_with("hipcc")};
}

}  // namespace

Expected<Compiler> find_compiler(const std::string& request) {
  if (!request.empty()) return probe(request, "--compiler");
  if (const char* variable = std::getenv("MLAFORGE_COMPILER"); variable != nullptr && *variable != '\0') {
    return probe(variable, "MLAFORGE_COMPILER");
  }
  if (Expected<Compiler> hipcc = probe("hipcc", "compiler")) return hipcc;
  return probe("clang++-22", "compiler");
}

std::string version_line(const Compiler& compiler) {
  // hipcc's first line is HIP's version; clang's is its own.
  return compiler.version.substr(0, compiler.version.find('\n'));
}

std::vector<std::string> compile_flags(const Compiler& compiler, const std::string& target) {
  // -fuse-cuid=none: no symbol named after the source's path, so that one source gives one code object anywhere.
  std::vector<std::string> flags = {
      "-x", "hip", "--offload-arch=" + target, "--cuda-device-only", "--no-gpu-bundle-output", "-fuse-cuid=none", "-O3",
      "-std=c++20",
      // The first arguments reach a workgroup's registers before it starts: a memory latency less at every launch.
      "-mllvm", "-amdgpu-kernarg-preload-count=16"};
  if (!compiler.is_hipcc) flags.insert(flags.end(), {"-nogpulib", "-nogpuinc", "-DMLAFORGE_FREESTANDING"});
  flags.emplace_back("-c");
  return flags;
}

}  // namespace mlaforge
