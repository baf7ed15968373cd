// How an API function ends: bodies throw ApiError, `guarded` turns it into the HIP error code and keeps the message as
// the thread's report. No exception leaves the library.
#pragma once

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <type_traits>

#include "simulator/core/fault.h"
#include "simulator/hip/hip_types.h"
#include "simulator/loader/load_error.h"

namespace mlaforge::simulator {

struct ApiError {
  hipError_t code = hipErrorUnknown;
  std::string message;
  std::optional<Fault> fault;
};

[[noreturn]] void fail(hipError_t code, std::string message);
[[noreturn]] void fail(const LoadError& error, const std::string& what);
[[noreturn]] void fail(const Fault& fault);

// fail(hipErrorInvalidValue) that names the parameter if it is null.
void require(const void* pointer, const char* parameter);

const char* error_name(hipError_t code);
const char* error_text(hipError_t code);

// The thread's last error (hipGetLastError) and reports.
hipError_t peek_last_error();
hipError_t take_last_error();
const std::string& last_report();
const std::string& last_report_json();

// Whether every failure's report goes to stderr too.
void print_reports(bool wanted);

hipError_t record_failure(const char* function, const ApiError& error);

// Of a function that only says so (refused.cpp): hipErrorNotSupported.
int refuse(const char* function, const char* reason);

template <typename Body>
hipError_t guarded(const char* function, Body&& body) noexcept {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      body();
      return hipSuccess;
    } else {
      return body();  // hipErrorNotReady and the like: answers, no failures
    }
  } catch (const ApiError& error) {
    return record_failure(function, error);
  } catch (const std::bad_alloc&) {
    return record_failure(function, {.code = hipErrorOutOfMemory, .message = "the host is out of memory", .fault = {}});
  } catch (const std::exception& error) {
    return record_failure(function, {.code = hipErrorUnknown, .message = error.what(), .fault = {}});
  }
}

}  // namespace mlaforge::simulator
