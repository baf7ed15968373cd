// `mlaforge compile`: code objects of a config's kernels, or of a kernel set's folder, checked against the GPU's
// limits.
#include "generator/compile/compile.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/compile_options.h"
#include "cli/config_option.h"
#include "cli/progress.h"
#include "generator/compile/compiler.h"
#include "generator/compile/kernel_set.h"

namespace mlaforge::cli {
namespace {

struct Options {
  std::string config;
  std::string kernels;
  std::string out;
  std::string compiler;
  std::string cache;
  std::vector<std::string> only;
  unsigned jobs = 0;
  bool json = false;
};

Expected<KernelSet> read_set(const Options& options) {
  if (!options.kernels.empty()) return read_kernel_set(options.kernels);
  const Expected<DeploymentPlan> plan = read_plan(options.config);
  if (!plan) return plan.errors();
  const Expected<std::vector<EmittedFile>> files = emit_deployment(*plan);
  if (!files) return files.errors();
  return make_kernel_set(*files);
}

void print_kernels(const std::vector<CompiledKernel>& kernels) {
  for (const CompiledKernel& kernel : kernels) {
    const KernelResources& r = kernel.resources;
    fmt::print("{:<64} {:>3} VGPRs, {:>3} SGPRs, {:>6} B of LDS, {:>6} B of code{}\n", kernel.name, r.vgprs, r.sgprs,
               r.lds_bytes, r.code_bytes, kernel.cached ? " (cached)" : "");
  }
}

/// A kernel set of `generate`; writing code objects there would remove what its manifest lists.
bool holds_sources(const std::string& folder) {
  std::error_code ignored;
  const std::filesystem::path path(folder);
  return !folder.empty() && std::filesystem::exists(path / "manifest.json", ignored) &&
         std::filesystem::exists(path / "dispatch_table.cpp", ignored);
}

int compile(const Options& options) {
  Expected<KernelSet> set = read_set(options);
  if (!set) return report_errors(set.errors(), options.json, exit_bad_input);
  if (Status kept = keep_only(*set, options.only); !kept)
    return report_errors(kept.errors(), options.json, exit_bad_input);

  if (holds_sources(options.out)) {
    return report_errors({{.where = "--out",
                           .problem = "holds a kernel set's sources, which its code objects would replace",
                           .value = options.out,
                           .allowed = "another folder than `mlaforge generate` wrote"}},
                         options.json, exit_bad_input);
  }
  if (const Expected<Compiler> compiler = find_compiler(options.compiler); !compiler) {
    return report_errors(compiler.errors(), options.json, exit_bad_input);
  }
  CompileOptions compile_options{.compiler = options.compiler, .cache = options.cache, .jobs = options.jobs};
  if (!options.json) compile_options.progress = show_progress;
  const Expected<std::vector<CompiledKernel>> compiled = compile_kernels(set->sources, compile_options);
  if (!compiled) return report_errors(compiled.errors(), options.json, compile_exit_code(compiled.errors()));
  nlohmann::json manifest = compiled_manifest(*set, *compiled);
  if (!options.out.empty()) {
    Expected<nlohmann::json> written = write_code_objects(options.out, std::move(manifest), *compiled);
    if (!written) return report_errors(written.errors(), options.json, exit_bad_input);
    manifest = std::move(*written);
  }
  if (options.json) {
    print_json(manifest);
  } else {
    print_kernels(*compiled);
  }
  return exit_done;
}

}  // namespace

void add_compile(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("compile", "Compile kernels to code objects and check what they use");
  CLI::Option* config = add_config_option(*command, options->config);
  command->add_option("--kernels", options->kernels, "A folder that `generate` wrote")->excludes(config);
  command->add_option("--out", options->out, "Folder for <name>.co and a manifest with what each kernel uses");
  command->add_option("--only", options->only, "Compile only the kernels of these names");
  command->add_option("--jobs", options->jobs, "Compilers at once; default: one a core")->check(CLI::Range(1U, 1024U));
  add_compile_options(*command, options->compiler, options->cache);
  command->add_flag("--json", options->json, "Report as JSON");
  command->callback([options, &exit_code] { exit_code = compile(*options); });
}

}  // namespace mlaforge::cli
