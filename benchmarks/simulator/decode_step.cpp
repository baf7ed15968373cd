// Decode steps of Kimi-K3's 12 heads a rank on the simulator: one request of 65,536 tokens, every split's workgroups
// executed, the attention and the combine kernel. Arguments: splits, checks (0 none, 1 all), host threads. Counters:
// wave instructions, and how many a second a thread. Outputs must be the same bits for every
// number of threads.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "cli/run/kernels.h"
#include "cli/run/launch_memory.h"
#include "runtime/src/hip_api.h"

namespace {

using namespace mlaforge;

constexpr int kContext = 65536;
constexpr int kHeads = 12;

template <typename T>
T& checked(Expected<T>& result) {
  if (!result) throw std::runtime_error(to_string(result.errors()));
  return *result;
}

void check(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string(what) + ": " + mlaforge_last_error());
}

/// Wave instructions of all launches since it was set to 0.
uint64_t executed = 0;

decltype(HipApi::module_launch_kernel) launch_kernel = nullptr;
const char* (*stats_json)() = nullptr;

/// The simulator's launch, with its instructions counted.
int counted_launch(HipFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, HipStream stream, void** parameters,
                   void** extra) {
  const int error = launch_kernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,
                                  parameters, extra);
  executed += nlohmann::json::parse(stats_json()).at("instructions").get<uint64_t>();
  return error;
}

HipApi& simulator() {
  static HipApi hip = [] {
    HipApi loaded;
    check(load_hip(MLAFORGE_BACKEND_SIMULATOR, loaded) == MLAFORGE_SUCCESS, "the simulator");
    stats_json = reinterpret_cast<decltype(stats_json)>(dlsym(loaded.handle, "mlaforge_simulator_stats_json"));
    launch_kernel = std::exchange(loaded.module_launch_kernel, counted_launch);
    return loaded;
  }();
  return hip;
}

DeploymentPlan plan_of() {
  const auto config = parse_config(
      R"({"name": "benchmark", "model": {"num_heads": 96}, "tensor_parallel": 8,
          "kernels": [{"query_length": [1, 4], "splits": [1, 64, 256]}]})");
  return plan_deployment(config.value()).value();
}

/// Everything of a launch that is made once: inputs, kernel, buffers.
struct Step {
  Step(int qlen, int splits) : kernels(plan_of(), {}, simulator()) {
    reference::InputSpec spec;
    spec.heads = kHeads;
    spec.qlen = qlen;
    spec.contexts = {kContext};
    inputs = reference::make_inputs(spec);
    layout = run::output_layout(spec);
    mlaforge_problem problem = MLAFORGE_PROBLEM_INIT;
    problem.heads = kHeads;
    problem.qlen = qlen;
    problem.splits = splits;
    problem.longest_context = kContext;
    problem.pool_bytes = inputs.pool_bytes();
    auto kernel = kernels.select(problem);
    auto loaded = kernels.load(*checked(kernel), std::nullopt);
    library = &checked(loaded)->library;
    check(static_cast<bool>(library->select(problem, choice)), "select");
    uint64_t bytes = 0;
    check(static_cast<bool>(library->workspace_size(choice, bytes)), "workspace_size");
    auto uploaded = run::upload(simulator(), inputs);
    device.emplace(std::move(checked(uploaded)));
    o.emplace(allocate(layout.o_elements * sizeof(uint16_t) + 2 * run::guard_bytes));
    lse.emplace(allocate(layout.lse_elements * sizeof(float) + 2 * run::guard_bytes));
    workspace.emplace(allocate(bytes));
  }

  static run::DeviceBuffer allocate(size_t bytes) {
    auto buffer = run::DeviceBuffer::allocate(simulator(), bytes);
    return std::move(checked(buffer));
  }

  void launch() {
    const mlaforge_tensors tensors = run::make_tensors(inputs, *device, layout, *o, &*lse);
    const CallResult launched = library->launch(choice, tensors, workspace->as<void>(), workspace->bytes(), nullptr);
    if (!launched) throw std::runtime_error(launched.message + "\n" + simulator().simulator_last_report());
    check(simulator().device_synchronize() == hip_success, "hipDeviceSynchronize");
  }

  run::Kernels kernels;
  reference::Inputs inputs;
  run::OutputLayout layout{};
  Library* library = nullptr;
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  std::optional<run::DeviceInputs> device;
  std::optional<run::DeviceBuffer> o, lse, workspace;
};

void set_option(const char* key, const std::string& value) {
  check(simulator().simulator_set_option(key, value.c_str()) == 0, key);
}

void decode_step(benchmark::State& state) {
  const auto qlen = static_cast<int>(state.range(0));
  const auto splits = static_cast<int>(state.range(1));
  static std::map<std::pair<int, int>, std::unique_ptr<Step>> steps;
  static std::map<std::pair<int, int>, std::vector<uint16_t>> outputs;
  std::unique_ptr<Step>& step = steps[{qlen, splits}];
  if (!step) step = std::make_unique<Step>(qlen, splits);
  set_option("checks", state.range(2) == 0 ? "none" : "all");
  set_option("threads", std::to_string(state.range(3)));
  executed = 0;
  for (auto _ : state) step->launch();

  auto read = step->o->read<uint16_t>();
  const auto [known, first] = outputs.try_emplace({qlen, splits}, checked(read));
  if (!first && known->second != *read) state.SkipWithError("the outputs differ from those of the first run");
  state.counters["wave_instructions"] = static_cast<double>(executed) / static_cast<double>(state.iterations());
  state.counters["per_thread"] = benchmark::Counter(static_cast<double>(executed) / static_cast<double>(state.range(3)),
                                                    benchmark::Counter::kIsRate);
}

void arguments(benchmark::internal::Benchmark* benchmark) {
  for (const int qlen : {1, 4}) {
    for (const int splits : {1, 64, 256}) {
      for (const int checks : {0, 1}) {
        for (const int threads : {1, 2}) benchmark->Args({qlen, splits, checks, threads});
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("decode_step", decode_step)
      ->Apply(arguments)
      ->ArgNames({"qlen", "splits", "checks", "threads"})
      ->Unit(benchmark::kMillisecond)
      ->Iterations(1)
      ->MeasureProcessCPUTime()
      ->UseRealTime();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
