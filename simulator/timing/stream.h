// What a workgroup did, as far as time depends on it: each wave's instructions in order, with the facts of its memory
// operations. Made by the recorder out of a functional run, read by the replay.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace mlaforge::simulator::timing {

/// Where an instruction issues, and what it keeps busy.
enum class Port : uint8_t { none, salu, valu, mfma, scalar_memory, vector_memory, lds };

/// What an instruction does to its wave beyond its port.
enum class Control : uint8_t { none, wait, barrier, sleep, nop, branch, end, priority };

struct RegisterRange {
  uint16_t first = 0;  ///< 0..511 vector registers, 512.. scalar registers, scc_register
  uint16_t count = 0;
};
inline constexpr uint16_t scalar_registers = 512;
inline constexpr uint16_t scc_register = 512 + 128;
inline constexpr size_t register_count = 512 + 128 + 1;

enum class Speed : uint8_t { full, wide, transcendental, convert_fp8, permlane_swap };

/// What is the same whenever an instruction is executed; the device's numbers are not in it.
struct InstructionInfo {
  uint64_t pc = 0;
  Port port = Port::none;
  Control control = Control::none;
  Speed speed = Speed::full;
  bool scalar_result = false;  ///< a vector instruction that writes scalar registers
  uint8_t passes = 0;          ///< of an MFMA
  uint8_t read_count = 0;
  uint8_t write_count = 0;
  std::array<RegisterRange, 6> reads{};
  std::array<RegisterRange, 3> writes{};
  RegisterRange addend{};  ///< an MFMA's SrcC
  uint16_t vmcnt = 63;     ///< of a wait
  uint16_t lgkmcnt = 15;
  uint32_t argument = 0;  ///< s_nop, s_sleep, s_setprio
  uint64_t target = 0;    ///< of a direct branch, else 0
  std::string text;
};

enum class MemoryKind : uint8_t { lds_read, lds_write, load, store, dma, scalar_load };

/// One executed memory instruction.
struct MemoryFacts {
  MemoryKind kind = MemoryKind::load;
  bool wide = false;          ///< LDS reads at the wide rate
  bool read2 = false;         ///< ds_read2_b64
  uint16_t lds_phases = 0;    ///< LDS clocks at the peak rates, conflicts included
  uint16_t lds_ideal = 0;     ///< without conflicts
  uint16_t sector_count = 0;  ///< 64-byte sectors of global memory
  uint32_t first_sector = 0;  ///< in WorkgroupStream::sectors
  uint32_t bytes = 0;         ///< that the lanes asked for
};

struct WaveStream {
  std::vector<uint32_t> steps;      ///< index into KernelStream::instructions; bit 31: has the next of `memory`
  std::vector<MemoryFacts> memory;  ///< in order
};
inline constexpr uint32_t has_memory = 0x80000000;

struct WorkgroupStream {
  uint64_t id = 0;
  std::vector<WaveStream> waves;
  std::vector<uint32_t> sectors;  ///< numbers of KernelStream::sectors
};

inline constexpr uint32_t sector_bytes = 64;

/// Device addresses begin .. end - 1.
struct AddressRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct KernelStream {
  std::string kernel;
  std::vector<InstructionInfo> instructions;
  std::vector<WorkgroupStream> workgroups;  ///< by ascending id
  std::vector<uint64_t> sectors;            ///< address / 64 of each sector's number, ascending
  std::vector<AddressRange> written;        ///< the allocations that it stored to
  uint64_t instruction_count = 0;           ///< executed, all waves
  uint64_t grid_workgroups = 0;
  uint32_t waves_per_workgroup = 0;
  uint32_t lds_bytes = 0;  ///< a workgroup
  uint32_t vgprs = 0;      ///< a lane, accumulation registers included
};

}  // namespace mlaforge::simulator::timing
