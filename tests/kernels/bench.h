// End to end on the simulator: a config's kernels, emitted, compiled (once, in the build tree's cache), launched and
// compared with float64. One process shares HIP, the plans and the loaded kernels.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "catch.h"
#include "cli/run/run_case.h"

namespace mlaforge::test {

/// A config: `heads` on one rank, every combination of the lists.
inline std::string config_text(int heads, const std::vector<int>& qlens, const std::vector<int>& splits,
                               const std::vector<int>& page_sizes = {1}) {
  return nlohmann::json{{"name", "test"},
                        {"model", {{"num_heads", heads}}},
                        {"page_size", page_sizes},
                        {"kernels", {{{"query_length", qlens}, {"splits", splits}}}}}
      .dump();
}

/// The simulator, as the runtime opens it.
inline const HipApi& simulator() {
  static const HipApi hip = [] {
    HipApi api;
    if (load_hip(MLAFORGE_BACKEND_SIMULATOR, api) != MLAFORGE_SUCCESS) {
      throw std::runtime_error(mlaforge_last_error());
    }
    return api;
  }();
  return hip;
}

/// The kernels of a config, kept for the process's life.
inline run::Kernels& kernels_of(const std::string& config) {
  static std::map<std::string, std::unique_ptr<run::Kernels>> known;
  std::unique_ptr<run::Kernels>& kernels = known[config];
  if (kernels == nullptr) {
    const Expected<DeploymentConfig> parsed = parse_config(config);
    REQUIRE((parsed.has_value() || to_string(parsed.errors()).empty()));
    Expected<DeploymentPlan> plan = plan_deployment(*parsed);
    REQUIRE((plan.has_value() || to_string(plan.errors()).empty()));
    kernels =
        std::make_unique<run::Kernels>(std::move(*plan), CompileOptions{.cache = MLAFORGE_TEST_CACHE}, simulator());
  }
  return *kernels;
}

/// Kimi-K3 at TP 8: 12 heads a rank.
inline run::Kernels& default_kernels() { return kernels_of(std::string(default_config_text())); }

/// A case of 12 heads, one of every field that a test sets.
struct Shape {
  int qlen = 1;
  std::vector<int> contexts = {};
  int splits = 1;
  int batch = 0;  ///< 0: one request a context
  std::string memory = "lazy";
  std::string input = "normal";
  int heads = 12;
  int page_size = 1;
};

inline run::RunCase case_of(const Shape& shape) {
  run::RunCase wanted;
  wanted.inputs.kind = reference::parse_input(shape.input).value();
  wanted.inputs.heads = shape.heads;
  wanted.inputs.qlen = shape.qlen;
  wanted.inputs.contexts = shape.contexts;
  wanted.inputs.requests = shape.batch != 0 ? shape.batch : static_cast<int>(shape.contexts.size());
  wanted.inputs.page_size = shape.page_size;
  wanted.splits = shape.splits;
  wanted.memory = shape.memory;
  return wanted;
}

inline std::string describe(const run::RunCase& wanted) {
  std::string contexts;
  for (const int context : wanted.inputs.contexts) {
    contexts += (contexts.empty() ? "" : ",") + std::to_string(context);
  }
  return "heads " + std::to_string(wanted.inputs.heads) + ", qlen " + std::to_string(wanted.inputs.qlen) + ", batch " +
         std::to_string(wanted.inputs.requests) + ", contexts " + contexts + ", splits " +
         std::to_string(wanted.splits) + ", page size " + std::to_string(wanted.inputs.page_size) + ", input " +
         reference::input_names()[static_cast<size_t>(wanted.inputs.kind)] + ", memory " + wanted.memory;
}

/// The report of a case that has a kernel.
inline run::RunReport report_of(run::Kernels& kernels, const run::RunCase& wanted) {
  const Expected<run::RunReport> report = run::run_case(simulator(), kernels, wanted);
  INFO(describe(wanted));
  INFO((report ? std::string() : to_string(report.errors())));
  REQUIRE(report.has_value());
  return *report;
}

/// Output within the accuracy of the float64 reference, canaries whole, no fault.
inline void expect_right(run::Kernels& kernels, const run::RunCase& wanted) {
  const run::RunReport report = report_of(kernels, wanted);
  INFO(describe(wanted));
  INFO(report.kernel << ": " << report.failure);
  CHECK(report.passed);
}
inline void expect_right(run::Kernels& kernels, const Shape& shape) { expect_right(kernels, case_of(shape)); }

}  // namespace mlaforge::test
