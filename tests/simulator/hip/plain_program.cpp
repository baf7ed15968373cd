// A HIP program as users write them, linked with the system's libamdhip64 and knowing nothing of the simulator: run
// with LD_LIBRARY_PATH set to hip-simulator/, it must find the simulated device. Prints what it saw; the exit code says
// where it stopped.
#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  hipDeviceProp_t properties;
  if (hipGetDeviceProperties(&properties, 0) != hipSuccess) return 2;
  if (std::strstr(properties.gcnArchName, "gfx950") == nullptr) return 3;
  if (hipModuleLoad(&module, argv[1]) != hipSuccess) return 4;
  if (hipModuleGetFunction(&function, module, "store_at") != hipSuccess) return 5;
  int* device = nullptr;
  int host[4] = {};
  if (hipMalloc(reinterpret_cast<void**>(&device), sizeof host) != hipSuccess) return 6;
  if (hipMemset(device, 0, sizeof host) != hipSuccess) return 7;
  long index = 2;
  int value = 5;
  void* parameters[] = {&device, &index, &value};
  if (hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr) != hipSuccess) return 8;
  if (hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost) != hipSuccess) return 9;
  // The headers and the library that this program was linked with are HIP 5's, and so must be the values it gets.
  hipPointerAttribute_t attributes;
  if (hipPointerGetAttributes(&attributes, device) != hipSuccess) return 10;
  if (HIP_VERSION_MAJOR == 5 && attributes.memoryType != hipMemoryTypeDevice) return 11;
  std::printf("%d %d %d %d on %s\n", host[0], host[1], host[2], host[3], properties.name);
  return host[2] == 5 && host[1] == 0 ? 0 : 12;
}
