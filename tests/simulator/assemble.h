// Assembles gfx950 text with clang at test time and runs it on the simulator, on a small device memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/core/instruction.h"
#include "simulator/core/launch.h"

namespace mlaforge::simulator::test {

/// The bytes of .text of `source`; throws std::runtime_error with clang's message.
std::vector<std::byte> assemble(std::string_view source);

/// Device memory of a test: allocations at chosen gaps, so that an access past an end lands nowhere.
class TestMemory : public GlobalMemory {
 public:
  /// Device address of `bytes` new bytes, zeroed.
  uint64_t allocate(size_t bytes);
  template <typename T>
  uint64_t upload(const std::vector<T>& values) {
    const uint64_t address = allocate(values.size() * sizeof(T));
    std::copy(values.begin(), values.end(), reinterpret_cast<T*>(data(address)));
    return address;
  }
  template <typename T>
  std::vector<T> download(uint64_t address, size_t count) {
    const T* from = reinterpret_cast<const T*>(data(address));
    return std::vector<T>(from, from + count);
  }
  void free(uint64_t address) { freed_[address] = true; }

  MemoryLookup find(uint64_t address) const override;
  std::string describe(uint64_t address) const override;

 private:
  std::byte* data(uint64_t address) { return blocks_.at(address).data(); }

  std::map<uint64_t, std::vector<std::byte>> blocks_;
  std::map<uint64_t, bool> freed_;
  uint64_t next_ = 0x7000'0000'0000;
};

struct Kernel {
  std::string source;
  uint32_t lds_bytes = 0;
  uint32_t scratch_bytes = 0;
  int vgprs = 256;
  int agprs = 256;
};

/// At the start s[0:1] is the address of the kernel arguments, s2 to s4 the workgroup's id, v0 the packed workitem id.
/// `_start` needs no label: execution begins at the first instruction.
KernelCode make_kernel(const Kernel& kernel);

/// Notes that this test program executes an instruction: where MLAFORGE_EXECUTED names a file, the mnemonics are
/// written to it at the program's end (executed_mnemonics.sh measures by them what docs/instructions.md says).
void note_executed(const Instruction& instruction);

/// run_kernel, with every instruction noted; `config` has no observer.
LaunchResult launch(const KernelCode& code, LaunchConfig config, GlobalMemory& memory);

/// One workgroup of `threads`, arguments packed as 8-byte words.
LaunchResult run(const Kernel& kernel, TestMemory& memory, const std::vector<uint64_t>& arguments,
                 uint32_t threads = 64, MemoryMode mode = MemoryMode::lazy, uint64_t seed = 0);

/// Runs `body` with the workitem's number in v0 and an output buffer in s[8:9]; it leaves its result dwords in
/// v[8:8+n-1] (n = `dwords`, up to 4), which come back as [lane][dword].
std::vector<std::vector<uint32_t>> run_lanes(const std::string& body, int dwords = 1,
                                             MemoryMode mode = MemoryMode::lazy, uint32_t lds_bytes = 0);

}  // namespace mlaforge::simulator::test
