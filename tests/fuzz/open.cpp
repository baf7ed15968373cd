#include "tests/fuzz/runtime_tables.h"

namespace mlaforge::fuzz {
namespace {

const char* hostile_text(Reader& reader, test::TestSet& set) {
  switch (reader.below(5)) {
    case 0:
      return nullptr;
    case 1:
      return "";
    case 2:
      return "gfx942";
    case 3:
      return set.keep(std::string(1 + reader.below(255) * 17, 'x'));
    default:
      return set.keep(std::string(text_of(reader.rest()).substr(0, reader.below(32))));
  }
}

void damage_row(Reader& reader, test::TestSet& set, mlaforge_kernel_row& row) {
  switch (reader.below(5)) {
    case 0:
      row.name = hostile_text(reader, set);
      return;
    case 1:
      row.combine_name = hostile_text(reader, set);
      return;
    case 2:
      row.target = hostile_text(reader, set);
      return;
    default: {  // the numbers, which stand before the strings
      const size_t at = reader.below(offsetof(mlaforge_kernel_row, target) / 4) * 4;
      const auto number = static_cast<int32_t>(hostile_number(reader));
      std::memcpy(reinterpret_cast<char*>(&row) + at, &number, sizeof number);
    }
  }
}

void damage_object(Reader& reader, test::TestSet& set, mlaforge_code_object& object) {
  switch (reader.below(4)) {
    case 0:
      object.name = hostile_text(reader, set);
      return;
    case 1:
      object.data = nullptr;
      return;
    case 2:
      object.bytes = 0;
      return;
    default: {  // any image; zeros behind it, which the fake HIP reads up to
      const char* const magics[] = {"\177ELF\2\1\1", "__CLANG_OFFLOAD_BUNDLE__", ""};
      const std::string image = magics[reader.below(3)] + std::string(text_of(reader.rest()));
      object.data = set.keep(image);
      object.bytes = image.size();
    }
  }
}

void damage_set(Reader& reader, mlaforge_kernel_set& set) {
  switch (reader.below(4)) {
    case 0:
      set.struct_size = static_cast<uint64_t>(hostile_number(reader));
      return;
    case 1:
      set.rows = nullptr;
      return;
    case 2:
      set.code_objects = nullptr;
      return;
    default:
      set.name = nullptr;
  }
}

constexpr std::array kCalls = {"hipGetDeviceCount",     "hipGetDevice",      "hipSetDevice",
                               "hipDeviceGetAttribute", "hipModuleLoadData", "hipModuleGetFunction"};

/// Every row of an opened table can be asked for, and launched or refused.
void use(mlaforge_library* library) {
  for (const mlaforge_kernel_row& row : library->table.rows) {
    mlaforge_problem problem = test::problem(row.heads, row.qlen, row.page_size, row.splits);
    problem.context_parallel = row.context_parallel;
    problem.q_dtype = row.q_dtype;
    problem.kv_dtype = row.kv_dtype;
    problem.batch_capacity = 1 << 20;
    mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
    const mlaforge_status status = mlaforge_select(library, &problem, &choice);
    require_message(status);
    if (status != MLAFORGE_SUCCESS) continue;
    uint64_t bytes = 0;
    require_message(mlaforge_workspace_size(library, &choice, &bytes));
    const mlaforge_tensors tensors = test::tensors(row.heads, problem.batch_capacity);
    require_message(mlaforge_launch(library, &choice, &tensors, test::address(0x80000), ~uint64_t{0}, nullptr));
  }
}

}  // namespace

void open(Input input) {
  Reader reader(input);
  test::FakeHip hip;
  test::TestSet set;
  add_rows(reader, set);
  const auto what = reader.take<uint8_t>();
  if ((what & 1) != 0) hip.failing_call = kCalls[reader.below(kCalls.size())];
  if ((what & 2) != 0) hip.target = reader.below(2) == 0 ? "" : "gfx942:sramecc+:xnack-";
  for (size_t i = 0; i < (what >> 2 & 3u); ++i) damage_row(reader, set, set.rows[reader.below(set.rows.size())]);
  if ((what & 16) != 0) damage_object(reader, set, set.objects[reader.below(set.objects.size())]);
  set.get();
  if ((what & 32) != 0) damage_set(reader, set.set);
  const mlaforge_kernel_set* sets[] = {&set.set, (what & 64) != 0 ? &set.set : nullptr};
  mlaforge_open_options options = MLAFORGE_OPEN_OPTIONS_INIT;
  options.kernel_sets = sets;
  options.kernel_set_count = (what & 128) != 0 ? 2 : 1;
  options.device = static_cast<int>(reader.below(4)) - 1;
  mlaforge_library* library = nullptr;
  const mlaforge_status status = open_device(fake_api(hip), options, &library);
  require_message(status);
  require((status == MLAFORGE_SUCCESS) == (library != nullptr), "a status that says otherwise than the handle");
  if (library != nullptr) use(library);
  mlaforge_close(library);
  require(hip.unloaded() == static_cast<int>(hip.loaded.size()), "a module that stays loaded");
}

}  // namespace mlaforge::fuzz
