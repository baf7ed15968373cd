// What the runtime costs a server: select among 1,000 rows beside a hash table of the same keys, launch and open over a
// HIP table that does nothing. Figures and their targets: docs/runtime.md.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/src/key.h"
#include "tests/runtime/fixture.h"
#include "tests/runtime/noop_hip.h"

namespace {

using namespace mlaforge;
using namespace mlaforge::test;

constexpr std::array heads = {6, 12, 16, 24, 32};
constexpr std::array qlens = {1, 2, 4, 8};
constexpr std::array page_sizes = {1, 16, 32, 64, 128};
constexpr std::array splits = {1, 2, 4, 8, 16, 32, 64, 80, 128, 256};
constexpr std::array batches = {1, 4, 16, 64, 256};
constexpr std::array contexts = {1000, 8192, 65536, 131072};

/// 5 heads x 4 qlens x 5 page sizes x 10 splits: 1,000 rows, 100 keys of 10.
TestSet thousand_rows() {
  TestSet set;
  for (const int h : heads) {
    for (const int q : qlens) {
      for (const int p : page_sizes) {
        for (const int s : splits) {
          set.add(h, q, p, s, h == 6 ? 1 : 3);
        }
      }
    }
  }
  return set;
}

/// Every key at every batch, in an order that no predictor follows.
std::vector<mlaforge_problem> many_problems() {
  std::vector<mlaforge_problem> problems;
  for (const int h : heads) {
    for (const int q : qlens) {
      for (const int p : page_sizes) {
        for (const int b : batches) {
          mlaforge_problem wanted = problem(h, q, p);
          wanted.batch_capacity = b;
          wanted.longest_context = contexts[problems.size() % contexts.size()];
          problems.push_back(wanted);
        }
      }
    }
  }
  std::srand(1);
  for (size_t i = problems.size(); i > 1; --i) {
    std::swap(problems[i - 1], problems[static_cast<size_t>(std::rand()) % i]);
  }
  return problems;
}

/// A tuning text with a row for each key, batch and context.
std::string tuning_text(const TestSet& set) {
  std::string rows;
  for (const mlaforge_kernel_row& row : set.rows) {
    if (row.splits != 8) {
      continue;
    }
    for (const int b : batches) {
      for (const int c : contexts) {
        rows += std::string(rows.empty() ? "" : ",") + R"({"problem": {"heads": )" + std::to_string(row.heads) +
                R"(, "qlen": )" + std::to_string(row.qlen) + R"(, "page_size": )" + std::to_string(row.page_size) +
                R"(, "q_dtype": "bf16", "kv_dtype": "fp8_e4m3", "context_parallel": 1, "wide_kv": false, "batch": )" +
                std::to_string(b) + R"(, "context": )" + std::to_string(c) + R"(}, "kernel": ")" + row.name +
                R"(", "time_us": {"low": 1, "nominal": 1, "high": 1}})";
      }
    }
  }
  return R"({"schema_version": 1, "target": "gfx950", "compute_units": 256, "device": "", "source": "predicted",)"
         R"( "toolchain": "", "rows": [)" +
         rows + "]}";
}

mlaforge_library* open_noop(TestSet& set, const std::string& tuning = {}) {
  const mlaforge_kernel_set* sets[] = {set.get()};
  const mlaforge_tuning_text text = {"benchmark", tuning.data(), tuning.size()};
  mlaforge_open_options options = MLAFORGE_OPEN_OPTIONS_INIT;
  options.kernel_sets = sets;
  options.kernel_set_count = 1;
  options.tuning = &text;
  options.tuning_count = tuning.empty() ? 0 : 1;
  mlaforge_library* library = nullptr;
  if (open_device(noop_api(), options, &library) != MLAFORGE_SUCCESS) {
    std::fprintf(stderr, "%s\n", mlaforge_last_error());
    std::exit(1);
  }
  return library;
}

void run_selects(benchmark::State& state, const mlaforge_library* library,
                 const std::vector<mlaforge_problem>& problems = many_problems()) {
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  size_t i = 0;
  for (auto _ : state) {
    if (mlaforge_select(library, &problems[i], &choice) != MLAFORGE_SUCCESS) {
      state.SkipWithError(mlaforge_last_error());
      break;
    }
    benchmark::DoNotOptimize(choice);
    i = i + 1 < problems.size() ? i + 1 : 0;
  }
}

void select_by_cost_model(benchmark::State& state) {
  TestSet set = thousand_rows();
  mlaforge_library* library = open_noop(set);
  run_selects(state, library);
  mlaforge_close(library);
}

void select_by_tuning(benchmark::State& state) {
  TestSet set = thousand_rows();
  mlaforge_library* library = open_noop(set, tuning_text(set));
  run_selects(state, library);
  mlaforge_close(library);
}

/// The exact rows asked for by their splits: select does what a hash table of all 1,000 keys does.
void select_exact_splits(benchmark::State& state) {
  TestSet set = thousand_rows();
  mlaforge_library* library = open_noop(set);
  std::vector<mlaforge_problem> problems = many_problems();
  for (size_t i = 0; i < problems.size(); ++i) {
    problems[i].splits = splits[i % splits.size()];
  }
  run_selects(state, library, problems);
  mlaforge_close(library);
}

struct ExactKey {
  uint64_t function;
  int32_t splits;
  bool operator==(const ExactKey&) const = default;
};

struct ExactKeyHash {
  size_t operator()(const ExactKey& key) const {
    return std::hash<uint64_t>()(key.function * 0x9e3779b97f4a7c15ULL + static_cast<uint64_t>(key.splits));
  }
};

void unordered_map_exact_splits(benchmark::State& state) {
  TestSet set = thousand_rows();
  std::unordered_map<ExactKey, const mlaforge_kernel_row*, ExactKeyHash> map;
  for (const mlaforge_kernel_row& row : set.rows) {
    map[{pack_key(row), row.splits}] = &row;
  }
  std::vector<mlaforge_problem> problems = many_problems();
  for (size_t i = 0; i < problems.size(); ++i) {
    problems[i].splits = splits[i % splits.size()];
    problems[i].probability_parts = 2;
  }
  size_t i = 0;
  for (auto _ : state) {
    const auto found = map.find({pack_key(problems[i], false), problems[i].splits});
    if (found == map.end()) {
      state.SkipWithError("a key is not there");
      break;
    }
    benchmark::DoNotOptimize(found->second);
    i = i + 1 < problems.size() ? i + 1 : 0;
  }
}

struct Launch {
  TestSet set;
  mlaforge_library* library = nullptr;
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  mlaforge_tensors t = tensors(12, 4);
  uint64_t bytes = 0;

  Launch() : set(thousand_rows()), library(open_noop(set)) {
    const mlaforge_problem wanted = problem(12, 4, 1, 8);
    mlaforge_select(library, &wanted, &choice);
    mlaforge_workspace_size(library, &choice, &bytes);
  }
  ~Launch() { mlaforge_close(library); }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
};

/// mlaforge_launch with two kernels, over calls that return at once.
void launch_on_noop(benchmark::State& state) {
  const Launch launch;
  for (auto _ : state) {
    if (mlaforge_launch(launch.library, &launch.choice, &launch.t, address(0x80000), launch.bytes, address(0x77)) !=
        MLAFORGE_SUCCESS) {
      state.SkipWithError(mlaforge_last_error());
      break;
    }
  }
}

/// The same two HIP calls alone: what launch_on_noop's time is on top of.
void two_hip_launches_on_noop(benchmark::State& state) {
  HipApi api = noop_api();
  benchmark::DoNotOptimize(api);
  mlaforge_attention_args args{};
  size_t bytes = sizeof(args);
  void* extra[] = {address(1), &args, address(2), &bytes, address(3)};
  for (auto _ : state) {
    for (int kernel = 0; kernel < 2; ++kernel) {
      benchmark::DoNotOptimize(api.module_launch_kernel(nullptr, 96, 1, 1, 512, 1, 1, 0, nullptr, nullptr, extra));
    }
  }
}

void open_and_close_100_kernels(benchmark::State& state) {
  TestSet set;
  for (const int q : qlens) {
    for (const int p : page_sizes) {
      for (const int s : {1, 4, 8, 16, 32}) {
        set.add(12, q, p, s);
      }
    }
  }
  const std::string tuning = tuning_text(set);
  for (auto _ : state) {
    mlaforge_library* library = open_noop(set, state.range(0) != 0 ? tuning : std::string());
    benchmark::DoNotOptimize(library);
    mlaforge_close(library);
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  benchmark::RegisterBenchmark("select_by_cost_model", select_by_cost_model);
  benchmark::RegisterBenchmark("select_by_tuning", select_by_tuning);
  benchmark::RegisterBenchmark("select_exact_splits", select_exact_splits);
  benchmark::RegisterBenchmark("unordered_map_exact_splits", unordered_map_exact_splits);
  benchmark::RegisterBenchmark("launch_on_noop", launch_on_noop);
  benchmark::RegisterBenchmark("two_hip_launches_on_noop", two_hip_launches_on_noop);
  benchmark::RegisterBenchmark("open_and_close_100_kernels", open_and_close_100_kernels)
      ->ArgName("tuning")
      ->Arg(0)
      ->Arg(1)
      ->Unit(benchmark::kMillisecond);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
