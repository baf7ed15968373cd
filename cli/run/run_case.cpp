#include "cli/run/run_case.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>

#include "cli/run/launch_memory.h"
#include "reference/merge.h"

namespace mlaforge::run {
namespace {

constexpr int workspace_poison = 0xff;  // NaN in bf16 and float

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Outputs {
  std::vector<uint16_t> o;
  std::vector<uint32_t> lse;  ///< bits of floats; empty when not stored
  bool operator==(const Outputs&) const = default;
};

mlaforge_problem make_problem(const reference::InputSpec& spec, int splits) {
  mlaforge_problem problem = MLAFORGE_PROBLEM_INIT;
  problem.heads = spec.heads;
  problem.qlen = spec.qlen;
  problem.page_size = spec.page_size;
  problem.q_dtype = spec.query_dtype;
  problem.context_parallel = spec.context_parallel;
  problem.splits = splits;
  problem.batch_capacity = spec.requests;
  // What the pages fill at least; a plain pool has a few more.
  problem.longest_context = spec.contexts.empty() ? 0 : *std::max_element(spec.contexts.begin(), spec.contexts.end());
  problem.pool_bytes = spec.pool_bytes != 0
                           ? spec.pool_bytes
                           : std::max<uint64_t>(MLAFORGE_KEY_DIM, reference::least_pool_bytes(spec) / 2);
  return problem;
}

mlaforge_problem make_problem(const reference::Inputs& inputs, int splits) {
  mlaforge_problem problem = make_problem(inputs.spec, splits);
  problem.longest_context = inputs.longest_context();
  problem.pool_bytes = inputs.pool_bytes();
  return problem;
}

reference::Tolerance tolerance_of(const Variant& variant) {
  reference::Tolerance tolerance;
  if (variant.probability_parts == 1) {
    // An E4M3 P is off by up to 2^-4 of itself. Against a power of two the largest is so too, and the sum of P as PV
    // takes it, by which o is divided, may be off the other way.
    tolerance.rel_l2 = 3e-2;
    tolerance.row_error = variant.pipeline == MLAFORGE_WARP_SPECIALIZED ? 0x1p-3 : 0x1p-4;
  }
  return tolerance;
}

/// FNV-1a over the outputs' words, canaries and gaps included.
uint64_t fingerprint(const Outputs& outputs, uint64_t seed) {
  uint64_t hash = seed ^ 0xcbf29ce484222325ULL;
  const auto add = [&hash](uint64_t word) { hash = (hash ^ word) * 0x100000001b3ULL; };
  for (const uint16_t word : outputs.o) {
    add(word);
  }
  for (const uint32_t word : outputs.lse) {
    add(word);
  }
  return hash;
}

/// A run in progress: what the steps share.
class Runner {
 public:
  Runner(const HipApi& hip, LoadedKernel& kernel, const reference::Inputs& inputs, const RunCase& wanted)
      : hip_(hip), kernel_(kernel), inputs_(inputs), wanted_(wanted), layout_(output_layout(inputs.spec)) {}

  Expected<Outputs> launch(double& seconds) {
    if (Status prepared = prepare(); !prepared) {
      return prepared.errors();
    }
    const auto start = std::chrono::steady_clock::now();
    const mlaforge_tensors tensors = make_tensors(inputs_, *device_, layout_, *o_, lse_.has_value() ? &*lse_ : nullptr);
    const CallResult launched =
        kernel_.library.launch(choice_, tensors, workspace_->as<void>(), workspace_->bytes(), nullptr);
    if (!launched) {
      const std::string report = hip_.simulator_last_report != nullptr ? hip_.simulator_last_report() : "";
      return Diagnostic{"device", launched.message + (report.empty() ? "" : "\n" + report), {}, {}, {}};
    }
    if (const int error = hip_.device_synchronize(); error != hip_success) {
      return hip_error(hip_, "hipDeviceSynchronize", error);
    }
    seconds = seconds_since(start);
    return read_outputs();
  }

  std::string check_canaries(const Outputs& outputs) const {
    const std::string o = touched_canary_of_o(outputs.o, layout_, inputs_.spec);
    return !o.empty() || outputs.lse.empty() ? o : touched_canary_of_lse(outputs.lse, layout_, inputs_.spec);
  }

  /// The rows of `outputs`; `lse` keeps the floats.
  reference::StoredOutput stored(const Outputs& outputs, std::vector<float>& lse) const {
    reference::StoredOutput stored;
    stored.o = outputs.o.data() + guard_bytes / sizeof(uint16_t);
    lse.resize(outputs.lse.size());
    if (!lse.empty()) {
      std::memcpy(lse.data(), outputs.lse.data(), lse.size() * sizeof(float));
      stored.lse = lse.data() + guard_bytes / sizeof(float);
    }
    stored.o_token_stride = layout_.o_token_stride;
    stored.o_head_stride = layout_.o_head_stride;
    stored.lse_token_stride = layout_.lse_token_stride;
    stored.lse_head_stride = 1;
    return stored;
  }

  reference::Comparison compare(const Outputs& outputs, const reference::AttentionResult& right) const {
    std::vector<float> lse;
    return reference::compare(inputs_.problem(), right, stored(outputs, lse), tolerance_of(kernel_.kernel->variant));
  }

 private:
  /// Allocates once, then fills outputs with canaries and the workspace with NaN before every launch.
  Status prepare() {
    if (!device_.has_value()) {
      if (Status allocated = allocate(); !allocated) {
        return allocated;
      }
    }
    for (const DeviceBuffer* buffer : {&*o_, lse_.has_value() ? &*lse_ : nullptr}) {
      if (Status filled = buffer != nullptr ? buffer->fill(canary_byte) : std::monostate{}; !filled) {
        return filled;
      }
    }
    return workspace_->fill(workspace_poison);
  }

  Status allocate() {
    const mlaforge_problem problem = make_problem(inputs_, kernel_.kernel->variant.splits);
    uint64_t workspace_bytes = 0;
    CallResult called = kernel_.library.select(problem, choice_);
    if (called) {
      called = kernel_.library.workspace_size(choice_, workspace_bytes);
    }
    if (!called) {
      return Diagnostic{"device", called.message, {}, {}, {}};
    }
    Expected<DeviceInputs> device = upload(hip_, inputs_);
    if (!device) {
      return device.errors();
    }
    device_ = std::move(*device);
    const std::pair<std::optional<DeviceBuffer>*, size_t> outputs[] = {
        {&o_, layout_.o_elements * sizeof(uint16_t) + 2 * guard_bytes},
        {wanted_.store_lse ? &lse_ : nullptr, layout_.lse_elements * sizeof(float) + 2 * guard_bytes},
        {&workspace_, workspace_bytes},
    };
    for (const auto& [buffer, bytes] : outputs) {
      if (buffer == nullptr) {
        continue;
      }
      Expected<DeviceBuffer> allocated = DeviceBuffer::allocate(hip_, bytes);
      if (!allocated) {
        return allocated.errors();
      }
      buffer->emplace(std::move(*allocated));
    }
    return std::monostate{};
  }

  Expected<Outputs> read_outputs() const {
    Expected<std::vector<uint16_t>> o = o_->read<uint16_t>();
    if (!o) {
      return o.errors();
    }
    Outputs outputs{std::move(*o), {}};
    if (lse_.has_value()) {
      Expected<std::vector<uint32_t>> lse = lse_->read<uint32_t>();
      if (!lse) {
        return lse.errors();
      }
      outputs.lse = std::move(*lse);
    }
    return outputs;
  }

  const HipApi& hip_;
  LoadedKernel& kernel_;
  const reference::Inputs& inputs_;
  const RunCase& wanted_;
  OutputLayout layout_;
  mlaforge_choice choice_ = MLAFORGE_CHOICE_INIT;
  std::optional<DeviceInputs> device_;
  std::optional<DeviceBuffer> o_, lse_, workspace_;
};

Status set_simulator(const HipApi& hip, const RunCase& wanted) {
  const std::pair<const char*, const std::string*> options[] = {{"memory", &wanted.memory}, {"checks", &wanted.checks}};
  const RunCase defaults;
  for (const auto& [key, value] : options) {
    if (!hip.is_simulator()) {
      if (*value != (value == &wanted.memory ? defaults.memory : defaults.checks)) {
        return Diagnostic{std::string("--") + key, "a GPU has no such mode", *value, "nothing on a GPU",
                          "--device simulator"};
      }
    } else if (hip.simulator_set_option(key, value->c_str()) != 0) {
      // "mlaforge_simulator_set_option: option KEY is VALUE; allowed: ..."
      constexpr std::string_view kAllowed = "allowed: ";
      const std::string report = hip.simulator_last_report();
      const size_t at = report.find(kAllowed);
      return Diagnostic{.where = std::string("--") + key,
                        .problem = "not a value of the simulator's option",
                        .value = *value,
                        .allowed = at == std::string::npos ? report : report.substr(at + kAllowed.size()),
                        .nearest = {}};
    }
  }
  if (!hip.is_simulator()) return std::monostate{};
  // No kernel's wave takes so many: an endless loop ends in seconds, not hours.
  constexpr int64_t kInstructionsAStart = 1'000'000, kInstructionsABlock = 20'000, kBlockTokens = 64;
  const int64_t longest = *std::max_element(wanted.inputs.contexts.begin(), wanted.inputs.contexts.end());
  const std::string limit = std::to_string(kInstructionsAStart + (longest / kBlockTokens + 1) * kInstructionsABlock);
  if (hip.simulator_set_option("instruction_limit", limit.c_str()) != 0)
    return Diagnostic{"device", hip.simulator_last_report(), limit, {}, {}};
  return std::monostate{};
}

/// Launches as often as wanted and judges the outputs; adds to the report. Nothing when no launch came through.
std::optional<Outputs> run_and_judge(Runner& runner, const RunCase& wanted, const reference::Inputs& inputs,
                                     RunReport& report) {
  std::optional<Outputs> first;
  for (int i = 0; i < wanted.repeats && report.failure.empty(); ++i) {
    double seconds = 0;
    Expected<Outputs> outputs = runner.launch(seconds);
    report.run_seconds += seconds;
    if (!outputs) {
      report.failure = to_string(outputs.errors());
    } else if (!first.has_value()) {
      first = std::move(*outputs);
    } else if (*first != *outputs) {
      report.failure = "launch " + std::to_string(i + 1) + " of the same inputs gave other bits than the first";
    }
  }
  if (!first.has_value()) {
    return first;
  }
  report.fingerprint = fingerprint(*first, report.fingerprint);
  const auto start = std::chrono::steady_clock::now();
  report.compared = true;
  report.comparison = runner.compare(*first, reference::attention(inputs.problem()));
  report.reference_seconds += seconds_since(start);
  for (const std::string& failure : {runner.check_canaries(*first), report.comparison.failure}) {
    if (report.failure.empty()) {
      report.failure = failure;
    }
  }
  return first;
}

/// Every rank of a context-parallel world against its own tokens, and all merged against one rank that has them all.
void run_ranks(const HipApi& hip, LoadedKernel& kernel, const RunCase& wanted, RunReport& report) {
  const int world = wanted.inputs.context_parallel;
  std::vector<Outputs> outputs;
  std::vector<std::vector<float>> lse(static_cast<size_t>(world));
  std::vector<reference::StoredOutput> stored;
  outputs.reserve(static_cast<size_t>(world));
  for (int rank = 0; rank < world; ++rank) {
    reference::InputSpec spec = wanted.inputs;
    spec.rank = rank;
    const reference::Inputs inputs = reference::make_inputs(spec);
    Runner runner(hip, kernel, inputs, wanted);
    std::optional<Outputs> got = run_and_judge(runner, wanted, inputs, report);
    report.ranks.push_back(report.comparison);
    if (!report.failure.empty()) {
      report.failure = "rank " + std::to_string(rank) + ": " + report.failure;
      return;
    }
    outputs.push_back(std::move(*got));
    stored.push_back(runner.stored(outputs.back(), lse[static_cast<size_t>(rank)]));
  }
  const auto start = std::chrono::steady_clock::now();
  reference::InputSpec spec = wanted.inputs;
  spec.context_parallel = 1;
  spec.rank = 0;
  spec.pool_bytes = 0;
  const reference::Inputs whole = reference::make_inputs(spec);
  const reference::MergedOutput merged = reference::merge_ranks(stored, int64_t{spec.requests} * spec.qlen, spec.heads);
  reference::Tolerance tolerance = tolerance_of(kernel.kernel->variant);
  tolerance.row_scale = merged.row_scale;
  tolerance.row_error += 0x1p-9;  // each rank keeps its bound, and the merge rounds to bf16 once more
  report.comparison =
      reference::compare(whole.problem(), reference::attention(whole.problem()), merged.stored(spec.heads), tolerance);
  report.reference_seconds += seconds_since(start);
  if (!report.comparison.failure.empty()) {
    report.failure = "merged ranks: " + report.comparison.failure;
  }
}

Status check_pool(const reference::InputSpec& spec) {
  const uint64_t least = reference::least_pool_bytes(spec);
  if (spec.pool_bytes == 0 || spec.pool_bytes >= least) {
    return std::monostate{};
  }
  return Diagnostic{"--pool-bytes", "too small for twice the pages of the requests", std::to_string(spec.pool_bytes),
                    "at least " + std::to_string(least), std::to_string(least)};
}

/// A pool that the device has no room for. What HIP has no figure of is left to hipMalloc.
Status check_device_memory(const HipApi& hip, const reference::InputSpec& spec) {
  const auto get = reinterpret_cast<int (*)(size_t*, size_t*)>(dlsym(hip.handle, "hipMemGetInfo"));
  size_t free_bytes = 0, all_bytes = 0;
  if (get == nullptr || get(&free_bytes, &all_bytes) != hip_success || spec.pool_bytes <= free_bytes) {
    return std::monostate{};
  }
  return Diagnostic{"--pool-bytes",
                    "more than the device has free",
                    std::to_string(spec.pool_bytes),
                    std::to_string(reference::least_pool_bytes(spec)) + " .. " + std::to_string(free_bytes),
                    {}};
}

/// A cache that the machine cannot hold would end in the system killing the process.
Status check_memory(const HipApi& hip, const reference::InputSpec& spec) {
  const uint64_t cache = reference::least_pool_bytes(spec) / 2;
  const uint64_t needed = hip.is_simulator() ? 2 * cache : cache;  // the simulated device's copy
  const uint64_t memory =
      static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  if (needed <= memory) {
    return std::monostate{};
  }
  return Diagnostic{"--context", "the requests' cache does not fit this machine", std::to_string(needed) + " bytes",
                    "at most its memory, " + std::to_string(memory) + " bytes", "a smaller --batch or --context"};
}

}  // namespace

Expected<RunReport> run_case(const HipApi& hip, Kernels& kernels, const RunCase& wanted) {
  const auto start = std::chrono::steady_clock::now();
  if (Status set = set_simulator(hip, wanted); !set) {
    return set.errors();
  }
  for (const Status& checked :
       {check_pool(wanted.inputs), check_device_memory(hip, wanted.inputs), check_memory(hip, wanted.inputs)}) {
    if (!checked) {
      return checked.errors();
    }
  }
  // Inputs may be gigabytes: first ask whether there is a kernel at all.
  if (const auto any = kernels.select(make_problem(wanted.inputs, wanted.splits), wanted.filter); !any) {
    return any.errors();
  }
  const reference::Inputs inputs = reference::make_inputs(wanted.inputs);
  const Expected<const PlannedKernel*> kernel = kernels.select(make_problem(inputs, wanted.splits), wanted.filter);
  if (!kernel) {
    return kernel.errors();
  }
  RunReport report;
  report.kernel = (*kernel)->plan.name;
  report.combine = (*kernel)->combine.has_value() ? (*kernel)->combine->name : "";
  report.splits = (*kernel)->variant.splits;
  report.simulated = hip.is_simulator();
  report.device = device_name(hip, 0);
  report.setup_seconds = seconds_since(start);
  const Expected<LoadedKernel*> loaded = kernels.load(**kernel, wanted.kernel_source);
  if (!loaded) {
    if (loaded.errors().front().where == kCacheOption) return loaded.errors();
    report.failure = to_string(loaded.errors());
    return report;
  }
  report.loaded = true;
  report.compile_seconds = (*loaded)->compile_seconds;
  if (wanted.inputs.context_parallel > 1 && wanted.all_ranks) {
    run_ranks(hip, **loaded, wanted, report);
  } else {
    Runner runner(hip, **loaded, inputs, wanted);
    run_and_judge(runner, wanted, inputs, report);
  }
  report.passed = report.failure.empty();
  return report;
}

}  // namespace mlaforge::run
