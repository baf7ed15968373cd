// From a config's text to the text of every file of its kernel set; nothing is compiled or written.
#include "generator/emit/emit.h"

#include <benchmark/benchmark.h>

#include <stdexcept>
#include <string>

namespace {

/// `variants` kernels of Kimi-K3 at TP 8: one query position, splits of 1 and up.
std::string config_of(int64_t variants) {
  std::string splits;
  for (int64_t i = 1; i <= variants; ++i) splits += (i == 1 ? "" : ", ") + std::to_string(i);
  return R"({"name": "benchmark", "model": {"num_heads": 96}, "tensor_parallel": 8,
             "kernels": [{"query_length": 1, "splits": [)" +
         splits + "]}]}";
}

void emit(benchmark::State& state) {
  const std::string text = config_of(state.range(0));
  size_t files = 0;
  size_t bytes = 0;
  for (auto _ : state) {
    const auto config = mlaforge::parse_config(text);
    if (!config) throw std::runtime_error(to_string(config.errors()));
    const auto plan = mlaforge::plan_deployment(*config);
    const auto emitted = mlaforge::emit_deployment(plan.value());
    files = emitted.value().size();
    bytes = 0;
    for (const mlaforge::EmittedFile& file : *emitted) bytes += file.text.size();
  }
  state.counters["files"] = static_cast<double>(files);
  state.counters["bytes"] = static_cast<double>(bytes);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("emit", emit)->Arg(1)->Arg(50)->Arg(200)->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
