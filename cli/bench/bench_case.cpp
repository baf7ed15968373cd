#include "cli/bench/bench_case.h"

#include <dlfcn.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "cli/bench/measure.h"
#include "cli/run/device_buffer.h"
#include "reference/random.h"

namespace mlaforge::bench {
namespace {

using run::DeviceBuffer;

/// Of public streams on this chip (ROCm/aiter issues 4507 and 5456): what a measurement is held against.
constexpr double attainable_tb_s = 5.8;

Diagnostic device_error(std::string problem) { return {"device", std::move(problem), {}, {}, {}}; }

/// The pages of all requests lie shuffled in the pool, as in a server that has run for a while.
std::vector<int32_t> shuffled_pages(const BenchCase& wanted, int64_t count) {
  std::vector<int32_t> pages(static_cast<size_t>(count));
  std::iota(pages.begin(), pages.end(), 0);
  reference::Random random(wanted.seed, 1);
  for (size_t i = pages.size(); i > 1; --i) std::swap(pages[i - 1], pages[random.below(i)]);
  return pages;
}

/// The device memory of a step. The cache's bytes are zeros: no kernel's time depends on them.
struct StepMemory {
  std::optional<DeviceBuffer> q, kv, page_table, page_indptr, seq_len, o, lse, workspace;
  int64_t pages = 0;  ///< of a request
};

template <typename Element>
Status upload(const HipApi& hip, std::optional<DeviceBuffer>& to, const std::vector<Element>& host) {
  Expected<DeviceBuffer> buffer = DeviceBuffer::copy_of<Element>(hip, host);
  if (!buffer) return buffer.errors();
  to.emplace(std::move(*buffer));
  return std::monostate{};
}

Status allocate(const HipApi& hip, std::optional<DeviceBuffer>& to, uint64_t bytes) {
  Expected<DeviceBuffer> buffer = DeviceBuffer::allocate(hip, bytes);
  if (!buffer) return buffer.errors();
  to.emplace(std::move(*buffer));
  return std::monostate{};
}

uint64_t pool_bytes(const BenchCase& wanted) {
  const int64_t pages = (wanted.context + wanted.page_size - 1) / wanted.page_size;
  return static_cast<uint64_t>(pages) * wanted.batch * wanted.page_size * MLAFORGE_KEY_DIM;
}

/// What the config's first kernels are for, at this shape.
mlaforge_problem problem_of(const BenchCase& wanted, const DeploymentConfig& config) {
  mlaforge_problem problem = MLAFORGE_PROBLEM_INIT;
  const KernelRequest& first = config.kernels.front();
  problem.heads = config.heads;
  problem.q_dtype = first.query_dtype.front();
  problem.kv_dtype = first.kv_dtype.front();
  problem.context_parallel = first.context_parallel.front();
  problem.qlen = wanted.qlen;
  problem.page_size = wanted.page_size;
  problem.splits = wanted.splits;
  problem.batch_capacity = wanted.batch;
  problem.longest_context = wanted.context;
  problem.pool_bytes = pool_bytes(wanted);
  return problem;
}

/// What a kernel is for.
mlaforge_problem problem_of(const BenchCase& wanted, const Variant& variant) {
  mlaforge_problem problem = MLAFORGE_PROBLEM_INIT;
  problem.heads = variant.heads;
  problem.q_dtype = variant.q_dtype;
  problem.kv_dtype = variant.kv_dtype;
  problem.context_parallel = variant.context_parallel;
  problem.qlen = variant.qlen;
  problem.page_size = variant.page_size;
  problem.splits = variant.splits;
  problem.batch_capacity = wanted.batch;
  problem.longest_context = wanted.context;
  problem.pool_bytes = pool_bytes(wanted);
  return problem;
}

Status make_memory(const HipApi& hip, const BenchCase& wanted, const Variant& variant, uint64_t workspace_bytes,
                   StepMemory& m) {
  const int heads = variant.heads;
  const uint64_t query_bytes = variant.q_dtype == MLAFORGE_BF16 ? 2 : 1;
  const int64_t pages = (wanted.context + wanted.page_size - 1) / wanted.page_size;
  const int64_t rows = int64_t{wanted.batch} * wanted.qlen * heads;
  std::vector<int32_t> indptr(static_cast<size_t>(wanted.batch) + 1);
  for (size_t i = 0; i < indptr.size(); ++i) indptr[i] = static_cast<int32_t>(static_cast<int64_t>(i) * pages);
  const std::vector<int32_t> lengths(static_cast<size_t>(wanted.batch), wanted.context);
  const Status steps[] = {
      allocate(hip, m.q, static_cast<uint64_t>(rows) * MLAFORGE_KEY_DIM * query_bytes),
      allocate(hip, m.kv, pool_bytes(wanted)),
      upload(hip, m.page_table, shuffled_pages(wanted, pages * wanted.batch)),
      upload(hip, m.page_indptr, indptr),
      upload(hip, m.seq_len, lengths),
      allocate(hip, m.o, static_cast<uint64_t>(rows) * MLAFORGE_LATENT_DIM * 2),
      allocate(hip, m.lse, static_cast<uint64_t>(rows) * 4),
      allocate(hip, m.workspace, workspace_bytes),
  };
  for (const Status& step : steps) {
    if (!step) return step.errors();
  }
  return std::monostate{};
}

mlaforge_tensors make_tensors(const BenchCase& wanted, const StepMemory& m, int heads, double softmax_scale) {
  mlaforge_tensors t = MLAFORGE_TENSORS_INIT;
  t.q = m.q->as<void>();
  t.kv = m.kv->as<void>();
  t.page_table = m.page_table->as<int32_t>();
  t.page_indptr = m.page_indptr->as<int32_t>();
  t.seq_len = m.seq_len->as<int32_t>();
  t.o = m.o->as<void>();
  t.lse = m.lse->as<float>();
  t.q_head_stride = MLAFORGE_KEY_DIM;
  t.q_token_stride = int64_t{heads} * MLAFORGE_KEY_DIM;
  t.kv_row_stride = MLAFORGE_KEY_DIM;
  t.o_head_stride = MLAFORGE_LATENT_DIM;
  t.o_token_stride = int64_t{heads} * MLAFORGE_LATENT_DIM;
  t.lse_head_stride = 1;
  t.lse_token_stride = heads;
  t.requests = wanted.batch;
  t.softmax_scale = static_cast<float>(softmax_scale);
  return t;
}

Expected<std::string> simulator_text(const HipApi& hip, const char* function) {
  const auto call = reinterpret_cast<const char* (*)()>(dlsym(hip.handle, function));
  if (call == nullptr) return device_error(hip.path + " has no symbol " + function);
  return std::string(call());
}

Status set_options(const HipApi& hip, const BenchOptions& options) {
  std::vector<std::pair<std::string, std::string>> values = {
      {"timing_trace", options.trace ? "1" : "0"}, {"timing_ranges", options.ranges ? "1" : "0"}, {"timing", "1"}};
  // Bench shortens long contexts itself; the replay may then have all of an XCD's workgroups.
  values.emplace_back("timing_budget", options.full ? "1000000000" : "16000000");
  for (const auto& [key, value] : values) {
    if (hip.simulator_set_option(key.c_str(), value.c_str()) != 0) return device_error(hip.simulator_last_report());
  }
  return std::monostate{};
}

Range range_of(const nlohmann::json& json) {
  return {json.at("low").get<double>(), json.at("nominal").get<double>(), json.at("high").get<double>()};
}

/// The contexts to replay for a long one: shorter by whole blocks of every split, so that the longest split and the
/// last block are alike; time grows by the same for each block more.
struct Replays {
  int shorter = 0;  ///< 0: none, the whole context is replayed
  int longer = 0;
};

constexpr int64_t affordable_blocks = 700;  ///< of all workgroups of an XCD
constexpr int64_t fewest_blocks = 10;       ///< a split

Replays choose_replays(const BenchCase& wanted, const Variant& variant, const BenchOptions& options) {
  const int64_t blocks = (wanted.context + variant.block_tokens - 1) / variant.block_tokens;
  const int64_t share = blocks / variant.splits;
  const int64_t on_xcd = (int64_t{wanted.batch} * variant.splits * variant.head_groups + 7) / 8;
  const int64_t kept = options.trace ? fewest_blocks : std::max(fewest_blocks, affordable_blocks / on_xcd);
  if (options.full || share <= kept + kept / 4) return {0, wanted.context};
  const auto shorten = [&](int64_t to) {
    return static_cast<int>(wanted.context - (share - to) * variant.splits * variant.block_tokens);
  };
  return {shorten(kept * 3 / 5), shorten(kept)};
}

/// `later` and what it has more than `earlier`, `factor` times.
double extend(double earlier, double later, double factor) { return later + factor * (later - earlier); }

/// Extends the attention launch of `later` (a longer context than `earlier`'s) to the wanted context.
void extend_launch(nlohmann::json& later, const nlohmann::json& earlier, double factor) {
  for (const char* group : {"us", "bounds_us"}) {
    for (auto& [name, value] : later.at(group).items()) {
      value = extend(earlier.at(group).at(name).get<double>(), value.get<double>(), factor);
    }
  }
  for (const char* name : {"clocks", "hbm_bytes"}) {
    later[name] = extend(earlier.at(name).get<double>(), later.at(name).get<double>(), factor);
  }
}

/// Extrapolated ends may cross the nominal value where a launch hardly depends on what is not known.
Range ordered(Range range) {
  return {std::min(range.low, range.nominal), range.nominal, std::max(range.high, range.nominal)};
}

/// Puts the launches' timings together.
void fill(BenchReport& report, const nlohmann::json& device) {
  report.attention_us = ordered(range_of(report.attention.at("us")));
  report.launch_us = range_of(device.at("launch_us"));
  report.total_us = report.launch_us + report.attention_us;
  if (!report.combine_detail.is_null()) {
    report.combine_us = range_of(report.combine_detail.at("us"));
    report.gap_us = range_of(device.at("kernel_gap_us"));
    report.total_us = report.total_us + report.gap_us + report.combine_us;
  }
  report.bounds_us = report.attention.at("bounds_us").get<std::map<std::string, double>>();
  const auto largest = std::max_element(report.bounds_us.begin(), report.bounds_us.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  report.binding = largest->second < report.attention_us.nominal / 2 ? "latency" : largest->first;
  report.kv_bytes = double(report.wanted.batch) * report.wanted.context * MLAFORGE_KEY_DIM;
  report.kv_tb_s = report.kv_bytes / report.total_us.nominal * 1e-6;
  report.attainable_share = report.kv_tb_s / device.at("hbm_tb_s").at("nominal").get<double>();
}

/// A step that can be launched as often as wanted.
struct Step {
  const run::LoadedKernel* kernel = nullptr;
  StepMemory memory;
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  mlaforge_tensors tensors = MLAFORGE_TENSORS_INIT;

  Status launch(const HipApi& hip) const {
    const CallResult called =
        kernel->library.launch(choice, tensors, memory.workspace->as<void>(), memory.workspace->bytes(), nullptr);
    if (called) return std::monostate{};
    const std::string report = hip.simulator_last_report != nullptr ? hip.simulator_last_report() : "";
    return device_error(called.message + (report.empty() ? "" : "\n" + report));
  }
};

Expected<Step> make_step(const HipApi& hip, const run::LoadedKernel& kernel, const BenchCase& wanted,
                         double softmax_scale) {
  const Variant& variant = kernel.kernel->variant;
  Step step;
  step.kernel = &kernel;
  uint64_t workspace_bytes = 0;
  CallResult called = kernel.library.select(problem_of(wanted, variant), step.choice);
  if (called) called = kernel.library.workspace_size(step.choice, workspace_bytes);
  if (!called) return device_error(called.message);
  if (Status made = make_memory(hip, wanted, variant, workspace_bytes, step.memory); !made) return made.errors();
  step.tensors = make_tensors(wanted, step.memory, variant.heads, softmax_scale);
  return step;
}

std::string name_of(mlaforge_basis basis, bool splits_given) {
  switch (basis) {
    case MLAFORGE_BY_PREDICTED_TUNING:
      return "predicted_tuning";
    case MLAFORGE_BY_MEASURED_TUNING:
      return "measured_tuning";
    default:
      return splits_given ? "splits" : "cost_model";
  }
}

/// Launches one step and returns what the simulator says of it.
Expected<nlohmann::json> time_step(const HipApi& hip, const run::LoadedKernel& kernel, const BenchCase& wanted,
                                   double softmax_scale, const BenchOptions& options) {
  const Expected<Step> step = make_step(hip, kernel, wanted, softmax_scale);
  if (!step) return step.errors();
  if (Status set = set_options(hip, options); !set) return set.errors();
  if (Status launched = step->launch(hip); !launched) return launched.errors();
  if (const int error = hip.device_synchronize(); error != hip_success) {
    return run::hip_error(hip, "hipDeviceSynchronize", error);
  }
  const Expected<std::string> timing = simulator_text(hip, "mlaforge_simulator_timing_json");
  if (!timing) return timing.errors();
  return nlohmann::json::parse(*timing);
}

/// What a GPU takes, by events.
Status fill_measured(BenchReport& report, const HipApi& hip, const run::LoadedKernel& kernel, double softmax_scale,
                     const BenchOptions& options) {
  const Expected<Step> step = make_step(hip, kernel, report.wanted, softmax_scale);
  if (!step) return step.errors();
  // A simulator that predicted before would go on recording instead of running.
  if (hip.is_simulator() && hip.simulator_set_option("timing", "0") != 0)
    return device_error(hip.simulator_last_report());
  const Expected<Range> us = measure(hip, [&] { return step->launch(hip); }, options.warmups, options.repeats);
  if (!us) return us.errors();
  report.predicted = false;
  report.total_us = *us;
  report.kv_bytes = double(report.wanted.batch) * report.wanted.context * MLAFORGE_KEY_DIM;
  report.kv_tb_s = report.kv_bytes / us->nominal * 1e-6;
  report.attainable_share = report.kv_tb_s / attainable_tb_s;
  return std::monostate{};
}

}  // namespace

Expected<BenchReport> bench(const HipApi& hip, run::Kernels& kernels, const BenchCase& wanted,
                            const BenchOptions& options) {
  const Expected<run::ChosenKernel> chosen = kernels.choose(problem_of(wanted, kernels.config()));
  if (!chosen) return chosen.errors();
  Expected<BenchReport> report = bench_kernel(hip, kernels, *chosen->kernel, wanted, options);
  if (report) report->chosen_by = name_of(chosen->basis, wanted.splits != 0);
  return report;
}

Expected<BenchReport> bench_kernel(const HipApi& hip, run::Kernels& kernels, const PlannedKernel& kernel,
                                   const BenchCase& wanted, const BenchOptions& options) {
  const Expected<run::LoadedKernel*> loaded = kernels.load(kernel, std::nullopt);
  if (!loaded) return loaded.errors();
  const Variant& variant = kernel.variant;
  const double softmax_scale = kernels.config().softmax_scale;
  BenchReport report;
  report.wanted = wanted;
  report.wanted.qlen = variant.qlen;
  report.wanted.splits = variant.splits;
  report.wanted.page_size = variant.page_size;
  report.kernel = kernel.plan.name;
  report.combine = kernel.combine.has_value() ? kernel.combine->name : "";
  report.heads = variant.heads;
  report.splits = variant.splits;
  report.head_groups = variant.head_groups;
  report.block_tokens = variant.block_tokens;
  report.device = device_name(hip, 0);

  if (options.measure || !hip.is_simulator()) {
    if (Status measured = fill_measured(report, hip, **loaded, softmax_scale, options); !measured)
      return measured.errors();
    return report;
  }
  const Replays replays = choose_replays(report.wanted, variant, options);
  BenchCase replayed = report.wanted;
  replayed.context = report.replayed_context = replays.longer;
  const Expected<nlohmann::json> longer = time_step(hip, **loaded, replayed, softmax_scale, options);
  if (!longer) return longer.errors();
  if (options.trace) {
    Expected<std::string> trace = simulator_text(hip, "mlaforge_simulator_timing_trace_json");
    if (!trace) return trace.errors();
    report.trace = std::move(*trace);
  }
  report.attention = longer->at("launches").at(0);
  if (longer->at("launches").size() > 1) report.combine_detail = longer->at("launches").at(1);
  if (replays.shorter != 0) {
    replayed.context = replays.shorter;
    const Expected<nlohmann::json> shorter = time_step(hip, **loaded, replayed, softmax_scale, options);
    if (!shorter) return shorter.errors();
    extend_launch(report.attention, shorter->at("launches").at(0),
                  double(wanted.context - replays.longer) / (replays.longer - replays.shorter));
  }
  fill(report, longer->at("device"));
  return report;
}

}  // namespace mlaforge::bench
