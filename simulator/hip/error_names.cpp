// Names and texts of HIP's error codes.
#include <algorithm>
#include <array>

#include "simulator/hip/error.h"

namespace mlaforge::simulator {
namespace {

struct ErrorRow {
  hipError_t code;
  const char* name;
  const char* text;
};

constexpr std::array kErrors = {
    ErrorRow{hipSuccess, "hipSuccess", "no error"},
    ErrorRow{hipErrorInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    ErrorRow{hipErrorOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    ErrorRow{hipErrorNotInitialized, "hipErrorNotInitialized", "initialization error"},
    ErrorRow{hipErrorDeinitialized, "hipErrorDeinitialized", "driver shutting down"},
    ErrorRow{hipErrorProfilerDisabled, "hipErrorProfilerDisabled",
             "profiler disabled while using external profiling tool"},
    ErrorRow{hipErrorProfilerNotInitialized, "hipErrorProfilerNotInitialized", "profiler is not initialized"},
    ErrorRow{hipErrorProfilerAlreadyStarted, "hipErrorProfilerAlreadyStarted", "profiler already started"},
    ErrorRow{hipErrorProfilerAlreadyStopped, "hipErrorProfilerAlreadyStopped", "profiler already stopped"},
    ErrorRow{hipErrorInvalidConfiguration, "hipErrorInvalidConfiguration", "invalid configuration argument"},
    ErrorRow{hipErrorInvalidPitchValue, "hipErrorInvalidPitchValue", "invalid pitch argument"},
    ErrorRow{hipErrorInvalidSymbol, "hipErrorInvalidSymbol", "invalid device symbol"},
    ErrorRow{hipErrorInvalidDevicePointer, "hipErrorInvalidDevicePointer", "invalid device pointer"},
    ErrorRow{hipErrorInvalidMemcpyDirection, "hipErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    ErrorRow{hipErrorInsufficientDriver, "hipErrorInsufficientDriver",
             "driver version is insufficient for runtime version"},
    ErrorRow{hipErrorMissingConfiguration, "hipErrorMissingConfiguration",
             "__global__ function call is not configured"},
    ErrorRow{hipErrorPriorLaunchFailure, "hipErrorPriorLaunchFailure", "unspecified launch failure in prior launch"},
    ErrorRow{hipErrorInvalidDeviceFunction, "hipErrorInvalidDeviceFunction", "invalid device function"},
    ErrorRow{hipErrorNoDevice, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    ErrorRow{hipErrorInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    ErrorRow{hipErrorInvalidImage, "hipErrorInvalidImage", "device kernel image is invalid"},
    ErrorRow{hipErrorInvalidContext, "hipErrorInvalidContext", "invalid device context"},
    ErrorRow{hipErrorContextAlreadyCurrent, "hipErrorContextAlreadyCurrent", "context is already current context"},
    ErrorRow{hipErrorMapFailed, "hipErrorMapFailed", "mapping of buffer object failed"},
    ErrorRow{hipErrorUnmapFailed, "hipErrorUnmapFailed", "unmapping of buffer object failed"},
    ErrorRow{hipErrorArrayIsMapped, "hipErrorArrayIsMapped", "array is mapped"},
    ErrorRow{hipErrorAlreadyMapped, "hipErrorAlreadyMapped", "resource already mapped"},
    ErrorRow{hipErrorNoBinaryForGpu, "hipErrorNoBinaryForGpu",
             "no kernel image is available for execution on the device"},
    ErrorRow{hipErrorAlreadyAcquired, "hipErrorAlreadyAcquired", "resource already acquired"},
    ErrorRow{hipErrorNotMapped, "hipErrorNotMapped", "resource not mapped"},
    ErrorRow{hipErrorNotMappedAsArray, "hipErrorNotMappedAsArray", "resource not mapped as array"},
    ErrorRow{hipErrorNotMappedAsPointer, "hipErrorNotMappedAsPointer", "resource not mapped as pointer"},
    ErrorRow{hipErrorECCNotCorrectable, "hipErrorECCNotCorrectable", "uncorrectable ECC error encountered"},
    ErrorRow{hipErrorUnsupportedLimit, "hipErrorUnsupportedLimit", "limit is not supported on this architecture"},
    ErrorRow{hipErrorContextAlreadyInUse, "hipErrorContextAlreadyInUse",
             "exclusive-thread device already in use by a different thread"},
    ErrorRow{hipErrorPeerAccessUnsupported, "hipErrorPeerAccessUnsupported",
             "peer access is not supported between these two devices"},
    ErrorRow{hipErrorInvalidKernelFile, "hipErrorInvalidKernelFile", "invalid kernel file"},
    ErrorRow{hipErrorInvalidGraphicsContext, "hipErrorInvalidGraphicsContext", "invalid OpenGL or DirectX context"},
    ErrorRow{hipErrorInvalidSource, "hipErrorInvalidSource", "device kernel image is invalid"},
    ErrorRow{hipErrorFileNotFound, "hipErrorFileNotFound", "file not found"},
    ErrorRow{hipErrorSharedObjectSymbolNotFound, "hipErrorSharedObjectSymbolNotFound",
             "shared object symbol not found"},
    ErrorRow{hipErrorSharedObjectInitFailed, "hipErrorSharedObjectInitFailed", "shared object initialization failed"},
    ErrorRow{hipErrorOperatingSystem, "hipErrorOperatingSystem",
             "OS call failed or operation not supported on this OS"},
    ErrorRow{hipErrorInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
    ErrorRow{hipErrorIllegalState, "hipErrorIllegalState", "the operation cannot be performed in the present state"},
    ErrorRow{hipErrorNotFound, "hipErrorNotFound", "named symbol not found"},
    ErrorRow{hipErrorNotReady, "hipErrorNotReady", "device not ready"},
    ErrorRow{hipErrorIllegalAddress, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    ErrorRow{hipErrorLaunchOutOfResources, "hipErrorLaunchOutOfResources", "too many resources requested for launch"},
    ErrorRow{hipErrorLaunchTimeOut, "hipErrorLaunchTimeOut", "the launch timed out and was terminated"},
    ErrorRow{hipErrorPeerAccessAlreadyEnabled, "hipErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    ErrorRow{hipErrorPeerAccessNotEnabled, "hipErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    ErrorRow{hipErrorSetOnActiveProcess, "hipErrorSetOnActiveProcess",
             "cannot set while device is active in this process"},
    ErrorRow{hipErrorContextIsDestroyed, "hipErrorContextIsDestroyed", "context is destroyed"},
    ErrorRow{hipErrorAssert, "hipErrorAssert", "device-side assert triggered"},
    ErrorRow{hipErrorHostMemoryAlreadyRegistered, "hipErrorHostMemoryAlreadyRegistered",
             "part or all of the requested memory range is already mapped"},
    ErrorRow{hipErrorHostMemoryNotRegistered, "hipErrorHostMemoryNotRegistered",
             "pointer does not correspond to a registered memory region"},
    ErrorRow{hipErrorLaunchFailure, "hipErrorLaunchFailure", "unspecified launch failure"},
    ErrorRow{hipErrorCooperativeLaunchTooLarge, "hipErrorCooperativeLaunchTooLarge",
             "too many blocks in cooperative launch"},
    ErrorRow{hipErrorNotSupported, "hipErrorNotSupported", "operation not supported"},
    ErrorRow{hipErrorStreamCaptureUnsupported, "hipErrorStreamCaptureUnsupported",
             "operation not permitted when stream is capturing"},
    ErrorRow{hipErrorStreamCaptureInvalidated, "hipErrorStreamCaptureInvalidated",
             "operation failed due to a previous error during capture"},
    ErrorRow{hipErrorStreamCaptureMerge, "hipErrorStreamCaptureMerge",
             "operation would result in a merge of separate capture sequences"},
    ErrorRow{hipErrorStreamCaptureUnmatched, "hipErrorStreamCaptureUnmatched",
             "capture was not ended in the same stream as it began"},
    ErrorRow{hipErrorStreamCaptureUnjoined, "hipErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    ErrorRow{hipErrorStreamCaptureIsolation, "hipErrorStreamCaptureIsolation",
             "dependency created on uncaptured work in another stream"},
    ErrorRow{hipErrorStreamCaptureImplicit, "hipErrorStreamCaptureImplicit",
             "operation would make the legacy stream depend on a capturing blocking stream"},
    ErrorRow{hipErrorCapturedEvent, "hipErrorCapturedEvent",
             "operation not permitted on an event last recorded in a capturing stream"},
    ErrorRow{hipErrorStreamCaptureWrongThread, "hipErrorStreamCaptureWrongThread",
             "attempt to terminate a thread-local capture sequence from another thread"},
    ErrorRow{hipErrorGraphExecUpdateFailure, "hipErrorGraphExecUpdateFailure",
             "the graph update was not performed because it included changes which violated constraints specific to "
             "instantiated graph update"},
    ErrorRow{hipErrorUnknown, "hipErrorUnknown", "unknown error"},
    ErrorRow{hipErrorRuntimeMemory, "hipErrorRuntimeMemory", "runtime memory call returned error"},
    ErrorRow{hipErrorRuntimeOther, "hipErrorRuntimeOther", "runtime call other than memory returned error"},
};

const ErrorRow* find_error(hipError_t code) {
  const auto* row = std::ranges::find(kErrors, code, &ErrorRow::code);
  return row == kErrors.end() ? nullptr : row;
}

}  // namespace

const char* error_name(hipError_t code) {
  const ErrorRow* row = find_error(code);
  return row == nullptr ? "hipErrorUnknown" : row->name;
}

const char* error_text(hipError_t code) {
  const ErrorRow* row = find_error(code);
  return row == nullptr ? "unrecognized error code" : row->text;
}

}  // namespace mlaforge::simulator
