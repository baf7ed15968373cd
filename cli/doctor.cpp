// `mlaforge doctor`: what compiler, HIP library, device, simulator and kernel sets this machine has, and what is
// missing.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/doctor/findings.h"
#include "generator/config/nearest.h"

namespace mlaforge::cli {
namespace {

struct Options {
  std::vector<std::string> kernels;
  bool json = false;
};

void print_hip(const char* label, const doctor::HipFinding& hip) {
  if (!hip.problem.empty()) {
    fmt::print("{:<12} none: {}\n", label, hip.problem);
    return;
  }
  fmt::print("{:<12} {}{}\n", label, hip.path, hip.is_simulator ? " (the simulator)" : "");
  for (const doctor::DeviceFinding& device : hip.devices) {
    fmt::print("{:<12}   {}, {}, {} CUs{}\n", "", device.name, device.target, device.compute_units,
               device.target == "gfx950" ? "" : ": no kernels for it");
  }
}

void print_findings(const doctor::Findings& findings) {
  for (const doctor::CompilerFinding& compiler : findings.compilers) {
    const bool is_taken = !compiler.path.empty() && compiler.path == findings.compiler;
    fmt::print("{:<12} {}: {}{}\n", "compiler", compiler.name,
               compiler.problem.empty() ? fmt::format("{}, {}", compiler.path, compiler.version) : compiler.problem,
               !is_taken             ? ""
               : findings.compiles() ? "; taken, and makes code objects for gfx950"
                                     : "; taken, but does not work");
  }
  print_hip("HIP", findings.hip);
  print_hip("simulator", findings.simulator);
  for (const doctor::KernelSetFinding& set : findings.kernel_sets) {
    fmt::print("{:<12} {}: {}\n", "kernel set", set.folder,
               !set.problem.empty()
                   ? set.problem
                   : fmt::format("{} for {}, {}, {}", set.name, set.target, counted(set.kernels, "kernel"),
                                 counted(set.code_objects, "code object")));
  }
  fmt::print("{:<12} {}: {}, {:.1f} MB\n", "cache", findings.cache.folder,
             counted(findings.cache.code_objects, "code object"), static_cast<double>(findings.cache.bytes) / 1e6);
  for (const doctor::Missing& item : findings.missing) {
    fmt::print("{:<12} {}: {}\n{:<12}   to get it: {}\n", "missing", item.what, item.why, "", item.get);
  }
  fmt::print("{:<12} generate: yes; compile: {}; run: {}\n", "so it can", findings.compiles() ? "yes" : "no",
             findings.runs_on_gpu() ? "on the GPU"
             : findings.simulates() ? "on the simulator"
                                    : "no");
}

int doctor_command(const Options& options) {
  const doctor::Findings findings = doctor::look(options.kernels);
  if (options.json) {
    print_json(doctor::to_json(findings));
  } else {
    print_findings(findings);
  }
  return findings.whole() ? exit_done : exit_failed;
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("doctor", "What this machine has to compile and run kernels, and what is missing");
  command->add_option("--kernels", options->kernels,
                      "Kernel sets to look at, besides the current folder and the folders in it");
  command->add_flag("--json", options->json, "Report as JSON");
  command->footer("Exit codes: 0 kernels can be compiled and run, 1 they cannot, 2 bad input.");
  command->callback([options, &exit_code] { exit_code = doctor_command(*options); });
}

}  // namespace mlaforge::cli
