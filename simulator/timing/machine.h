// The replay: workgroups' recorded instructions on a model of some of an XCD's CUs, event by event.
//
// A wave issues one instruction a pass of 4 clocks, in order, to its SIMD's ports (vector, matrix, scalar) or its CU's
// (LDS, vector memory), when the registers it reads are there and the port is free. Waits, barriers and sleeps hold the
// wave itself. Instruction fetch is taken to keep up.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <queue>
#include <span>
#include <string_view>
#include <vector>

#include "simulator/timing/memory_system.h"
#include "simulator/timing/parameters.h"
#include "simulator/timing/stream.h"

namespace mlaforge::simulator::timing {

/// What a wave's time goes to.
enum class Cause : uint8_t {
  issue_valu,
  issue_mfma,
  issue_salu,
  issue_lds,
  issue_vector_memory,
  issue_other,  ///< waits that hold nothing, barriers, branches, scalar loads
  mfma_result,  ///< a matrix result is not there yet
  mfma_busy,    ///< the matrix unit works for another instruction
  valu_result,
  valu_busy,  ///< another wave's vector instruction, or an MFMA's first passes
  salu_busy,
  lds_busy,            ///< LDS takes no more in
  vector_memory_busy,  ///< the address path or its queue is full
  wait_vmcnt,
  wait_lds,
  wait_scalar_load,
  barrier,
  nop,
  sleep,
  branch,
  count
};
inline constexpr size_t cause_count = static_cast<size_t>(Cause::count);
std::string_view to_string(Cause cause);
using CauseTimes = std::array<double, cause_count>;

/// Work of one CU, in clocks or bytes; sums from the start.
struct CuCounters {
  std::array<double, 4> mfma_clk{};  ///< each SIMD
  std::array<double, 4> valu_clk{};
  double lds_clk = 0;
  double lds_conflict_clk = 0;
  double vmem_clk = 0;      ///< of the path to L2
  double memory_bytes = 0;  ///< read or written through it
  double dma_bytes = 0;
  double instructions = 0;
  CauseTimes causes{};
};

/// One pass of the watched wave over the head of its main loop.
struct LoopPass {
  double time = 0;
  CuCounters cu;
  uint64_t hbm_bytes = 0;  ///< of the whole replay
};

/// What a wave did from `begin` to `end`: an instruction's issue, or a hold.
struct TraceEvent {
  uint32_t workgroup = 0;  ///< index in MachineInput::order
  uint32_t wave = 0;
  uint32_t simd = 0;
  uint32_t instruction = 0;
  Cause cause = Cause::issue_other;
  double begin = 0;
  double end = 0;
};

struct MachineInput {
  const KernelStream& stream;
  std::vector<uint32_t> order;  ///< indices of stream.workgroups, as they are dispatched
  uint32_t cus = 1;
  uint32_t workgroups_per_cu = 1;
  MemoryShare share;
  const std::vector<bool>& recent;
  uint32_t loop_head = ~0u;  ///< instruction whose passes by the first workgroup's first wave are noted; ~0: none
  bool trace = false;        ///< of the first CU
};

struct MachineResult {
  double clocks = 0;  ///< from the first dispatch to the end of the last wave
  std::vector<CuCounters> cus;
  std::vector<LoopPass> passes;
  std::vector<TraceEvent> trace;
  uint64_t hbm_bytes = 0;
  uint64_t l2_bytes = 0;
  double hbm_bytes_per_clk = 0;
  double l2_bytes_per_clk = 0;
  double longest_wave_instructions = 0;
};

MachineResult replay(const Parameters& parameters, const MachineInput& input);

}  // namespace mlaforge::simulator::timing
