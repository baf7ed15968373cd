// Opening a device: check it, load each code object once, find each row's functions, sort. All or nothing.
#include <algorithm>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <string>

#include "code_object.h"
#include "error.h"
#include "library.h"
#include "struct_version.h"
#include "table.h"

namespace mlaforge {
namespace {

std::string hip_failure(const HipApi& hip, const std::string& call, int error) {
  const char* reason = hip.get_error_string(error);
  return call + ": " + (reason != nullptr ? reason : "unknown error") + " (" + std::to_string(error) + ")";
}

mlaforge_status check_device(mlaforge_library& library) {
  const HipApi& hip = library.hip;
  int count = 0;
  if (const int error = hip.get_device_count(&count); error != hip_success) {
    return fail(MLAFORGE_NO_DEVICE, hip_failure(hip, "hipGetDeviceCount", error));
  }
  if (library.device < 0 || library.device >= count) {
    return fail(MLAFORGE_NO_DEVICE, "device " + std::to_string(library.device) + " is not there; allowed: 0 .. " +
                                        std::to_string(count - 1));
  }
  DeviceProperties properties;
  if (const int error = device_properties(hip, library.device, properties); error != hip_success) {
    return fail(MLAFORGE_HIP_ERROR, hip_failure(hip, "hipGetDeviceProperties", error));
  }
  library.target = properties.target;
  library.device_name = properties.name;
  if (const int error =
          hip.device_get_attribute(&library.compute_units, hip_attribute_multiprocessor_count, library.device);
      error != hip_success) {
    return fail(MLAFORGE_HIP_ERROR, hip_failure(hip, "hipDeviceGetAttribute(MultiprocessorCount)", error));
  }
  return MLAFORGE_SUCCESS;
}

mlaforge_status check_row(const mlaforge_library& library, const std::string& set, const mlaforge_kernel_row& row) {
  if (row.name == nullptr || row.target == nullptr || (row.splits > 1 && row.combine_name == nullptr)) {
    return fail(MLAFORGE_BAD_KERNEL_SET, "set " + set + ": a row with a null " +
                                             (row.name == nullptr     ? "name"
                                              : row.target == nullptr ? "target"
                                                                      : "combine_name") +
                                             " (" + describe(row) + ")");
  }
  if (row.target != library.target) {
    return fail(MLAFORGE_WRONG_DEVICE, "set " + set + ": kernel " + row.name + " is for " + row.target + ", device " +
                                           std::to_string(library.device) + " is " +
                                           (library.target.empty() ? "of unknown target" : library.target));
  }
  if (const std::string problem = key_problem(row); !problem.empty()) {
    return fail(MLAFORGE_BAD_KERNEL_SET, "set " + set + ": kernel " + row.name + ": " + problem);
  }
  if (row.threads < 1 || row.threads > 1024 ||
      (row.splits > 1 && (row.combine_threads < 1 || row.combine_threads > 1024 || row.combine_parts < 1))) {
    return fail(MLAFORGE_BAD_KERNEL_SET, "set " + set + ": kernel " + row.name +
                                             ": threads, combine_threads or combine_parts are out of range (" +
                                             std::to_string(row.threads) + ", " + std::to_string(row.combine_threads) +
                                             ", " + std::to_string(row.combine_parts) + ")");
  }
  return MLAFORGE_SUCCESS;
}

/// The code objects of one set by symbol, each loaded when first asked for.
class Modules {
 public:
  Modules(mlaforge_library& library, const mlaforge_kernel_set& set, std::string set_name)
      : library_(library), set_(set), set_name_(std::move(set_name)) {}

  mlaforge_status function(const std::string& symbol, HipFunction& function) {
    if (const auto known = functions_.find(symbol); known != functions_.end()) {
      function = known->second;
      return MLAFORGE_SUCCESS;
    }
    const mlaforge_code_object* end = set_.code_objects + set_.code_object_count;
    const mlaforge_code_object* object = std::find_if(
        set_.code_objects, end,
        [&](const mlaforge_code_object& candidate) { return candidate.name != nullptr && symbol == candidate.name; });
    if (object == end || object->data == nullptr || object->bytes == 0) {
      return fail(MLAFORGE_BAD_KERNEL_SET, "set " + set_name_ + ": no code object for kernel " + symbol);
    }
    std::string problem;
    if (const mlaforge_status status = check_code_object(object->data, object->bytes, library_.target, problem);
        status != MLAFORGE_SUCCESS) {
      return fail(status, "set " + set_name_ + ": the code object of kernel " + symbol + " " + problem);
    }
    const HipApi& hip = library_.hip;
    HipModule module = nullptr;
    if (const int error = hip.module_load_data(&module, object->data); error != hip_success) {
      return fail(MLAFORGE_BAD_KERNEL_SET, "set " + set_name_ + ": kernel " + symbol + " does not load on " +
                                               library_.target + ": " + hip_failure(hip, "hipModuleLoadData", error));
    }
    library_.modules.push_back(module);
    if (const int error = hip.module_get_function(&function, module, symbol.c_str());
        error != hip_success || function == nullptr) {
      return fail(MLAFORGE_BAD_KERNEL_SET, "set " + set_name_ + ": code object has no kernel " + symbol + ": " +
                                               hip_failure(hip, "hipModuleGetFunction", error));
    }
    functions_[symbol] = function;
    return MLAFORGE_SUCCESS;
  }

 private:
  mlaforge_library& library_;
  const mlaforge_kernel_set& set_;
  std::string set_name_;
  std::map<std::string, HipFunction> functions_;
};

mlaforge_status load_set(mlaforge_library& library, const mlaforge_kernel_set& set,
                         std::vector<mlaforge_kernel_row>& rows) {
  if (const mlaforge_status status = check_struct("kernel_set", &set); status != MLAFORGE_SUCCESS) {
    return status;
  }
  const std::string name = set.name != nullptr ? set.name : "(unnamed)";
  if ((set.rows == nullptr && set.row_count != 0) || (set.code_objects == nullptr && set.code_object_count != 0)) {
    return fail(MLAFORGE_INVALID_ARGUMENT, "set " + name + ": rows or code_objects is null with a count above 0");
  }
  Modules modules(library, set, name);
  for (const mlaforge_kernel_row& row : std::span(set.rows, set.row_count)) {
    mlaforge_library::Functions functions;
    mlaforge_status status = check_row(library, name, row);
    if (status == MLAFORGE_SUCCESS) {
      status = modules.function(row.name, functions.attention);
    }
    if (status == MLAFORGE_SUCCESS && row.splits > 1) {
      status = modules.function(row.combine_name, functions.combine);
    }
    if (status != MLAFORGE_SUCCESS) {
      return status;
    }
    rows.push_back(row);
    library.functions.push_back(functions);
  }
  return MLAFORGE_SUCCESS;
}

/// The library's table over the sets' rows, its functions in the same order.
mlaforge_status sort_rows(mlaforge_library& library, const std::vector<mlaforge_kernel_row>& rows) {
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const auto by_key = compare_keys(rows[a], rows[b]);
    return by_key != 0 ? by_key < 0 : a < b;
  });
  std::vector<mlaforge_kernel_row> sorted;
  std::vector<mlaforge_library::Functions> functions;
  for (const size_t i : order) {
    if (!sorted.empty() && compare_keys(sorted.back(), rows[i]) == 0) {
      return fail(MLAFORGE_BAD_KERNEL_SET, std::string("kernels ") + sorted.back().name + " and " + rows[i].name +
                                               " have one key: " + describe(rows[i]));
    }
    sorted.push_back(rows[i]);
    functions.push_back(library.functions[i]);
  }
  library.table = make_table(std::move(sorted), library.compute_units);
  library.functions = std::move(functions);
  library.capabilities = capabilities_of(library.table.rows);
  return MLAFORGE_SUCCESS;
}

mlaforge_status load_sets(mlaforge_library& library, std::span<const mlaforge_kernel_set* const> sets) {
  std::vector<mlaforge_kernel_row> rows;
  for (const mlaforge_kernel_set* set : sets) {
    if (const mlaforge_status status = set == nullptr
                                           ? fail(MLAFORGE_INVALID_ARGUMENT, "options.kernel_sets has a null entry")
                                           : load_set(library, *set, rows);
        status != MLAFORGE_SUCCESS) {
      return status;
    }
  }
  return sort_rows(library, rows);
}

/// load_sets with the library's device current; the thread has its own back afterwards, whatever became of them.
mlaforge_status load_sets_on_device(mlaforge_library& library, std::span<const mlaforge_kernel_set* const> sets) {
  const HipApi& hip = library.hip;
  int before = 0;
  if (const int error = hip.get_device(&before); error != hip_success) {
    return fail(MLAFORGE_HIP_ERROR, hip_failure(hip, "hipGetDevice", error));
  }
  if (const int error = hip.set_device(library.device); error != hip_success) {
    return fail(MLAFORGE_HIP_ERROR, hip_failure(hip, "hipSetDevice", error));
  }
  const mlaforge_status status = load_sets(library, sets);
  const int error = hip.set_device(before);
  if (status == MLAFORGE_SUCCESS && error != hip_success) {
    return fail(MLAFORGE_HIP_ERROR, hip_failure(hip, "hipSetDevice back to the thread's device", error));
  }
  return status;
}

mlaforge_status open_into(mlaforge_library& library, const mlaforge_open_options& options) {
  mlaforge_status status = check_device(library);
  if (status == MLAFORGE_SUCCESS) {
    status = load_sets_on_device(library, {options.kernel_sets, options.kernel_set_count});
  }
  if (status == MLAFORGE_SUCCESS) {
    status = add_tuning(library.table, library.target, {options.tuning, options.tuning_count}, library.tuning);
  }
  return status;
}

}  // namespace

mlaforge_status open_device(const HipApi& hip, const mlaforge_open_options& options, mlaforge_library** library) {
  *library = nullptr;
  std::unique_ptr<mlaforge_library, decltype(&mlaforge_close)> opened(new mlaforge_library, mlaforge_close);
  opened->hip = hip;
  opened->device = options.device;
  if (const mlaforge_status status = open_into(*opened, options); status != MLAFORGE_SUCCESS) {
    return status;
  }
  *library = opened.release();
  return succeed();
}

}  // namespace mlaforge

mlaforge_status mlaforge_open(const mlaforge_open_options* options, mlaforge_library** library) {
  using namespace mlaforge;
  if (options == nullptr || library == nullptr) {
    return fail(MLAFORGE_INVALID_ARGUMENT, options == nullptr ? "options is null" : "library is null");
  }
  *library = nullptr;
  if (const mlaforge_status status = check_struct("options", options); status != MLAFORGE_SUCCESS) {
    return status;
  }
  const mlaforge_open_options latest = read_struct(*options, MLAFORGE_OPEN_OPTIONS_INIT);
  if (latest.backend < MLAFORGE_BACKEND_AUTO || latest.backend > MLAFORGE_BACKEND_SIMULATOR) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "options.backend is %d; allowed: 0 (auto), 1 (hip), 2 (simulator)",
                 latest.backend);
  }
  if ((latest.kernel_sets == nullptr && latest.kernel_set_count != 0) ||
      (latest.tuning == nullptr && latest.tuning_count != 0)) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "options.%s is null with a count above 0",
                 latest.kernel_sets == nullptr ? "kernel_sets" : "tuning");
  }
  try {
    HipApi hip;
    if (const mlaforge_status status = load_hip(static_cast<mlaforge_backend>(latest.backend), hip);
        status != MLAFORGE_SUCCESS) {
      return status;
    }
    return open_device(hip, latest, library);
  } catch (const std::bad_alloc&) {
    return fail(MLAFORGE_OUT_OF_MEMORY, "mlaforge_open: out of host memory");
  }
}

void mlaforge_close(mlaforge_library* library) {
  if (library == nullptr) {
    return;
  }
  for (const mlaforge::HipModule module : library->modules) {
    library->hip.module_unload(module);
  }
  delete library;
}
