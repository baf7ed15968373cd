#include "simulator/hip/error.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

namespace mlaforge::simulator {
namespace {

std::atomic<bool> reports_wanted{false};

struct ThreadState {
  hipError_t last_error = hipSuccess;
  std::string report;
  std::string report_json = "{}";
};

ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

hipError_t code_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::memory_bounds:
    case FaultKind::misaligned:
    case FaultKind::use_after_free:
    case FaultKind::kernarg_bounds:
      return hipErrorIllegalAddress;
    case FaultKind::endless_loop:
      return hipErrorLaunchTimeOut;
    case FaultKind::bad_launch:
      return hipErrorInvalidConfiguration;
    default:
      return hipErrorLaunchFailure;
  }
}

hipError_t code_of(LoadErrorKind kind) {
  switch (kind) {
    case LoadErrorKind::invalid_image:
      return hipErrorInvalidImage;
    case LoadErrorKind::wrong_architecture:
      return hipErrorNoBinaryForGpu;
    case LoadErrorKind::unsupported:
      return hipErrorNotSupported;
  }
  return hipErrorInvalidImage;
}

// What programs compare with; to_string's texts are for people.
const char* id_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::unknown_instruction:
      return "unknown_instruction";
    case FaultKind::unsupported:
      return "unsupported";
    case FaultKind::memory_bounds:
      return "memory_bounds";
    case FaultKind::misaligned:
      return "misaligned";
    case FaultKind::use_after_free:
      return "use_after_free";
    case FaultKind::kernarg_bounds:
      return "kernarg_bounds";
    case FaultKind::register_pending:
      return "register_pending";
    case FaultKind::register_bounds:
      return "register_bounds";
    case FaultKind::lds_race:
      return "lds_race";
    case FaultKind::global_race:
      return "global_race";
    case FaultKind::uninitialized:
      return "uninitialized";
    case FaultKind::wait_states:
      return "wait_states";
    case FaultKind::exec_not_full:
      return "exec_not_full";
    case FaultKind::barrier_divergence:
      return "barrier_divergence";
    case FaultKind::endless_loop:
      return "endless_loop";
    case FaultKind::trap:
      return "trap";
    case FaultKind::bad_launch:
      return "bad_launch";
  }
  return "unknown";
}

nlohmann::json to_json(const char* function, const ApiError& error) {
  nlohmann::json json = {{"function", function}, {"error", error_name(error.code)}, {"message", error.message}};
  if (!error.fault) return json;
  const Fault& fault = *error.fault;
  json["message"] = fault.message;
  json["kind"] = id_of(fault.kind);
  json["kernel"] = fault.kernel;
  json["address"] = fmt::format("{:#x}", fault.pc);
  json["disassembly"] = fault.disassembly;
  json["workgroup"] = fault.workgroup;
  json["wave"] = fault.wave;
  json["lane"] = fault.lane;
  return json;
}

}  // namespace

void fail(hipError_t code, std::string message) { throw ApiError{code, std::move(message), {}}; }

void fail(const LoadError& error, const std::string& what) {
  throw ApiError{code_of(error.kind), what + ": " + error.message, {}};
}

void fail(const Fault& fault) { throw ApiError{code_of(fault.kind), format_fault(fault), fault}; }

void require(const void* pointer, const char* parameter) {
  if (pointer == nullptr) fail(hipErrorInvalidValue, std::string(parameter) + " is null");
}

hipError_t peek_last_error() { return thread_state().last_error; }
hipError_t take_last_error() { return std::exchange(thread_state().last_error, hipSuccess); }
const std::string& last_report() { return thread_state().report; }
const std::string& last_report_json() { return thread_state().report_json; }

int refuse(const char* function, const char* reason) {
  return record_failure(function, {.code = hipErrorNotSupported, .message = reason, .fault = {}});
}

void print_reports(bool wanted) { reports_wanted = wanted; }

hipError_t record_failure(const char* function, const ApiError& error) {
  ThreadState& state = thread_state();
  state.last_error = error.code;
  state.report = fmt::format("{} ({}): {}", function, error_name(error.code), error.message);
  state.report_json = to_json(function, error).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (reports_wanted) fmt::print(stderr, "{}\n", state.report);
  return error.code;
}

}  // namespace mlaforge::simulator

using mlaforge::simulator::guarded;

hipError_t hipGetLastError() { return mlaforge::simulator::take_last_error(); }
hipError_t hipPeekAtLastError() { return mlaforge::simulator::peek_last_error(); }
MLAFORGE_HIP_EXPORT hipError_t hipExtGetLastError() { return mlaforge::simulator::take_last_error(); }
const char* hipGetErrorName(hipError_t error) { return mlaforge::simulator::error_name(error); }
const char* hipGetErrorString(hipError_t error) { return mlaforge::simulator::error_text(error); }

MLAFORGE_HIP_EXPORT hipError_t hipDrvGetErrorName(hipError_t error, const char** text) {
  return guarded(__func__, [&] {
    mlaforge::simulator::require(text, "errorString");
    *text = mlaforge::simulator::error_name(error);
  });
}

MLAFORGE_HIP_EXPORT hipError_t hipDrvGetErrorString(hipError_t error, const char** text) {
  return guarded(__func__, [&] {
    mlaforge::simulator::require(text, "errorString");
    *text = mlaforge::simulator::error_text(error);
  });
}
