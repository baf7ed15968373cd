// One gfx950 instruction as LLVM prints it. The only place that knows LLVM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace mlaforge::simulator {

class Disassembler {
 public:
  Disassembler();
  ~Disassembler();
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  struct Result {
    uint32_t size = 0;  ///< bytes; 0: no instruction
    std::string text;
  };
  /// Not thread-safe.
  Result decode(std::span<const std::byte> bytes, uint64_t pc);

 private:
  void* context_;
};

}  // namespace mlaforge::simulator
