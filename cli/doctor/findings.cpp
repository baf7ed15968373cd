#include "cli/doctor/findings.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "cli/doctor/hip_probe.h"
#include "generator/compile/compile.h"
#include "generator/compile/process.h"
#include "generator/emit/files.h"
#include "generator/emit/manifest.h"
#include "generator/emit/read_manifest.h"
#include "generator/emit/sha256.h"

namespace mlaforge::doctor {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// The least that is a kernel of gfx950.
constexpr const char* kTrialName = "mlaforge_doctor_trial";
constexpr const char* kTrialSource =
    "extern \"C\" __attribute__((global)) void mlaforge_doctor_trial(int* out) { *out = 1; }\n";
constexpr const char* kGetCompiler =
    "Debian packages clang-22 and lld-22, or ROCm's package hipcc (clang 20 or newer) in PATH; MLAFORGE_COMPILER and "
    "--compiler name another";

CompilerFinding find(const std::string& name) {
  CompilerFinding finding{.name = name, .path = find_program(name).string(), .version = {}, .problem = {}};
  const Expected<Compiler> compiler = find_compiler(name);
  if (compiler) {
    finding.version = version_line(*compiler);
  } else {
    finding.problem = compiler.errors().front().problem;
  }
  return finding;
}

/// Compiles a kernel of one line in a cache of its own; empty, or what went wrong.
std::string try_compiler() {
  std::string folder = (fs::temp_directory_path() / "mlaforge-doctor-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr)
    return "no temporary folder can be made in " + fs::temp_directory_path().string();
  const auto compiled =
      compile_kernels({{.name = kTrialName, .target = "gfx950", .text = kTrialSource}}, {.cache = folder, .jobs = 1});
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return compiled ? std::string() : to_string(compiled.errors());
}

void look_for_compilers(Findings& findings) {
  std::vector<std::string> names = {"hipcc", "clang++-22"};
  if (const char* told = std::getenv("MLAFORGE_COMPILER"); told != nullptr && *told != '\0') {
    names.insert(names.begin(), told);
  }
  for (const std::string& name : names) findings.compilers.push_back(find(name));
  for (const char* rocm : {"/opt/rocm/bin/hipcc"}) {
    std::error_code ignored;
    if (findings.compilers[names.size() - 2].path.empty() && fs::exists(rocm, ignored)) {
      findings.compilers.push_back(find(rocm));
    }
  }
  const Expected<Compiler> taken = find_compiler("");
  if (!taken) {
    findings.compiler_problem = to_string(taken.errors());
    findings.missing.push_back({"a HIP compiler for gfx950", "kernels cannot be compiled", kGetCompiler});
    return;
  }
  findings.compiler = taken->path.string();
  findings.compiler_problem = try_compiler();
  if (!findings.compiler_problem.empty()) {
    findings.missing.push_back({"a HIP compiler that works", findings.compiler_problem, kGetCompiler});
  }
}

void look_for_devices(Findings& findings) {
  findings.hip = probe_hip(MLAFORGE_BACKEND_HIP);
  findings.simulator = probe_hip(MLAFORGE_BACKEND_SIMULATOR);
  if (!findings.runs_on_gpu()) {
    findings.missing.push_back({"an MI355X that answers",
                                "kernels run on the simulator only, and every time is a prediction",
                                "ROCm 7 with its driver (amdgpu) and libamdhip64 on a machine with a gfx950 GPU"});
  }
  if (!findings.simulates()) {
    findings.missing.push_back(
        {"the simulator", "without a GPU nothing can run",
         "build with MLAFORGE_BUILD_SIMULATOR=ON (Debian package llvm-22-dev), or install the component simulator; "
         "MLAFORGE_SIMULATOR_LIBRARY names its library elsewhere"});
  }
}

KernelSetFinding look_at_set(const fs::path& folder, const std::string& text) {
  KernelSetFinding finding{
      .folder = folder.string(), .name = {}, .target = {}, .kernels = 0, .code_objects = 0, .problem = {}};
  const Expected<Manifest> manifest = read_manifest(text);
  if (!manifest) {
    finding.problem = "its manifest is damaged: " + to_string(manifest.errors().front());
    return finding;
  }
  finding.name = manifest->config;
  finding.target = manifest->target;
  finding.kernels = manifest->kernels.size();
  for (const auto* list : {&manifest->kernels, &manifest->combines}) {
    for (const ManifestKernel& kernel : *list) {
      const std::string& file = kernel.code_object ? kernel.code_object->file : kernel.file;
      const auto bytes = read_file(folder / file);
      if (!bytes || (kernel.code_object ? kernel.code_object->sha256 : kernel.source_sha256) != sha256(*bytes)) {
        finding.problem = file + (bytes ? " is not what the manifest names" : " is missing");
      }
      finding.code_objects += kernel.code_object ? 1 : 0;
    }
  }
  return finding;
}

void look_for_kernel_sets(const std::vector<std::string>& told, Findings& findings) {
  std::error_code ignored;
  std::set<fs::path> folders = {"."};
  for (const fs::directory_entry& entry : fs::directory_iterator(".", ignored)) {
    if (entry.is_directory(ignored)) folders.insert(entry.path());
  }
  folders.insert(told.begin(), told.end());
  for (const fs::path& folder : folders) {
    const auto text = read_file(folder / kManifestName);
    if (text && manifest_files(*text)) {
      findings.kernel_sets.push_back(look_at_set(folder.lexically_normal(), *text));
    } else if (std::find(told.begin(), told.end(), folder.string()) != told.end()) {
      findings.kernel_sets.push_back(
          {folder.string(), "", "", 0, 0,
           "no kernel set of mlaforge" + (text ? ": " + to_string(manifest_files(*text).errors().front()) : "")});
    }
  }
}

void look_at_cache(Findings& findings) {
  CacheFinding& cache = findings.cache;
  const fs::path folder = default_cache();
  cache.folder = folder.string();
  std::error_code error;
  fs::path standing = folder;
  while (!fs::exists(standing, error) && standing.has_relative_path()) standing = standing.parent_path();
  cache.writable = fs::is_directory(standing, error) && ::access(standing.c_str(), W_OK | X_OK) == 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".co") continue;
    ++cache.code_objects;
    cache.bytes += entry.file_size(error);
  }
  if (!cache.writable) {
    findings.missing.push_back({"a folder for the compile cache", cache.folder + " cannot be written",
                                "set XDG_CACHE_HOME to a folder that can, or give --cache"});
  }
}

Json to_json(const HipFinding& hip) {
  Json devices = Json::array();
  for (const DeviceFinding& device : hip.devices) {
    devices.push_back({{"name", device.name}, {"target", device.target}, {"compute_units", device.compute_units}});
  }
  return {{"path", hip.path}, {"problem", hip.problem}, {"is_simulator", hip.is_simulator}, {"devices", devices}};
}

}  // namespace

bool Findings::runs_on_gpu() const {
  return !hip.is_simulator && std::any_of(hip.devices.begin(), hip.devices.end(),
                                          [](const DeviceFinding& device) { return device.target == "gfx950"; });
}

Findings look(const std::vector<std::string>& folders) {
  Findings findings;
  look_for_devices(findings);  // first: it forks, and compiling starts threads
  look_for_compilers(findings);
  look_for_kernel_sets(folders, findings);
  look_at_cache(findings);
  return findings;
}

Json to_json(const Findings& findings) {
  Json compilers = Json::array();
  for (const CompilerFinding& compiler : findings.compilers) {
    compilers.push_back({{"name", compiler.name},
                         {"path", compiler.path},
                         {"version", compiler.version},
                         {"problem", compiler.problem}});
  }
  Json sets = Json::array();
  for (const KernelSetFinding& set : findings.kernel_sets) {
    sets.push_back({{"folder", set.folder},
                    {"name", set.name},
                    {"target", set.target},
                    {"kernels", set.kernels},
                    {"code_objects", set.code_objects},
                    {"problem", set.problem}});
  }
  Json missing = Json::array();
  for (const Missing& item : findings.missing) {
    missing.push_back({{"what", item.what}, {"why", item.why}, {"get", item.get}});
  }
  const CacheFinding& cache = findings.cache;
  return {{"compilers", compilers},
          {"compiler", {{"path", findings.compiler}, {"problem", findings.compiler_problem}}},
          {"hip", to_json(findings.hip)},
          {"simulator", to_json(findings.simulator)},
          {"kernel_sets", sets},
          {"cache",
           {{"folder", cache.folder},
            {"writable", cache.writable},
            {"code_objects", cache.code_objects},
            {"bytes", cache.bytes}}},
          {"can",
           {{"generate", true},
            {"compile", findings.compiles()},
            {"run_on_gpu", findings.runs_on_gpu()},
            {"simulate", findings.simulates()}}},
          {"missing", missing}};
}

}  // namespace mlaforge::doctor
