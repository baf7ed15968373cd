// The runtime on the simulated device with real kernels: captured graphs, several devices, fixed splits. Right values
// are the float64 reference's.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "cli/run/launch_memory.h"
#include "runtime/src/library.h"
#include "tests/kernels/bench.h"

using namespace mlaforge;
using namespace mlaforge::test;
using mlaforge::run::DeviceBuffer;
using mlaforge::run::guard_bytes;

namespace {

bool says(const std::string& text) { return std::string(mlaforge_last_error()).find(text) != std::string::npos; }

template <typename Value>
Value good(Expected<Value> value) {
  INFO((value ? std::string() : to_string(value.errors())));
  REQUIRE(value.has_value());
  return std::move(*value);
}

void good(int hip_status) { REQUIRE(hip_status == 0); }

/// The library of the default config's kernels with these splits, for 12 heads and this qlen, on a device.
Library open_kernels(int qlen, const std::vector<int>& splits, int device = 0) {
  run::Kernels& kernels = kernels_of(config_text(12, {qlen}, splits));
  std::vector<mlaforge_kernel_row> rows;
  std::vector<mlaforge_code_object> objects;
  for (const int count : splits) {
    mlaforge_problem wanted = MLAFORGE_PROBLEM_INIT;
    wanted.heads = 12;
    wanted.qlen = qlen;
    wanted.splits = count;
    wanted.pool_bytes = MLAFORGE_KEY_DIM;
    const PlannedKernel* kernel = good(kernels.select(wanted));
    for (const run::CodeImage& image : *good(kernels.images(*kernel))) {
      objects.push_back({image.name.c_str(), image.bytes.data(), image.bytes.size()});
    }
    rows.push_back(make_row(*kernel));
  }
  mlaforge_kernel_set set = MLAFORGE_KERNEL_SET_INIT;
  set.name = "test";
  set.rows = rows.data();
  set.row_count = rows.size();
  set.code_objects = objects.data();
  set.code_object_count = objects.size();
  const mlaforge_kernel_set* sets[] = {&set};
  mlaforge_open_options options = MLAFORGE_OPEN_OPTIONS_INIT;
  options.device = device;
  options.kernel_sets = sets;
  options.kernel_set_count = 1;
  mlaforge_library* library = nullptr;
  const mlaforge_status status = open_device(simulator(), options, &library);
  INFO(mlaforge_last_error());
  REQUIRE(status == MLAFORGE_SUCCESS);
  return Library(library);
}

reference::InputSpec spec_of(std::vector<int> contexts, int qlen) {
  reference::InputSpec spec;
  spec.requests = static_cast<int>(contexts.size());
  spec.contexts = std::move(contexts);
  spec.qlen = qlen;
  return spec;
}

mlaforge_problem problem_of(const reference::Inputs& inputs) {
  mlaforge_problem problem = MLAFORGE_PROBLEM_INIT;
  problem.heads = inputs.spec.heads;
  problem.qlen = inputs.spec.qlen;
  problem.batch_capacity = inputs.spec.requests;
  problem.longest_context = inputs.longest_context();
  problem.pool_bytes = inputs.pool_bytes();
  return problem;
}

/// Inputs, outputs and workspace of a choice on the current device.
struct DeviceCase {
  const reference::Inputs& inputs;
  run::OutputLayout layout;
  run::DeviceInputs device;
  DeviceBuffer o, lse, workspace;
  mlaforge_tensors tensors;

  DeviceCase(const Library& library, const mlaforge_choice& choice, const reference::Inputs& from)
      : inputs(from),
        layout(run::output_layout(from.spec)),
        device(good(run::upload(simulator(), from))),
        o(good(DeviceBuffer::allocate(simulator(), layout.o_elements * sizeof(uint16_t) + 2 * guard_bytes))),
        lse(good(DeviceBuffer::allocate(simulator(), layout.lse_elements * sizeof(float) + 2 * guard_bytes))),
        workspace(good(DeviceBuffer::allocate(simulator(), workspace_bytes(library, choice)))),
        tensors(run::make_tensors(from, device, layout, o, &lse)) {
    REQUIRE(workspace.fill(0xff));
    clear();
  }

  static uint64_t workspace_bytes(const Library& library, const mlaforge_choice& choice) {
    uint64_t bytes = 0;
    REQUIRE(library.workspace_size(choice, bytes));
    return bytes;
  }

  void clear() const {
    REQUIRE(o.fill(run::canary_byte));
    REQUIRE(lse.fill(run::canary_byte));
  }

  std::vector<uint16_t> read_o() const { return good(o.read<uint16_t>()); }

  CallResult launch(const Library& library, const mlaforge_choice& choice, void* stream) const {
    return library.launch(choice, tensors, workspace.as<void>(), workspace.bytes(), stream);
  }

  /// Compares what was stored with float64 attention over `problem`.
  void expect(const reference::AttentionProblem& problem) const {
    const std::vector<uint16_t> o_words = read_o();
    const std::vector<float> lse_words = good(lse.read<float>());
    reference::StoredOutput stored;
    stored.o = o_words.data() + guard_bytes / sizeof(uint16_t);
    stored.lse = lse_words.data() + guard_bytes / sizeof(float);
    stored.o_token_stride = layout.o_token_stride;
    stored.o_head_stride = layout.o_head_stride;
    stored.lse_token_stride = layout.lse_token_stride;
    stored.lse_head_stride = 1;
    const reference::Comparison comparison = reference::compare(problem, reference::attention(problem), stored);
    INFO(comparison.failure);
    CHECK(comparison.passed);
  }
};

template <typename Function>
Function hip_function(const char* name) {
  const auto function = reinterpret_cast<Function>(dlsym(simulator().handle, name));
  REQUIRE(function != nullptr);
  return function;
}

void write_device(const void* to, const std::vector<int32_t>& values) {
  good(simulator().memcpy(const_cast<void*>(to), values.data(), values.size() * sizeof(int32_t),
                          hip_copy_host_to_device));
}

/// Gives the simulator this many devices for a scope.
struct Devices {
  explicit Devices(const char* count) { good(simulator().simulator_set_option("devices", count)); }
  ~Devices() {
    simulator().set_device(0);
    simulator().simulator_set_option("devices", "1");
  }
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;
};

}  // namespace

TEST_CASE("a launch captured at length 1 is right when it is replayed at 100,000 (vllm#51119)") {
  const reference::Inputs inputs = reference::make_inputs(spec_of({100000, 5000}, 1));
  const Library library = open_kernels(1, {1, 8, 64});
  mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
  REQUIRE(library.select(problem_of(inputs), choice));
  REQUIRE(choice.row->splits == 64);  // by capacity: the length at capture is not known to select
  DeviceCase on_device(library, choice, inputs);
  void* stream = nullptr;
  good(simulator().stream_create(&stream));

  write_device(on_device.tensors.seq_len, {1, 1});
  void* graph = nullptr;
  void* replay = nullptr;
  good(hip_function<int (*)(void*, int)>("hipStreamBeginCapture")(stream, 0));
  CHECK(on_device.launch(library, choice, stream));
  good(hip_function<int (*)(void*, void**)>("hipStreamEndCapture")(stream, &graph));
  good(hip_function<int (*)(void**, void*, void**, char*, size_t)>("hipGraphInstantiate")(&replay, graph, nullptr,
                                                                                          nullptr, 0));
  const std::vector<uint16_t> untouched = on_device.read_o();
  CHECK(std::all_of(untouched.begin(), untouched.end(), [](uint16_t word) { return word == 0xa5a5; }));
  const auto expect_replay = [&](const std::vector<int32_t>& seq_len, const std::vector<int32_t>& page_table) {
    INFO("lengths " << seq_len[0] << ", " << seq_len[1]);
    write_device(on_device.tensors.seq_len, seq_len);
    write_device(on_device.tensors.page_table, page_table);
    on_device.clear();
    good(hip_function<int (*)(void*, void*)>("hipGraphLaunch")(replay, stream));
    good(simulator().stream_synchronize(stream));
    reference::AttentionProblem problem = inputs.problem();
    problem.seq_len = seq_len.data();
    problem.page_table = page_table.data();
    on_device.expect(problem);
  };
  expect_replay({1, 1}, inputs.page_table);
  expect_replay({100000, 5000}, inputs.page_table);
  // Other pages in another order: the first request's tokens backwards.
  std::vector<int32_t> turned = inputs.page_table;
  std::reverse(turned.begin() + inputs.page_indptr[0], turned.begin() + inputs.page_indptr[0] + 100000);
  expect_replay({7000, 0}, turned);
  good(hip_function<int (*)(void*)>("hipGraphExecDestroy")(replay));
  good(hip_function<int (*)(void*)>("hipGraphDestroy")(graph));
  good(simulator().stream_destroy(stream));
}

TEST_CASE("with fixed_split a request's bits are the same whatever its batch mates and its capacity") {
  const reference::Inputs inputs = reference::make_inputs(spec_of({3000, 1, 2049, 0, 700, 2999, 64, 65, 1500}, 4));
  const Library library = open_kernels(4, {1, 8, 64});
  mlaforge_problem problem = problem_of(inputs);
  mlaforge_choice tuned[2] = {MLAFORGE_CHOICE_INIT, MLAFORGE_CHOICE_INIT};
  problem.batch_capacity = 1;
  REQUIRE(library.select(problem, tuned[0]));
  problem.batch_capacity = 512;
  REQUIRE(library.select(problem, tuned[1]));
  REQUIRE(tuned[0].row != tuned[1].row);  // else the policy would change nothing here

  problem.policy = MLAFORGE_FIXED_SPLIT;
  problem.batch_capacity = inputs.spec.requests;
  mlaforge_choice together = MLAFORGE_CHOICE_INIT;
  REQUIRE(library.select(problem, together));
  REQUIRE(together.row->splits > 1);
  const DeviceCase batch(library, together, inputs);
  REQUIRE(batch.launch(library, together, nullptr));
  batch.expect(inputs.problem());
  const std::vector<uint16_t> in_batch = batch.read_o();

  for (const int capacity : {1, 512}) {
    problem.batch_capacity = capacity;
    mlaforge_choice alone = MLAFORGE_CHOICE_INIT;
    REQUIRE(library.select(problem, alone));
    CHECK(alone.row == together.row);
    const DeviceCase single(library, alone, inputs);
    for (int request = 0; request < inputs.spec.requests; ++request) {
      INFO("request " << request << ", capacity " << capacity);
      mlaforge_tensors t = single.tensors;
      const int64_t token = int64_t{request} * inputs.spec.qlen;
      t.q = static_cast<const uint16_t*>(t.q) + token * t.q_token_stride;
      t.page_indptr += request;
      t.seq_len += request;
      t.o = static_cast<uint16_t*>(t.o) + token * t.o_token_stride;
      t.lse += token * t.lse_token_stride;
      t.requests = 1;
      single.clear();
      REQUIRE(library.launch(alone, t, single.workspace.as<void>(), single.workspace.bytes(), nullptr));
      const std::vector<uint16_t> o = single.read_o();
      const auto first = static_cast<ptrdiff_t>(guard_bytes / sizeof(uint16_t)) + token * t.o_token_stride;
      const auto end = first + inputs.spec.qlen * t.o_token_stride;
      CHECK(std::equal(o.begin() + first, o.begin() + end, in_batch.begin() + first));
    }
  }
}

TEST_CASE("two devices serve two threads at once, each with modules of its own") {
  const Devices devices("2");
  const reference::Inputs inputs[] = {reference::make_inputs(spec_of({500, 129}, 4)),
                                      reference::make_inputs(spec_of({40, 1000}, 4))};
  const Library libraries[] = {open_kernels(4, {8}, 0), open_kernels(4, {8}, 1)};
  std::optional<DeviceCase> cases[2];
  mlaforge_choice choices[] = {MLAFORGE_CHOICE_INIT, MLAFORGE_CHOICE_INIT};
  void* streams[2] = {};
  for (int d = 0; d < 2; ++d) {
    good(simulator().set_device(d));
    REQUIRE(libraries[d].select(problem_of(inputs[d]), choices[d]));
    cases[d].emplace(libraries[d], choices[d], inputs[d]);
    good(simulator().stream_create(&streams[d]));
  }
  std::string problems[2];
  const auto serve = [&](int d) {
    if (simulator().set_device(d) != 0) {
      problems[d] = "hipSetDevice failed";
    }
    for (int i = 0; i < 3 && problems[d].empty(); ++i) {
      problems[d] = cases[d]->launch(libraries[d], choices[d], streams[d]).message;
    }
  };
  std::thread other(serve, 1);
  serve(0);
  other.join();
  for (int d = 0; d < 2; ++d) {
    INFO("device " << d);
    CHECK(problems[d].empty());
    good(simulator().set_device(d));
    cases[d]->expect(inputs[d].problem());
  }

  // What belongs to the other device is refused before anything is launched.
  good(simulator().set_device(0));
  cases[0]->clear();
  CHECK(cases[0]->launch(libraries[0], choices[0], streams[1]).status == MLAFORGE_WRONG_DEVICE);
  CHECK(says("is of device 1; allowed: a stream of the library's device 0"));
  CHECK(cases[0]->launch(libraries[1], choices[0], streams[1]).status == MLAFORGE_INVALID_ARGUMENT);
  CHECK(says("choice.row is not this library's"));
  good(simulator().set_device(1));
  CHECK(cases[0]->launch(libraries[0], choices[0], streams[0]).status == MLAFORGE_WRONG_DEVICE);
  CHECK(says("device 1 is current; the library's is 0"));
  const std::vector<uint16_t> o = cases[0]->read_o();
  CHECK(std::all_of(o.begin(), o.end(), [](uint16_t word) { return word == 0xa5a5; }));
  for (int d = 0; d < 2; ++d) {
    good(simulator().set_device(d));
    good(simulator().stream_destroy(streams[d]));
    cases[d].reset();
  }
}

TEST_CASE("a smaller plan in the workspace of a larger one reads nothing stale (flashinfer#4002)") {
  const reference::Inputs large = reference::make_inputs(spec_of({3000, 700, 129, 0}, 4));
  const reference::Inputs small = reference::make_inputs(spec_of({300, 40}, 4));
  const Library library = open_kernels(4, {8, 64});
  const auto choose = [&](const reference::Inputs& inputs, int splits) {
    mlaforge_problem problem = problem_of(inputs);
    problem.splits = splits;
    mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
    REQUIRE(library.select(problem, choice));
    return choice;
  };
  const mlaforge_choice plan_a = choose(large, 64);
  const mlaforge_choice plan_b = choose(small, 8);
  const DeviceCase a(library, plan_a, large);
  const DeviceCase b(library, plan_b, small);
  REQUIRE(a.workspace.bytes() > b.workspace.bytes());
  const auto expect_both = [&] {
    a.clear();
    b.clear();
    REQUIRE(a.launch(library, plan_a, nullptr));
    REQUIRE(library.launch(plan_b, b.tensors, a.workspace.as<void>(), a.workspace.bytes(), nullptr));
    a.expect(large.problem());
    b.expect(small.problem());
  };
  expect_both();  // the workspace was full of 0xff
  expect_both();  // and now holds what plan B left in plan A's place
}
