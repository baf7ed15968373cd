// What this machine has for mlaforge: compilers, HIP, devices, the simulator, kernel sets, the cache, and what is
// missing.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mlaforge::doctor {

/// A HIP compiler by the name that was looked for.
struct CompilerFinding {
  std::string name;
  std::string path;     ///< empty: not found
  std::string version;  ///< its first line
  std::string problem;  ///< why it cannot serve; empty where it can
};

struct DeviceFinding {
  std::string name;
  std::string target;
  int compute_units = 0;
};

/// A HIP library, AMD's or the simulator's.
struct HipFinding {
  std::string path;     ///< the file that was opened; empty: none
  std::string problem;  ///< why it does not serve, each path tried
  bool is_simulator = false;
  std::vector<DeviceFinding> devices;
};

/// A folder that `generate` or `compile` wrote.
struct KernelSetFinding {
  std::string folder, name, target;
  size_t kernels = 0;
  size_t code_objects = 0;
  std::string problem;  ///< why it is not whole
};

struct CacheFinding {
  std::string folder;
  bool writable = false;  ///< or can be made
  size_t code_objects = 0;
  uintmax_t bytes = 0;
};

/// A need that nothing meets: what for, and how to meet it.
struct Missing {
  std::string what, why, get;
};

struct Findings {
  std::vector<CompilerFinding> compilers;
  std::string compiler;          ///< the path of the one that is taken; empty: none
  std::string compiler_problem;  ///< what a trial compilation said; empty: it made a code object
  HipFinding hip, simulator;
  std::vector<KernelSetFinding> kernel_sets;
  CacheFinding cache;
  std::vector<Missing> missing;

  bool compiles() const { return !compiler.empty() && compiler_problem.empty(); }
  bool runs_on_gpu() const;
  bool simulates() const { return !simulator.devices.empty(); }
  /// Kernels can be generated, compiled and run.
  bool whole() const { return compiles() && (runs_on_gpu() || simulates()); }
};

/// Looks at everything; nothing is left behind. `folders`: kernel sets to look at, besides the current folder and those
/// in it.
Findings look(const std::vector<std::string>& folders);

nlohmann::json to_json(const Findings& findings);

}  // namespace mlaforge::doctor
