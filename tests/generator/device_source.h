// Small device kernels whose registers, LDS and scratch are known by how they are written.
#pragma once

#include <string>

namespace mlaforge::test {

/// A kernel `name` of 256 threads around a body.
inline std::string kernel_source(const std::string& name, const std::string& body) {
  return "#include <mlaforge/kernel_contract.h>\n"
         "extern \"C\" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(256, 256))) void " +
         name + "(mlaforge_combine_args args) {\n  const int lane = __builtin_amdgcn_workitem_id_x();\n" + body +
         "\n}\n";
}

/// Copies one float a thread.
inline std::string copying_kernel(const std::string& name) {
  return kernel_source(name, "  args.lse[lane] = args.lse_partial[lane];");
}

/// Has an LDS array of this size, all of it live.
inline std::string lds_kernel(const std::string& name, int bytes) {
  return kernel_source(name,
                       "  __attribute__((shared)) static char a[" + std::to_string(bytes) +
                           "];\n  a[lane * 600] = (char)args.lse_partial[lane];\n  __builtin_amdgcn_s_barrier();\n"
                           "  args.lse[lane] = a[args.requests];");
}

/// Indexes an array by a run-time value, so that it stands in scratch.
inline std::string scratch_kernel(const std::string& name) {
  return kernel_source(name,
                       "  volatile float a[64];\n  for (int i = 0; i < 64; ++i) a[i] = args.lse_partial[lane + i];\n"
                       "  args.lse[lane] = a[args.requests];");
}

/// Keeps 300 floats live at once in workgroups of 1,024 threads, whose waves have 128 registers each.
inline std::string spilling_kernel(const std::string& name) {
  const std::string loop = "#pragma unroll\n  for (int i = 0; i < 300; ++i) ";
  std::string source =
      kernel_source(name, "  float a[300];\n" + loop + "a[i] = args.lse_partial[lane + 1024 * i];\n" + loop +
                              "asm volatile(\"\" : \"+v\"(a[i]));\n  asm volatile(\"\" ::: \"memory\");\n" + loop +
                              "args.lse[lane + 1024 * i] = a[i];");
  return source.replace(source.find("256, 256"), 8, "1024, 1024");
}

}  // namespace mlaforge::test
