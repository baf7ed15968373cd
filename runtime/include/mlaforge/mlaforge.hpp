// A thin C++ face over mlaforge.h: a handle that closes itself, and statuses that carry their message.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "mlaforge/mlaforge.h"

namespace mlaforge {

/// A status and the message that belongs to it (empty on success).
struct CallResult {
  mlaforge_status status = MLAFORGE_SUCCESS;
  std::string message;

  explicit operator bool() const { return status == MLAFORGE_SUCCESS; }

  static CallResult of(mlaforge_status status) {
    return {status, status == MLAFORGE_SUCCESS ? std::string() : std::string(mlaforge_last_error())};
  }
};

/// Owns a mlaforge_library. Moves, never copies; the calls are those of mlaforge.h.
class Library {
 public:
  Library() = default;
  /// Takes over an opened handle.
  explicit Library(mlaforge_library* handle) : handle_(handle) {}
  Library(Library&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Library& operator=(Library&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() { mlaforge_close(handle_); }

  static CallResult open(mlaforge_backend backend, int device, std::span<const mlaforge_kernel_set* const> sets,
                         Library& library, std::span<const mlaforge_tuning_text> tuning = {}) {
    mlaforge_open_options options = MLAFORGE_OPEN_OPTIONS_INIT;
    options.backend = backend;
    options.device = device;
    options.kernel_sets = sets.data();
    options.kernel_set_count = sets.size();
    options.tuning = tuning.data();
    options.tuning_count = tuning.size();
    mlaforge_library* handle = nullptr;
    const mlaforge_status status = mlaforge_open(&options, &handle);
    library = Library(handle);
    return CallResult::of(status);
  }

  CallResult device(mlaforge_device_info& info) const { return CallResult::of(mlaforge_device(handle_, &info)); }
  CallResult capabilities(mlaforge_capability_info& info) const {
    return CallResult::of(mlaforge_capabilities(handle_, &info));
  }
  CallResult row(uint64_t index, const mlaforge_kernel_row*& row) const {
    return CallResult::of(mlaforge_row(handle_, index, &row));
  }
  CallResult tuning(mlaforge_tuning_info& info) const { return CallResult::of(mlaforge_tuning(handle_, &info)); }
  CallResult select(const mlaforge_problem& problem, mlaforge_choice& choice) const {
    return CallResult::of(mlaforge_select(handle_, &problem, &choice));
  }
  CallResult workspace_size(const mlaforge_choice& choice, uint64_t& bytes) const {
    return CallResult::of(mlaforge_workspace_size(handle_, &choice, &bytes));
  }
  CallResult launch(const mlaforge_choice& choice, const mlaforge_tensors& tensors, void* workspace,
                    uint64_t workspace_bytes, void* stream) const {
    return CallResult::of(mlaforge_launch(handle_, &choice, &tensors, workspace, workspace_bytes, stream));
  }

  mlaforge_library* handle() const { return handle_; }

 private:
  mlaforge_library* handle_ = nullptr;
};

}  // namespace mlaforge
